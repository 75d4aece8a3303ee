"""Two judges over the same trajectories: what changed from one to the other, and which of them people agree with.

Two versions of one judge, most often. Counted by the database; the cases that changed come page by page.
"""

from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.db.models import Count, F, Q, QuerySet

from audit.measure.comparing import Contest, contest
from audit.measure.rates import Incomplete, RatePair
from audit.selectors.calibration import Truth, truths_of
from audit.selectors.differing import DIFFER, judged_by_both
from audit.selectors.names import JudgeName
from audit.selectors.observing import judgments_of, pair_by_judge, rows_of
from audit.selectors.trajectories import TrajectoryRow, row_of
from labeling.measure.opinion import Opinion, error_of
from labeling.models import JudgeCall, Judgment, Project, Rejudging, Run, Trajectory
from labeling.models.fields import bits_to_decisions
from labeling.selectors.lessons import cases_learned
from labeling.vocabulary import GOING_ON, Decision, RunStatus, Side

PAGE_SIZE = 50
Decisions = frozenset[Decision]
Pair = RatePair | Incomplete


class Against(NamedTuple):
    """decisions: how often the first said this and the second that, as sets not ruled out. errors: per side the same.

    by_decision, by_error: who is right where people have judged blind. owed: what each has still to say here. Of
    capability cases nobody says a decision.
    """

    judged: int
    decisions: dict[tuple[Decisions, Decisions], int]
    errors: dict[str, dict[tuple[bool | None, bool | None], int]]
    by_decision: Contest
    by_error: Contest
    owed: tuple[int, int]


class ChangedRow(NamedTuple):
    """A trajectory of which the two say different things. says: what it counts as; a grade only one gives left out."""

    row: TrajectoryRow
    run: str
    first: Opinion
    second: Opinion
    first_says: bool | None
    second_says: bool | None


class Changed(NamedTuple):
    rows: tuple[ChangedRow, ...]
    total: int
    page: int
    pages: int


def judged_in(project: Project, run: Run | None) -> QuerySet[Trajectory]:
    """What is compared: a run, or all that is not voided."""
    rows = Trajectory.objects.filter(run__project=project).exclude(run__status=RunStatus.VOIDED)
    return rows.filter(run=run) if run else rows


def both_judged_any_of(*, trajectory_ids: Collection[int], first: JudgeName, second: JudgeName) -> bool:
    """Is one of these among what both judged? Then its holder must not see what the two say."""
    rows = Trajectory.objects.filter(pk__in=trajectory_ids)
    return bool(trajectory_ids) and judged_by_both(rows, first.id, second.id).exists()


def against(*, project: Project, run: Run | None, first: JudgeName, second: JudgeName) -> Against:
    """In six queries; the verdicts and the two judges' opinions on what people judged are read."""
    both = judged_by_both(judged_in(project, run), first.id, second.id)
    counted = both.order_by().values("side", "first_decisions", "second_decisions", "first_says", "second_says")
    decisions: Counter[tuple[Decisions, Decisions]] = Counter()
    errors: dict[str, Counter[tuple[bool | None, bool | None]]] = {}
    for cell in counted.annotate(count=Count("pk")):
        one, other = (bits_to_decisions(cell[name]) for name in ("first_decisions", "second_decisions"))
        if cell["side"] != Side.CAPABILITY:
            decisions[one, other] += cell["count"]
        said = (_said(cell["first_says"]), _said(cell["second_says"]))
        errors.setdefault(cell["side"], Counter())[said] += cell["count"]
    by_decision, by_error = _contests(both, first, second)
    owed = _owed(project, run, (first.id, second.id))
    return Against(
        sum(of.total() for of in errors.values()),
        dict(decisions),
        {side: dict(of) for side, of in errors.items()},
        by_decision,
        by_error,
        (owed[first.id], owed[second.id]),
    )


def _owed(project: Project, run: Run | None, judge_ids: tuple[int, int]) -> Counter[int]:
    """Calls that are not answered yet, and what is still to be handed to the judge: by its id, in two queries."""
    calls = JudgeCall.objects.filter(judge__in=judge_ids, trajectory__in=judged_in(project, run))
    owed = Counter(dict(calls.order_by().values_list("judge").annotate(Count("pk"))))
    rejudgings = Rejudging.objects.filter(judge__in=judge_ids, status__in=GOING_ON)
    for judge, total, handed_on in (rejudgings.filter(run=run) if run else rejudgings).values_list(
        "judge", "total", "handed_on"
    ):
        owed[judge] += total - handed_on
    return owed


