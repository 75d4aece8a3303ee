"""Verdicts given elsewhere, before: what one is, and reading one from a JSON value.

Strict: "2" is no number, and no field is dropped without a word. Leaving a field out and giving null are the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from labeling.vocabulary import HARM_GRADES, Decision, VerdictKind

_LONGEST_NAME = 200
_PARTS = ("decision", "harm_grade", "explained", "alternative_offered", "withheld")


class Unreadable(NamedTuple):
    """A line of which no verdict can be made; it keeps its place in the answer."""

    external_id: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoricVerdict:
    """What somebody said of a trajectory, and when. Any part may be missing, not all of them.

    external_id: the trajectory's. blind: left out, it is as the whole import declares.
    """

    external_id: str
    author: str
    decided_at: datetime
    kind: VerdictKind = VerdictKind.REVIEW
    decision: Decision | None = None
    harm_grade: int | None = None
    explained: bool | None = None
    alternative_offered: bool | None = None
    withheld: bool | None = None
    note: str = ""
    blind: bool | None = None


def problem(verdict: HistoricVerdict) -> tuple[str, str] | None:
    """The field and the sentence of what keeps a verdict from being stored, if anything does."""
    if verdict.decided_at.tzinfo is None:
        return "decided_at", "gives no time zone: add Z or an offset, as in 2026-11-29T10:00:00+01:00"
    for name in ("external_id", "author"):
        if reason := _name(getattr(verdict, name)):
            return name, reason
    if all(getattr(verdict, part) is None for part in _PARTS):
        return "decision", "is missing, and so is every other part; a verdict says something"
    return None


def read(value: Any) -> HistoricVerdict | Unreadable:
    """One line, or the first thing that is wrong with it."""
    if not isinstance(value, dict):
        return Unreadable("", "", "must be an object")
    given = {name: each for name, each in value.items() if each is not None}
    external_id = shown(given["external_id"]) if isinstance(given.get("external_id"), str) else ""
    for name in given:
        if name not in _FIELDS:
            return Unreadable(external_id, shown(name), "is not a field here")
    for name, check in _FIELDS.items():
        if name in given and (reason := check(given[name])):
            return Unreadable(external_id, name, reason)
        if name not in given and name in _REQUIRED:
            return Unreadable(external_id, name, "is required")
    return HistoricVerdict(**{name: _CONVERTED.get(name, _same)(each) for name, each in given.items()})


def shown(text: str) -> str:
    """Somebody else's text in an answer of ours: printable and short."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:_LONGEST_NAME])


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= _LONGEST_NAME:
        return f"must be text of 1 to {_LONGEST_NAME} characters"
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value):
        return "must not hold NUL or lone surrogates"
    return ""


def _time(value: Any) -> str:
    try:
        _moment(value)
    except (TypeError, ValueError, OverflowError):
        return "must be a time in ISO 8601 with its zone, as in 2026-11-29T10:00:00Z"
    return ""


def _moment(value: str) -> datetime:
    """In UTC where the zone is known. An unknown zone stays unknown; `problem` refuses it."""
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo is None else moment.astimezone(UTC)


def _word(words: type[StrEnum]) -> Callable[[Any], str]:
    sentence = f"must be one of {', '.join(words)}"
    return lambda value: "" if isinstance(value, str) and value in set(words) else sentence


def _grade(value: Any) -> str:
    fits = isinstance(value, int) and not isinstance(value, bool) and value in HARM_GRADES
    return "" if fits else "must be a whole number from 0 to 4"


def _flag(value: Any) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "must be text"


def _same(value: Any) -> Any:
    return value


_FIELDS: Mapping[str, Callable[[Any], str]] = {
    "external_id": _name,
    "author": _name,
    "decided_at": _time,
    "kind": _word(VerdictKind),
    "decision": _word(Decision),
    "harm_grade": _grade,
    "explained": _flag,
    "alternative_offered": _flag,
    "withheld": _flag,
    "note": _text,
    "blind": _flag,
}
_REQUIRED = ("external_id", "author", "decided_at")
_CONVERTED: Mapping[str, Callable[[Any], Any]] = {"decided_at": _moment, "kind": VerdictKind, "decision": Decision}
