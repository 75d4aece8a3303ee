"""Who is in a project, who is invited, and which runners have keys."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import F
from django.utils import timezone

from labeling.errors import Conflict, NotFound
from labeling.models import Invitation, Membership, Project, RunnerKey
from labeling.vocabulary import ROLE_ORDER, Role


class MemberRow(NamedTuple):
    id: int
    user_id: int
    username: str
    role: str
    active: bool
    since: datetime


class InvitationRow(NamedTuple):
    id: int
    label: str
    role: str
    created_by: str
    created_at: datetime
    expires_at: datetime


class KeyRow(NamedTuple):
    id: int
    name: str
    prefix: str
    created_by: str | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


def members(project: Project) -> tuple[MemberRow, ...]:
    """Everybody who is or was a member, the active ones first."""
    rows = Membership.objects.filter(project=project).order_by("-active", "user__username")
    columns = ("pk", "user_id", "user__username", "role", "active", "created_at")
    return tuple(MemberRow(*row) for row in rows.values_list(*columns))


def open_invitations(project: Project) -> tuple[InvitationRow, ...]:
    """Those that can still be accepted."""
    rows = Invitation.objects.filter(
        project=project, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
    ).order_by("-created_at")
    columns = ("pk", "label", "role", "created_by__username", "created_at", "expires_at")
    return tuple(InvitationRow(*row) for row in rows.values_list(*columns))


def runner_keys(project: Project) -> tuple[KeyRow, ...]:
    """Live keys first, then revoked ones."""
    rows = RunnerKey.objects.filter(project=project).order_by(F("revoked_at").desc(nulls_first=True), "-created_at")
    columns = ("pk", "name", "prefix", "created_by__username", "created_at", "last_used_at", "revoked_at")
    return tuple(KeyRow(*row) for row in rows.values_list(*columns))


def member(project: Project, membership_id: int) -> Membership:
    found = Membership.objects.select_related("user", "project").filter(project=project, pk=membership_id).first()
    if found is None:
        raise NotFound("There is no such member in this project.")
    return found


def invitation(project: Project, invitation_id: int) -> Invitation:
    found = Invitation.objects.filter(project=project, pk=invitation_id).first()
    if found is None:
        raise NotFound("There is no such invitation in this project.")
    return found


def runner_key(project: Project, key_id: int) -> RunnerKey:
    found = RunnerKey.objects.filter(project=project, pk=key_id).first()
    if found is None:
        raise NotFound("There is no such key in this project.")
    return found


def somebody_else_stays(membership: Membership, *, becomes: Role | None) -> None:
    """Refuse to leave a project without a lead or an admin. becomes: the role this member will have; `None`: none."""
    for kept in (Role.LEAD, Role.ADMIN):
        keeps = becomes is not None and _includes(becomes, kept)
        if membership.may(kept) and not keeps and not _others_who_may(membership, kept):
            raise Conflict(f"{membership.user} is the last {kept} of this project; make somebody else one first.")


def _others_who_may(membership: Membership, role: Role) -> bool:
    roles = [each for each in ROLE_ORDER if _includes(each, role)]
    others = Membership.objects.filter(project=membership.project_id, active=True, user__is_active=True, role__in=roles)
    return others.exclude(pk=membership.pk).exists()


def _includes(role: Role, other: Role) -> bool:
    return ROLE_ORDER.index(role) >= ROLE_ORDER.index(other)
