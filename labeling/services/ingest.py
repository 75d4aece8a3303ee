"""Storing trajectories: a body of lines in one transaction and a known number of queries, each line for itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from labeling.errors import Conflict
from labeling.formats.lines import Parsed, Rejected
from labeling.formats.problems import Problem, shown
from labeling.formats.wire import CaseDefinition, PostedJudgment
from labeling.models import Case, Judge, Judgment, Run, Suite, Trajectory, TrajectoryContent
from labeling.selectors import stored
from labeling.selectors.judges import RESERVED
from labeling.selectors.stored import CHUNK, StoredTrajectory, chunked
from labeling.services import rows
from labeling.vocabulary import PEOPLE_SOURCES, JudgeKind, RunStatus, TrajectoryStatus

DUPLICATE, CONFLICT, REJECTED = "duplicate", "conflict", "rejected"


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


@dataclass(frozen=True, slots=True)
class _There:
    """What is there: in the database, and from the lines of this body decided so far."""

    suite: Suite
    cases: dict[str, Case]
    definitions: dict[str, CaseDefinition]
    trajectories: dict[str, StoredTrajectory]
    hashes: dict[str, str]
    attempts: dict[tuple[str, int], str]
    judges: dict[str, list[Judge]]


class _Opinion(NamedTuple):
    external_id: str
    posted: PostedJudgment


@transaction.atomic(durable=True)
def store_trajectories(*, run: Run, lines: Sequence[Parsed | Rejected]) -> BulkAnswer:
    """Store the lines that can be stored, and say of every other one why not.

    The run is held meanwhile: whoever posts to it at the same time waits, and then meets these rows.
    """
    run = _held_open(run)
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
    new_ids = _insert_trajectories(run, created, there)
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


def _held_open(run: Run) -> Run:
    runs = Run.objects.select_related("project", "suite").select_for_update(of=("self",), no_key=True)
    run = runs.get(pk=run.pk)
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
    new = [each.line for each in parsed if each.line.external_id not in trajectories]
    touched = {line.case_key: cases[line.case_key] for line in new if line.case_key in cases}
    return _There(
        suite=suite,
        cases=cases,
        definitions={},
        trajectories=trajectories,
        hashes={external_id: known.content_hash for external_id, known in trajectories.items()},
        attempts=stored.taken_attempts(run, touched.values()),
        judges=stored.judges_named(run.project_id, {posted.judge for each in parsed for posted in each.line.judgments}),
    )


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
        reason = f"{line.attempt} of case {shown(line.case_key)} is there already, as {shown(other)}"
        return _entry(parsed, CONFLICT, Problem("attempt", reason))
    there.hashes[line.external_id] = parsed.content_hash
    there.attempts[attempt] = line.external_id
    if isinstance(line.case, CaseDefinition) and line.case_key not in there.cases:
        there.definitions[line.case_key] = line.case
    return None


def _case_refused(parsed: Parsed, there: _There) -> Entry | None:
    line = parsed.line
    key, definition = line.case_key, line.case if isinstance(line.case, CaseDefinition) else None
    known = there.cases[key].definition_hash if key in there.cases else None
    if known is None and key in there.definitions:
        known = there.definitions[key].identity()
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
        declared = next((judge.measures for judge in judges if judge.version == posted.version), None)
        if declared is not None and (more := [part for part in posted.values() if part not in declared]):
            problem = Problem(path, f"gives {', '.join(more)}; the judge was declared to measure {', '.join(declared)}")
            return _entry(parsed, REJECTED, problem)
    return None


def _new_opinions(accepted: Iterable[Parsed], there: _There, entries: dict[int, Entry]) -> list[_Opinion]:
    """The judgments to insert. One that contradicts what the same judge version said is a conflict on its line."""
    accepted = [each for each in accepted if each.line.judgments]
    external_ids = {
        there.trajectories[each.line.external_id].id: each.line.external_id
        for each in accepted
        if each.line.external_id in there.trajectories
    }
    said = {
        (external_ids[pk], judge, version): text
        for (pk, judge, version), text in stored.said_before(list(external_ids)).items()
    }
    opinions = []
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


def _insert_trajectories(run: Run, created: Sequence[Parsed], there: _There) -> dict[str, int]:
    """The new rows' ids by external id, in the order of the lines."""
    defined = [rows.new_case(there.suite, definition) for definition in there.definitions.values()]
    Case.objects.bulk_create(defined, batch_size=CHUNK)
    cases = there.cases | {case.key: case for case in defined}
    trajectories = [rows.new_trajectory(run, cases[each.line.case_key], each) for each in created]
    Trajectory.objects.bulk_create(trajectories, batch_size=CHUNK)
    TrajectoryContent.objects.bulk_create(
        (rows.new_content(row, each) for row, each in zip(trajectories, created, strict=True)), batch_size=CHUNK
    )
    return {row.external_id: row.pk for row in trajectories}


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
    Judgment.objects.bulk_create(
        (
            rows.new_judgment(ids[each.external_id], known[each.posted.judge, each.posted.version], each.posted)
            for each in opinions
        ),
        batch_size=CHUNK,
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
