"""Projects, their members and their runner keys."""

import secrets
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, transaction
from django.utils import timezone

from labeling.errors import Conflict, DomainError, NotAllowed, NotFound
from labeling.models import Invitation, Membership, Project, RunnerKey
from labeling.selectors import members
from labeling.selectors.access import secret_hash
from labeling.services import registering
from labeling.vocabulary import Role


class NewKey(NamedTuple):
    """`secret` is shown once and stored nowhere."""

    key: RunnerKey
    secret: str


class NewInvitation(NamedTuple):
    """`token` goes into the link, once, and is stored nowhere."""

    invitation: Invitation
    token: str


@transaction.atomic(durable=True)
def create_project(*, key: str, name: str, owner: User | None = None) -> Project:
    """Make a project with the built-in judges, and its owner its admin. One nobody can open takes an owner later."""
    try:
        validate_slug(key)
    except ValidationError:
        raise DomainError("A project's key is made of letters, digits, - and _.", field="key") from None
    if len(key) > 60:
        raise DomainError("A project's key has at most 60 characters.", field="key")
    project, created = Project.objects.get_or_create(key=key, defaults={"name": name or key})
    if not created and (owner is None or Membership.objects.filter(project=project).exists()):
        raise Conflict(f"There is a project {key} already; choose another key.", field="key")
    registering.register_builtin(project)
    if owner is not None:
        Membership.objects.create(project=project, user=owner, role=Role.ADMIN)
    return project


# --- runner keys -------------------------------------------------------------------------------------------------


@transaction.atomic(durable=True)
def create_runner_key(*, project: Project, name: str, by: User | None) -> NewKey:
    """Make a key a runner posts with. The secret is in the answer and nowhere else."""
    if not 1 <= len(name) <= 100:
        raise DomainError("Name the key, in at most 100 characters, after the runner that will use it.", field="name")
    secret = "lit_" + secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            key = RunnerKey.objects.create(
                project=project, name=name, prefix=secret[:12], key_hash=secret_hash(secret), created_by=by
            )
    except IntegrityError:
        raise Conflict(f"There is a live key {name} already; revoke it or choose another name.", field="name") from None
    return NewKey(key, secret)


@transaction.atomic(durable=True)
def revoke_runner_key(*, key: RunnerKey, by: Membership) -> None:
    """What is posted with this key from now on is refused. Twice is as good as once."""
    _must_lead(by, key.project_id)
    RunnerKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now())


@transaction.atomic(durable=True)
def note_key_use(*, key: RunnerKey) -> None:
    """Remember that a key is in use."""
    RunnerKey.objects.filter(pk=key.pk).update(last_used_at=timezone.now())


# --- members -----------------------------------------------------------------------------------------------------


@transaction.atomic(durable=True)
def invite(*, project: Project, by: Membership, label: str, role: Role) -> NewInvitation:
    """Make a link that turns whoever opens it first into a member."""
    _must_lead(by, project.pk)
    _must_reach(by, role)
    if not 1 <= len(label) <= 200:
        raise DomainError("Say who the invitation is for, in at most 200 characters.", field="label")
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        label=label,
        role=role,
        token_hash=secret_hash(token),
        created_by=by.user,
        expires_at=timezone.now() + timedelta(days=settings.INVITATION_DAYS),
    )
    return NewInvitation(invitation, token)


@transaction.atomic(durable=True)
def revoke_invitation(*, invitation: Invitation, by: Membership) -> None:
    """The link no longer works. One that was used stays as the record of who joined."""
    _must_lead(by, invitation.project_id)
    Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(revoked_at=timezone.now())


@transaction.atomic(durable=True)
def accept_invitation(*, token: str, user: User) -> Membership:
    """Become a member. Somebody who was deactivated is active again, in the invitation's role."""
    return _join(_locked_invitation(token), user)


@transaction.atomic(durable=True)
def accept_invitation_as_new(*, token: str, username: str, password: str) -> Membership:
    """Make an account and become a member."""
    invitation = _locked_invitation(token)
    user = User(username=username)
    try:
        User._meta.get_field("username").run_validators(username)
        validate_password(password, user)
    except ValidationError as error:
        raise DomainError(" ".join(error.messages)) from None
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise Conflict("This user name is taken; choose another, or sign in first.", field="username") from None
    return _join(invitation, user)


@transaction.atomic(durable=True)
def change_role(*, membership: Membership, role: Role, by: Membership) -> Membership:
    """Give a member another role. The last lead stays a lead, and the last admin an admin."""
    _must_lead(by, membership.project_id)
    # Two people demoting each other wait here for one another.
    Project.objects.select_for_update(no_key=True).get(pk=membership.project_id)
    current = Membership.objects.select_related("project", "user").get(pk=membership.pk)
    by = Membership.objects.get(pk=by.pk)
    _must_lead(by, membership.project_id)
    _must_reach(by, role)
    _must_reach(by, Role(current.role))
    members.somebody_else_stays(current, becomes=role)
    Membership.objects.filter(pk=current.pk).update(role=role)
    current.role = role
    return current


def _must_lead(by: Membership, project_id: int) -> None:
    if by.project_id != project_id:
        raise NotFound("There is no such project, or you are not a member of it.")
    if not by.may(Role.LEAD):
        raise NotAllowed("Only leads and admins may do this; ask one of the project's.")


def _must_reach(by: Membership, role: Role) -> None:
    """Leads act on roles up to their own; admins are made and unmade by admins only."""
    if not by.may(role):
        raise NotAllowed(f"Only an admin may give or take the role {role}.")


def _locked_invitation(token: str) -> Invitation:
    """The open invitation, held so that only one person can use it."""
    invitations = Invitation.objects.select_for_update(of=("self",), no_key=True).select_related("project")
    found = invitations.filter(token_hash=secret_hash(token)).first()
    if found is None or not found.is_open:
        raise NotFound("This invitation was used, revoked, or has expired; ask for a new one.")
    return found


def _join(invitation: Invitation, user: User) -> Membership:
    membership, created = Membership.objects.get_or_create(
        project=invitation.project, user=user, defaults={"role": invitation.role}
    )
    if not created:
        if membership.active:
            raise Conflict(f"You are a member of {invitation.project.name} already, as {membership.role}.")
        membership.active, membership.role = True, invitation.role
        membership.save(update_fields=["active", "role"])
    Invitation.objects.filter(pk=invitation.pk).update(accepted_by=user, accepted_at=timezone.now())
    return membership
