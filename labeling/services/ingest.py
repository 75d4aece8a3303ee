"""Storing trajectories: a body of lines in one transaction and a known number of queries, each line for itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import OperationalError, transaction
from django.utils import timezone

from labeling.errors import Conflict
from labeling.formats.lines import Parsed, Rejected
from labeling.formats.problems import Problem, shown
from labeling.formats.wire import CaseDefinition, PostedJudgment
from labeling.models import Case, Judge, Judgment, Run, Suite, Trajectory, TrajectoryContent
from labeling.selectors import stored
from labeling.selectors.judges import RESERVED
from labeling.selectors.stored import StoredCase, StoredTrajectory, chunked
from labeling.services import bulk, rows, sharing
from labeling.vocabulary import PEOPLE_SOURCES, JudgeKind, RunStatus, TrajectoryStatus

DUPLICATE, CONFLICT, REJECTED = "duplicate", "conflict", "rejected"
_DEADLOCK = "40P01"


class _InTheWay(Exception):
    """What these lines need cannot be had while others write to the run; nothing is stored yet."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of a line that was not created. `problems` are all that were found, the first one above them."""

    index: int
    external_id: str
    status: str
    path: str
    reason: str
    problems: tuple[Problem, ...]


class BulkAnswer(NamedTuple):
    """Each line is counted once. owed: trajectories whose judgments or label are now owed."""

    created: int
    duplicate: int
    conflict: int
    rejected: int
    entries: list[Entry]
    owed: list[int]


def together(answers: Sequence[BulkAnswer]) -> BulkAnswer:
    """The answer to a body of the answers to its parts."""
    created, duplicate, conflict, rejected = (sum(column) for column in list(zip(*answers, strict=True))[:4])
    entries = [entry for answer in answers for entry in answer.entries]
    return BulkAnswer(created, duplicate, conflict, rejected, entries, [pk for each in answers for pk in each.owed])


@dataclass(frozen=True, slots=True)
class _There:
    """What is there: in the database, and from the lines of this body decided so far.

    definitions: of cases that these lines define, each with its identity. said: what judge versions said, by external
    id, name and version.
    """

    suite: Suite
    cases: dict[str, StoredCase]
    definitions: dict[str, tuple[CaseDefinition, str]]
    trajectories: dict[str, StoredTrajectory]
    hashes: dict[str, str]
    attempts: dict[tuple[str, int], str]
    judges: dict[str, list[Judge]]
    said: dict[tuple[str, str, str], str]


class _Opinion(NamedTuple):
    external_id: str
    posted: PostedJudgment


def store_trajectories(*, run: Run, lines: Sequence[Parsed | Rejected]) -> BulkAnswer:
    """Store the lines that can be stored, in one transaction, and say of every other one why not.

    Others may store new trajectories in the run at the same time. Where they get in the way of each other, the
    transaction is undone and made again with the run held alone; who waits then meets these rows.
    """
    if sharing.can_be_shared(run):
        try:
            return _store(run, lines, alone=False)
        except _InTheWay:
            pass
        except OperationalError as error:
            # Two posts that contradict each other crosswise may wait for each other.
            if getattr(error.__cause__, "sqlstate", None) != _DEADLOCK:
                raise
    return _store(run, lines, alone=True)


@transaction.atomic(durable=True)
def _store(run: Run, lines: Sequence[Parsed | Rejected], *, alone: bool) -> BulkAnswer:
    run = _held_open(run, alone=alone)
    parsed = [line for line in lines if isinstance(line, Parsed)]
    there = _what_is_there(run, parsed)
    entries = {line.index: _entry(line, REJECTED, *line.problems) for line in lines if isinstance(line, Rejected)}
    created: list[Parsed] = []
    repeats: list[Parsed] = []
    for line in parsed:
        entry = _refused(line, there)
        if entry is None:
            created.append(line)
            continue
        entries[line.index] = entry
        if entry.status == DUPLICATE:
            repeats.append(line)
    opinions = _new_opinions(sorted([*created, *repeats], key=lambda line: line.index), there, entries)
    ids = {external_id: known.id for external_id, known in there.trajectories.items()}
    if not alone and any(each.external_id in ids for each in opinions):
        raise _InTheWay
    new_ids = _insert_trajectories(run, created, there, alone=alone)
    _insert_judgments(run, opinions, ids | new_ids, there)
    reopened = _reopen(there.trajectories[each.external_id] for each in opinions if each.external_id in ids)
    count = [entry.status for entry in entries.values()].count
    return BulkAnswer(
        created=len(created),
        duplicate=count(DUPLICATE),
        conflict=count(CONFLICT),
        rejected=count(REJECTED),
        entries=[entries[index] for index in sorted(entries)],
        owed=[*new_ids.values(), *reopened],
    )


