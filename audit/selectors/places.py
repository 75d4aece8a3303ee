"""Places in the review queue: which are free, for whom, and why there is none."""

from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.db.models import Case, F, Func, IntegerField, Min, OuterRef, Q, QuerySet, Subquery, When

from audit.models import Assignment, Decline, Verdict
from labeling.models import AuditRequest, Membership
from labeling.vocabulary import AssignmentState, RequestState, Role

# Slots from here on are adjudicators'. A reading that began before people disagreed keeps its number and stays one.
FIRST_ADJUDICATING_SLOT = 1000


class NothingLeft(NamedTuple):
    """Why there is nothing to review for this person.

    empty: no request is open. all_held: others hold what is open; the first lease ends at `until`. seen_all: the rest
    are ones this person declined or has given a verdict on, or that only a lead may take. left: open requests.
    """

    kind: Literal["empty", "all_held", "seen_all"]
    until: datetime | None
    left: int


def lanes(membership: Membership) -> tuple[bool, ...]:
    """The values of `for_lead` whose requests this member is handed."""
    return (False, True) if membership.may(Role.LEAD) else (False,)


def held_at(now: datetime) -> Q:
    """Assignments whose lease has not ended. A lapsed one says `held` until somebody needs its slot."""
    return Q(state=AssignmentState.HELD, leased_until__gt=now)


def free_places(*, project_id: int, reviewer_id: int, for_lead: bool, now: datetime) -> QuerySet[AuditRequest]:
    """Open requests with a free slot that this person has not dealt with, in the order of the queue.

    Every verdict fills a slot, historic ones too. An open request always wants one reading more than it has, whatever
    its slots say: a random draw may still want a blind one, a conflict its adjudication.

    Each condition is a correlated count over the rows of one request, which no planner turns into a join: the index
    `open_requests_in_order` is read from its front and left at the first free request, however long the queue is.
    """
    claims = Assignment.objects.filter(request=OuterRef("pk"))
    verdicts = Verdict.objects.filter(trajectory=OuterRef("trajectory"))
    declines = Decline.objects.filter(request=OuterRef("pk"))
    adjudicating = Q(slot__gte=FIRST_ADJUDICATING_SLOT) if for_lead else Q()
    # `in`, because SQLite does not take Django's NOT for a value of the index.
    queue = AuditRequest.objects.filter(project=project_id, state=RequestState.OPEN, for_lead__in=[for_lead]).alias(
        held=_count(claims, held_at(now) & adjudicating),
        filled=_count(verdicts, Q(corrects=None)),
        said=_count(verdicts, Q(reviewer=reviewer_id)),
        declined=_count(declines, Q(reviewer=reviewer_id)),
    )
    room = Q(held__lt=1) if for_lead else Q(held__lt=1) | Q(held__lt=F("slots") - F("filled"))
    return queue.filter(room, said__lt=1, declined__lt=1).order_by("priority", "shuffle", "pk")


def _count(rows: QuerySet[Any], condition: Q) -> Subquery:
    """How many of these rows fulfil the condition; in the count and not in the search, which is by the request."""
    counted = Func(Case(When(condition, then=1)), function="COUNT", output_field=IntegerField())
    return Subquery(rows.order_by().annotate(n=counted).values("n"))


def nothing_left(*, membership: Membership, now: datetime) -> NothingLeft:
    """Why this member was handed nothing."""
    left = AuditRequest.objects.filter(project=membership.project_id, state=RequestState.OPEN).count()
    if not left:
        return NothingLeft("empty", None, 0)
    until = (
        Assignment.objects.filter(
            held_at(now),
            project=membership.project_id,
            request__state=RequestState.OPEN,
            request__for_lead__in=lanes(membership),
        )
        .exclude(request__trajectory__verdicts__reviewer=membership.user_id)
        .exclude(request__declines__reviewer=membership.user_id)
        .aggregate(until=Min("leased_until"))["until"]
    )
    return NothingLeft("all_held" if until else "seen_all", until, left)
