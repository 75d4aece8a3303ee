"""One run: its report, and the list of its trajectories."""

import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from audit.charts.strip import strip
from audit.measure.rates import Incomplete
from audit.pages import words
from audit.pages.figures import Figure, FigureGroup, figure_row, judge_words, overall_rows, shared_scale
from audit.selectors.asking import held_assignment, still_askable
from audit.selectors.calibration import judge_rows
from audit.selectors.names import RunRef
from audit.selectors.report import DrawProgress, Report, SideCounts, report_of
from audit.selectors.trajectories import Filters, TrajectoryRow, list_trajectories
from audit.services import listing
from labeling.errors import NotFound
from labeling.models import Membership, Run
from labeling.pages.edge import page, person, person_page, seat, whole_number
from labeling.selectors.access import membership_of
from labeling.vocabulary import Reason, Role, RunStatus, Side, TrajectoryStatus

_LONG_PROMPT = 400
_SHOWS_LABELS = "shows_labels"


def run_of(membership: Membership, run_id: int) -> Run:
    """A run of this project, or nothing at all."""
    found = Run.objects.filter(project=membership.project_id, pk=run_id).select_related("suite", "configuration")
    run = found.first()
    if run is None:
        raise NotFound("There is no such run in this project.")
    return run


# --- the report ----------------------------------------------------------------------------------------------------


