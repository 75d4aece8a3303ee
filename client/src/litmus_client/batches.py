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
    """The lines of a stream that stands at `offset`, after `number` lines."""
    return _batched(_lines(stream), offset=offset, number=number)


def batches_from(lines: Iterable[bytes]) -> Iterator[Batch]:
    """Lines that somebody makes one after the other."""
    return _batched(((line, len(line)) for line in lines), offset=0, number=0)


def _batched(lines: Iterable[tuple[bytes | None, int]], *, offset: int, number: int) -> Iterator[Batch]:
    """Blank lines are left out, for the service does not count them."""
    batch: list[Line] = []
    size = 0
    for line, length in lines:
        offset, number = offset + length, number + 1
        if line is None or line.strip():
            batch.append(Line(number, line))
            size += length
        if len(batch) >= MOST_LINES or size >= MOST_BYTES:
            yield Batch(batch, offset, number)
            batch, size = [], 0
    if batch:
        yield Batch(batch, offset, number)


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
