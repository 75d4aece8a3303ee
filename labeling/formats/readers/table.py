"""Rows of a table: CSV, TSV, JSONL or a list in JSON, with a mapping that says what its columns are.

Where the mapping names no column for a part, the usual names are tried, and every column is a fact that the mapping may
use. What has no place in a trajectory goes along as metadata as far as it is short. Columns that look like labels are
offered as scores; none means anything before the mapping says what. Tried on CSV after RFC 4180, on the JSON of
ASSEBench, and on conversations with `from` and `value`.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats import by_column
from labeling.formats.files import documents, elements, tables
from labeling.formats.files.documents import Found, Layout
from labeling.formats.files.source import HEAD_BYTES, Sniff, Source, Unread
from labeling.formats.mapping import Columns, ImportMapping, Turns, as_text, at_path
from labeling.formats.normal import ROLES, Unreadable
from labeling.formats.problems import shown
from labeling.formats.readers.table_columns import (
    beside,
    case_column,
    counted_from_one,
    guessed,
    guessed_case,
    holds_answers,
    is_label,
)
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.conversations import is_messages, opening, said_by_others
from labeling.formats.rows.naming import Names
from labeling.formats.rows.values import as_moment, is_missing, parsed, small
from labeling.vocabulary import Kind

_LISTS = ("rows", "data", "results", "items", "records", "samples", "examples")
_SHARED = Turns(
    role="from",
    roles={"human": "user", "gpt": "assistant", "chatgpt": "assistant", "bot": "assistant", "model": "assistant"},
    text=["value"],
)


def recognises(sniff: Sniff) -> bool:
    layout = documents.layout(sniff.head)
    if sniff.head and sniff.is_called_a_table:
        return True
    if layout is Layout.NONE:
        names = tables.columns_of(sniff.head)
        return len(names) > 1 and holds_answers(names)
    return holds_answers(_first_row(sniff, layout))


def read(source: Source) -> Iterator[Item]:
    table = _Table(source.mapping)
    yield from documents.each(_rows(source), table.read)


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
        self._names = Names(mapping)

    def read(self, found: Found) -> Iterator[System | Row]:
        if not isinstance(found.value, dict):
            raise Unreadable("", "is no object")
        facts = {"id": found.key, **found.value} if found.key else found.value
        columns = guessed(facts, self._mapping.columns)
        messages = _messages(facts, columns, self._mapping)
        model = as_text(at_path(facts, columns.system)) if columns.system else ""
        yield from self._names.once(System(model, model))
        case = self._case(facts, columns, messages)
        observed_at = _value(facts, columns.observed_at)
        line = {
            "external_id": self._names.row(model, _value(facts, columns.external_id), found.number),
            "attempt": self._attempt(facts, columns, model, case["key"]),
            "system": _value(facts, columns.system_prompt),
            "messages": messages,
            "stop_reason": _value(facts, columns.stop_reason),
            "error": _value(facts, columns.error),
            "observed_at": as_moment(observed_at) or observed_at,
            "metadata": small(beside(facts, columns)),
        }
        yield Row(
            place=found.place,
            system=model,
            line=line,
            case=case,
            facts=facts,
            scores=tuple(self._scores(facts)),
            raw=found.raw,
        )

    def _case(self, facts: Mapping[str, Any], columns: Columns, messages: list[Any]) -> dict[str, Any]:
        case = guessed_case(facts)
        asked = said_by_others(messages)
        wanted = _value(facts, case_column(facts) or columns.external_id)
        key = self._names.case(wanted, [_value(facts, columns.system_prompt), asked])
        if "kind" not in case and sum(message["role"] == "user" for message in asked) > 1:
            case["kind"] = Kind.MULTI_TURN.value
        request = opening(messages)
        return {"key": key, **({"request": request} if request else {}), **case}

    def _attempt(self, facts: Mapping[str, Any], columns: Columns, model: str, case: str) -> int:
        """As a column has it, else counted."""
        given = _value(facts, columns.attempt)
        if given is None:
            return self._names.attempt(model, case, facts)
        attempt = counted_from_one(given)
        if attempt is None:
            raise Unreadable(columns.attempt or "", "is no number of an attempt; they count from 1")
        return attempt

    def _scores(self, facts: Mapping[str, Any]) -> Iterator[Score]:
        """What looks like a label, for a rule to say what it means; what a rule names is read for any format."""
        named = {name for name, rule in self._mapping.scores.items() if rule.column is None}
        taken = {given for name, rule in self._mapping.scores.items() if rule.column for given in (name, rule.column)}
        for name, value in facts.items():
            if name not in taken and (name in named or is_label(name, value)):
                yield by_column.score(name, value)


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
    given = parsed(prompt)
    return given if is_messages(given) else [{"role": "user", "content": as_text(prompt)}]


def _conversation(said: Any, turns: Turns | None, *, path: str) -> list[Any]:
    given = parsed(said)
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


def _value(facts: Mapping[str, Any], path: str | None) -> Any:
    """What is in a column; `None` where there is nothing."""
    value = None if path is None else at_path(facts, path)
    return None if is_missing(value) else value


def _first_row(sniff: Sniff, layout: Layout) -> Mapping[str, Any]:
    """The first row of a JSON document, also where its rows lie under a usual name."""
    first = documents.first(sniff)
    for name in _LISTS if layout is Layout.ALONE else ():
        try:
            first = elements.loads(next(elements.elements(io.BytesIO(sniff.head), name)).raw)
        except (elements.Broken, StopIteration):
            continue
    return first if isinstance(first, dict) else {}


FORMAT = Format("table", "CSV, TSV, JSONL or JSON, by columns", "RFC 4180; ASSEBench e2b78359", recognises, read)
