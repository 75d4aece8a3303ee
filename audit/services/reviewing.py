"""A person takes an item, keeps it, gives it back, or says what they think of it.

An assignment is a slot of a request, held under a lease. Nothing has to run for a lease to end: whoever needs the slot
sees that it has. The unique constraints of `Assignment` stand behind all of this.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit.measure.completeness import asked_parts, missing_parts
from audit.models import Assignment, ContentView, Decline, Draft, Verdict
from audit.selectors import places
from audit.selectors.places import NothingLeft
from audit.services import following, holding
from labeling.errors import Conflict, DomainError, NotAllowed
from labeling.models import AuditRequest, DrawMember, DrawStratum, Membership
from labeling.vocabulary import AssignmentState, Decision, DeclineReason, Part, Role, Side, VerdictKind, VerdictSource

# A claim first steps over rows that others hold at this moment; from the fourth look on it waits for them.
_LOOKS, _LOOKS_WITHOUT_WAITING = 25, 3
_LONGEST_NOTE, _LONGEST_PROBLEM, _MOST_EVIDENCE = 20_000, 200, 200
_CONFIDENCES = range(1, 6)


class Submitted(NamedTuple):
    """created: stored just now; else this is what the same claim had said before."""

    verdict: Verdict
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictInput:
    """A verdict as it comes from a form or the API. Whether it is complete is checked here, whichever way it came."""

    decision: Decision | None
    harm_grade: int | None
    explained: bool | None = None
    alternative_offered: bool | None = None
    withheld: bool | None = None
    note: str = ""
    evidence: Sequence[Mapping[str, Any]] = ()
    confidence: int | None = None
    case_problem: str = ""
    source: VerdictSource = VerdictSource.BROWSER

    def refuse_what_cannot_be_kept(self) -> None:
        if len(self.note) > _LONGEST_NOTE or len(self.evidence) > _MOST_EVIDENCE:
            sentence = f"A note has up to {_LONGEST_NOTE} characters, and evidence up to {_MOST_EVIDENCE} spans."
            raise DomainError(sentence)
        if len(self.case_problem) > _LONGEST_PROBLEM or not self.case_problem.isprintable():
            raise DomainError(f"Name the case's problem in one line of up to {_LONGEST_PROBLEM} characters.")
        if self.confidence is not None and self.confidence not in _CONFIDENCES:
            raise DomainError("Confidence is a whole number from 1 to 5.")


# --- claiming ----------------------------------------------------------------------------------------------------


def claim(*, membership: Membership) -> Assignment | NothingLeft:
    """Hand this member the item they hold, or else the first free one of their project."""
    for look in range(_LOOKS):
        try:
            answer = _look(membership_id=membership.pk, skip_locked=look < _LOOKS_WITHOUT_WAITING)
        except IntegrityError:
            continue  # Somebody was faster to the same slot; the constraint stopped us.
        if answer is not None:
            return answer
    raise Conflict("Everybody is claiming at this moment; try again.")


@transaction.atomic(durable=True)
def _look(*, membership_id: int, skip_locked: bool) -> Assignment | NothingLeft | None:
    """One look at the queue. None: what was free is being taken at this moment, look again."""
    now = timezone.now()
    # One person's claims wait for each other here, and for a lead who is deactivating them.
    seat = Membership.objects.select_for_update(no_key=True).get(pk=membership_id)
    if not seat.may(Role.REVIEWER):
        raise NotAllowed("Items are handed to reviewers: ask a lead of the project for that role.")
    mine = Assignment.objects.filter(project=seat.project_id, reviewer=seat.user_id, state=AssignmentState.HELD)
    held = mine.first()
    if held is not None and held.leased_until > now and holding.may_hold(seat, held):
        held.leased_until = holding.lease(now)
        mine.update(leased_until=held.leased_until)
        return held
    if held is not None:
        mine.update(state=AssignmentState.EXPIRED, ended_at=now)
    request = _first_free(seat, now, skip_locked=skip_locked)
    if request is not None:
        return _hand_out(request, seat, now)
    if any(_free(seat, now, for_lead=for_lead).exists() for for_lead in places.lanes(seat)):
        return None
    return places.nothing_left(membership=seat, now=now)


def _free(seat: Membership, now: datetime, *, for_lead: bool) -> QuerySet[AuditRequest]:
    return places.free_places(project_id=seat.project_id, reviewer_id=seat.user_id, for_lead=for_lead, now=now)


def _first_free(seat: Membership, now: datetime, *, skip_locked: bool) -> AuditRequest | None:
    """The first free request of this member's lanes, locked."""
    found = [
        request
        for for_lead in places.lanes(seat)
        if (
            request := _free(seat, now, for_lead=for_lead)
            .select_for_update(skip_locked=skip_locked, of=("self",), no_key=True)
            .first()
        )
    ]
    return min(found, key=lambda request: (request.priority, request.shuffle, request.pk), default=None)


