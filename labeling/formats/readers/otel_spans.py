"""The spans of a trace file: the JSON export of OpenTelemetry, whole or one batch a line, or spans one a line.

Attributes come as one flat dictionary of dotted names, however the file nests or types them.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, NamedTuple

from labeling.errors import DomainError
from labeling.formats.files import documents, elements
from labeling.formats.files.documents import Layout
from labeling.formats.files.elements import Broken
from labeling.formats.files.source import HEAD_BYTES, Source, Unread
from labeling.formats.mapping import as_text
from labeling.formats.rows.values import as_list, as_object, as_time

_BATCHES = "resourceSpans"
# Attributes nested deeper than this are somebody's data, not somebody's dots.
_DEPTH = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Event(NamedTuple):
    name: str
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """number counts the spans of the file from 1. error: why it failed, "" if it did not."""

    number: int
    raw: bytes
    name: str
    trace: str
    id: str
    parent: str
    start: str
    end: str
    attributes: Mapping[str, Any]
    events: tuple[Event, ...]
    error: str
    resource: Mapping[str, Any]

    @property
    def place(self) -> str:
        return f"span {self.number}"


def spans(source: Source) -> Iterator[Span | Unread]:
    number = 0
    try:
        for number, (raw, resource) in enumerate(_raw(source), start=1):
            try:
                given = elements.loads(raw)
            except Broken as error:
                yield Unread(f"span {number}", "", error.message, raw)
                continue
            if isinstance(given, dict) and "attributes" in given:
                yield _span(given, number, raw, resource)
            else:
                yield Unread(f"span {number}", "attributes", "It is no span: it has no attributes.", raw)
    except DomainError as error:
        yield Unread(f"after span {number}" if number else "the file", "", error.message)


def _raw(source: Source) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The bytes of each span, with the resource's attributes where they are in a batch."""
    with source.text() as stream:
        head = stream.read(HEAD_BYTES).lstrip()
    kind = documents.layout(head)
    is_batch = _BATCHES in elements.outline(head).keys
    if is_batch and kind is Layout.LINES and b"\n" not in head:
        with source.text() as stream:
            kind = Layout.LINES if _goes_on(stream) else Layout.ALONE
    with source.text() as stream:
        if is_batch and kind is Layout.ALONE:
            yield from _in_batches(stream)
            return
        for raw in _pieces(stream, kind):
            if _BATCHES in elements.outline(raw[:HEAD_BYTES]).keys:
                yield from _in_batches(io.BytesIO(raw))
            else:
                yield raw, {}


def _pieces(stream: BinaryIO, kind: Layout) -> Iterator[bytes]:
    if kind is Layout.LINES:
        yield from (line for _, line in elements.lines(stream))
    elif kind is Layout.ARRAY:
        yield from (element.raw for element in elements.elements(stream))
    else:
        yield from (element.raw for element in elements.values(stream))


def _goes_on(stream: BinaryIO) -> bool:
    """Does anything follow the first line, which may be very long?"""
    ended = False
    while chunk := stream.read(HEAD_BYTES):
        _, end, rest = (b"", b"", chunk) if ended else chunk.partition(b"\n")
        ended = ended or bool(end)
        if rest.strip():
            return True
    return False


def _in_batches(stream: BinaryIO) -> Iterator[tuple[bytes, dict[str, Any]]]:
    before, attributes = b"", {}
    for raw, resource in elements.nested(stream, _BATCHES, "scopeSpans", "spans", beside="resource"):
        if resource != before:
            before, attributes = resource, _attributes(as_object(elements.loads(resource)).get("attributes"))
        yield raw, attributes


def _span(given: dict[str, Any], number: int, raw: bytes, resource: dict[str, Any]) -> Span:
    context, status = as_object(given.get("context")), as_object(given.get("status"))
    attributes = _attributes(given.get("attributes"))
    events = (
        Event(as_text(event.get("name")), _attributes(event.get("attributes")))
        for event in map(as_object, as_list(given.get("events")))
    )
    failed = as_text(status.get("code", status.get("status_code", given.get("status_code")))).rpartition("_")[2]
    why = status.get("message") or status.get("description") or given.get("status_message")
    words = as_text(why) or as_text(attributes.get("error.type")) or "The span ended in an error."
    return Span(
        number=number,
        raw=raw,
        name=as_text(given.get("name")),
        trace=as_text(given.get("traceId") or given.get("trace_id") or context.get("trace_id")),
        id=as_text(given.get("spanId") or given.get("span_id") or context.get("span_id")),
        parent=as_text(given.get("parentSpanId") or given.get("parent_span_id") or given.get("parent_id")),
        start=_moment(given.get("startTimeUnixNano"), given.get("start_time")),
        end=_moment(given.get("endTimeUnixNano"), given.get("end_time")),
        attributes=attributes,
        events=tuple(events),
        error=words if failed in ("2", "ERROR") or "error.type" in attributes else "",
        resource=resource or _attributes(as_object(given.get("resource")).get("attributes")),
    )


def _moment(nanoseconds: Any, written: Any) -> str:
    """In ISO 8601. Nanoseconds since 1970 are of UTC; what is written stays as it is, with its zone or without."""
    try:
        return (_EPOCH + timedelta(microseconds=int(nanoseconds) // 1000)).isoformat(timespec="microseconds")
    except (TypeError, ValueError, OverflowError):
        return as_time(written)


def _attributes(given: Any) -> dict[str, Any]:
    if isinstance(given, list):
        pairs = {as_text(each.get("key")): _typed(each.get("value")) for each in map(as_object, given)}
        return {name: value for name, value in pairs.items() if name}
    return dict(flattened(as_object(given)))


def flattened(given: Mapping[str, Any], prefix: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """What is nested, under dotted names."""
    for name, value in given.items():
        if isinstance(value, dict) and value and depth:
            yield from flattened(value, f"{prefix}{name}.", depth - 1)
        else:
            yield prefix + name, value


def _typed(value: Any, depth: int = 100) -> Any:
    """A value of the export, which names its type: {"stringValue": …}."""
    if not isinstance(value, dict) or not value or not depth:
        return value
    kind, given = next(iter(value.items()))
    if kind == "arrayValue":
        return [_typed(each, depth - 1) for each in as_list(as_object(given).get("values"))]
    if kind == "kvlistValue":
        pairs = map(as_object, as_list(as_object(given).get("values")))
        return {as_text(pair.get("key")): _typed(pair.get("value"), depth - 1) for pair in pairs}
    if kind in ("intValue", "doubleValue"):
        return _number(given, int if kind == "intValue" else float)
    return given


def _number(given: Any, kind: type[int] | type[float]) -> Any:
    """Large ones are written as text, and so is what is no number."""
    try:
        return kind(given) if isinstance(given, str) else given
    except ValueError:
        return given
