"""Rows of a table: CSV, TSV, JSONL or a list in JSON, with a mapping that says what its columns are.

Where the mapping names no column for a part, the usual names are tried, and every column is a fact that the mapping may
use. What has no place in a trajectory goes along as metadata as far as it is short. Columns that look like labels are
offered as scores; none means anything before the mapping says what. Tried on CSV after RFC 4180, on the JSON of
ASSEBench, and on conversations with `from` and `value`.
"""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from labeling.formats import by_column, documents, elements, tables
from labeling.formats.by_column import is_missing
from labeling.formats.chats import is_messages, moment_of, names_columns, opening, said_by_others
from labeling.formats.documents import Found, Layout
from labeling.formats.mapping import Columns, ImportMapping, Turns, as_number, as_text, at_path
from labeling.formats.mapping import found as by_rule
from labeling.formats.naming import Names, storable
from labeling.formats.normal import ROLES, Unreadable, too_deep
from labeling.formats.problems import shown
from labeling.formats.reading import HEAD_BYTES, Format, Item, Row, Score, Sniff, Source, System, Unread
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
    "tier": ("tier", "severity"),
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
_LISTS = ("rows", "data", "results", "items", "records", "samples", "examples")
_LABELS = re.compile(
    r"label|score|judge|grade|verdict|refus|jailbroken|harm|unsafe|safe|flagged|success|passed|correct|rating|complian"
)
_SHARED = Turns(
    role="from",
    roles={"human": "user", "gpt": "assistant", "chatgpt": "assistant", "bot": "assistant", "model": "assistant"},
    text=["value"],
)


def recognises(sniff: Sniff) -> bool:
    layout = documents.layout(sniff.head)
    if sniff.head and names_columns(sniff):
        return True
    if layout is Layout.NONE:
        names = tables.columns_of(sniff.head)
        return len(names) > 1 and _holds_answers(names)
    return _holds_answers(_first_row(sniff, layout))


def read(source: Source) -> Iterator[Item]:
    table = _Table(source.mapping)
    for found in _rows(source):
        if isinstance(found, Unread):
            yield found
            continue
        try:
            yield from table.read(found)
        except Unreadable as error:
            yield Unread(found.place, error.path, error.reason, found.raw)


def _rows(source: Source) -> Iterator[Found | Unread]:
    with source.text() as stream:
        head = stream.read(HEAD_BYTES).lstrip()
    layout = documents.layout(head)
    if layout is Layout.NONE:
        for record in tables.records(source):
            yield record if isinstance(record, Unread) else Found(record.place, record.number, record.raw, record.cells)
        return
    path = source.mapping.rows.split(".") if source.mapping.rows else []
    if layout is Layout.ALONE and not path:
        keys = elements.outline(head).keys
        path = [name for name in _LISTS if name in keys][:1]
    number = 0
    for found in documents.values(source, *path):
        number += 1
        yield found
    if path and not number:
        yield Unread("the file", "rows", f"has no list at {shown('.'.join(path))}; the mapping must say where it lies")


