"""The rows of a CSV or TSV file by the names in its first row, each with its exact bytes.

The parser is the standard one, in its strict mode: a row that is no CSV is said to be none, and the next one is read.
"""

import csv
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from labeling.errors import DomainError
from labeling.formats.files.source import Source, Unread

# One cell may hold a whole transcript. A quote that is never closed would swallow the rest of the file.
MAX_ROW_BYTES = 64 * 1024 * 1024
# Every row becomes an object with all of them.
MAX_COLUMNS = 10_000
# Of a line, before it is taken apart: small cells take many times as much memory as their bytes.
_MANY_CELLS = 5_000_000
# The limit is one for the whole process; no other code here reads CSV from outside.
csv.field_size_limit(MAX_ROW_BYTES)

# Some writers put versions and the like into remarks above the names.
_REMARK = "# "
_DELIMITERS = (",", "\t", ";")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Record(NamedTuple):
    """number counts rows from 1, the one with the names among them."""

    place: str
    number: int
    cells: dict[str, str | None]
    raw: bytes


def delimiter_of(line: str) -> str:
    """What parts the names in a first line: that which gives the most of them."""
    return max(_DELIMITERS, key=lambda each: len(_cells(line, each)))


def columns_of(head: bytes) -> tuple[str, ...]:
    """The names in the first line of a file that begins like this."""
    lines = (found[0] for found in _LINE.finditer(head.decode("utf-8", "replace")))
    line = next((line for line in lines if not line.startswith(_REMARK)), "")
    return tuple(_names(_cells(line, delimiter_of(line))))


def records(source: Source) -> Iterator[Record | Unread]:
    """Each row. One with fewer cells than there are names lacks the last ones; one with more cannot be read."""
    with source.text() as stream:
        lines = _Lines(stream)
        try:
            yield from _records(lines)
        except DomainError as error:
            yield Unread(f"after row {lines.number}", "", error.message)


def _records(lines: "_Lines") -> Iterator[Record | Unread]:
    rows = csv.reader(lines, delimiter=delimiter_of(lines.names()), strict=True)
    names: list[str] | None = None
    while True:
        lines.number += 1
        place = f"row {lines.number}"
        try:
            cells = next(rows, None)
            reason = "is not UTF-8; name its encoding in the mapping, such as windows-1252" if lines.broken else ""
        except csv.Error as error:
            cells, reason = [], _sentence(error)
        raw = lines.taken()
        if cells is None:
            return
        if not cells and not reason:
            continue
        if reason:
            yield Unread(place, "", reason, raw)
        elif names is None:
            names = _header(cells)
        elif len(cells) > len(names):
            yield Unread(place, "", f"has {len(cells)} cells under {len(names)} names", raw)
        else:
            yield Record(place, lines.number, dict.fromkeys(names) | dict(zip(names, cells, strict=False)), raw)


def _header(cells: list[str]) -> list[str]:
    if len(cells) > MAX_COLUMNS:
        raise DomainError(f"The first row has {len(cells):,} names; a table may have {MAX_COLUMNS:,}.")
    return _names(cells)


def _names(cells: list[str]) -> list[str]:
    """The names of the columns; one that comes again is told from the first by its number."""
    # A dictionary keeps the order, and finds a name among many at once.
    names: dict[str, None] = {}
    for index, cell in enumerate(cells, start=1):
        name = cell.strip() or f"column {index}"
        while name in names:
            name = f"{name} {index}"
        names[name] = None
    return list(names)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _sentence(error: csv.Error) -> str:
    return "breaks off inside a quoted cell" if "end of data" in str(error) else f"is no row of CSV: {error}"


class _Lines:
    """The lines of a file as text, and the bytes of those that were given out since the last row."""

    def __init__(self, stream: BinaryIO) -> None:
        self._lines = self._split(stream)
        self._ahead: list[tuple[str, bytes, bool]] = []
        self._given: list[bytes] = []
        self._size = 0
        self.number = 0
        self.broken = False

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        text, raw, broken = self._ahead.pop() if self._ahead else next(self._lines)
        self._given.append(raw)
        self._size += len(raw)
        self.broken = self.broken or broken
        if self._size > MAX_ROW_BYTES:
            raise DomainError(f"One row has more than {MAX_ROW_BYTES:,} bytes; perhaps a quote is never closed.")
        return text

    def names(self) -> str:
        """The line with the names, which stays where it is; remarks before it are passed over."""
        for line in self._lines:
            if not line[0].startswith(_REMARK):
                self._ahead = [line]
                return line[0]
            self.number += 1
        return ""

    def taken(self) -> bytes:
        """The bytes of the row that was just read, without the end of its line."""
        raw = b"".join(self._given).rstrip(b"\r\n")
        self._given, self._size, self.broken = [], 0, False
        return raw

    @staticmethod
    def _split(stream: BinaryIO) -> Iterator[tuple[str, bytes, bool]]:
        """Lines may end like those of any system. Bytes that are no UTF-8 spoil their row and no other."""
        while line := stream.readline(MAX_ROW_BYTES + 1):
            if len(line) > _MANY_CELLS and sum(map(line.count, (b",", b"\t", b";"))) > _MANY_CELLS:
                raise DomainError(f"A line has more than {_MANY_CELLS:,} cells, which no table here may have.")
            try:
                text, broken = line.decode("utf-8", "surrogatepass"), False
            except UnicodeDecodeError:
                yield line.decode("utf-8", "replace"), line, True
                continue
            if "\r" not in text.removesuffix("\n").removesuffix("\r"):
                yield text, line, broken
                continue
            for found in _LINE.finditer(text):
                yield found[0], found[0].encode("utf-8", "surrogatepass"), broken
