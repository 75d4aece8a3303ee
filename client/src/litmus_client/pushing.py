"""Posting trajectory lines to a run, in batches that may be repeated."""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from litmus_client.api import NDJSON, Api
from litmus_client.batches import Batch, Line, batches_from, batches_of
from litmus_client.errors import Json, TooLarge
from litmus_client.progress import Advance
from litmus_client.resuming import Place, PlaceFile
from litmus_client.sources import Source

COUNTS = ("created", "duplicate", "conflict", "rejected")
# More than this nobody reads; the counts go on.
MOST_ENTRIES = 1000
_LEVEL = 4


class Entry(NamedTuple):
    """A line that was not taken as it is: which one, what became of it, and why."""

    line: int
    external_id: str
    status: str
    path: str
    reason: str


@dataclass
class Pushed:
    """What became of every line. `entries`: those that were not taken, the first thousand of them."""

    created: int = 0
    duplicate: int = 0
    conflict: int = 0
    rejected: int = 0
    entries: list[Entry] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.counts().values())

    @property
    def is_complete(self) -> bool:
        """Everything is there: nothing was rejected and nothing contradicted what was there."""
        return not (self.conflict or self.rejected)

    def counts(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in COUNTS}

    def add(self, answer: Json, lines: list[Line]) -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + answer[name])
        for entry in answer["entries"]:
            if entry["status"] != "duplicate" and len(self.entries) < MOST_ENTRIES:
                words = (entry["external_id"], entry["status"], entry["path"], entry["reason"])
                self.entries.append(Entry(lines[entry["index"]].number, *words))

    def refuse(self, line: Line, reason: str) -> None:
        self.rejected += 1
        if len(self.entries) < MOST_ENTRIES:
            self.entries.append(Entry(line.number, "", "rejected", "", reason))


def _post_batches(api: Api, run_id: int, batches: Iterable[Batch], pushed: Pushed) -> Iterator[Batch]:
    """Post each batch and give it back once the service has acknowledged it; `pushed` counts along."""
    for batch in batches:
        sent = [line for line in batch.lines if line.raw is not None]
        for line in batch.lines:
            if line.raw is None:
                pushed.refuse(line, "is longer than any service takes; it was not sent")
        if sent:
            _post(api, run_id, sent, pushed)
        yield batch


def push_lines(api: Api, run_id: int, lines: Iterable[bytes], pushed: Pushed) -> None:
    for _ in _post_batches(api, run_id, batches_from(lines), pushed):
        pass


def push_source(api: Api, run: Json, source: Source, *, advance: Advance) -> Pushed:
    """Post a file of our own lines, going on where an earlier attempt broke off."""
    kept = PlaceFile(api.url, run["id"], run["created_at"], source.sha256)
    place = kept.read()
    pushed = Pushed(**place.counts, entries=[Entry(**entry) for entry in place.entries])
    with source.open(at=place.offset) as stream:
        batches = batches_of(stream, offset=place.offset, number=place.number)
        for batch in _post_batches(api, run["id"], batches, pushed):
            entries = [entry._asdict() for entry in pushed.entries]
            kept.write(Place(batch.offset, batch.number, pushed.counts(), entries))
            advance(batch.offset, f"{pushed.total:,} lines")
    kept.forget()
    return pushed


def _post(api: Api, run_id: int, lines: list[Line], pushed: Pushed) -> None:
    """In halves where it is too much at once, so that one huge line does not keep its neighbours out."""
    try:
        answer = _posted(api, run_id, lines)
    except TooLarge as error:
        if len(lines) == 1:
            pushed.refuse(lines[0], f"is too large: {error}")
            return
        half = len(lines) // 2
        _post(api, run_id, lines[:half], pushed)
        _post(api, run_id, lines[half:], pushed)
    else:
        pushed.add(answer, lines)


def _posted(api: Api, run_id: int, lines: list[Line]) -> Any:
    body = b"\n".join(line.raw for line in lines if line.raw is not None)
    content = gzip.compress(body, _LEVEL, mtime=0)
    headers = {"Content-Type": NDJSON, "Content-Encoding": "gzip"}
    return api.send("POST", f"runs/{run_id}/trajectories/", content=content, headers=headers).json()
