"""Who may see and do what. Everything of a project one is no active member of is "not there"."""

import hashlib
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser, User

from labeling.errors import NotAllowed, NotFound
from labeling.models import Invitation, Membership, RunnerKey
from labeling.vocabulary import Role


class ProjectSeat(NamedTuple):
    """A project somebody is in, and as what."""

    key: str
    name: str
    role: Role


def secret_hash(secret: str) -> str:
    """What is stored of a runner key or an invitation's token. Both are long and random, so no salt is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def membership_of(user: User | AnonymousUser, project_key: str, *, at_least: Role = Role.VIEWER) -> Membership:
    """This person's membership. NotFound for outsiders, NotAllowed for members whose role is too small."""
    seats = Membership.objects.select_related("project", "user")
    membership = seats.filter(user=user.pk, project__key=project_key, active=True, user__is_active=True).first()
    if membership is None:
        raise NotFound("There is no such project, or you are not a member of it.")
    if not membership.may(at_least):
        raise NotAllowed(
            f"This needs the role {at_least}; you are {membership.role} here. Ask a lead of the project.",
            needs=str(at_least),
            role=membership.role,
        )
    return membership


def projects_of(user: User | AnonymousUser) -> list[ProjectSeat]:
    """The projects somebody is an active member of, by name."""
    seats = Membership.objects.filter(user=user.pk, active=True).order_by("project__name", "project__key")
    return [ProjectSeat(*row[:2], Role(row[2])) for row in seats.values_list("project__key", "project__name", "role")]


def project_of_key(raw_key: str) -> RunnerKey | None:
    """The live runner key with this secret, its project loaded; `None` if there is none or it was revoked."""
    keys = RunnerKey.objects.select_related("project")
    return keys.filter(key_hash=secret_hash(raw_key), revoked_at=None).first()


def open_invitation(token: str) -> Invitation:
    """The invitation a link stands for. NotFound once it is used, revoked or expired."""
    found = Invitation.objects.select_related("project").filter(token_hash=secret_hash(token)).first()
    if found is None or not found.is_open:
        raise NotFound("This invitation was used, revoked, or has expired; ask for a new one.")
    return found
