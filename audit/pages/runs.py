"""One run: its report, and the list of its trajectories."""

import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from audit.measure.rates import Incomplete, RatePair
from audit.pages import words
from audit.pages.checks import checks_words
from audit.pages.consent import choose, chose_to_see
from audit.pages.figures import Figure, FigureGroup, figure_row, judge_words, overall_rows, shared_scale
from audit.pages.run_judges import judges_of_run, piles_words, stuck_on
from audit.selectors.asking import held_by, holds_of, labels_for, may_filter_by_labels
from audit.selectors.differing import judges_in
from audit.selectors.names import RunRef, judge_names
from audit.selectors.report import DrawProgress, Report, SideCounts, report_of, without_detail
from audit.selectors.trajectories import OVER_MEASUREMENT, Filters, TrajectoryList, TrajectoryRow, list_trajectories
from audit.services import viewing
from labeling.models import Membership
from labeling.pages.edge import framed, page, person, person_page, whole_number
from labeling.selectors.access import membership_of
from labeling.selectors.naming import run_in
from labeling.vocabulary import Reason, Role, RunStatus, Side, TrajectoryStatus

_LONG_PROMPT = 400


# --- the report ----------------------------------------------------------------------------------------------------


@require_safe
@person_page
def run(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    membership = membership_of(request.user, key)
    this = run_in(membership.project, run_id)
    report = report_of(this)
    judging = holds_of(user_id=membership.user_id, measurement_id=this.measurement_id)
    if judging:
        report = without_detail(report)
    slices = [row.pair for slicing in report.slicings for row in slicing.rows]
    scale, axis = shared_scale([report.as_labeled, *(pair for _, pair in report.by_judge), *slices])
    overall, judges = overall_rows(report.as_labeled, report.by_judge, scale=scale)
    incomplete = report.as_labeled if isinstance(report.as_labeled, Incomplete) else None
    # The counts are the measurement's, so what they lead to is as well.
    over = {"over": OVER_MEASUREMENT} if len(report.runs) > 1 else {}
    stuck = stuck_on(this)
    context = framed(
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
        checks=checks_words(report.checks, over) if report.checks else None,
        incomplete=incomplete,
        missing=" or ".join(incomplete.missing) if incomplete else "",
        completing=report.completing_runs,
        loud_facts=_loud_facts(report),
        labeled_by=_labeled_by(report),
        judging=judging,
        ungraded=report.as_labeled.harmful_compliance.ungraded if isinstance(report.as_labeled, RatePair) else 0,
        sides=[_side(side, over) for side in report.sides],
        leaks_query=urlencode({"label": "leak", **over}),
        **judges_of_run(membership, report, over),
        **stuck,
        owing=any(one["waiting"].owed for one in stuck["waiting"]) or any(side.pending for side in report.sides),
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
            tuple(figure_row(row.name, row.pair, scale=scale, by_judge=row.by_judge) for row in slicing.rows),
        )
        for slicing in report.slicings
        if slicing.rows
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
        what = "it to settle it" if owed == 1 else "them to settle them"
        said.append(f"{_count(owed, 'trajectory waits', 'trajectories wait')} for a person: review {what}.")
    for side in report.sides:
        missing = side.suite_cases - side.answered_cases
        if side.posted and missing > 0:
            said.append(f"The {side.side} side lacks {_count(missing, 'case', 'cases')} of {side.suite_cases}.")
        if side.posted and side.not_run > side.posted * 0.05:
            were = "was" if side.not_run == 1 else "were"
            said.append(f"{side.not_run} of {side.posted} on the {side.side} side {were} not run: see what failed.")
    return said + piles_words(report.warnings)


def _labeled_by(report: Report) -> str:
    """How much of the headline people stand for: the judges' share carries an error that no interval here includes."""
    judged = [side for side in report.sides if side.side != Side.CAPABILITY]
    people = sum(side.human_labels for side in judged)
    labeled = sum(side.posted - side.not_run for side in judged)
    if people == labeled:
        return "every label by people"
    return f"{people} of {labeled} labels by people; the judges' error is not included in the rest"


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _side(side: SideCounts, over: dict[str, str]) -> dict[str, Any]:
    """The counts of a side, each with the filter that lists what it counts."""
    cells: list[tuple[str, int, dict[str, str]]] = [
        ("Trajectories", side.posted, {}),
        ("Not run", side.not_run, {"label": "not_run"}),
        ("Waiting for judges", side.pending, {"status": TrajectoryStatus.PENDING}),
        ("Waiting for a person", side.needs_audit, {"status": TrajectoryStatus.NEEDS_AUDIT}),
        ("Undetermined", side.undetermined, {"label": "undetermined"}),
        ("Labeled by people", side.human_labels, {"label": "human"}),
    ]
    return {
        "counts": side,
        "cells": [
            {"name": name, "count": count, "query": urlencode({"side": side.side, **more, **over})}
            for name, count, more in cells
        ],
    }


def _draw(draw: DrawProgress) -> dict[str, Any]:
    share = 100 * draw.done / draw.asked if draw.asked else 100
    return {**draw._asdict(), "share": f"{share:.1f}%"}


# --- the trajectories ----------------------------------------------------------------------------------------------


@require_safe
@person_page
def trajectories(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    """Labels are shown where this person cannot be asked any more, or asked to see them."""
    membership = membership_of(request.user, key)
    this = run_in(membership.project, run_id)
    wanted = Filters.of(request.GET)
    chose = chose_to_see(request, membership.project)
    refused = wanted.tell and not may_filter_by_labels(membership, chose_to_see=chose)
    filters = wanted.untold() if refused else wanted
    listed = list_trajectories(
        run=this,
        filters=filters,
        page=whole_number(request.GET.get("page")),
        # What is held is not even listed: the page around it names the model, and filters what was said of it.
        without=held_by(membership.user_id),
    )
    labels = labels_for(membership=membership, trajectory_ids=[row.id for row in listed.rows], chose_to_see=chose)
    seen = viewing.record_views(trajectory_ids=labels.shown, user=person(request), showed_opinions=True)
    context = framed(
        membership,
        "runs",
        run=RunRef.of(this),
        listed=listed,
        rows=[
            _row(row, hidden=row.id not in seen, run=listed.run_names[row.run_id] if filters.over else "")
            for row in listed.rows
        ],
        filters=_filter_fields(filters, listed, differing=_differing_words(membership, filters.differ)),
        is_filtered=any(filters),
        query=f"{_address(filters)}&" if any(filters) else "",
        refused=refused,
        kept=[(name, getattr(wanted, name)) for name in ("label", "reason", "differ") if refused],
        hides=len(seen) < len(listed.rows) and not chose,
        shows=chose and membership.may(Role.REVIEWER),
    )
    return page(request, "run_trajectories.html", context)


@require_POST
@person_page
def show_labels(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    """Show or hide, in this session, labels that make a later verdict of this person not blind."""
    membership = membership_of(request.user, key)
    this = run_in(membership.project, run_id)
    choose(request, this.project, show=request.POST.get("show") == "yes")
    query = _address(Filters.of(request.POST))
    return HttpResponseRedirect(f"{reverse('run_trajectories', args=[key, run_id])}{'?' if query else ''}{query}")


def _address(filters: Filters) -> str:
    return urlencode({name: value for name, value in filters._asdict().items() if value})


def _row(row: TrajectoryRow, *, hidden: bool, run: str) -> dict[str, Any]:
    return {
        "row": row,
        "run": run,
        "label": None if hidden else words.label_words(row),
        "now": words.STATUS_WORDS[TrajectoryStatus(row.status)],
        "why": "" if hidden else words.reasons_words(row.reasons),
    }


def _differing_words(membership: Membership, differ: str) -> str:
    """Which judges disagree in this list; nothing where it is about no two of this project."""
    ids = judges_in(differ)
    names = judge_names(project=membership.project, judge_ids=ids) if ids else {}
    if ids is None or len(names) < 2:
        return ""
    first, second = (judge_words(names[pk]) for pk in ids)
    if "excludes" in differ:
        return f"the decisions of {first} and {second} exclude each other"
    return f"{first} calls it an error, {second} does not" if "not" in differ else f"{first} and {second} disagree"


def _filter_fields(chosen: Filters, listed: TrajectoryList, *, differing: str) -> list[dict[str, Any]]:
    """The filters as fields of a form; over more than the run where there is more."""
    labels = words.CHECK_FILTER_WORDS if chosen.side == Side.CAPABILITY else words.LABEL_FILTER_WORDS
    options = {
        "side": ("Side", [(side.value, side.value) for side in Side]),
        "category": (
            "Category",
            [(category, category.replace("_", " ")) for category in listed.categories if category],
        ),
        "status": ("Now", [(status.value, said) for status, said in words.STATUS_WORDS.items()]),
        "label": ("Label", list(labels.items())),
        "reason": ("Why a person is asked", [(reason.value, words.REASON_WORDS[reason]) for reason in Reason]),
    }
    if chosen.differ:
        options["differ"] = ("Judges", [(chosen.differ, differing or "two judges disagree")])
    if chosen.over or len(listed.run_names) > 1:
        options["over"] = ("Runs", [(OVER_MEASUREMENT, "all of its measurement")])
    return [
        {
            "name": name,
            "label": label,
            "nothing": "this one" if name == "over" else "any",
            "chosen": getattr(chosen, name),
            "options": [{"value": value, "label": said} for value, said in values],
        }
        for name, (label, values) in options.items()
    ]
