"""The rules of holding an item: whose claim a token is, which slots are free, what to tell who comes too late.

Steps of the services in `reviewing`, inside their transactions.
"""

import itertools
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User

from audit.models import Assignment, Verdict
from audit.selectors import places
from audit.selectors.places import FIRST_ADJUDICATING_SLOT
from labeling.errors import Conflict, NotFound
from labeling.models import AuditRequest, Membership
from labeling.vocabulary import AssignmentState, RequestState, Role

LIVE = (AssignmentState.HELD, AssignmentState.SUBMITTED)


def named(token: str, reviewer: User) -> Assignment:
    """The assignment this token names, if it is this person's and they are still a member."""
    mine = Assignment.objects.filter(
        token=token, reviewer=reviewer, project__memberships__user=reviewer, project__memberships__active=True
    )
    assignment = mine.select_related("request").first()
    if assignment is None:
        raise NotFound("There is no such claim of yours: claim an item first.")
    return assignment


def current(named: Assignment) -> Assignment:
    """The person's live claim of the same request, if they took it again since (another tab); else the one named."""
    again = Assignment.objects.filter(request=named.request_id, reviewer=named.reviewer_id, state__in=LIVE)
    return again.first() or Assignment.objects.get(pk=named.pk)


def slot_for_latecomer(assignment: Assignment, request: AuditRequest, now: datetime) -> int | None:
    """A slot for somebody whose claim has ended, if nobody took theirs or another is free. The request is locked."""
    if request.state != RequestState.OPEN:
        return None
    return free_slot(request, adjudicating=adjudicates(assignment), now=now)


def free_slot(request: AuditRequest, *, adjudicating: bool, now: datetime) -> int | None:
    """The lowest free slot of an open request, if it has room. The request is locked; lapsed claims end on the way."""
    rows = list(Assignment.objects.filter(request=request, state__in=LIVE).values_list("slot", "state", "leased_until"))
    live = [(slot, state) for slot, state, until in rows if state == AssignmentState.SUBMITTED or until > now]
    if len(live) < len(rows):
        lapsed = Assignment.objects.filter(request=request, state=AssignmentState.HELD, leased_until__lte=now)
        lapsed.update(state=AssignmentState.EXPIRED, ended_at=now)
    states = [state for slot, state in live if (slot >= FIRST_ADJUDICATING_SLOT) is adjudicating]
    held = states.count(AssignmentState.HELD)
    filled = Verdict.objects.filter(trajectory=request.trajectory_id, corrects=None).count()
    if adjudicating:
        has_room = held == 0
    elif request.for_lead:
        has_room = held + filled < request.slots
    else:
        # An open request wants one reading more than it has, whatever its slots say (places.free_places).
        has_room = held < max(request.slots - filled, 1)
    taken = {slot for slot, _ in live}
    first = FIRST_ADJUDICATING_SLOT if adjudicating else 1
    return next(slot for slot in itertools.count(first) if slot not in taken) if has_room else None


def lost(assignment: Assignment, request: AuditRequest, now: datetime) -> Conflict:
    """What to tell somebody who comes too late."""
    if assignment.state == AssignmentState.SUBMITTED:
        return Conflict("You have given your verdict on this item; it stands.")
    if assignment.state == AssignmentState.DECLINED:
        return Conflict("You declined this item; claim the next one.")
    if request.state != RequestState.OPEN:
        return Conflict("Others have finished this item: keep what you typed if you need it, and claim the next one.")
    holders = Assignment.objects.filter(places.held_at(now), request=request).exclude(reviewer=assignment.reviewer_id)
    until = holders.order_by("leased_until").values_list("leased_until", flat=True).first()
    if until is None:
        return Conflict("You do not hold this item any more: claim again.")
    return Conflict(
        "Your lease ended and someone else took this item: keep what you typed if you need it, and claim the next one.",
        holder="someone else",
        until=until.isoformat(),
    )


def lease(now: datetime) -> datetime:
    return now + timedelta(minutes=settings.LEASE_MINUTES)


def adjudicates(assignment: Assignment) -> bool:
    return assignment.slot >= FIRST_ADJUDICATING_SLOT


def may_hold(seat: Membership, assignment: Assignment) -> bool:
    return seat.may(Role.LEAD if adjudicates(assignment) else Role.REVIEWER)
