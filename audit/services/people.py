"""Members who go, come back, or sign out; what they held is free at once."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit.models import Assignment
from labeling.errors import NotAllowed, NotFound
from labeling.models import Membership, Project
from labeling.selectors import members
from labeling.vocabulary import AssignmentState, Role


@transaction.atomic(durable=True)
def deactivate_member(*, membership: Membership, by: Membership) -> Membership:
    """End a membership. The person's verdicts stay theirs; the item they hold goes back to the queue."""
    target = _target(membership, by)
    members.somebody_else_stays(target, becomes=None)
    Membership.objects.filter(pk=target.pk).update(active=False)
    _release(Assignment.objects.filter(reviewer=target.user_id, project=target.project_id))
    target.active = False
    return target


@transaction.atomic(durable=True)
def reactivate_member(*, membership: Membership, by: Membership) -> Membership:
    """Let a deactivated member back in, in the role they had."""
    target = _target(membership, by)
    Membership.objects.filter(pk=target.pk).update(active=True)
    target.active = True
    return target


@transaction.atomic(durable=True)
def release_all(*, user: User) -> int:
    """Give back whatever this person holds in any project, as when they sign out; how many items that was."""
    return _release(Assignment.objects.filter(reviewer=user))


def _target(membership: Membership, by: Membership) -> Membership:
    """The membership as it is now, if the other one may end it, held until the transaction ends.

    Two leads deactivating each other wait for one another at the project, and a claim of this member at their row.
    """
    if membership.project_id != by.project_id:
        raise NotFound("There is no such member in this project.")
    Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
    seats = Membership.objects.select_related("user", "project").select_for_update(of=("self",), no_key=True)
    target = seats.get(pk=membership.pk)
    actor = Membership.objects.get(pk=by.pk)
    if not actor.may(Role.LEAD):
        raise NotAllowed("Only leads and admins may do this; ask one of the project's.")
    if target.role == Role.ADMIN and not actor.may(Role.ADMIN):
        raise NotAllowed("Only an admin may end or renew the membership of an admin.")
    return target


def _release(assignments: QuerySet[Assignment]) -> int:
    held = assignments.filter(state=AssignmentState.HELD)
    return held.update(state=AssignmentState.RELEASED, ended_at=timezone.now())
