"""What the review pages show: the item a person holds, the state of the queue, and, afterwards, what others said."""

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.utils import timezone

from audit.models import Assignment, Draft, Verdict
from audit.selectors.asking import held_by
from audit.selectors.names import RunRef
from audit.selectors.places import FIRST_ADJUDICATING_SLOT, held_at
from audit.selectors.said import Said, error_here, said_by_judges, said_by_person
from audit.selectors.trajectories import trajectory_in
from labeling.errors import NotAllowed, NotFound
from labeling.measure.opinion import Opinion
from labeling.models import AuditRequest, Case, Membership, Project
from labeling.vocabulary import RequestState, VerdictKind

Messages = list[dict[str, Any]]


class Twin(NamedTuple):
    """The other case of the pair."""

    side: str
    request: Messages


class ReviewItem(NamedTuple):
    """Everything a person judges by, and nothing that says whose work it is or what anybody thinks of it."""

    assignment_id: int
    token: str
    leased_until: datetime
    adjudication: bool
    trajectory_id: int
    side: str
    category: str
    tier: int | None
    framing: str
    kind: str
    request: Messages
    right_answer: str
    twin: Twin | None
    messages: Messages
    stop_reason: str
    purged: bool


class Disputed(NamedTuple):
    """A verdict as its adjudicator sees it: without the name. error: what it counts as; `None`: undetermined."""

    opinion: Opinion
    error: bool | None
    note: str
    evidence: list[Any]
    case_problem: str


class QueueCounts(NamedTuple):
    """left: open requests that any reviewer may take; held: items in others' hands now; for_lead_left: disputes."""

    left: int
    held: int
    today_by_me: int
    for_lead_left: int


class AfterVerdict(NamedTuple):
    """What is shown to somebody who has judged a trajectory: whose work it is, and all that was said of it."""

    run: RunRef
    side: str
    judges: tuple[Said, ...]
    mine: tuple[Said, ...]
    others: tuple[Said, ...]


def review_item(assignment: Assignment) -> ReviewItem:
    """The item this assignment is about, in two queries however long the transcript is."""
    held = (
        Assignment.objects.select_related("request__trajectory__case", "request__trajectory__content")
        .defer(
            "request__trajectory__content__raw",
            "request__trajectory__content__metadata",
            "request__trajectory__case__metadata",
        )
        .get(pk=assignment.pk)
    )
    trajectory = held.request.trajectory
    return ReviewItem(
        assignment_id=held.pk,
        token=held.token,
        leased_until=held.leased_until,
        adjudication=held.slot >= FIRST_ADJUDICATING_SLOT,
        trajectory_id=trajectory.pk,
        side=trajectory.side,
        category=trajectory.category,
        tier=trajectory.tier,
        framing=trajectory.framing,
        kind=trajectory.kind,
        request=trajectory.case.request,
        right_answer=trajectory.case.right_answer,
        twin=_twin(trajectory.case),
        messages=trajectory.content.messages,
        stop_reason=trajectory.stop_reason,
        purged=trajectory.content.purged_at is not None,
    )


def _twin(case: Case) -> Twin | None:
    if not case.pair:
        return None
    twins = Case.objects.filter(suite=case.suite_id, pair=case.pair).exclude(side=case.side).order_by("pk")
    row = twins.values_list("side", "request").first()
    return Twin(*row) if row else None


def disputed(assignment: Assignment) -> tuple[Disputed, ...]:
    """The verdicts an adjudication is about, in one query; none for anybody but its adjudicator."""
    if assignment.slot < FIRST_ADJUDICATING_SLOT:
        return ()
    verdicts = Verdict.objects.filter(
        trajectory__audit_request=assignment.request_id, corrected_by=None, kind=VerdictKind.REVIEW
    ).select_related("trajectory__run__suite")
    return tuple(
        Disputed(
            said.opinion(), error_here(said.opinion(), said.trajectory), said.note, said.evidence, said.case_problem
        )
        for said in verdicts.order_by("pk")
    )


def draft_on(assignment: Assignment) -> Draft | None:
    """What the holder of this claim had chosen and typed before, under this claim or an earlier one: one query."""
    drafts = Draft.objects.filter(trajectory__audit_request=assignment.request_id, reviewer=assignment.reviewer_id)
    return drafts.first()


def queue_counts(project: Project, user: User) -> QueueCounts:
    """The state of the queue, counted from rows in three queries."""
    now = timezone.now()
    queue = AuditRequest.objects.filter(project=project, state=RequestState.OPEN).aggregate(
        left=Count("pk", filter=Q(for_lead=False)), for_lead=Count("pk", filter=Q(for_lead=True))
    )
    held = Assignment.objects.filter(held_at(now), project=project).exclude(reviewer=user)
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    today = Verdict.objects.filter(reviewer=user, assignment__project=project, created_at__gte=midnight)
    return QueueCounts(
        left=queue["left"], held=held.count(), today_by_me=today.count(), for_lead_left=queue["for_lead"]
    )


def judges_said(*, membership: Membership, trajectory_id: int) -> AfterVerdict | None:
    """What everybody said of a trajectory, in five queries; `None` for whoever has given no verdict on it.

    Refused while this person holds it. Whoever shows this records it (`viewing.record_views`): a later verdict of this
    person is not blind.
    """
    row = trajectory_in(membership.project, trajectory_id)
    if trajectory_id in held_by(membership.user_id):
        raise NotAllowed("You hold this item: give your verdict first, then the other opinions are shown.")
    standing = Verdict.objects.filter(trajectory=row, corrected_by=None).select_related("reviewer").order_by("pk")
    said = [(verdict.reviewer_id == membership.user_id, said_by_person(verdict, row)) for verdict in standing]
    mine = tuple(one for is_mine, one in said if is_mine)
    if not mine:
        return None
    return AfterVerdict(
        run=RunRef.of(row.run),
        side=row.side,
        judges=said_by_judges(row),
        mine=mine,
        others=tuple(one for is_mine, one in said if not is_mine),
    )


def claim_token(*, assignment_id: int, token: str) -> str:
    """The token, if it is the one of this claim. Whose it is, the services look at."""
    if not Assignment.objects.filter(pk=assignment_id, token=token).exists():
        raise NotFound("There is no such claim, or this is not its token: claim an item first.")
    return token
