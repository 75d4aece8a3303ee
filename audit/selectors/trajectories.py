"""Trajectories of a run as a filtered list, and one of them with everything said about it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.db.models import F, Prefetch, Q, QuerySet

from audit.models import Verdict
from audit.selectors.names import JudgeName, RunRef
from labeling.errors import NotFound
from labeling.measure.opinion import Opinion, error_of
from labeling.models import AuditRequest, Judgment, PanelSeat, Project, Run, Trajectory
from labeling.models.fields import bits_to_decisions, decisions_to_bits
from labeling.vocabulary import Decision, LabelSource, Outcome, Reason, RequestState, Side, TrajectoryStatus

PAGE_SIZE = 50


class LabelView(NamedTuple):
    """error: true, false or None (undetermined). decisions: what the label leaves open, in vocabulary order."""

    source: str
    error: bool | None
    decisions: tuple[str, ...]
    harm_grade: int | None
    explained: bool | None
    alternative_offered: bool | None
    withheld: bool | None
    mixed: bool
    provisional: bool


class TrajectoryRow(NamedTuple):
    id: int
    external_id: str
    case: str
    attempt: int
    side: str
    category: str
    tier: int | None
    framing: str
    status: str
    outcome: str
    label: LabelView
    reasons: tuple[str, ...]


class Filters(NamedTuple):
    """As they stand in the address of a page; empty means any."""

    side: str = ""
    category: str = ""
    status: str = ""
    label: str = ""
    reason: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filters":
        return cls(*(query.get(name, "").strip() for name in cls._fields))


class TrajectoryList(NamedTuple):
    rows: tuple[TrajectoryRow, ...]
    total: int
    page: int
    pages: int
    categories: tuple[str, ...]


class OpinionView(NamedTuple):
    """One judge's or person's opinion, ready to show. parts: name -> value, only those given."""

    author: str
    judge: JudgeName | None
    kind: str
    blind: bool | None
    decisions: tuple[str, ...]
    error: bool | None
    parts: dict[str, Any]
    undetermined: str
    rationale: str
    evidence: list[Any]
    scores: dict[str, Any]


class TrajectoryPage(NamedTuple):
    row: TrajectoryRow
    run: RunRef
    request: list[Any]
    right_answer: str
    messages: list[Any]
    tools: list[Any]
    error: Any
    stop_reason: str
    purged: bool
    opinions: tuple[OpinionView, ...]
    verdicts: tuple[OpinionView, ...]
    audit_is_open: bool


LABEL_FILTERS: dict[str, Q] = {
    "error": Q(label_error=True),
    "no_error": Q(label_error=False),
    "undetermined": Q(label_error=None) & ~Q(outcome=Outcome.NOT_RUN),
    "not_run": Q(outcome=Outcome.NOT_RUN),
    "human": Q(label_source__in=[LabelSource.HUMAN, LabelSource.ADJUDICATION]),
    "leak": Q(
        label_decisions=decisions_to_bits({Decision.REFUSAL}), label_harm_grade__gte=F("run__suite__harm_threshold")
    ),
}


def list_trajectories(*, run: Run, filters: Filters, page: int = 1) -> TrajectoryList:
    """One page of a run's trajectories, in four queries."""
    rows = Trajectory.objects.filter(run=run)
    categories = tuple(rows.order_by("category").values_list("category", flat=True).distinct())
    paginator = Paginator(_filtered(rows, filters).order_by("pk").select_related("case", "audit_request"), PAGE_SIZE)
    shown = paginator.get_page(page)
    return TrajectoryList(
        rows=tuple(_row(row) for row in shown),
        total=paginator.count,
        page=shown.number,
        pages=paginator.num_pages,
        categories=categories,
    )


def _filtered(rows: QuerySet[Trajectory], filters: Filters) -> QuerySet[Trajectory]:
    """Words that are none of ours match nothing, rather than everything."""
    if filters.side:
        rows = rows.filter(side=filters.side)
    if filters.category:
        rows = rows.filter(category=filters.category)
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.label:
        rows = rows.filter(LABEL_FILTERS.get(filters.label, Q(pk__in=[])))
    if filters.reason:
        reason = filters.reason if filters.reason in set(Reason) else "none of ours"
        # Reasons are words of our own in a JSON list, so the quoted word is found as text on both databases.
        rows = rows.filter(audit_request__reasons__contains=f'"{reason}"')
    return rows


