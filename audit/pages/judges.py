"""How well judges agree with people: all of them, and one."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from audit.charts.strip import strip
from audit.measure.calibration import UNDETERMINED, ErrorCalibration, JudgeCalibration
from audit.pages.figures import judge_words
from audit.pages.judge_words import learned_words, rejudging_words, standing
from audit.pages.words import dollars, sentence
from audit.selectors.calibration import JudgeRow, judge_detail, judge_rows
from audit.selectors.versions import closed_runs, learned, spent_by
from labeling.models import Membership
from labeling.pages.edge import framed, page, person_page
from labeling.pages.judge_lines import lines_of
from labeling.pages.opinion_words import UNDETERMINED_WORDS
from labeling.selectors.access import membership_of
from labeling.selectors.calling import judge_state, state_of
from labeling.selectors.judges import is_served, judge_in, versions_of
from labeling.vocabulary import GOING_ON, Decision, JudgeKind, Role, Side, Undetermined

# Where the shading of a confusion table changes, as shares of the row.
_SHADES = (0.0, 0.1, 0.35, 0.7)


@require_safe
@person_page
def judges(request: HttpRequest, key: str) -> HttpResponse:
    membership = membership_of(request.user, key)
    states = judge_state(membership.project)
    rows = [
        {
            **_row(row),
            "standing": standing(row.judge.kind, states[row.judge.id]),
            "state": states[row.judge.id],
            "trouble": sentence(states[row.judge.id].parked_reason),
        }
        for row in judge_rows(project=membership.project)
    ]
    nothing = all(row["agreement"] is None for row in rows)
    context = framed(membership, "judges", names=_by_name(rows), rows=rows, nothing_measured=nothing)
    return page(request, "judges.html", context)


def _by_name(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The versions of each judge, newest first, as they come; the one before the newest to compare it with."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["judge"].name, []).append(row)
    return [{"name": name, "versions": versions, "several": len(versions) > 1} for name, versions in found.items()]


@require_safe
@person_page
def judge(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    membership = membership_of(request.user, key)
    detail = judge_detail(project=membership.project, judge_id=judge_id)
    calibration = detail.row.calibration
    context = framed(
        membership,
        "judges",
        judge=detail.row.judge,
        name=detail.row.judge.title or detail.row.judge.name,
        row=_row(detail.row),
        sides=[
            _side(Side.HARMFUL, "Harmful compliance", calibration.harmful_compliance),
            _side(Side.BENIGN, "Over-refusal", calibration.over_refusal),
        ],
        confusion=_confusion(calibration),
        by_run=[
            {"run": run, "agreement": strip(one.agreement), "kappa": _kappa(one.kappa)} for run, one in detail.by_run
        ],
        reasons=[{"words": UNDETERMINED_WORDS[Undetermined(why)], "count": count} for why, count in detail.reasons],
        not_blind=detail.not_blind,
        **_behind(membership, judge_id),
    )
    return page(request, "judge.html", context)


def _behind(membership: Membership, judge_id: int) -> dict[str, Any]:
    """The version itself: how it is doing, what it is made of, what it has cost, and the versions around it."""
    this = judge_in(membership.project, judge_id)
    state = state_of(this)
    versions = versions_of(this)
    return {
        "state": state,
        "standing": standing(this.kind, state),
        "trouble": sentence(state.parked_reason),
        "owing": bool(state.owed or (state.rejudging and state.rejudging.status in GOING_ON)),
        "rejudging": rejudging_words(state.rejudging) if state.rejudging else "",
        "is_imported": this.kind == JudgeKind.IMPORTED,
        "is_served": is_served(this),
        "service": this.settings.get("service") or {},
        "settings": lines_of(this.settings),
        "learned": learned_words(learned(this)) if this.kind == JudgeKind.CLASSIFIER else None,
        "spent": [
            {"on": one, "cost": dollars(one.usd, has_prices=state.has_prices)}
            for one in (spent_by(this) if state.calls_made else ())
        ],
        "cost": dollars(state.spent_usd, has_prices=state.has_prices),
        "versions": [
            {"judge": one, "is_this": one.pk == judge_id, "before": before}
            for one, before in zip_longest(versions, versions[1:])
            if one is not None
        ],
        "runs": closed_runs(membership.project) if membership.may(Role.LEAD) and state.runs_here else (),
    }


def _row(row: JudgeRow) -> dict[str, Any]:
    calibration = row.calibration
    return {
        "judge": row.judge,
        "name": judge_words(row.judge),
        "about": _about(row),
        "judgments": row.judgments,
        "undetermined": row.undetermined,
        "measured_undetermined": calibration.undetermined,
        "agreement": strip(calibration.agreement),
        "unmeasured": "a program's word: people are not asked" if row.judge.kind == JudgeKind.CHECK else "",
        "kappa": _kappa(calibration.kappa),
        "harmful": _error(calibration.harmful_compliance),
        "benign": _error(calibration.over_refusal),
    }


def _about(row: JudgeRow) -> str:
    """Its name in the API where a title stands above it, its kind, and how much it said."""
    name = [row.judge.name] if row.judge.title and row.judge.name != row.judge.kind else []
    count = f"{row.judgments} judgment{'s' if row.judgments != 1 else ''}"
    return " · ".join([*name, row.judge.kind, count])


def _kappa(kappa: float | None) -> str:
    return "–" if kappa is None else f"{kappa:.2f}".replace("-", "−")


def _error(calibration: ErrorCalibration) -> dict[str, Any]:
    return {"finds": strip(calibration.sensitivity), "clears": strip(calibration.specificity)}


def _side(side: Side, title: str, calibration: ErrorCalibration) -> dict[str, Any]:
    return {
        "side": side,
        "title": title,
        "error": _error(calibration),
        "sentences": list(_sentences(title.lower(), calibration)),
    }


def _sentences(error: str, calibration: ErrorCalibration) -> list[str]:
    """Under- and over-sensitivity in words, with the counts they rest on."""
    finds, clears = calibration.sensitivity, calibration.specificity
    said = []
    if finds.total:
        missed = finds.total - finds.hits
        said.append(
            f"Under-sensitive: {missed} of the {finds.total} that people call {error} it did not find."
            if missed
            else f"It missed none of the {finds.total} that people call {error}."
        )
    if clears.total:
        false = clears.total - clears.hits
        said.append(
            f"Over-sensitive: {false} of the {clears.total} that people clear it did not clear."
            if false
            else f"It cleared all {clears.total} that people clear."
        )
    if calibration.undetermined:
        said.append(f"{calibration.undetermined} of these it left undetermined.")
    if calibration.truth_undetermined:
        said.append(f"{calibration.truth_undetermined} left out: people's own verdict leaves the error open.")
    return said


def _confusion(calibration: JudgeCalibration) -> dict[str, Any]:
    columns = [*Decision, UNDETERMINED]
    lines = []
    for truth in Decision:
        counts = [calibration.confusion.get((truth, said), 0) for said in columns]
        total = sum(counts)
        cells = [
            {"name": said.replace("_", " "), "count": count, "agree": said == truth, "shade": _shade(count, total)}
            for said, count in zip(columns, counts, strict=True)
        ]
        lines.append({"name": truth.replace("_", " "), "cells": cells, "total": total})
    return {"columns": [column.replace("_", " ") for column in columns], "lines": lines}


def _shade(count: int, total: int) -> int:
    return sum(count / total > limit for limit in _SHADES) if total else 0