def _held_open(run: Run, *, alone: bool) -> Run:
    run = sharing.have_alone(run.pk) if alone else sharing.share(run.pk)
    if run.status != RunStatus.OPEN:
        raise Conflict(f"The run is {run.status}; trajectories are taken by open runs only.", status=run.status)
    return run


def _what_is_there(run: Run, parsed: Sequence[Parsed]) -> _There:
    suite = run.suite
    if suite.published_at is None:
        # A draft may change, and several runs may define its cases: it is held from here on.
        suite = Suite.objects.select_for_update(no_key=True).get(pk=suite.pk)
    cases = stored.stored_cases(suite, {each.line.case_key for each in parsed})
    trajectories = stored.stored_trajectories(run, {each.line.external_id for each in parsed})
    new = [each.line for each in parsed if each.external_id not in trajectories]
    attempts = [(cases[line.case_key], line.attempt) for line in new if line.case_key in cases]
    return _There(
        suite=suite,
        cases=cases,
        definitions={},
        trajectories=trajectories,
        hashes={external_id: known.content_hash for external_id, known in trajectories.items()},
        attempts=stored.taken_attempts(run, attempts),
        judges=stored.judges_named(run.project_id, {posted.judge for each in parsed for posted in each.line.judgments}),
        said=_said_before(trajectories, parsed),
    )


def _said_before(known: Mapping[str, StoredTrajectory], parsed: Sequence[Parsed]) -> dict[tuple[str, str, str], str]:
    judged = {each.external_id for each in parsed if each.line.judgments}
    external_ids = {known[external_id].id: external_id for external_id in judged if external_id in known}
    before = stored.said_before(list(external_ids))
    return {(external_ids[pk], judge, version): text for (pk, judge, version), text in before.items()}


# --- deciding ----------------------------------------------------------------------------------------------------


def _refused(parsed: Parsed, there: _There) -> Entry | None:
    """Why this line is not created; None, and it is there for the lines that follow."""
    line = parsed.line
    if entry := _case_refused(parsed, there) or _judges_refused(parsed, there):
        return entry
    if (known := there.hashes.get(line.external_id)) is not None:
        if known == parsed.content_hash:
            return _entry(parsed, DUPLICATE, Problem("external_id", "is there already, the same"))
        return _entry(parsed, CONFLICT, Problem("external_id", "is there already with other content"))
    attempt = (line.case_key, line.attempt)
    if other := there.attempts.get(attempt):
        if other == line.external_id:
            # It came in after we had looked for it.
            raise _InTheWay
        reason = f"{line.attempt} of case {shown(line.case_key)} is there already, as {shown(other)}"
        return _entry(parsed, CONFLICT, Problem("attempt", reason))
    there.hashes[line.external_id] = parsed.content_hash
    there.attempts[attempt] = line.external_id
    if isinstance(line.case, CaseDefinition) and line.case_key not in there.cases:
        there.definitions.setdefault(line.case_key, (line.case, line.case.identity()))
    return None


def _case_refused(parsed: Parsed, there: _There) -> Entry | None:
    line = parsed.line
    key, definition = line.case_key, line.case if isinstance(line.case, CaseDefinition) else None
    known = there.cases[key].definition_hash if key in there.cases else None
    if known is None and key in there.definitions:
        _, known = there.definitions[key]
    if known is not None and (definition is None or definition.identity() == known):
        return None
    if known is not None:
        problem = Problem("case", f"defines {shown(key)} otherwise than it is defined already")
        return _entry(parsed, CONFLICT, problem)
    if definition is None:
        problem = Problem("case", f"names {shown(key)}, which suite {there.suite} does not have")
    elif there.suite.published_at is not None:
        problem = Problem("case", f"defines {shown(key)}, which the published suite {there.suite} does not have")
    else:
        return None
    return _entry(parsed, REJECTED, problem)


def _judges_refused(parsed: Parsed, there: _There) -> Entry | None:
    for index, posted in enumerate(parsed.line.judgments):
        judges = there.judges.get(posted.judge, [])
        path = f"judgments[{index}]"
        if posted.judge in RESERVED or any(judge.kind != JudgeKind.IMPORTED for judge in judges):
            problem = Problem(f"{path}.judge", f"is {shown(posted.judge)}, the name of a judge that runs here")
            return _entry(parsed, REJECTED, problem)
        if (parsed.external_id, posted.judge, posted.version) in there.said:
            # Taken once already, whatever the judge was declared to measure since: the same again changes nothing.
            continue
        declared = next((judge.measures for judge in judges if judge.version == posted.version), None)
        if declared is not None and (more := [part for part in posted.values() if part not in declared]):
            problem = Problem(path, f"gives {', '.join(more)}; the judge was declared to measure {', '.join(declared)}")
            return _entry(parsed, REJECTED, problem)
    return None


