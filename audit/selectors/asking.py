"""Whom a trajectory may still be put to: such a person is not shown what others said of it unasked (RULES 7)."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from audit.models import Assignment, ContentView, Decline, Verdict
from audit.selectors.places import held_at
from labeling.models import Membership, Trajectory
from labeling.vocabulary import RequestState, Role, RunStatus


def held_assignment(*, membership: Membership) -> Assignment | None:
    """What this member is holding now, if anything."""
    return _assignments(membership).filter(held_at(timezone.now())).first()


def assignment_of(*, membership: Membership, token: str) -> Assignment | None:
    """The claim of this member that a token names, whatever has become of it."""
    return _assignments(membership).filter(token=token).first()


def _assignments(membership: Membership) -> QuerySet[Assignment]:
    mine = Assignment.objects.filter(project=membership.project_id, reviewer=membership.user_id)
    return mine.select_related("request__trajectory__run__suite")


def still_askable(*, membership: Membership, trajectory_ids: Iterable[int]) -> frozenset[int]:
    """Those that this member may yet be asked to judge blind: one query, none for viewers.

    A person is asked where a request is open, and may be where a random draw is still to come. Not any more after
    their own verdict, after declining, or once they chose to see the opinions.
    """
    if not membership.may(Role.REVIEWER):
        return frozenset()
    mine = {"trajectory": OuterRef("pk"), "user": membership.user_id}
    asked = Q(audit_request__state=RequestState.OPEN) | (Q(run__drawn_at=None) & ~Q(run__status=RunStatus.VOIDED))
    rows = Trajectory.objects.filter(asked, pk__in=list(trajectory_ids)).exclude(
        Exists(Verdict.objects.filter(trajectory=OuterRef("pk"), reviewer=membership.user_id))
        | Exists(Decline.objects.filter(request__trajectory=OuterRef("pk"), reviewer=membership.user_id))
        | Exists(ContentView.objects.filter(**mine, showed_opinions=True))
    )
    return frozenset(rows.order_by().values_list("pk", flat=True))
