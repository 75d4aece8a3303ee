"""How one judge version is doing, and what one that learned is worth, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from audit.charts.strip import strip
from audit.measure.calibration import Fraction
from labeling.selectors.calling import JudgeState, RejudgingState
from labeling.vocabulary import GOING_ON, Decision, JudgeKind, WorkStatus

_REJUDGING = {
    WorkStatus.WAITING: "waits to be put to",
    WorkStatus.WORKING: "is being put to",
    WorkStatus.DONE: "was put to",
    WorkStatus.FAILED: "could not be put to",
}
_OPEN = {"not_refused": "not refused", "unsure": "not sure"}


def standing(kind: str, state: JudgeState) -> list[dict[str, str]]:
    """Tags for a row: what it is for, and what is wrong with it. tone: how loud."""
    return [{"words": words, "tone": tone} for words, tone in _standing(kind, state)]


def _standing(kind: str, state: JudgeState) -> Iterator[tuple[str, str]]:
    if kind == JudgeKind.IMPORTED:
        yield "posted by runners", ""
        return
    yield ("on the panel", "strong") if state.on_panel else ("off", "")
    if not state.runs_here:
        yield "no longer runs here", "warn"
    if state.parked_until:
        yield "parked", "bad"
    elif state.parked_reason and state.owed:
        yield "not answering", "bad"
    if state.owed:
        yield f"{_calls(state.owed)} waiting", ""
    if state.parked_calls:
        yield f"{_calls(state.parked_calls)} broke", "bad"
    if state.rejudging and state.rejudging.status in GOING_ON:
        yield f"being put to {state.rejudging.total}", ""


def _calls(count: int) -> str:
    return f"{count} call{'s' if count != 1 else ''}"


def rejudging_words(state: RejudgingState) -> str:
    """How far the last wish to put it to more has come."""
    what = "what people audited" if state.run_id is None else "a run"
    done = f"{state.handed_on} of {state.total} gone through"
    return f"It {_REJUDGING[state.status]} {what}: {done}. What it had judged before stays as it was."


def learned_words(report: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a classifier that learned from verdicts is worth on answers it had not learned from, as a page shows it."""
    if not report:
        return None
    columns = [*(decision.value for decision in Decision), *_OPEN]
    return {
        "verdicts": report["verdicts"],
        "cases": report["cases"],
        "confidence": report["confidence"],
        "columns": [_column(column) for column in columns],
        "lines": [
            {
                "name": truth.replace("_", " "),
                "cells": [
                    {"name": _column(column), "count": said[column], "agree": column == truth} for column in columns
                ],
                "total": sum(said.values()),
            }
            for truth, said in report["confusion"].items()
        ],
        "figures": [
            {"name": "every answer, the likeliest decision", **_figures(report["all"])},
            {"name": "only where it is sure", **_figures(report["sure"])},
        ],
        "decisions": [
            {"name": name.replace("_", " "), **{key: _number(each[key]) for key in ("precision", "recall", "f1")}}
            for name, each in report["sure"]["decisions"].items()
        ],
        "brier": _number(report["brier"]),
        "harmful": _harm(report["harmful"]),
    }


def _column(name: str) -> str:
    return _OPEN.get(name, name.replace("_", " "))


def _figures(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {"accuracy": _strip(figures["accuracy"]), "macro_f1": _number(figures["macro_f1"])}


def _harm(report: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {**report, "finds": _strip(report["sensitivity"]), "clears": _strip(report["specificity"])}


def _strip(share: Mapping[str, Any]) -> Any:
    return strip(Fraction(share["hits"], share["total"]))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
