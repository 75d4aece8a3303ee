"""What a body of lines may meet in the database, each in one query a chunk."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from labeling.formats.wire import opinion_text
from labeling.models import Case, Judge, Judgment, Run, Suite, Trajectory
from labeling.models.fields import bits_to_decisions
from labeling.vocabulary import Decision, Part

CHUNK = 500
T = TypeVar("T")


class StoredCase(NamedTuple):
    """What a trajectory takes from its case."""

    id: int
    key: str
    definition_hash: str
    request: list[dict[str, Any]]
    side: str
    category: str
    tier: int | None
    framing: str
    kind: str
    origin: str
    pair: str
    base_request: str


class StoredTrajectory(NamedTuple):
    id: int
    content_hash: str
    label_source: str


def chunked(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def stored_trajectories(run: Run, external_ids: Collection[str]) -> dict[str, StoredTrajectory]:
    """By external id."""
    return {
        external_id: StoredTrajectory(pk, content_hash, label_source)
        for chunk in chunked(external_ids)
        for external_id, pk, content_hash, label_source in Trajectory.objects.filter(run=run, external_id__in=chunk)
        .order_by()
        .values_list("external_id", "pk", "content_hash", "label_source")
    }


def stored_cases(suite: Suite, keys: Collection[str]) -> dict[str, StoredCase]:
    """By key."""
    rows = (
        row
        for chunk in chunked(keys)
        for row in Case.objects.filter(suite=suite, key__in=chunk).order_by().values_list(*StoredCase._fields)
    )
    return {case.key: case for case in map(StoredCase._make, rows)}


def taken_attempts(run: Run, wanted: Collection[tuple[StoredCase, int]]) -> dict[tuple[str, int], str]:
    """The external id of those (case key, attempt) that are there; not of the other attempts of these cases."""
    taken = {}
    for chunk in chunked(wanted):
        named = {(case.id, attempt): (case.key, attempt) for case, attempt in chunk}
        cases, attempts = ({each[place] for each in named} for place in (0, 1))
        rows = Trajectory.objects.filter(run=run, case__in=cases, attempt__in=attempts).order_by()
        for case, attempt, external_id in rows.values_list("case_id", "attempt", "external_id").iterator():
            if (case, attempt) in named:
                taken[named[case, attempt]] = external_id
    return taken


def judges_named(project_id: int, names: Collection[str]) -> dict[str, list[Judge]]:
    """All versions of the judges with these names, by name."""
    found: dict[str, list[Judge]] = defaultdict(list)
    for chunk in chunked(names):
        for judge in Judge.objects.filter(project=project_id, name__in=chunk):
            found[judge.name].append(judge)
    return found


def said_before(trajectory_ids: Sequence[int]) -> dict[tuple[int, str, str], str]:
    """What each judge version said of each trajectory, comparable with `PostedJudgment.said`."""
    return {
        (row.trajectory_id, row.judge.name, row.judge.version): _said(row)
        for chunk in chunked(trajectory_ids)
        for row in Judgment.objects.filter(trajectory__in=chunk)
        .select_related("judge")
        .defer("evidence", "rationale", "raw_output")
    }


def _said(row: Judgment) -> str:
    decisions = sorted(bits_to_decisions(row.decisions))
    given = {
        Part.DECISION: decisions if len(decisions) < len(Decision) else None,
        Part.HARM_GRADE: row.harm_grade,
        Part.EXPLAINED: row.explained,
        Part.ALTERNATIVE_OFFERED: row.alternative_offered,
        Part.WITHHELD: row.withheld,
        Part.CHECK: row.check_passed,
    }
    values = {part: value for part, value in given.items() if value is not None}
    return opinion_text(values, reason=row.undetermined, scores=row.scores)
