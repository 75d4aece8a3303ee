"""From a posted body to its lines: each read or rejected by itself, trajectories with the exact bytes they came as."""

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from labeling.errors import TooLarge
from labeling.formats.normal import MAX_DEPTH, Message, Unreadable, canonical, content_hash, normal_messages, too_deep
from labeling.formats.problems import Malformed, Problem, shown
from labeling.formats.wire import Model, TrajectoryLine, examine

# More lines than this are sent in several bodies: each is answered by itself, and the answer must stay readable.
MAX_LINES = 50_000
BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()
_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A line that can be stored. `raw` is the bytes as posted, compressed."""

    index: int
    line: TrajectoryLine
    messages: list[Message]
    content_hash: str
    raw: bytes

    @property
    def external_id(self) -> str:
        return self.line.external_id


@dataclass(frozen=True, slots=True)
class Rejected:
    index: int
    external_id: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """A line that is JSON: its value, and the bytes it was sent as."""

    index: int
    value: Any
    raw: bytes


def split_ndjson(body: bytes) -> Iterator[Sent | Rejected]:
    """One JSON value a line. Blank lines are skipped and not counted."""
    _refuse_more(body.count(b"\n"))
    lines = (line.strip(b" \t\r") for line in body.removeprefix(BOM).split(b"\n"))
    return (_sent(index, line) for index, line in enumerate(filter(None, lines)))


def read_ndjson(body: bytes) -> list[Parsed | Rejected]:
    """One trajectory a line."""
    lines = split_ndjson(body)
    return [from_value(line.index, line.value, raw=line.raw) if isinstance(line, Sent) else line for line in lines]


def read_json(body: bytes) -> list[Parsed | Rejected]:
    """One object, or an array of them. Raises Malformed if the body as a whole is no JSON."""
    read: list[Parsed | Rejected] = []
    for index, (value, text) in enumerate(_values(_decoded(body))):
        _refuse_more(index)
        read.append(from_value(index, value, raw=_encoded(text)))
    return read


def _refuse_more(lines: int) -> None:
    if lines > MAX_LINES:
        raise TooLarge(f"A body may have {MAX_LINES:,} lines; send fewer at a time.", limit=MAX_LINES)


def read_value(body: bytes) -> Any:
    """A body that is one JSON value. Raises Malformed."""
    text = _decoded(body)
    value, end = _value_at(text, _skip_space(text, 0))
    _nothing_after(text, end)
    if too_deep(value):
        raise Malformed(f"The body {_TOO_DEEP}.")
    return value


def read_values(model: type[Model], values: Iterable[Any]) -> list[Model | Rejected]:
    """Each JSON value as this model, or everything that is wrong with it. What is rejected already stays so."""
    return [value if isinstance(value, Rejected) else _read(model, index, value) for index, value in enumerate(values)]


def from_value(index: int, value: Any, *, raw: bytes | None = None) -> Parsed | Rejected:
    """Read one trajectory that is a JSON value already. Without raw bytes, its canonical JSON is kept instead."""
    line = _read(TrajectoryLine, index, value)
    if isinstance(line, Rejected):
        return line
    try:
        messages = normal_messages(line.posted_messages())
    except Unreadable as error:
        return Rejected(index, _external_id(value), (Problem(error.path, error.reason),))
    identity = content_hash(
        case=line.case_key,
        attempt=line.attempt,
        messages=line.posted_messages(),
        tools=line.tools,
        stop_reason=line.stop_reason,
        error=line.error,
    )
    return Parsed(index, line, messages, identity, zlib.compress(raw or canonical(value).encode()))


def _read(model: type[Model], index: int, value: Any) -> Model | Rejected:
    if too_deep(value):
        return Rejected(index, _external_id(value), (Problem("", _TOO_DEEP),))
    line = examine(model, value)
    return Rejected(index, _external_id(value), tuple(line)) if isinstance(line, list) else line


def _external_id(value: Any) -> str:
    """How the line names itself, as far as it does."""
    given = value.get("external_id") if isinstance(value, dict) else None
    return shown(given, limit=200) if isinstance(given, str) else ""


def _sent(index: int, line: bytes) -> Sent | Rejected:
    try:
        text = _decoded(line)
        value, end = _value_at(text, 0)
        _nothing_after(text, end)
    except Malformed as error:
        return Rejected(index, "", (Problem("", error.message.removeprefix("The body ").rstrip(".")),))
    return Sent(index, value, line)


def _values(text: str) -> Iterator[tuple[Any, str]]:
    """Each value with the text it was written as."""
    start = _skip_space(text, 0)
    if text[start : start + 1] != "[":
        value, end = _value_at(text, start)
        _nothing_after(text, end)
        yield value, text[start:end]
        return
    start = _skip_space(text, start + 1)
    if text[start : start + 1] == "]":
        _nothing_after(text, start + 1)
        return
    while True:
        value, end = _value_at(text, start)
        yield value, text[start:end]
        start = _skip_space(text, end)
        if text[start : start + 1] == "]":
            _nothing_after(text, start + 1)
            return
        if text[start : start + 1] != ",":
            _broken(text, start, "a comma or the closing bracket of the array is missing")
        start = _skip_space(text, start + 1)


def _value_at(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        _broken(text, error.pos, error.msg)
    except RecursionError:
        raise Malformed(f"The body {_TOO_DEEP}.") from None
    except ValueError:
        raise Malformed("The body holds a number with more digits than can be read.") from None


def _broken(text: str, position: int, what: str) -> NoReturn:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    raise Malformed(f"The body is not JSON: {what}, at line {line}, column {column}.", line=line, column=column)


def _nothing_after(text: str, end: int) -> None:
    end = _skip_space(text, end)
    if end < len(text):
        _broken(text, end, "more follows the value (for one object a line, send application/x-ndjson)")


def _skip_space(text: str, start: int) -> int:
    while start < len(text) and text[start] in _SPACE:
        start += 1
    return start


def _decoded(body: bytes) -> str:
    """UTF-8, in which some writers leave lone surrogates; they are kept."""
    try:
        return body.removeprefix(BOM).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Malformed(f"The body is not UTF-8: see byte {error.start}.", byte=error.start) from None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
