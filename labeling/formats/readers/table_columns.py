"""What the columns of a table are by their names, where no mapping says it."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from labeling.formats.mapping import Columns, as_number, as_text
from labeling.formats.rows.naming import storable
from labeling.formats.rows.values import as_moment, as_time, is_missing, truth_of
from labeling.vocabulary import Kind, Origin, Side

# The usual names of columns, in the order in which they are tried; compared without case, with _ for spaces and dashes.
_USUAL: Mapping[str, tuple[str, ...]] = {
    "external_id": ("external_id", "id", "uid", "uuid", "sample_id", "row_id"),
    "prompt": ("prompt", "question", "input", "query", "instruction", "request", "user", "goal", "objective"),
    "response": (
        "response",
        "completion",
        "output",
        "answer",
        "generation",
        "model_output",
        "model_response",
        "assistant_response",
        "reply",
    ),
    "system_prompt": ("system_prompt", "system_message", "system"),
    "messages": ("messages", "conversation", "conversations", "contents", "turns", "transcript"),
    "system": ("model", "model_name", "model_id", "target", "target_model"),
    "attempt": ("attempt",),
    "stop_reason": ("stop_reason", "finish_reason"),
    "error": ("error",),
    "observed_at": ("observed_at", "created_at", "timestamp"),
}
_CASE_KEYS = ("case", "case_id", "case_key", "prompt_id", "question_id", "task_id")
_CASE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "side": ("side",),
    "category": ("category", "risk_type", "topic"),
    # Not `severity`: elsewhere the gravest is mostly the highest, and here it is 1.
    "tier": ("tier",),
    "framing": ("framing",),
    "kind": ("kind",),
    "origin": ("origin",),
    "pair": ("pair",),
    "base_request": ("base_request",),
    "right_answer": ("right_answer",),
}
# A case that a guess makes invalid could not be mended by its owner, who named nothing.
_WORDS: Mapping[str, set[str]] = {"side": set(Side), "kind": set(Kind), "origin": set(Origin)}
_LENGTHS = {"category": 100, "framing": 60, "pair": 200, "base_request": 200}
_LABELS = re.compile(
    r"label|score|judge|grade|verdict|refus|jailbroken|harm|unsafe|safe|flagged|success|passed|correct|rating|complian"
)


def guessed(facts: Mapping[str, Any], named: Columns) -> Columns:
    """The columns as the mapping names them, and by their usual names where it does not."""
    present = _by_plain_name(facts)
    found = {
        part: next((present[name] for name in usual if name in present), None)
        for part, usual in _USUAL.items()
        if getattr(named, part) is None
    }
    usable = {part: name for part, name in found.items() if name is not None and _is_usable(part, facts[name])}
    return named.model_copy(update=usable)


def _is_usable(part: str, value: Any) -> bool:
    """Could this value be what the name of its column suggests? Otherwise it stays beside."""
    if part == "observed_at":
        return as_moment(value) is not None or as_time(value) != ""
    if part == "stop_reason":
        return isinstance(value, str) and len(value) <= 60
    if part == "attempt":
        return counted_from_one(value) is not None
    return part != "error" or truth_of(value) is not False


def guessed_case(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the case that columns of their name hold; only what is one for certain, since nobody named it."""
    present = _by_plain_name(facts)
    case: dict[str, Any] = {}
    for field, usual in _CASE_FIELDS.items():
        value = next((facts[present[name]] for name in usual if name in present), None)
        if field == "tier":
            tier = counted_from_one(value)
            case |= {} if tier is None else {field: tier}
        elif isinstance(value, str) and 0 < len(value) <= _LENGTHS.get(field, 1000) and value == storable(value):
            case |= {field: value} if value.strip().casefold() in _WORDS.get(field, {value.strip().casefold()}) else {}
    return case


def case_column(facts: Mapping[str, Any]) -> str | None:
    """The column that names the case."""
    present = _by_plain_name(facts)
    return next((present[name] for name in _CASE_KEYS if name in present), None)


def beside(facts: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """The columns that have no place in a trajectory."""
    placed = {getattr(columns, part) for part in _USUAL}
    return {name: value for name, value in facts.items() if name not in placed}


def is_label(name: str, value: Any) -> bool:
    """Does this look like what a judge or a person said of the answer?"""
    plain = _plain(name)
    known = any(plain in usual for usual in (*_USUAL.values(), *_CASE_FIELDS.values(), _CASE_KEYS))
    is_scalar = isinstance(value, bool | int | float | str) and not is_missing(value)
    return is_scalar and not known and _LABELS.search(plain) is not None and len(as_text(value)) <= 200


def holds_answers(names: Iterable[str]) -> bool:
    """Are there columns of these names in which targets usually answer?"""
    plain = {_plain(name) for name in names}
    return any(name in plain for name in (*_USUAL["response"], *_USUAL["messages"]))


def counted_from_one(value: Any) -> int | None:
    number = as_number(value)
    return int(number) if number is not None and number >= 1 and number.is_integer() else None


def _by_plain_name(facts: Mapping[str, Any]) -> dict[str, str]:
    """Names as they are usually written: without case, with _ for spaces and dashes. The first of a kind counts."""
    return {_plain(name): name for name in reversed(list(facts))}


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())