class _Table:
    """Row after row, with what the rows before have to do with it: names taken, and systems told of."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._mapping = mapping
        self._names = Names()
        self._systems: set[str] = set()

    def read(self, found: Found) -> Iterator[System | Row]:
        if not isinstance(found.value, dict):
            raise Unreadable("", "is no object")
        facts = {"id": found.key, **found.value} if found.key else found.value
        columns = guessed(facts, self._mapping.columns)
        messages = _messages(facts, columns, self._mapping)
        model = as_text(at_path(facts, columns.system)) if columns.system else ""
        if model not in self._systems:
            self._systems.add(model)
            yield System(model, model)
        case = self._case(facts, columns, messages)
        observed_at = _value(facts, columns.observed_at)
        line = {
            "external_id": self._names.row(model, _value(facts, columns.external_id), found.number),
            "attempt": self._attempt(facts, columns, model, case["key"]),
            "system": _value(facts, columns.system_prompt),
            "messages": messages,
            "stop_reason": _value(facts, columns.stop_reason),
            "error": _value(facts, columns.error),
            "observed_at": moment_of(observed_at) or observed_at,
            "metadata": by_column.small(_beside(facts, columns)),
        }
        yield Row(
            place=found.place,
            system=model,
            line={name: value for name, value in line.items() if value is not None},
            case=case,
            facts=facts,
            scores=tuple(self._scores(facts)),
            verdicts=tuple(by_column.verdicts(facts, self._mapping)),
            raw=found.raw,
        )

    def _case(self, facts: Mapping[str, Any], columns: Columns, messages: list[Any]) -> dict[str, Any]:
        """With the key that it will have in the end, so that attempts on it are counted."""
        case = _guessed_case(facts)
        asked = said_by_others(messages)
        key = by_rule(self._mapping.case.key, facts)
        if is_missing(key):
            present = _by_plain_name(facts)
            names = [present[name] for name in _CASE_KEYS if name in present]
            wanted = _value(facts, names[0] if names else columns.external_id)
            key = self._names.case(wanted, [_value(facts, columns.system_prompt), asked])
        if "kind" not in case and sum(message["role"] == "user" for message in asked) > 1:
            case["kind"] = Kind.MULTI_TURN.value
        request = opening(messages)
        return {"key": as_text(key), **({"request": request} if request else {}), **case}

    def _attempt(self, facts: Mapping[str, Any], columns: Columns, model: str, case: str) -> int:
        """As a column has it, else counted."""
        given = _value(facts, columns.attempt)
        if given is None:
            return self._names.attempt(model, case)
        attempt = _counted_from_one(given)
        if attempt is None:
            raise Unreadable(columns.attempt or "", "is no number of an attempt; they count from 1")
        return attempt

    def _scores(self, facts: Mapping[str, Any]) -> Iterator[Score]:
        """What a rule names, and what looks like a label, for a rule to say what it means."""
        yield from by_column.scores(facts, self._mapping)
        named = {name for name, rule in self._mapping.scores.items() if rule.column is None}
        taken = {given for name, rule in self._mapping.scores.items() if rule.column for given in (name, rule.column)}
        for name, value in facts.items():
            if name not in taken and (name in named or _is_label(name, value)):
                yield by_column.score(name, value)


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
        return moment_of(value) is not None or (isinstance(value, str) and _is_time(value))
    if part == "stop_reason":
        return isinstance(value, str) and len(value) <= 60
    if part == "attempt":
        return _counted_from_one(value) is not None
    return part != "error" or by_column.truth_of(value) is not False


def _is_time(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text)) and len(text) <= 40
    except ValueError:
        return False


def _guessed_case(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the case that columns of their name hold; only what is one for certain, since nobody named it."""
    present = _by_plain_name(facts)
    case: dict[str, Any] = {}
    for field, usual in _CASE_FIELDS.items():
        value = next((facts[present[name]] for name in usual if name in present), None)
        if field == "tier":
            tier = _counted_from_one(value)
            case |= {} if tier is None else {field: tier}
        elif isinstance(value, str) and 0 < len(value) <= _LENGTHS.get(field, 1000) and value == storable(value):
            case |= {field: value} if value.strip().casefold() in _WORDS.get(field, {value.strip().casefold()}) else {}
    return case


def _messages(facts: Mapping[str, Any], columns: Columns, mapping: ImportMapping) -> list[Any]:
    """The conversation; a response in a column of its own is its last turn. Raises Unreadable."""
    for part in ("messages", "prompt", "response"):
        name = getattr(mapping.columns, part)
        if name is not None and name not in facts and name.partition(".")[0] not in facts:
            raise Unreadable(f"columns.{part}", "is named in the mapping, and this row has no such column")
    said = _value(facts, columns.messages)
    error = _value(facts, columns.error)
    answer = _value(facts, columns.response)
    if said is None and columns.response is None and error is None:
        names = ", ".join(shown(name, limit=30) for name in list(facts)[:20])
        raise Unreadable("columns.response", f"is none of {names}; the mapping must name it, or columns.messages")
    if said is None:
        messages = _prompt(_value(facts, columns.prompt))
        return messages if answer is None and error is not None else [*messages, _answer(answer)]
    messages = _conversation(said, mapping.turns, path=columns.messages or "")
    return messages if answer is None or messages[-1]["role"] == "assistant" else [*messages, _answer(answer)]


