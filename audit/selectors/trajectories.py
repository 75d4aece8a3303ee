"""Trajectories of a run as a filtered list, and one of them with everything said about it."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.db.models import F, Q, QuerySet

from audit.models import Verdict
from audit.selectors.differing import differing
from audit.selectors.names import RunRef
from audit.selectors.said import Said, said_by_judges, said_by_person
from labeling.errors import NotFound
from labeling.measure.opinion import Opinion
from labeling.models import AuditRequest, Project, Run, Trajectory
from labeling.models.fields import bits_to_decisions, decisions_to_bits
from labeling.selectors.progress import UNDETERMINED
from labeling.vocabulary import (
    PEOPLE_SOURCES,
    Decision,
    Outcome,
    Reason,
    RequestState,
    RunStatus,
    TrajectoryStatus,
)

PAGE_SIZE = 50
OVER_MEASUREMENT = "measurement"


class LabelView(NamedTuple):
    """error: true, false or None (undetermined). mixed: judges gave different decisions and the same error."""

    source: str
    error: bool | None
    opinion: Opinion
    mixed: bool
    provisional: bool


class TrajectoryRow(NamedTuple):
    """has_check: a program here may say something of the answer."""

    id: int
    run_id: int
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
    has_check: bool


class Filters(NamedTuple):
    """As they stand in the address of a page; empty means any.

    differ: two judges disagree (`audit.selectors.differing`). over: the run alone, or all of its measurement.
    """

    side: str = ""
    category: str = ""
    status: str = ""
    label: str = ""
    reason: str = ""
    differ: str = ""
    over: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filters":
        return cls(*(query.get(name, "").strip() for name in cls._fields))

    @property
    def tell(self) -> bool:
        """Do they tell what judges or people said of each row?"""
        return bool(self.label or self.reason or self.differ)

    def untold(self) -> "Filters":
        """Without those."""
        return self._replace(label="", reason="", differ="")


class TrajectoryList(NamedTuple):
    """run_names: of the runs that `over` may take in, by id."""

    rows: tuple[TrajectoryRow, ...]
    total: int
    page: int
    pages: int
    categories: tuple[str, ...]
    run_names: dict[int, str]


class TrajectoryPage(NamedTuple):
    """check: how a program checks the answer, as `labeling.formats.checks` has it; `None` where none does."""

    row: TrajectoryRow
    run: RunRef
    right_answer: str
    check: dict[str, Any] | None
    messages: list[Any]
    error: Any
    stop_reason: str
    purged: bool
    judges: tuple[Said, ...]
    people: tuple[Said, ...]


LABEL_FILTERS: dict[str, Q] = {
    "error": Q(label_error=True),
    "no_error": Q(label_error=False),
    "undetermined": UNDETERMINED,
    "not_run": Q(outcome=Outcome.NOT_RUN),
    "human": Q(label_source__in=PEOPLE_SOURCES),
    "leak": Q(
        label_decisions=decisions_to_bits({Decision.REFUSAL}), label_harm_grade__gte=F("run__suite__harm_threshold")
    ),
}
_NONE = Q(pk__in=[])


def list_trajectories(*, run: Run, filters: Filters, page: int = 1, without: Collection[int] = ()) -> TrajectoryList:
    """One page of a run's trajectories, or of its measurement's, in four queries; some may be left out."""
    together = Run.objects.filter(measurement=run.measurement_id).exclude(status=RunStatus.VOIDED).order_by("pk")
    names = {pk: name or external_id for pk, name, external_id in together.values_list("pk", "name", "external_id")}
    over = {"": Q(run=run), OVER_MEASUREMENT: Q(run__in=list(names))}
    rows = Trajectory.objects.filter(over.get(filters.over, _NONE))
    categories = tuple(rows.order_by("category").values_list("category", flat=True).distinct())
    matching = _filtered(rows, filters).exclude(pk__in=without).order_by("pk").select_related("case", "audit_request")
    paginator = Paginator(matching.defer("case__request", "case__right_answer", "case__metadata"), PAGE_SIZE)
    shown = paginator.get_page(page)
    return TrajectoryList(
        rows=tuple(row_of(row) for row in shown),
        total=paginator.count,
        page=shown.number,
        pages=paginator.num_pages,
        categories=categories,
        run_names=names,
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
        rows = rows.filter(LABEL_FILTERS.get(filters.label, _NONE))
    if filters.reason:
        reason = filters.reason if filters.reason in set(Reason) else "none of ours"
        # Reasons are words of our own in a JSON list, so the quoted word is found as text on both databases.
        rows = rows.filter(audit_request__reasons__contains=f'"{reason}"')
    return differing(rows, filters.differ) if filters.differ else rows


def trajectory_in(project: Project, trajectory_id: int) -> Trajectory:
    """The row of a trajectory of this project, its run, suite and configuration selected along."""
    return _one(Trajectory.objects.select_related("run__suite", "run__configuration"), project, trajectory_id)


def trajectory_messages(*, project: Project, trajectory_id: int) -> list[Any]:
    """The messages of a trajectory and nothing that says whose it is, in one query."""
    rows = Trajectory.objects.select_related("content").only("content__messages")
    messages: list[Any] = _one(rows, project, trajectory_id).content.messages
    return messages


def _one(rows: QuerySet[Trajectory], project: Project, trajectory_id: int) -> Trajectory:
    found = rows.filter(run__project=project, pk=trajectory_id).first()
    if found is None:
        raise NotFound("There is no such trajectory in this project.")
    return found


def trajectory_page(*, project: Project, trajectory_id: int) -> TrajectoryPage:
    """One trajectory of a project with its content and every opinion on it, in four queries."""
    rows = Trajectory.objects.select_related(
        "case", "content", "audit_request", "run__suite", "run__configuration"
    ).defer("case__request", "case__metadata", "content__raw", "content__metadata", "content__tools")
    trajectory = _one(rows, project, trajectory_id)
    verdicts = Verdict.objects.filter(trajectory=trajectory).select_related("reviewer").order_by("pk")
    content = trajectory.content
    return TrajectoryPage(
        row=row_of(trajectory),
        run=RunRef.of(trajectory.run),
        right_answer=trajectory.case.right_answer,
        check=trajectory.case.answer_check,
        messages=content.messages,
        error=content.error,
        stop_reason=trajectory.stop_reason,
        purged=content.purged_at is not None,
        judges=said_by_judges(trajectory),
        people=tuple(said_by_person(verdict, trajectory) for verdict in verdicts),
    )


def row_of(row: Trajectory) -> TrajectoryRow:
    request: AuditRequest | None = getattr(row, "audit_request", None)
    return TrajectoryRow(
        id=row.pk,
        run_id=row.run_id,
        external_id=row.external_id,
        case=row.case.key,
        attempt=row.attempt,
        side=row.side,
        category=row.category,
        tier=row.tier,
        framing=row.framing,
        status=row.status,
        outcome=row.outcome,
        label=label_of(row),
        reasons=tuple(request.reasons) if request is not None and request.state == RequestState.OPEN else (),
        has_check=row.case.answer_check is not None,
    )


def label_of(row: Trajectory) -> LabelView:
    return LabelView(
        source=row.label_source,
        error=row.label_error,
        opinion=Opinion(
            decisions=bits_to_decisions(row.label_decisions),
            harm_grade=row.label_harm_grade,
            explained=row.label_explained,
            alternative_offered=row.label_alternative_offered,
            withheld=row.label_withheld,
        ),
        mixed=row.label_mixed,
        provisional=row.status != TrajectoryStatus.SETTLED and row.label_source not in PEOPLE_SOURCES,
    )
