"""What the review pages show: the item a person holds, the state of the queue, and, afterwards, what others said."""

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.utils import timezone

from audit.models import Assignment, Verdict
from audit.selectors.places import FIRST_ADJUDICATING_SLOT, held_at
from labeling.errors import NotAllowed, NotFound
from labeling.measure.opinion import Opinion
from labeling.models import AuditRequest, Case, Judgment, Project, Trajectory
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
    """A verdict as its adjudicator sees it: without the name."""

    opinion: Opinion
    note: str
    evidence: list[Any]
    case_problem: str


class QueueCounts(NamedTuple):
    """left: open requests that any reviewer may take; held: items in others' hands now; for_lead_left: disputes."""

    left: int
    held: int
    today_by_me: int
    for_lead_left: int


class JudgeSaid(NamedTuple):
    name: str
    version: str
    title: str
    opinion: Opinion
    scores: dict[str, Any]
    rationale: Any


class PersonSaid(NamedTuple):
    who: str
    kind: str
    blind: bool
    opinion: Opinion
    note: str
    decided_at: datetime


class AfterVerdict(NamedTuple):
    """What is shown to somebody who is done with a trajectory: who made it, and all that was said of it."""

    model: str
    model_version: str
    run: str
    judges: tuple[JudgeSaid, ...]
    mine: tuple[PersonSaid, ...]
    others: tuple[PersonSaid, ...]


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
    rows = Verdict.objects.filter(trajectory__audit_request=assignment.request_id, corrected_by=None)
    return tuple(
        Disputed(row.opinion(), row.note, row.evidence, row.case_problem)
        for row in rows.filter(kind=VerdictKind.REVIEW).order_by("pk")
    )


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


def may_see_opinions(*, user: User, trajectory_id: int) -> bool:
    """Not while this person is to judge the trajectory themselves (RULES 7)."""
    return not Assignment.objects.filter(
        held_at(timezone.now()), reviewer=user, request__trajectory=trajectory_id
    ).exists()


def judges_said(trajectory: Trajectory, user: User) -> AfterVerdict:
    """What everybody said of a trajectory, in four queries. Refused while this person holds it.

    Whoever shows this records it (`viewing.record_view`): a later verdict of this person is not blind.
    """
    if not may_see_opinions(user=user, trajectory_id=trajectory.pk):
        raise NotAllowed("You hold this item: give your verdict first, then the other opinions are shown.")
    row = Trajectory.objects.select_related("run__configuration").get(pk=trajectory.pk)
    judgments = (
        Judgment.objects.filter(trajectory=row)
        .select_related("judge")
        .defer("raw_output", "evidence")
        .order_by("judge__name", "pk")
    )
    verdicts = Verdict.objects.filter(trajectory=row, corrected_by=None).select_related("reviewer").order_by("pk")
    said = [(verdict.reviewer_id == user.pk, _person_said(verdict)) for verdict in verdicts]
    return AfterVerdict(
        model=row.run.configuration.model,
        model_version=row.run.configuration.version,
        run=str(row.run),
        judges=tuple(_judge_said(judgment) for judgment in judgments),
        mine=tuple(person for is_mine, person in said if is_mine),
        others=tuple(person for is_mine, person in said if not is_mine),
    )


def _judge_said(judgment: Judgment) -> JudgeSaid:
    judge = judgment.judge
    return JudgeSaid(judge.name, judge.version, judge.title, judgment.opinion(), judgment.scores, judgment.rationale)


def _person_said(verdict: Verdict) -> PersonSaid:
    who = verdict.reviewer.get_username() if verdict.reviewer else verdict.author
    return PersonSaid(who, verdict.kind, verdict.blind, verdict.opinion(), verdict.note, verdict.decided_at)


def claim_token(*, assignment_id: int, token: str) -> str:
    """The token, if it is the one of this claim. Whose it is, the services look at."""
    if not Assignment.objects.filter(pk=assignment_id, token=token).exists():
        raise NotFound("There is no such claim, or this is not its token: claim an item first.")
    return token
