"""Verdicts that were given elsewhere, before: a team brings the labels it has."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from django.db import transaction

from audit.measure import historic
from audit.measure.historic import HistoricVerdict, Unreadable
from audit.models import Verdict
from audit.services import following
from labeling.errors import Conflict
from labeling.models import Run, Trajectory
from labeling.vocabulary import RunStatus, VerdictSource

__all__ = ["BulkAnswer", "Entry", "HistoricVerdict", "Unreadable", "parsed", "store_verdicts"]

_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that was not created, and why."""

    index: int
    external_id: str
    status: Literal["duplicate", "conflict", "rejected"]
    path: str
    reason: str


class BulkAnswer(NamedTuple):
    created: int
    duplicate: int
    conflict: int
    rejected: int
    entries: list[Entry]


Item = TypeVar("Item")
# A verdict with its place in the import.
_Line = tuple[int, HistoricVerdict]
_Identity = tuple[int, str, str, datetime]
_Content = tuple[str, int | None, bool | None, bool | None, bool | None, bool]


@transaction.atomic(durable=True)
def store_verdicts(*, run: Run, lines: Sequence[HistoricVerdict | Unreadable], blind: bool) -> BulkAnswer:
    """Store historic verdicts, recognise those already stored, and bring the labels in line.

    Known by trajectory, author, kind and time. Two imports of one run wait for each other.
    """
    if Run.objects.select_for_update(no_key=True).get(pk=run.pk).status == RunStatus.VOIDED:
        raise Conflict("This run is voided: it takes no verdicts any more.")
    entries = list(_rejected(lines))
    refused = {entry.index for entry in entries}
    good = [
        (index, line) for index, line in enumerate(lines) if index not in refused and isinstance(line, HistoricVerdict)
    ]
    known = _trajectories(run, {verdict.external_id for _, verdict in good})
    entries += [
        Entry(index, historic.shown(verdict.external_id), "rejected", "external_id", "names no trajectory of this run")
        for index, verdict in good
        if verdict.external_id not in known
    ]
    following.lock(known.values())
    touched: set[int] = set()
    for chunk in _chunks([line for line in good if line[1].external_id in known]):
        new, repeated = _sorted_out(chunk, known, blind=blind)
        Verdict.objects.bulk_create(new)
        entries += repeated
        touched.update(verdict.trajectory_id for verdict in new)
    following.follow(touched)
    statuses = Counter(entry.status for entry in entries)
    return BulkAnswer(
        created=len(lines) - len(entries),
        duplicate=statuses["duplicate"],
        conflict=statuses["conflict"],
        rejected=statuses["rejected"],
        entries=sorted(entries, key=lambda entry: entry.index),
    )


def parsed(values: Iterable[Any]) -> list[HistoricVerdict | Unreadable]:
    """Lines from JSON values, each read or refused by itself."""
    return [historic.read(value) for value in values]


def _rejected(lines: Iterable[HistoricVerdict | Unreadable]) -> Iterator[Entry]:
    for index, line in enumerate(lines):
        wrong = line[1:] if isinstance(line, Unreadable) else historic.problem(line)
        if wrong is not None:
            yield Entry(index, historic.shown(line.external_id), "rejected", *wrong)


def _trajectories(run: Run, external_ids: Iterable[str]) -> dict[str, int]:
    """The trajectories of a run by their external ids."""
    found: dict[str, int] = {}
    for chunk in _chunks(sorted(external_ids)):
        rows = Trajectory.objects.filter(run=run, external_id__in=chunk).order_by()
        found.update(rows.values_list("external_id", "pk"))
    return found


def _sorted_out(chunk: Sequence[_Line], known: Mapping[str, int], *, blind: bool) -> tuple[list[Verdict], list[Entry]]:
    """The rows to insert, and an entry for each line whose identity is taken, by a row or by an earlier line."""
    ids = {known[verdict.external_id] for _, verdict in chunk}
    stored = Verdict.objects.filter(trajectory__in=ids, source=VerdictSource.IMPORT)
    said = {_identity(row): _content(row) for row in stored.defer("note", "evidence")}
    new: list[Verdict] = []
    repeated: list[Entry] = []
    for index, verdict in chunk:
        row = _row(verdict, known[verdict.external_id], blind=blind)
        identity, content = _identity(row), _content(row)
        if identity not in said:
            said[identity] = content
            new.append(row)
        else:
            repeated.append(_repeated(index, verdict, content, said[identity]))
    return new, repeated


def _repeated(index: int, verdict: HistoricVerdict, content: _Content, before: _Content) -> Entry:
    if content == before:
        return Entry(index, historic.shown(verdict.external_id), "duplicate", "", "is stored already")
    if content[:-1] == before[:-1]:
        reason = f"is stored already with blind {str(before[-1]).lower()}, and verdicts are never changed"
        return Entry(index, historic.shown(verdict.external_id), "conflict", "blind", reason)
    reason = "differs from what this author is stored to have said of this trajectory at this time"
    return Entry(index, historic.shown(verdict.external_id), "conflict", "", reason)


def _row(verdict: HistoricVerdict, trajectory_id: int, *, blind: bool) -> Verdict:
    return Verdict(
        trajectory_id=trajectory_id,
        author=verdict.author,
        kind=verdict.kind,
        source=VerdictSource.IMPORT,
        blind=blind if verdict.blind is None else verdict.blind,
        decision=verdict.decision or "",
        harm_grade=verdict.harm_grade,
        explained=verdict.explained,
        alternative_offered=verdict.alternative_offered,
        withheld=verdict.withheld,
        note=verdict.note,
        decided_at=verdict.decided_at,
    )


def _identity(row: Verdict) -> _Identity:
    return row.trajectory_id, row.author, row.kind, row.decided_at


def _content(row: Verdict) -> _Content:
    return row.decision, row.harm_grade, row.explained, row.alternative_offered, row.withheld, row.blind


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
