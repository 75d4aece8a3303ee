"""Whom a trajectory may still be put to: such a person is not shown what others said of it unasked (RULES 7)."""

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from audit.models import Assignment, ContentView, Decline, Verdict
from audit.selectors.places import held_at
from labeling.models import Membership, Trajectory
from labeling.vocabulary import RequestState, Role, RunStatus


class Labels(NamedTuple):
    """Of which trajectories one member is shown the labels and opinions.

    hidden: not of these, because they are judging them or may yet be asked to. held: those of the hidden ones that are
    in their hands and stay hidden whatever they choose.
    """

    shown: frozenset[int]
    hidden: frozenset[int]
    held: frozenset[int]


def labels_for(*, membership: Membership, trajectory_ids: Collection[int], chose_to_see: bool) -> Labels:
    """In two queries. Whoever shows them records all of `shown` first (`viewing.record_views`).

    Also what nobody asks about now: people may come to dispute it, and then it matters who had seen what.
    """
    ids = frozenset(trajectory_ids)
    held = held_by(membership.user_id) & ids
    askable = _askable(membership, ids)
    hidden = held if chose_to_see else held | askable
    return Labels(ids - hidden, hidden, held)


def may_filter_by_labels(membership: Membership, *, chose_to_see: bool) -> bool:
    """A list filtered by label or reason tells what was said of everything in it."""
    return chose_to_see or not membership.may(Role.REVIEWER)


def held_by(user_id: int) -> frozenset[int]:
    """The trajectories this person is judging now, in any project: they see no opinions on them by any way."""
    held = Assignment.objects.filter(held_at(timezone.now()), reviewer=user_id)
    return frozenset(held.values_list("request__trajectory", flat=True))


def holds_of(*, user_id: int, measurement_id: int) -> bool:
    """Is this person judging an item of this measurement? In a small slice a figure tells what was said of it."""
    held = Assignment.objects.filter(held_at(timezone.now()), reviewer=user_id)
    return held.filter(request__trajectory__run__measurement=measurement_id).exists()


def holds_of_any(*, user_id: int, run_ids: Collection[int]) -> bool:
    """Is this person judging an item of a measurement that one of these runs is in?"""
    held = Assignment.objects.filter(held_at(timezone.now()), reviewer=user_id)
    return held.filter(request__trajectory__run__measurement__runs__in=run_ids).exists()


def held_assignment(*, membership: Membership) -> Assignment | None:
    """What this member is holding now, if anything."""
    return _assignments(membership).filter(held_at(timezone.now())).first()


def assignment_of(*, membership: Membership, token: str) -> Assignment | None:
    """The claim of this member that a token names, whatever has become of it."""
    return _assignments(membership).filter(token=token).first()


def _assignments(membership: Membership) -> QuerySet[Assignment]:
    return Assignment.objects.filter(project=membership.project_id, reviewer=membership.user_id)


def _askable(membership: Membership, trajectory_ids: frozenset[int]) -> frozenset[int]:
    """Those that this member may yet be asked to judge blind: one query, none for viewers.

    A person is asked where a request is open, and may be where a random draw is still to come. Not any more after
    their own verdict, after declining, or once they chose to see the opinions.
    """
    if not membership.may(Role.REVIEWER):
        return frozenset()
    mine = {"trajectory": OuterRef("pk"), "user": membership.user_id}
    asked = Q(audit_request__state=RequestState.OPEN) | (Q(run__drawn_at=None) & ~Q(run__status=RunStatus.VOIDED))
    rows = Trajectory.objects.filter(asked, pk__in=trajectory_ids).exclude(
        Exists(Verdict.objects.filter(trajectory=OuterRef("pk"), reviewer=membership.user_id))
        | Exists(Decline.objects.filter(request__trajectory=OuterRef("pk"), reviewer=membership.user_id))
        | Exists(ContentView.objects.filter(**mine, showed_opinions=True))
    )
    return frozenset(rows.order_by().values_list("pk", flat=True))
