"""What a body of lines may meet in the database, each in one query a chunk."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from labeling.formats.normal import canonical
from labeling.models import Case, Judge, Judgment, Run, Suite, Trajectory
from labeling.models.fields import bits_to_decisions
from labeling.vocabulary import Decision, Part

CHUNK = 500
T = TypeVar("T")


class StoredTrajectory(NamedTuple):
    id: int
    content_hash: str
    label_source: str


def chunked(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
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


def stored_cases(suite: Suite, keys: Collection[str]) -> dict[str, Case]:
    """By key, without metadata and the right answer."""
    return {
        case.key: case
        for chunk in chunked(keys)
        for case in Case.objects.filter(suite=suite, key__in=chunk).defer("metadata", "right_answer")
    }


def taken_attempts(run: Run, cases: Collection[Case]) -> dict[tuple[str, int], str]:
    """The external id of each (case key, attempt) there is."""
    keys = {case.pk: case.key for case in cases}
    return {
        (keys[case], attempt): external_id
        for chunk in chunked(keys)
        for case, attempt, external_id in Trajectory.objects.filter(run=run, case__in=chunk)
        .order_by()
        .values_list("case_id", "attempt", "external_id")
    }


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
    return canonical(
        [{part: value for part, value in given.items() if value is not None}, row.undetermined, row.scores]
    )