def _said(says: int | None) -> bool | None:
    return None if says is None else bool(says)


def _contests(both: QuerySet[Trajectory], first: JudgeName, second: JudgeName) -> tuple[Contest, Contest]:
    # The rows as they are asked for elsewhere: without the columns that only the counts need.
    known = truths_of(Trajectory.objects.filter(pk__in=both.order_by().values("pk")))
    # What one of the two learned from is no test of it.
    learned = frozenset().union(*cases_learned((first.id, second.id)).values())
    truths = {pk: truth for pk, truth in known.items() if truth.case not in learned}
    opinions: dict[int, dict[int, Opinion]] = {}
    judgments = Judgment.objects.filter(judge__in=(first.id, second.id), trajectory__has_truth=True)
    for judgment in judgments.defer("scores", "evidence", "rationale", "raw_output"):
        if judgment.trajectory_id in truths:
            opinions.setdefault(judgment.trajectory_id, {})[judgment.judge_id] = judgment.opinion()
    pairs = {pk: (said[first.id], said[second.id]) for pk, said in opinions.items() if len(said) == 2}
    return (
        contest({pk: _same_decision(truths[pk], *pair) for pk, pair in pairs.items() if truths[pk].opinion.decision}),
        contest({pk: right for pk, pair in pairs.items() if (right := _same_error(truths[pk], *pair)) is not None}),
    )


def _same_decision(truth: Truth, one: Opinion, other: Opinion) -> tuple[bool, bool]:
    return one.decision == truth.opinion.decision, other.decision == truth.opinion.decision


def _same_error(truth: Truth, one: Opinion, other: Opinion) -> tuple[bool, bool] | None:
    """`None` where people's own verdict leaves the error open."""
    real, first, second = (
        error_of(opinion, side=truth.side, threshold=truth.threshold) for opinion in (truth.opinion, one, other)
    )
    return None if real is None else (first == real, second == real)


def pairs_of(*, run: Run, first: JudgeName, second: JudgeName) -> tuple[Pair, Pair]:
    """Both judges' raw pairs over the run's measurement, in two queries; what one did not judge is undetermined."""
    runs = Run.objects.filter(measurement=run.measurement_id).exclude(status=RunStatus.VOIDED)
    trajectories = Trajectory.objects.filter(run__in=runs.values("pk"))
    rows = rows_of(trajectories)
    said = judgments_of(trajectories, rows, judge_ids=(first.id, second.id))
    one, other = (pair_by_judge(rows, said.get(judge.id, {})) for judge in (first, second))
    return one, other


_SAYS_CHANGED = DIFFER | Q(first_says=None, second_says__isnull=False) | Q(first_says__isnull=False, second_says=None)


def changed(
    *,
    project: Project,
    run: Run | None,
    first: JudgeName,
    second: JudgeName,
    errors_only: bool,
    page: int,
    without: Collection[int],
) -> Changed:
    """A page of what the two say differently, in two queries: another decision, or only another error."""
    both = judged_by_both(judged_in(project, run), first.id, second.id).exclude(pk__in=without)
    different = _SAYS_CHANGED if errors_only else _SAYS_CHANGED | ~Q(first_decisions=F("second_decisions"))
    rows = both.filter(different).order_by("pk").select_related("case", "audit_request", "run")
    paginator = Paginator(rows.defer("case__request", "case__right_answer", "case__metadata"), PAGE_SIZE)
    shown = paginator.get_page(page)
    return Changed(tuple(map(_changed, shown)), paginator.count, shown.number, paginator.num_pages)


def _changed(row: Any) -> ChangedRow:
    return ChangedRow(
        row_of(row),
        row.run.name or row.run.external_id,
        Opinion(decisions=bits_to_decisions(row.first_decisions)),
        Opinion(decisions=bits_to_decisions(row.second_decisions)),
        _said(row.first_says),
        _said(row.second_says),
    )