def _answer(answer: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": answer if answer is None else as_text(answer)}


def _prompt(prompt: Any) -> list[Any]:
    """Words, or messages, also written as JSON in a cell."""
    if prompt is None:
        return []
    given = _from_json(prompt) if isinstance(prompt, str) and prompt.lstrip().startswith("[") else prompt
    return given if is_messages(given) else [{"role": "user", "content": as_text(prompt)}]


def _conversation(said: Any, turns: Turns | None, *, path: str) -> list[Any]:
    given = _from_json(said) if isinstance(said, str) else said
    if turns is None and is_messages(given):
        return list(given)
    flat = list(_flat(given))
    if not flat or not all(isinstance(turn, dict) for turn in flat):
        raise Unreadable(path, "is no list of turns")
    if turns is None and {"from", "value"} <= flat[0].keys():
        turns = _SHARED
    if turns is None:
        raise Unreadable(path, "is no list of messages with role and content; the mapping must say more in turns")
    return [_turn(turn, turns, path=f"{path}[{index}]") for index, turn in enumerate(flat)]


def _turn(turn: Mapping[str, Any], turns: Turns, *, path: str) -> dict[str, Any]:
    """A turn as a message; what the mapping does not speak of stays in it."""
    given = as_text(turn.get(turns.role))
    role = turns.roles.get(given, given)
    if role not in ROLES:
        raise Unreadable(f"{path}.{turns.role}", "stands for no role; the mapping must say for which, in turns.roles")
    kept = {name: value for name, value in turn.items() if name not in (turns.role, *turns.text, *turns.reasoning)}
    thought = [{"type": "reasoning", "text": as_text(turn[name])} for name in turns.reasoning if turn.get(name)]
    words = [as_text(turn[name]) for name in turns.text if turn.get(name)]
    if not thought and len(words) <= 1:
        return {**kept, "role": role, "content": "".join(words)}
    return {**kept, "role": role, "content": [*thought, *({"type": "text", "text": text} for text in words)]}


def _flat(given: Any) -> Iterator[Any]:
    """Turns that are grouped are read as one conversation."""
    for each in given if isinstance(given, list) else []:
        if isinstance(each, list):
            yield from _flat(each)
        else:
            yield each


def _from_json(text: str) -> Any:
    """What a cell holds as JSON; `None` if it is none, or is nested too deeply to be a conversation."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if too_deep(given) else given


def _value(facts: Mapping[str, Any], path: str | None) -> Any:
    """What is in a column; `None` where there is nothing."""
    value = None if path is None else at_path(facts, path)
    return None if is_missing(value) else value


def _counted_from_one(value: Any) -> int | None:
    number = as_number(value)
    return int(number) if number is not None and number >= 1 and number.is_integer() else None


def _beside(facts: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    placed = {getattr(columns, part) for part in _USUAL}
    return {name: value for name, value in facts.items() if name not in placed}


def _is_label(name: str, value: Any) -> bool:
    plain = _plain(name)
    known = any(plain in usual for usual in (*_USUAL.values(), *_CASE_FIELDS.values(), _CASE_KEYS))
    is_scalar = isinstance(value, bool | int | float | str) and not is_missing(value)
    return is_scalar and not known and _LABELS.search(plain) is not None and len(as_text(value)) <= 200


def _holds_answers(names: Iterable[str]) -> bool:
    plain = {_plain(name) for name in names}
    return any(name in plain for name in (*_USUAL["response"], *_USUAL["messages"]))


def _first_row(sniff: Sniff, layout: Layout) -> Mapping[str, Any]:
    """The first row of a JSON document, also where its rows lie under a usual name."""
    first = documents.first(sniff)
    for name in _LISTS if layout is Layout.ALONE else ():
        try:
            first = elements.loads(next(elements.elements(io.BytesIO(sniff.head), name)).raw)
        except (elements.Broken, StopIteration):
            continue
    return first if isinstance(first, dict) else {}


def _by_plain_name(facts: Mapping[str, Any]) -> dict[str, str]:
    """Names as they are usually written: without case, with _ for spaces and dashes. The first of a kind counts."""
    return {_plain(name): name for name in reversed(list(facts))}


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())


FORMAT = Format("table", "CSV, TSV, JSONL or JSON, by columns", "RFC 4180; ASSEBench e2b78359", recognises, read)
