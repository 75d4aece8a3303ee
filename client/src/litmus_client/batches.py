"""Lines in batches of a good size. Never more than one batch is in memory."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

MOST_LINES = 500
MOST_BYTES = 4 * 1024 * 1024
# Longer than this, a line is not even sent.
LONGEST_LINE = 512 * 1024 * 1024


class Line(NamedTuple):
    """number: as an editor counts, from 1. raw: without the line break; None where it was too long to keep."""

    number: int
    raw: bytes | None


class Batch(NamedTuple):
    """offset and number: where the next batch begins, and the lines before that."""

    lines: list[Line]
    offset: int
    number: int


def batches_of(stream: BinaryIO, *, offset: int = 0, number: int = 0) -> Iterator[Batch]:
    """The lines of a stream that stands at `offset`, after `number` lines. Blank ones are left out."""
    lines: list[Line] = []
    size = 0
    for line, length in _lines(stream):
        offset, number = offset + length, number + 1
        if line is None or line.strip():
            lines.append(Line(number, line))
            size += length
        if len(lines) >= MOST_LINES or size >= MOST_BYTES:
            yield Batch(lines, offset, number)
            lines, size = [], 0
    if lines:
        yield Batch(lines, offset, number)


def batches_from(lines: Iterable[bytes]) -> Iterator[Batch]:
    """Lines that somebody makes one after the other."""
    batch: list[Line] = []
    size = number = 0
    for number, line in enumerate(lines, start=1):
        batch.append(Line(number, line))
        size += len(line)
        if len(batch) >= MOST_LINES or size >= MOST_BYTES:
            yield Batch(batch, 0, number)
            batch, size = [], 0
    if batch:
        yield Batch(batch, 0, number)


def _lines(stream: BinaryIO) -> Iterator[tuple[bytes | None, int]]:
    while raw := stream.readline(LONGEST_LINE):
        length = len(raw)
        if length < LONGEST_LINE or raw.endswith(b"\n"):
            yield raw.rstrip(b"\r\n"), length
            continue
        while more := stream.readline(1024 * 1024):
            length += len(more)
            if more.endswith(b"\n"):
                break
        yield None, length