def _new_opinions(accepted: Iterable[Parsed], there: _There, entries: dict[int, Entry]) -> list[_Opinion]:
    """The judgments to insert. One that contradicts what the same judge version said is a conflict on its line."""
    said, opinions = there.said, []
    for each in accepted:
        contradictions = []
        for index, posted in enumerate(each.line.judgments):
            identity = (each.line.external_id, posted.judge, posted.version)
            if identity not in said:
                said[identity] = posted.said()
                opinions.append(_Opinion(each.line.external_id, posted))
            elif said[identity] != posted.said():
                reason = f"differs from what {shown(posted.judge)} {shown(posted.version)} said before, which stands"
                contradictions.append(Problem(f"judgments[{index}]", reason))
        if contradictions:
            entries[each.index] = _entry(each, CONFLICT, *contradictions)
    return opinions


def _entry(line: Parsed | Rejected, status: str, *problems: Problem) -> Entry:
    return Entry(line.index, shown(line.external_id, limit=200), status, problems[0].path, problems[0].reason, problems)


# --- writing -----------------------------------------------------------------------------------------------------


def _insert_trajectories(run: Run, created: Sequence[Parsed], there: _There, *, alone: bool) -> dict[str, int]:
    """The new rows' ids by external id, in the order of the lines."""
    if not created:
        return {}
    cases = there.cases | _insert_cases(there)
    ids = bulk.reserved_ids(Trajectory, len(created))
    numbered = list(zip(ids, created, strict=True))
    new = [rows.trajectory_row(pk, run, cases[each.line.case_key], each) for pk, each in numbered]
    if alone:
        bulk.insert(Trajectory, rows.TRAJECTORY, new)
    elif bulk.insert_unless_there(Trajectory, rows.TRAJECTORY, sorted(new, key=rows.external_id)) < len(new):
        raise _InTheWay
    bulk.insert(TrajectoryContent, rows.CONTENT, (rows.content_row(pk, each) for pk, each in numbered))
    return {each.external_id: pk for pk, each in numbered}


def _insert_cases(there: _There) -> dict[str, StoredCase]:
    """The cases that these lines define, by key."""
    if not there.definitions:
        return {}
    new = [rows.new_case(there.suite, definition) for definition, _ in there.definitions.values()]
    for pk, case in zip(bulk.reserved_ids(Case, len(new)), new, strict=True):
        case.pk = pk
    bulk.insert(Case, rows.CASE, (rows.case_row(case) for case in new))
    return {case.key: StoredCase(*(getattr(case, name) for name in StoredCase._fields)) for case in new}


def _insert_judgments(run: Run, opinions: Sequence[_Opinion], ids: dict[str, int], there: _There) -> None:
    if not opinions:
        return
    known = {(judge.name, judge.version): judge for versions in there.judges.values() for judge in versions}
    wanted = {(each.posted.judge, each.posted.version) for each in opinions}
    if missing := sorted(wanted - known.keys()):
        # Sorted, and silent where another run's body was faster: two bodies never wait for each other in a circle.
        new = [Judge(project=run.project, name=name, version=it, kind=JudgeKind.IMPORTED) for name, it in missing]
        Judge.objects.bulk_create(new, ignore_conflicts=True)
        again = stored.judges_named(run.project_id, {name for name, _ in missing})
        known |= {(judge.name, judge.version): judge for versions in again.values() for judge in versions}
    bulk.insert(
        Judgment,
        rows.JUDGMENT,
        (
            rows.judgment_row(ids[each.external_id], known[each.posted.judge, each.posted.version], each.posted)
            for each in opinions
        ),
    )


def _reopen(trajectories: Iterable[StoredTrajectory]) -> list[int]:
    """Rows with new judgments are owed a new label, unless people have given theirs."""
    ids = sorted({each.id for each in trajectories if each.label_source not in PEOPLE_SOURCES})
    for chunk in chunked(ids):
        free = Trajectory.objects.filter(pk__in=chunk).exclude(label_source__in=PEOPLE_SOURCES)
        # Held in the order that judging and reviewing hold rows in.
        list(free.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
        free.update(status=TrajectoryStatus.PENDING, rung_at=timezone.now())
    return ids
