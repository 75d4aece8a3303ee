"""Verdicts that were given elsewhere, before: a team brings the labels it has."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from django.db import transaction

from audit.models import Verdict
from audit.services import following
from labeling.errors import Conflict
from labeling.formats.lines import Rejected
from labeling.formats.problems import Problem, shown
from labeling.formats.wire import VerdictLine
from labeling.models import Run
from labeling.selectors.stored import chunked, stored_trajectories
from labeling.vocabulary import RunStatus, VerdictSource

_NO_TRAJECTORY = Problem("external_id", "names no trajectory of this run")
_REPEATED = Problem("", "is stored already")
_Status = Literal["duplicate", "conflict", "rejected"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that was not created, and everything that speaks against it."""

    index: int
    external_id: str
    status: _Status
    problems: tuple[Problem, ...]

    @property
    def path(self) -> str:
        return self.problems[0].path

    @property
    def reason(self) -> str:
        return self.problems[0].reason


class BulkAnswer(NamedTuple):
    created: int
    duplicate: int
    conflict: int
    rejected: int
    entries: list[Entry]


# A verdict with its place in the import.
_Line = tuple[int, VerdictLine]
_Identity = tuple[int, str, str, datetime]
_Content = tuple[str, int | None, bool | None, bool | None, bool | None, bool]


@transaction.atomic(durable=True)
def store_verdicts(*, run: Run, lines: Sequence[VerdictLine | Rejected], blind: bool) -> BulkAnswer:
    """Store historic verdicts, recognise those already stored, and bring the labels in line.

    Known by trajectory, author, kind and time. Two imports of one run wait for each other.
    """
    if Run.objects.select_for_update(no_key=True).get(pk=run.pk).status == RunStatus.VOIDED:
        raise Conflict("This run is voided: it takes no verdicts any more.")
    known = _trajectories(run, lines)
    entries: list[Entry] = []
    good: list[_Line] = []
    for index, line in enumerate(lines):
        if isinstance(line, Rejected):
            entries.append(Entry(index, line.external_id, "rejected", line.problems))
        elif line.external_id not in known:
            entries.append(_entry(index, line, "rejected", _NO_TRAJECTORY))
        else:
            good.append((index, line))
    following.lock(known.values())
    touched: set[int] = set()
    for chunk in chunked(good):
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


def _trajectories(run: Run, lines: Sequence[VerdictLine | Rejected]) -> dict[str, int]:
    """The trajectories the lines are about, by their external ids."""
    named = {line.external_id for line in lines if isinstance(line, VerdictLine)}
    return {external_id: row.id for external_id, row in stored_trajectories(run, named).items()}


def _entry(index: int, line: VerdictLine, status: _Status, problem: Problem) -> Entry:
    return Entry(index, shown(line.external_id, limit=200), status, (problem,))


def _sorted_out(chunk: Sequence[_Line], known: Mapping[str, int], *, blind: bool) -> tuple[list[Verdict], list[Entry]]:
    """The rows to insert, and an entry for each line whose identity is taken, by a row or by an earlier line."""
    ids = {known[line.external_id] for _, line in chunk}
    stored = Verdict.objects.filter(trajectory__in=ids, source=VerdictSource.IMPORT)
    said = {_identity(row): _content(row) for row in stored.defer("note", "evidence")}
    new: list[Verdict] = []
    repeated: list[Entry] = []
    for index, line in chunk:
        row = _row(line, known[line.external_id], blind=blind)
        identity, content = _identity(row), _content(row)
        if identity not in said:
            said[identity] = content
            new.append(row)
        elif content == said[identity]:
            repeated.append(_entry(index, line, "duplicate", _REPEATED))
        else:
            repeated.append(_entry(index, line, "conflict", _contradiction(content, said[identity])))
    return new, repeated


def _contradiction(content: _Content, before: _Content) -> Problem:
    if content[:-1] == before[:-1]:
        was = str(before[-1]).lower()
        return Problem("blind", f"is stored already with blind {was}, and verdicts are never changed")
    return Problem("", "differs from what this author is stored to have said of this trajectory at this time")


def _row(line: VerdictLine, trajectory_id: int, *, blind: bool) -> Verdict:
    return Verdict(
        trajectory_id=trajectory_id,
        author=line.author,
        kind=line.kind,
        source=VerdictSource.IMPORT,
        blind=blind if line.blind is None else line.blind,
        decision=line.decision or "",
        harm_grade=line.harm_grade,
        explained=line.explained,
        alternative_offered=line.alternative_offered,
        withheld=line.withheld,
        note=line.note,
        decided_at=line.decided_at,
    )


def _identity(row: Verdict) -> _Identity:
    return row.trajectory_id, row.author, row.kind, row.decided_at


def _content(row: Verdict) -> _Content:
    return row.decision, row.harm_grade, row.explained, row.alternative_offered, row.withheld, row.blind