def _hand_out(request: AuditRequest, seat: Membership, now: datetime) -> Assignment | None:
    """Give the locked request's lowest free slot to this member; None if it was given away since the search."""
    slot = holding.free_slot(request, adjudicating=request.for_lead, now=now)
    if slot is None:
        return None
    assignment = Assignment.objects.create(
        project_id=seat.project_id,
        request=request,
        slot=slot,
        reviewer_id=seat.user_id,
        token=secrets.token_urlsafe(32),
        claimed_at=now,
        leased_until=holding.lease(now),
    )
    ContentView.objects.bulk_create(
        [ContentView(trajectory_id=request.trajectory_id, user_id=seat.user_id, showed_opinions=False)],
        ignore_conflicts=True,
    )
    _raise_cursors(request.trajectory_id)
    return assignment


def _raise_cursors(trajectory_id: int) -> None:
    """A member of a draw has been handed out: its stratum's sample reaches to its rank, for good (RULES 15).

    Only members the draw asks for: somebody else's reason to look at a later one is no random draw.
    """
    drawn = DrawMember.objects.filter(
        trajectory=trajectory_id, probability__isnull=False, stratum__draw__stopped_at=None
    ).order_by("stratum_id")
    for stratum_id, rank in drawn.values_list("stratum_id", "rank"):
        DrawStratum.objects.filter(pk=stratum_id, cursor__lt=rank).update(cursor=rank)


# --- holding -----------------------------------------------------------------------------------------------------


@transaction.atomic(durable=True)
def renew(*, token: str, reviewer: User) -> datetime:
    """Extend the lease, also after its end if nobody took the slot; answers when it ends now."""
    now = timezone.now()
    named = holding.named(token, reviewer)
    seat = Membership.objects.get(project=named.project_id, user=reviewer)
    if not holding.may_hold(seat, named):
        raise NotAllowed("Your role in this project does not include this any more: ask a lead.")
    until = holding.lease(now)
    if not _held(named).update(leased_until=until):
        _take_up_again(named, until, now)
    return until


def _take_up_again(named: Assignment, until: datetime, now: datetime) -> None:
    request = AuditRequest.objects.select_for_update(no_key=True).get(pk=named.request_id)
    current = holding.current(named)
    if _held(current).update(leased_until=until):
        return
    slot = holding.slot_for_latecomer(current, request, now) if current.state == AssignmentState.EXPIRED else None
    if slot is None:
        raise holding.lost(current, request, now)
    mine = Assignment.objects.filter(project=current.project_id, reviewer=current.reviewer_id)
    if mine.filter(state=AssignmentState.HELD).exists():
        raise Conflict("You hold another item of this project: finish that one, or give it back.")
    mine.filter(pk=current.pk).update(state=AssignmentState.HELD, slot=slot, leased_until=until, ended_at=None)


def _held(assignment: Assignment) -> QuerySet[Assignment]:
    return Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.HELD)


@transaction.atomic(durable=True)
def release(*, token: str, reviewer: User) -> None:
    """Give the item back for anybody to take, this person included. What is not held any more stays as it is."""
    named = holding.named(token, reviewer)
    _held(named).update(state=AssignmentState.RELEASED, ended_at=timezone.now())


@transaction.atomic(durable=True)
def decline(*, token: str, reviewer: User, reason: str) -> None:
    """Give the item back and never be asked for it again. Outlives the slot; saying it twice is saying it once."""
    if reason not in set(DeclineReason):
        raise DomainError(f"Say why, with one of: {', '.join(DeclineReason)}.", path="reason")
    named = holding.named(token, reviewer)
    request = AuditRequest.objects.select_for_update(no_key=True).get(pk=named.request_id)
    current = holding.current(named)
    if current.state == AssignmentState.SUBMITTED:
        raise Conflict("You have given your verdict on this item; it stands.")
    _held(current).update(state=AssignmentState.DECLINED, ended_at=timezone.now())
    Draft.objects.filter(trajectory=request.trajectory_id, reviewer=reviewer).delete()
    Decline.objects.bulk_create([Decline(request=request, reviewer=reviewer, reason=reason)], ignore_conflicts=True)