@require_safe
@person_page
def run(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    membership = membership_of(request.user, key)
    this = run_of(membership, run_id)
    report = report_of(this)
    slices = [row.pair for slicing in report.slicings for row in slicing.rows]
    scale, axis = shared_scale([report.as_labeled, *(pair for _, pair in report.by_judge), *slices])
    overall, judges = overall_rows(report.as_labeled, report.by_judge, scale=scale)
    incomplete = report.as_labeled if isinstance(report.as_labeled, Incomplete) else None
    context = seat(
        membership,
        "runs",
        run=report.run,
        report=report,
        voided=this.status == RunStatus.VOIDED,
        void_reason=this.void_reason,
        is_open=this.status == RunStatus.OPEN,
        overall=overall,
        judge_rows=judges,
        figure=Figure(axis, _groups(report, scale)),
        incomplete=incomplete,
        missing=" or ".join(incomplete.missing) if incomplete else "",
        completing=report.completing_runs,
        loud_facts=_loud_facts(report),
        labeled_by=_labeled_by(report),
        sides=[_side(side) for side in report.sides],
        judged=_judged(membership, report),
        draws=[_draw(draw) for draw in sorted(report.draws, key=lambda draw: list(Side).index(Side(draw.side)))],
        decoding=_written(report.configuration.decoding, nothing="as the provider sets it"),
        filters=_written(report.configuration.filters, nothing="none"),
        long_prompt=len(report.configuration.system_prompt) > _LONG_PROMPT,
    )
    return page(request, "run.html", context)


def _written(value: Any, *, nothing: str) -> str:
    """Settings on one line, as they were posted."""
    if not value:
        return nothing
    if isinstance(value, dict):
        return ", ".join(f"{name} {json.dumps(each, ensure_ascii=False)}" for name, each in value.items())
    return ", ".join(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in value)


def _groups(report: Report, scale: float) -> tuple[FigureGroup, ...]:
    return tuple(
        FigureGroup(
            slicing.title,
            tuple(figure_row("slice", row.name, row.pair, scale=scale, by_judge=row.by_judge) for row in slicing.rows),
        )
        for slicing in report.slicings
    )


def _loud_facts(report: Report) -> list[str]:
    """What makes the numbers less than they look, each with what to do about it."""
    said = []
    if report.run.status == RunStatus.OPEN:
        said.append("The run is open: more may be posted and labels are provisional. Close it when everything is in.")
    if pending := sum(side.pending for side in report.sides):
        said.append(
            f"{_count(pending, 'trajectory waits', 'trajectories wait')} for the judges: the figures will move."
        )
    if owed := sum(side.needs_audit for side in report.sides):
        said.append(f"{_count(owed, 'trajectory waits', 'trajectories wait')} for a person: review them to settle it.")
    for side in report.sides:
        missing = side.suite_cases - side.answered_cases
        if side.posted and missing > 0:
            said.append(f"The {side.side} side lacks {_count(missing, 'case', 'cases')} of {side.suite_cases}.")
        if side.posted and side.not_run > side.posted * 0.05:
            said.append(f"{side.not_run} of {side.posted} on the {side.side} side were not run: see what failed.")
    return said


def _labeled_by(report: Report) -> str:
    """How much of the headline people stand for: the judges' share carries an error that no interval here includes."""
    people = sum(side.human_labels for side in report.sides)
    labeled = sum(side.posted - side.not_run for side in report.sides)
    if people == labeled:
        return "every label by people"
    return f"{people} of {labeled} labels by people; the judges' error is not included in the rest"


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _side(side: SideCounts) -> dict[str, Any]:
    """The counts of a side, each with the filter that lists what it counts."""
    cells: list[tuple[int, dict[str, str]]] = [
        (side.posted, {}),
        (side.not_run, {"label": "not_run"}),
        (side.pending, {"status": TrajectoryStatus.PENDING}),
        (side.needs_audit, {"status": TrajectoryStatus.NEEDS_AUDIT}),
        (side.undetermined, {"label": "undetermined"}),
        (side.human_labels, {"label": "human"}),
    ]
    return {
        "counts": side,
        "cells": [{"count": count, "query": urlencode({"side": side.side, **more})} for count, more in cells],
    }


def _judged(membership: Membership, report: Report) -> list[dict[str, Any]]:
    """The judges of this run with how well they agree with people, over the whole project."""
    known = {row.judge.id: row for row in judge_rows(project=membership.project)} if report.by_judge else {}
    return [
        {"judge": judge, "name": judge_words(judge), "agreement": strip(known[judge.id].calibration.agreement)}
        for judge, _ in report.by_judge
        if judge.id in known
    ]


def _draw(draw: DrawProgress) -> dict[str, Any]:
    share = 100 * draw.done / draw.asked if draw.asked else 100
    return {**draw._asdict(), "share": f"{share:.1f}%"}


# --- the trajectories ----------------------------------------------------------------------------------------------


@require_safe
@person_page
def trajectories(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    """Labels are shown where this person cannot be asked any more, or asked to see them."""
    membership = membership_of(request.user, key)
    this = run_of(membership, run_id)
    wanted = Filters.of(request.GET)
    shows = this.project_id in request.session.get(_SHOWS_LABELS, [])
    held = held_assignment(membership=membership)
    held_id = held.request.trajectory_id if held else 0
    tells = bool(wanted.label or wanted.reason) and membership.may(Role.REVIEWER)
    refused = tells and not shows
    filters = wanted._replace(label="", reason="") if refused else wanted
    listed = list_trajectories(run=this, filters=filters, page=whole_number(request.GET.get("page")))
    askable = still_askable(membership=membership, trajectory_ids=[row.id for row in listed.rows])
    if shows and askable:
        listing.record_listed(trajectory_ids=askable - {held_id}, user=person(request))
    hidden = {held_id} if shows else askable | {held_id}
    # What is held is not even listed where a filter would tell what judges said of it.
    rows = [row for row in listed.rows if not (row.id == held_id and (filters.label or filters.reason))]
    context = seat(
        membership,
        "runs",
        run=RunRef.of(this),
        listed=listed,
        rows=[_row(row, hidden=row.id in hidden) for row in rows],
        filters=_filter_fields(filters, listed.categories),
        is_filtered=any(filters),
        query=f"{_address(filters)}&" if any(filters) else "",
        refused=refused,
        kept=[(name, getattr(wanted, name)) for name in ("label", "reason") if refused],
        hides=bool(askable) and not shows,
        shows=shows and membership.may(Role.REVIEWER),
    )
    return page(request, "run_trajectories.html", context)


@require_POST
@person_page
def show_labels(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    """Show or hide, in this session, labels that make a later verdict of this person not blind."""
    membership = membership_of(request.user, key)
    this = run_of(membership, run_id)
    shown = {*request.session.get(_SHOWS_LABELS, [])}
    shown = shown | {this.project_id} if request.POST.get("show") == "yes" else shown - {this.project_id}
    request.session[_SHOWS_LABELS] = sorted(shown)
    query = _address(Filters.of(request.POST))
    return HttpResponseRedirect(f"{reverse('run_trajectories', args=[key, run_id])}{'?' if query else ''}{query}")


def _address(filters: Filters) -> str:
    return urlencode({name: value for name, value in filters._asdict().items() if value})


def _row(row: TrajectoryRow, *, hidden: bool) -> dict[str, Any]:
    return {
        "row": row,
        "label": None if hidden else words.label_words(row),
        "now": words.STATUS_WORDS[TrajectoryStatus(row.status)],
        "why": "" if hidden else words.reasons_words(row.reasons),
    }


def _filter_fields(chosen: Filters, categories: tuple[str, ...]) -> list[dict[str, Any]]:
    """The filters as fields of a form."""
    options = {
        "side": ("Side", [(side.value, side.value) for side in Side]),
        "category": ("Category", [(category, category.replace("_", " ")) for category in categories if category]),
        "status": ("Now", [(status.value, said) for status, said in words.STATUS_WORDS.items()]),
        "label": ("Label", list(words.LABEL_FILTER_WORDS.items())),
        "reason": ("Why a person is asked", [(reason.value, words.REASON_WORDS[reason]) for reason in Reason]),
    }
    return [
        {
            "name": name,
            "label": label,
            "chosen": getattr(chosen, name),
            "options": [{"value": value, "label": said} for value, said in values],
        }
        for name, (label, values) in options.items()
    ]
