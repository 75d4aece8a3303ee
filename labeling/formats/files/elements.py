"""JSON read in pieces: the elements of one long array, each with its exact bytes, without the rest in memory.

Libraries that parse incrementally lose the bytes, and refuse NaN and lone surrogates; here each element is found by
its brackets and then read by the standard parser.
"""

import io
import json
import re
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, NamedTuple

from labeling.errors import DomainError

_CHUNK = 1024 * 1024
_SPACE = b" \t\r\n"
_QUOTE = ord('"')
_INSIDE = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
# Behind an opening quote, to the closing one.
_STRING = re.compile(_INSIDE, re.DOTALL)
# To the next bracket, over strings too. Finding elements is mostly this one match, so little in it goes back:
# the outer repeat may, because Python before 3.11.5 reads past quotes if it may not.
_BETWEEN = re.compile(rb'[^"{}\[\]]*+(?:"%b"[^"{}\[\]]*+)*' % _INSIDE, re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}\s]*")
# A single element may not fill the memory.
MAX_ELEMENT_BYTES = 256 * 1024 * 1024
# Read, the smallest values take many times as much memory as their bytes.
_MANY_VALUES = 10_000_000
# Nothing is read that is nested as deep as this, and finding its end would take minutes.
_DEEPEST = 1_000_000


class Broken(DomainError):
    """The JSON ends or goes wrong here; what came before is good."""

    code = "malformed"


def too_large(what: str = "It") -> Broken:
    """To be raised where something would fill the memory."""
    return Broken(f"{what} has more than {MAX_ELEMENT_BYTES:,} bytes.")


class Outline(NamedTuple):
    """kind: "object", "array" or "" (no JSON). keys: of the object, or of the array's first element."""

    kind: str
    keys: tuple[str, ...]


class Element(NamedTuple):
    """One element of an array, or one member of an object (then `key` is its name); number counts from 0."""

    number: int
    key: str
    raw: bytes


def elements(stream: BinaryIO, *path: str) -> Iterator[Element]:
    """Each element of the array, or each member of the object, that lies at this path of keys.

    Nothing if there is no such path, or something else lies there. Raises Broken where the document breaks off.
    """
    cursor = _Cursor(stream)
    if not _descend(cursor, path):
        return
    start = cursor.peek()
    if start == b"[":
        for index in cursor.items():
            yield Element(index, "", cursor.take())
    elif start == b"{":
        for index, key in enumerate(cursor.members()):
            yield Element(index, key, cursor.take())


def values(stream: BinaryIO) -> Iterator[Element]:
    """Each value of a document of one, or of several that follow each other. Raises Broken where it breaks off."""
    cursor = _Cursor(stream)
    number = 0
    while cursor.peek():
        yield Element(number, "", cursor.take())
        number += 1


def nested(stream: BinaryIO, *path: str, beside: str = "") -> Iterator[tuple[bytes, bytes]]:
    """Each element of the arrays at the end of this path, which leads through arrays of objects, with the member named
    `beside` that was passed last on the way. Raises Broken where the document breaks off."""
    yield from _walked(_Cursor(stream), path, beside, b"null")


def _walked(cursor: "_Cursor", path: tuple[str, ...], beside: str, passed: bytes) -> Iterator[tuple[bytes, bytes]]:
    for key in cursor.members():
        if key == beside:
            passed = cursor.take()
        elif key != path[0] or cursor.peek() != b"[":
            cursor.skip()
        else:
            for _ in cursor.items():
                if len(path) == 1:
                    yield cursor.take(), passed
                elif cursor.peek() == b"{":
                    yield from _walked(cursor, path[1:], beside, passed)
                else:
                    cursor.skip()


def members(stream: BinaryIO, *path: str, skip: Collection[str] = ()) -> dict[str, Any]:
    """The object at this path, without the members to skip, which are not held in memory. {} if there is none.

    A document that breaks off gives what came before.
    """
    cursor = _Cursor(stream)
    found: dict[str, Any] = {}
    try:
        if _descend(cursor, path) and cursor.peek() == b"{":
            for key in cursor.members():
                if key in skip:
                    cursor.skip()
                else:
                    found[key] = loads(cursor.take())
    except Broken:
        pass
    return found


def lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Each line that is not blank, with its number from 1. Raises Broken on a line that would fill the memory."""
    number = 0
    while line := stream.readline(MAX_ELEMENT_BYTES + 1):
        number += 1
        if len(line) > MAX_ELEMENT_BYTES:
            raise too_large(f"Line {number}")
        if line := line.strip(_SPACE):
            yield number, line


def outline(head: bytes) -> Outline:
    """What sort of JSON document begins like this. The head may stop anywhere."""
    cursor = _Cursor(io.BytesIO(head))
    keys: list[str] = []
    kind = {b"{": "object", b"[": "array"}.get(cursor.peek(), "")
    try:
        if kind == "array" and next(iter(cursor.items()), None) is None:
            return Outline(kind, ())
        if cursor.peek() == b"{":
            for key in cursor.members():
                keys.append(key)
                cursor.skip()
    except Broken:
        pass
    return Outline(kind, tuple(keys))


def loads(raw: bytes) -> Any:
    """One JSON value; NaN, lone surrogates and integers of any size are kept. Raises Broken."""
    if len(raw) > _MANY_VALUES and sum(map(raw.count, (b"[", b"{", b","))) > _MANY_VALUES:
        raise Broken(f"It holds more than {_MANY_VALUES:,} values.")
    try:
        return json.loads(raw.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        raise Broken("It is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Broken(f"It is not JSON: {error.msg}, at character {error.pos}.") from None
    except RecursionError:
        raise Broken("It is nested too deeply.") from None
    except ValueError:
        raise Broken("It holds a number with more digits than can be read.") from None


def _deeper(depth: int) -> int:
    if depth == _DEEPEST:
        raise Broken(f"It is nested more than {_DEEPEST:,} levels deep.")
    return depth + 1


def _descend(cursor: "_Cursor", path: tuple[str, ...]) -> bool:
    for wanted in path:
        if cursor.peek() != b"{":
            return False
        for key in cursor.members():
            if key == wanted:
                break
            cursor.skip()
        else:
            return False
    return True


class _Cursor:
    """A place in a JSON document that moves forward over whole values."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        # Its front is cut off at no cost, however much follows.
        self._data = bytearray()
        self._position = 0
        self._before = 0

    def peek(self) -> bytes:
        """The next character that is no space; b"" at the end."""
        while True:
            while self._position < len(self._data):
                if self._data[self._position] not in _SPACE:
                    return bytes(self._data[self._position : self._position + 1])
                self._position += 1
            if not self._more():
                return b""

    def items(self) -> Iterator[int]:
        """The place before each element; whoever iterates takes or skips it."""
        self._expect(b"[")
        if self.peek() == b"]":
            self._position += 1
            return
        index = 0
        while True:
            yield index
            index += 1
            if self._next(b",", b"]") == b"]":
                return

    def members(self) -> Iterator[str]:
        """The key of each member, at its value; whoever iterates takes or skips the value."""
        self._expect(b"{")
        if self.peek() == b"}":
            self._position += 1
            return
        while True:
            if self.peek() != b'"':
                self._wrong("a key")
            key = str(loads(self.take()))
            self._expect(b":")
            yield key
            if self._next(b",", b"}") == b"}":
                return

    def skip(self) -> None:
        for _ in self._value():
            # What was passed over need not be kept.
            self._forget(self._position)

    def take(self) -> bytes:
        """The value's bytes."""
        self.peek()
        self._forget(self._position)
        for _ in self._value():
            if len(self._data) > MAX_ELEMENT_BYTES:
                raise too_large("One element")
        return bytes(self._data[: self._position])

    def _value(self) -> Iterator[None]:
        """Move over one value; stops wherever more bytes are about to be read."""
        start = self.peek()
        if start not in (b"{", b"[", b'"'):
            yield from self._scalar()
            return
        depth = 0
        while True:
            if self._position >= len(self._data):
                yield from self._read_on()
            character = self._data[self._position]
            self._position += 1
            if character == _QUOTE:
                # It goes on beyond what was read; a whole one inside brackets was passed over with what is around it.
                yield from self._string()
            elif character in b"{[":
                depth = _deeper(depth)
            elif character in b"}]":
                depth -= 1
            if depth == 0:
                return
            self._position = self._end_of(_BETWEEN)

    def _end_of(self, pattern: re.Pattern[bytes]) -> int:
        """Where a pattern ends that begins here; it may be empty, so it is always there."""
        found = pattern.match(self._data, self._position)
        assert found is not None
        return found.end()

    def _string(self) -> Iterator[None]:
        """Behind the opening quote; a backslash at the end of what was read waits for what follows it."""
        while True:
            self._position = self._end_of(_STRING)
            if self._data[self._position : self._position + 1] == b'"':
                self._position += 1
                return
            yield from self._read_on()

    def _scalar(self) -> Iterator[None]:
        start = self._before + self._position
        while True:
            self._position = self._end_of(_SCALAR)
            if self._position < len(self._data):
                break
            yield None
            if not self._more():
                break
        if self._before + self._position == start:
            self._wrong("a value")

    def _read_on(self) -> Iterator[None]:
        yield None
        if not self._more():
            raise Broken(f"The document breaks off after byte {self._before + len(self._data):,}.")

    def _next(self, *wanted: bytes) -> bytes:
        found = self.peek()
        if found not in wanted:
            self._wrong(" or ".join(each.decode() for each in wanted))
        self._position += 1
        return found

    def _expect(self, wanted: bytes) -> None:
        self._next(wanted)

    def _wrong(self, wanted: str) -> None:
        where = f"after byte {self._before + self._position:,}"
        if not self.peek():
            raise Broken(f"The document breaks off {where}.")
        raise Broken(f"The document is not JSON: {wanted} is missing {where}.")

    def _more(self) -> bool:
        chunk = self._stream.read(_CHUNK)
        self._data += chunk
        return bool(chunk)

    def _forget(self, position: int) -> None:
        if position:
            self._before += position
            del self._data[:position]
            self._position -= position
