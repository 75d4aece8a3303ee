"""From a posted body to its lines: each read or rejected by itself, trajectories with the exact bytes they came as."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, NoReturn

from labeling.errors import TooLarge
from labeling.formats.normal import MAX_DEPTH, Message, Unreadable, canonical, content_hash, normal_messages, too_deep
from labeling.formats.packing import pack
from labeling.formats.problems import Malformed, Problem, shown
from labeling.formats.wire import Model, TrajectoryLine, examine

# More lines than this are sent in several bodies: each is answered by itself, and the answer must stay readable.
MAX_LINES = 50_000
# What is read before it is stored: as many lines, or as many bytes of them.
CHUNK_LINES = 1000
CHUNK_BYTES = 4 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()
_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A line that can be stored. `raw` is the bytes as posted, packed. `index` is its place among the lines sent."""

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


def split_ndjson(body: BinaryIO) -> Iterator[Sent | Rejected]:
    """One JSON value a line. Blank lines are skipped and not counted. Raises TooLarge before the first line."""
    _refuse_more(sum(chunk.count(b"\n") for chunk in iter(partial(body.read, CHUNK_BYTES), b"")))
    body.seek(len(BOM) if _begins_with_bom(body) else 0)
    numbered = ((number, line.strip(b" \t\r\n")) for number, line in enumerate(body, start=1))
    said = ((number, line) for number, line in numbered if line)
    return (_sent(index, line, number=number) for index, (number, line) in enumerate(said))


def split_json(body: bytes) -> Iterator[Sent]:
    """One object, or each of an array. Raises Malformed before the first if the body as a whole is no JSON."""
    text = _decoded(body)
    for index, _ in enumerate(_values(text)):
        _refuse_more(index + 1)
    return (Sent(index, value, _encoded(source)) for index, (value, source) in enumerate(_values(text)))


def read_chunks(sent: Iterable[Sent | Rejected]) -> Iterator[list[Parsed | Rejected]]:
    """Every line as a trajectory or rejected, in chunks that are held in memory one at a time; at least one chunk."""
    chunk: list[Parsed | Rejected] = []
    size = 0
    for each in sent:
        if len(chunk) == CHUNK_LINES or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        if isinstance(each, Sent):
            size += len(each.raw)
            chunk.append(from_value(each.index, each.value, raw=each.raw))
        else:
            chunk.append(each)
    yield chunk


def _begins_with_bom(body: BinaryIO) -> bool:
    body.seek(0)
    return body.read(len(BOM)) == BOM


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
    return Parsed(index, line, messages, identity, pack(raw or canonical(value).encode()))


def _read(model: type[Model], index: int, value: Any) -> Model | Rejected:
    if too_deep(value):
        return Rejected(index, _external_id(value), (Problem("", _TOO_DEEP),))
    line = examine(model, value)
    return Rejected(index, _external_id(value), tuple(line)) if isinstance(line, list) else line


def _external_id(value: Any) -> str:
    """How the line names itself, as far as it does."""
    given = value.get("external_id") if isinstance(value, dict) else None
    return shown(given, limit=200) if isinstance(given, str) else ""


def _sent(index: int, line: bytes, *, number: int) -> Sent | Rejected:
    try:
        text = _decoded(line)
        value, end = _value_at(text, 0, line=number)
        _nothing_after(text, end, line=number)
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


def _value_at(text: str, start: int, *, line: int = 1) -> tuple[Any, int]:
    """line: the number of the text's first line in the body."""
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        _broken(text, error.pos, error.msg, line=line)
    except RecursionError:
        raise Malformed(f"The body {_TOO_DEEP}.") from None
    except ValueError:
        raise Malformed("The body holds a number with more digits than can be read.") from None


def _broken(text: str, position: int, what: str, *, line: int = 1) -> NoReturn:
    line += text.count("\n", 0, position)
    column = position - text.rfind("\n", 0, position)
    raise Malformed(f"The body is not JSON: {what}, at line {line}, column {column}.", line=line, column=column)


def _nothing_after(text: str, end: int, *, line: int = 1) -> None:
    end = _skip_space(text, end)
    if end < len(text):
        _broken(text, end, "more follows the value (for one object a line, send application/x-ndjson)", line=line)


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
