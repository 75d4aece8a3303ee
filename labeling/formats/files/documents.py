"""The values in a file of JSON, however it is laid out: one a line, one array of them, or one alone.

Each comes with its exact bytes and its place; what cannot be read costs nothing but itself.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from labeling.errors import DomainError
from labeling.formats.files import elements
from labeling.formats.files.elements import Broken, Element
from labeling.formats.files.source import HEAD_BYTES, Sniff, Source, Unread
from labeling.formats.normal import MAX_DEPTH, Unreadable, too_deep

T = TypeVar("T")


class Layout(StrEnum):
    LINES = "lines"
    ARRAY = "array"
    ALONE = "alone"
    NONE = "none"


class Found(NamedTuple):
    """number counts from 1; key is the name of a member, where the list is an object."""

    place: str
    number: int
    raw: bytes
    value: Any
    key: str = ""


def layout(head: bytes) -> Layout:
    """How a file is laid out that begins like this."""
    first, *others = islice(filter(None, (line.strip() for line in head.split(b"\n"))), 2) if head.strip() else [b""]
    if not first.startswith((b"{", b"[")):
        return Layout.NONE
    # The first line of a file by lines may be the broken one.
    goes_on = first.startswith(b"[") or first.endswith((b"{", b"[", b":", b","))
    by_lines = bool(others) and (_is_whole(first) or (not goes_on and _is_whole(others[0])))
    if by_lines or (b"\n" not in head.rstrip() and first.startswith(b"{")):
        return Layout.LINES
    return Layout.ARRAY if first.startswith(b"[") else Layout.ALONE


def _is_whole(line: bytes) -> bool:
    """Is this line an object or an array by itself?"""
    if not line.startswith((b"{", b"[")):
        return False
    try:
        return isinstance(elements.loads(line), dict | list)
    except Broken:
        return False


def first(sniff: Sniff) -> Any:
    """The first value of the file; of one that is longer than the head, an object with its keys alone."""
    try:
        kind = layout(sniff.head)
        if kind is Layout.LINES:
            return elements.loads(sniff.head.partition(b"\n")[0])
        found = elements.elements if kind is Layout.ARRAY else elements.values
        return elements.loads(next(found(io.BytesIO(sniff.head))).raw)
    except (Broken, StopIteration):
        return dict.fromkeys(sniff.outline.keys)


def values(source: Source, *path: str) -> Iterator[Found | Unread]:
    """Each value of the file or, with a path, of the list that lies there."""
    with source.text() as stream:
        kind = layout(stream.read(HEAD_BYTES).lstrip())
    with source.text() as stream:
        if path or kind is Layout.ARRAY:
            yield from _read("row", elements.elements(stream, *path))
        elif kind is Layout.ALONE:
            yield from _read("document", elements.values(stream))
        elif kind is Layout.LINES:
            lines = (Element(number - 1, "", line) for number, line in elements.lines(stream))
            yield from _read("line", lines)
        else:
            yield Unread("the file", "", "The file is no JSON: it begins neither with { nor with [.")


def objects(found: Iterable[Found | Unread], otherwise: str, *members: str) -> Iterator[Found | Unread]:
    """The objects that have these members; of any other value, the sentence that says what it is not."""
    for each in found:
        if isinstance(each, Found) and not (isinstance(each.value, dict) and each.value.keys() >= set(members)):
            yield Unread(each.place, "", otherwise, each.raw)
        else:
            yield each


def each(found: Iterable[Found | Unread], read: Callable[[Found], Iterator[T]]) -> Iterator[T | Unread]:
    """All that is read from each value; of one that cannot be read, why."""
    for value in found:
        if isinstance(value, Unread):
            yield value
            continue
        try:
            yield from read(value)
        except Unreadable as error:
            yield Unread(value.place, error.path, error.reason, value.raw)


def whole(source: Source) -> Iterator[Found | Unread]:
    """The document as one value, though it is a list."""
    with source.text() as stream:
        yield from _read("document", elements.values(stream))


def _read(sort: str, found: Iterator[Element]) -> Iterator[Found | Unread]:
    number = 0
    try:
        for element in found:
            # A blank line is a line all the same.
            number = element.number + 1
            try:
                value = elements.loads(element.raw)
            except Broken as error:
                yield Unread(f"{sort} {number}", "", error.message, element.raw)
                continue
            if too_deep(value):
                yield Unread(f"{sort} {number}", "", f"It is nested more than {MAX_DEPTH} levels deep.", element.raw)
            else:
                yield Found(f"{sort} {number}", number, element.raw, value, element.key)
    except DomainError as error:
        yield Unread(f"after {sort} {number}" if number else "the file", "", error.message)