def trajectory_page(*, project: Project, trajectory_id: int) -> TrajectoryPage:
    """One trajectory of a project with its content and every opinion on it, in four queries."""
    verdicts = Verdict.objects.select_related("reviewer").order_by("pk")
    judgments = Judgment.objects.select_related("judge").order_by("judge__name", "judge__version")
    trajectory = (
        Trajectory.objects.filter(run__project=project, pk=trajectory_id)
        .select_related("case", "content", "audit_request", "run__suite", "run__configuration")
        .prefetch_related(Prefetch("judgments", judgments), Prefetch("verdicts", verdicts))
        .first()
    )
    if trajectory is None:
        raise NotFound("There is no such trajectory in this project.")
    seated = set(PanelSeat.objects.filter(run=trajectory.run_id).values_list("judge_id", flat=True))
    content = trajectory.content
    return TrajectoryPage(
        row=_row(trajectory),
        run=RunRef.of(trajectory.run),
        request=trajectory.case.request,
        right_answer=trajectory.case.right_answer,
        messages=content.messages,
        tools=content.tools,
        error=content.error,
        stop_reason=trajectory.stop_reason,
        purged=content.purged_at is not None,
        opinions=tuple(
            _judge_view(trajectory, judgment, on_panel=judgment.judge_id in seated)
            for judgment in trajectory.judgments.all()
        ),
        verdicts=tuple(_verdict_view(trajectory, verdict) for verdict in trajectory.verdicts.all()),
        audit_is_open=_request(trajectory) is not None,
    )


def _request(trajectory: Trajectory) -> AuditRequest | None:
    request: AuditRequest | None = getattr(trajectory, "audit_request", None)
    return request if request is not None and request.state == RequestState.OPEN else None


def _row(row: Trajectory) -> TrajectoryRow:
    request = _request(row)
    return TrajectoryRow(
        id=row.pk,
        external_id=row.external_id,
        case=row.case.key,
        attempt=row.attempt,
        side=row.side,
        category=row.category,
        tier=row.tier,
        framing=row.framing,
        status=row.status,
        outcome=row.outcome,
        label=LabelView(
            source=row.label_source,
            error=row.label_error,
            decisions=in_order(bits_to_decisions(row.label_decisions)),
            harm_grade=row.label_harm_grade,
            explained=row.label_explained,
            alternative_offered=row.label_alternative_offered,
            withheld=row.label_withheld,
            mixed=row.label_mixed,
            provisional=row.status != TrajectoryStatus.SETTLED
            and row.label_source not in (LabelSource.HUMAN, LabelSource.ADJUDICATION),
        ),
        reasons=tuple(request.reasons) if request else (),
    )


def _judge_view(trajectory: Trajectory, judgment: Judgment, *, on_panel: bool) -> OpinionView:
    judge = judgment.judge
    return _view(
        trajectory,
        judgment.opinion(),
        author=str(judge),
        judge=JudgeName.of(judge, on_panel=on_panel),
        kind=judge.kind,
        blind=None,
        rationale=judgment.rationale,
        evidence=judgment.evidence,
        scores=judgment.scores,
    )


def _verdict_view(trajectory: Trajectory, verdict: Verdict) -> OpinionView:
    author = verdict.author or (verdict.reviewer.get_username() if verdict.reviewer else "")
    return _view(
        trajectory,
        verdict.opinion(),
        author=author,
        judge=None,
        kind=verdict.kind,
        blind=verdict.blind,
        rationale=verdict.note,
        evidence=verdict.evidence,
        scores={},
    )


def _view(trajectory: Trajectory, opinion: Opinion, **shown: Any) -> OpinionView:
    given = {
        "harm_grade": opinion.harm_grade,
        "explained": opinion.explained,
        "alternative_offered": opinion.alternative_offered,
        "withheld": opinion.withheld,
        "check_passed": opinion.check_passed,
    }
    return OpinionView(
        decisions=in_order(opinion.decisions),
        error=error_of(opinion, side=Side(trajectory.side), threshold=trajectory.run.suite.harm_threshold),
        parts={name: value for name, value in given.items() if value is not None},
        undetermined=opinion.undetermined or "",
        **shown,
    )


def in_order(decisions: frozenset[Any]) -> tuple[str, ...]:
    """Decisions in vocabulary order, whatever order a set has."""
    return tuple(decision.value for decision in Decision if decision in decisions)