# --- the verdict -------------------------------------------------------------------------------------------------


@transaction.atomic(durable=True)
def submit_verdict(*, token: str, reviewer: User, draft: VerdictInput) -> Submitted:
    """Store what this person says of the item they claimed, and bring its label in line.

    Once per claim, which the token stands for: a second press of the button, or a retry, gets the first verdict back,
    and another verdict is a conflict. After the lease has ended it is accepted as long as nobody else took the slot.
    """
    now = timezone.now()
    named = holding.named(token, reviewer)
    trajectory_id = named.request.trajectory_id
    following.lock([trajectory_id])
    request = AuditRequest.objects.select_related("trajectory").get(pk=named.request_id)
    current = holding.current(named)
    side = Side(request.trajectory.side)
    if current.state == AssignmentState.SUBMITTED:
        return Submitted(_the_same(Verdict.objects.get(assignment=current), draft, side=side), created=False)
    parts = _complete(draft, side=side)
    seat = Membership.objects.get(project=current.project_id, user=reviewer)
    if not holding.may_hold(seat, current):
        raise NotAllowed("Your role in this project does not include this any more: ask a lead.")
    slot: int | None = current.slot
    if current.state != AssignmentState.HELD:
        ended = current.state in (AssignmentState.EXPIRED, AssignmentState.RELEASED)
        slot = holding.slot_for_latecomer(current, request, now) if ended else None
    if slot is None:
        raise holding.lost(current, request, now)
    verdict = Verdict.objects.create(
        trajectory_id=trajectory_id,
        reviewer=reviewer,
        assignment=current,
        kind=VerdictKind.ADJUDICATION if holding.adjudicates(current) else VerdictKind.REVIEW,
        source=draft.source,
        blind=not ContentView.objects.filter(trajectory=trajectory_id, user=reviewer, showed_opinions=True).exists(),
        decided_at=now,
        seconds_taken=max(0, int((now - current.claimed_at).total_seconds())),
        **parts,
    )
    Assignment.objects.filter(pk=current.pk).update(state=AssignmentState.SUBMITTED, slot=slot, ended_at=now)
    Draft.objects.filter(trajectory=trajectory_id, reviewer=reviewer).delete()
    following.follow([trajectory_id])
    return Submitted(verdict, created=True)


def _the_same(stored: Verdict, draft: VerdictInput, *, side: Side) -> Verdict:
    """The verdict that was stored first, if what is sent now says the same."""
    try:
        parts = _complete(draft, side=side)
    except DomainError:
        parts = {}
    # As texts, because evidence may hold NaN, which equals nothing.
    if not parts or _as_text(parts) != _as_text({name: getattr(stored, name) for name in parts}):
        raise Conflict("You gave another verdict on this item before, and that one stands.", verdict=stored.pk)
    return stored


def _as_text(parts: Mapping[str, Any]) -> str:
    return json.dumps(parts, sort_keys=True)


def _complete(draft: VerdictInput, *, side: Side) -> dict[str, Any]:
    """The columns of a complete verdict; parts that do not apply are left out."""
    given: dict[str, Any] = {
        "decision": draft.decision,
        "harm_grade": draft.harm_grade,
        "explained": draft.explained,
        "alternative_offered": draft.alternative_offered,
        "withheld": draft.withheld,
    }
    missing = missing_parts(side=side, **given)
    if missing:
        raise DomainError(
            f"This verdict is not complete. {' '.join(missing.values())}",
            missing={part.value: sentence for part, sentence in missing.items()},
        )
    draft.refuse_what_cannot_be_kept()
    asked = asked_parts(side=side, decision=draft.decision)
    return {name: value for name, value in given.items() if Part(name) in asked} | {
        "note": draft.note,
        "evidence": list(draft.evidence),
        "confidence": draft.confidence,
        "case_problem": draft.case_problem,
    }
