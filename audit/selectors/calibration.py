"""How well each judge version agrees with people, from blind verdicts (RULES 7)."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from audit.measure.calibration import JudgeCalibration, Judged, calibrate
from audit.measure.verdicts import Spoken, truth
from audit.models import Verdict
from audit.selectors.names import JudgeName, RunRef
from labeling.errors import NotFound
from labeling.measure.opinion import Opinion
from labeling.models import Judge, Judgment, Project, Run, Trajectory
from labeling.selectors.lessons import case_of, cases_learned
from labeling.vocabulary import Part, RunStatus, Side, VerdictKind

# The columns of a verdict's opinion are called after its parts; people give no check.
_PARTS = tuple(part.value for part in Part if part is not Part.CHECK)


class JudgeRow(NamedTuple):
    """undetermined: judgments that could not say. calibration: its totals are 0 where nothing was measured."""

    judge: JudgeName
    judgments: int
    undetermined: int
    calibration: JudgeCalibration


class JudgeDetail(NamedTuple):
    """not_blind: trajectories with verdicts that count for labels and not for calibration."""

    row: JudgeRow
    by_run: tuple[tuple[RunRef, JudgeCalibration], ...]
    reasons: tuple[tuple[str, int], ...]
    not_blind: int


class Counted(NamedTuple):
    judge: Judge
    judgments: int
    undetermined: int


class Truth(NamedTuple):
    """What people's blind verdicts on a trajectory come to, and what is needed to count it."""

    run_id: int
    side: Side
    opinion: Opinion
    threshold: int
    case: str


def judge_rows(*, project: Project, judge_ids: Collection[int] | None = None) -> tuple[JudgeRow, ...]:
    """The judge versions of a project, all or these, each over the whole project; in four queries."""
    there = Judge.objects.filter(project=project)
    judges = _counted(there if judge_ids is None else there.filter(pk__in=judge_ids))
    truths = truths_of(Trajectory.objects.filter(run__project=project))
    judged = _judged(truths, judges)
    return tuple(_row(counted, [row for _, row in judged[counted.judge.pk]]) for counted in judges)


def judge_detail(*, project: Project, judge_id: int) -> JudgeDetail:
    """One judge version, also by run."""
    judges = _counted(Judge.objects.filter(project=project, pk=judge_id))
    if not judges:
        raise NotFound("There is no such judge in this project.")
    trajectories = Trajectory.objects.filter(run__project=project, judgments__judge=judge_id)
    judged = _judged(truths_of(trajectories), judges)[judge_id]
    by_run: dict[int, list[Judged]] = defaultdict(list)
    for run_id, row in judged:
        by_run[run_id].append(row)
    runs = Run.objects.filter(pk__in=by_run).select_related("suite", "configuration").order_by("pk")
    reasons = (
        Judgment.objects.filter(judge=judge_id)
        .exclude(undetermined="")
        .order_by()
        .values_list("undetermined")
        .annotate(Count("pk"))
    )
    left_out = trajectories.filter(has_truth=False, verdicts__isnull=False).exclude(run__status=RunStatus.VOIDED)
    return JudgeDetail(
        row=_row(judges[0], [row for _, row in judged]),
        by_run=tuple((RunRef.of(run), calibrate(by_run[run.pk])) for run in runs),
        reasons=tuple(sorted(reasons)),
        not_blind=left_out.values("pk").distinct().count(),
    )


def _counted(judges: QuerySet[Judge]) -> list[Counted]:
    rows = judges.annotate(
        judgment_count=Count("judgments"), undetermined_count=Count("judgments", filter=~Q(judgments__undetermined=""))
    ).order_by("name", "-created_at", "version")
    return [Counted(judge, judge.judgment_count, judge.undetermined_count) for judge in rows]


def _row(counted: Counted, judged: Sequence[Judged]) -> JudgeRow:
    return JudgeRow(JudgeName.of(counted.judge), counted.judgments, counted.undetermined, calibrate(judged))


def truths_of(trajectories: QuerySet[Trajectory]) -> dict[int, Truth]:
    """The truth of every trajectory that has one; only verdicts that nothing corrects."""
    verdicts = (
        Verdict.objects.filter(
            trajectory__in=trajectories.filter(has_truth=True).exclude(run__status=RunStatus.VOIDED),
            corrected_by=None,
        )
        .order_by("pk")
        .values_list(
            "trajectory_id",
            "trajectory__run_id",
            "trajectory__side",
            "trajectory__run__suite__harm_threshold",
            "trajectory__run__suite__key",
            "trajectory__base_request",
            "kind",
            "blind",
            *_PARTS,
        )
    )
    spoken: dict[tuple[int, int, str, int, str], list[Spoken]] = defaultdict(list)
    for trajectory, run, side, threshold, suite, base_request, kind, blind, *parts in verdicts:
        said = Spoken(_opinion(*parts), VerdictKind(kind), blind=blind)
        spoken[trajectory, run, side, threshold, case_of(suite, base_request)].append(said)
    truths: dict[int, Truth] = {}
    for (trajectory, run, side, threshold, case), verdicts_on_it in spoken.items():
        opinion = truth(verdicts_on_it, side=Side(side), threshold=threshold)
        if opinion is not None:
            truths[trajectory] = Truth(run, Side(side), opinion, threshold, case)
    return truths


@lru_cache(maxsize=4096)
def _opinion(*parts: Any) -> Opinion:
    """People say the same few things many times over."""
    return Verdict(**dict(zip(_PARTS, parts, strict=True))).opinion()


def _judged(truths: dict[int, Truth], judges: Sequence[Counted]) -> dict[int, list[tuple[int, Judged]]]:
    """Per judge the trajectories that have both a truth and its opinion, with their run; none that it learned from."""
    judged: dict[int, list[tuple[int, Judged]]] = {counted.judge.pk: [] for counted in judges}
    learned = cases_learned(judged)
    for judgment in Judgment.objects.filter(judge__in=judged, trajectory__has_truth=True).defer(
        "scores", "evidence", "rationale", "raw_output"
    ):
        fact = truths.get(judgment.trajectory_id)
        if fact and fact.case not in learned.get(judgment.judge_id, ()):
            row = Judged(fact.side, fact.opinion, judgment.opinion(), fact.threshold)
            judged[judgment.judge_id].append((fact.run_id, row))
    return judged
