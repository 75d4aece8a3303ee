"""Projects, members, invitations and runner keys."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.management import CommandError, call_command
from django.db.models import Model
from django.utils import timezone

from labeling.errors import Conflict, DomainError, NotAllowed, NotFound
from labeling.models import Invitation, Judge, Membership, Project, RunnerKey
from labeling.selectors.access import (
    ProjectSeat,
    membership_of,
    open_invitation,
    project_of_key,
    projects_of,
    secret_hash,
)
from labeling.services import people
from labeling.tests import make
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db


def invited(project: Project, role: Role = Role.REVIEWER) -> str:
    lead = make.membership(project, Role.ADMIN)
    return people.invite(project=project, by=lead, label="Ada", role=role).token


def test_a_new_project_has_the_built_in_judges_and_its_owner() -> None:
    owner = User.objects.create_user("ada")
    project = people.create_project(key="safety", name="Safety", owner=owner)
    assert Judge.objects.filter(project=project, name="substring", active=True).count() == 1
    assert membership_of(owner, "safety").role == Role.ADMIN


@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 61])
def test_a_project_key_fits_into_an_address(key: str) -> None:
    with pytest.raises(DomainError):
        people.create_project(key=key, name="")


def test_a_project_key_is_taken_once() -> None:
    people.create_project(key="safety", name="")
    with pytest.raises(Conflict):
        people.create_project(key="safety", name="Another")


# --- who may what ------------------------------------------------------------------------------------------------


def test_outsiders_inactive_members_and_nobody_meet_the_same_answer() -> None:
    project = make.project()
    outsider = make.member(make.project(), Role.ADMIN)
    left = make.membership(project, Role.LEAD)
    Membership.objects.filter(pk=left.pk).update(active=False)
    gone = make.member(project, Role.LEAD)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    answers = set()
    askers: list[tuple[Any, str]] = [
        (outsider, project.key),
        (left.user, project.key),
        (gone, project.key),
        (AnonymousUser(), project.key),
        (outsider, "no-such-project"),
    ]
    for user, key in askers:
        with pytest.raises(NotFound) as caught:
            membership_of(user, key)
        answers.add(caught.value.message)
    assert len(answers) == 1


def test_each_role_may_do_what_the_smaller_ones_may() -> None:
    project = make.project()
    reviewer = make.member(project, Role.REVIEWER)
    assert membership_of(reviewer, project.key).project == project
    assert membership_of(reviewer, project.key, at_least=Role.REVIEWER).role == Role.REVIEWER
    with pytest.raises(NotAllowed, match="needs the role lead"):
        membership_of(reviewer, project.key, at_least=Role.LEAD)


def test_one_sees_the_projects_one_is_in() -> None:
    one, other = make.project("b"), make.project("a")
    user = make.member(one, Role.VIEWER)
    Membership.objects.create(project=other, user=user, role=Role.LEAD)
    Membership.objects.create(project=make.project(), user=user, role=Role.LEAD, active=False)
    assert projects_of(user) == [
        ProjectSeat("a", "A project", Role.LEAD),
        ProjectSeat("b", "A project", Role.VIEWER),
    ]


# --- runner keys -------------------------------------------------------------------------------------------------


def test_a_runner_key_opens_its_project_until_it_is_revoked() -> None:
    project = make.project()
    key, secret = people.create_runner_key(project=project, name="ci", by=None)
    assert secret.startswith(key.prefix)
    assert project_of_key(secret) == key
    assert project_of_key(secret + "x") is None
    lead = make.membership(project, Role.LEAD)
    people.revoke_runner_key(key=key, by=lead)
    people.revoke_runner_key(key=key, by=lead)
    assert project_of_key(secret) is None


def test_a_key_name_is_free_again_once_the_key_is_revoked() -> None:
    project = make.project()
    key = people.create_runner_key(project=project, name="ci", by=None).key
    with pytest.raises(Conflict):
        people.create_runner_key(project=project, name="ci", by=None)
    people.revoke_runner_key(key=key, by=make.membership(project, Role.LEAD))
    people.create_runner_key(project=project, name="ci", by=None)


def test_no_secret_is_stored() -> None:
    project = make.project()
    secrets = [people.create_runner_key(project=project, name="ci", by=None).secret, invited(project)]
    tables: list[type[Model]] = [RunnerKey, Invitation]
    stored = str([list(table._default_manager.values_list()) for table in tables])
    assert not any(secret in stored for secret in secrets)
    assert all(secret_hash(secret) in stored for secret in secrets)


def test_only_leads_of_the_project_revoke_keys() -> None:
    project = make.project()
    key = people.create_runner_key(project=project, name="ci", by=None).key
    with pytest.raises(NotAllowed):
        people.revoke_runner_key(key=key, by=make.membership(project, Role.REVIEWER))
    with pytest.raises(NotFound):
        people.revoke_runner_key(key=key, by=make.membership(make.project(), Role.ADMIN))


# --- invitations -------------------------------------------------------------------------------------------------


def test_an_invitation_makes_one_person_a_member() -> None:
    project = make.project()
    token = invited(project)
    assert open_invitation(token).project == project
    user = User.objects.create_user("ada")
    assert people.accept_invitation(token=token, user=user).role == Role.REVIEWER
    with pytest.raises(NotFound):
        people.accept_invitation(token=token, user=User.objects.create_user("bob"))
    with pytest.raises(NotFound):
        open_invitation(token)


def test_an_invitation_can_make_an_account() -> None:
    membership = people.accept_invitation_as_new(
        token=invited(make.project()), username="ada", password="correct horse"
    )
    assert membership.user.check_password("correct horse")


def test_a_bad_account_uses_no_invitation_up() -> None:
    token = invited(make.project())
    User.objects.create_user("ada")
    with pytest.raises(Conflict, match="taken"):
        people.accept_invitation_as_new(token=token, username="ada", password="correct horse")
    with pytest.raises(DomainError, match="short"):
        people.accept_invitation_as_new(token=token, username="bob", password="short")
    with pytest.raises(DomainError, match="username"):
        people.accept_invitation_as_new(token=token, username="b b", password="correct horse")
    assert open_invitation(token).is_open


def test_members_keep_their_role_and_those_who_left_come_back_in_the_new_one() -> None:
    project = make.project()
    membership = make.membership(project, Role.LEAD)
    token = invited(project, Role.VIEWER)
    with pytest.raises(Conflict, match="already"):
        people.accept_invitation(token=token, user=membership.user)
    Membership.objects.filter(pk=membership.pk).update(active=False)
    back = people.accept_invitation(token=token, user=membership.user)
    assert (back.pk, back.active, back.role) == (membership.pk, True, Role.VIEWER)


def test_a_revoked_or_expired_invitation_is_closed() -> None:
    project = make.project()
    lead = make.membership(project, Role.LEAD)
    revoked = people.invite(project=project, by=lead, label="Ada", role=Role.VIEWER)
    people.revoke_invitation(invitation=revoked.invitation, by=lead)
    expired = people.invite(project=project, by=lead, label="Bob", role=Role.VIEWER)
    Invitation.objects.filter(pk=expired.invitation.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    for token in (revoked.token, expired.token):
        with pytest.raises(NotFound):
            people.accept_invitation(token=token, user=User.objects.create_user(token[:20]))


def test_leads_invite_up_to_lead_and_only_admins_invite_admins() -> None:
    project = make.project()
    lead = make.membership(project, Role.LEAD)
    people.invite(project=project, by=lead, label="Ada", role=Role.LEAD)
    with pytest.raises(NotAllowed):
        people.invite(project=project, by=lead, label="Ada", role=Role.ADMIN)
    with pytest.raises(NotAllowed):
        people.invite(project=project, by=make.membership(project, Role.REVIEWER), label="Ada", role=Role.VIEWER)
    with pytest.raises(NotFound):
        people.invite(project=make.project(), by=lead, label="Ada", role=Role.VIEWER)
    with pytest.raises(DomainError, match="who the invitation is for"):
        people.invite(project=project, by=lead, label="", role=Role.VIEWER)


# --- roles -------------------------------------------------------------------------------------------------------


def test_leads_change_roles_up_to_lead_and_admins_all() -> None:
    project = make.project()
    admin, lead = make.membership(project, Role.ADMIN), make.membership(project, Role.LEAD)
    member = make.membership(project, Role.VIEWER)
    assert people.change_role(membership=member, role=Role.LEAD, by=lead).role == Role.LEAD
    with pytest.raises(NotAllowed):
        people.change_role(membership=member, role=Role.ADMIN, by=lead)
    with pytest.raises(NotAllowed):
        people.change_role(membership=admin, role=Role.LEAD, by=lead)
    people.change_role(membership=member, role=Role.ADMIN, by=admin)
    assert Membership.objects.get(pk=member.pk).role == Role.ADMIN


def test_nobody_takes_the_last_lead_or_the_last_admin_away() -> None:
    project = make.project()
    lead = make.membership(project, Role.LEAD)
    with pytest.raises(Conflict, match="last lead"):
        people.change_role(membership=lead, role=Role.VIEWER, by=lead)
    admin = make.membership(project, Role.ADMIN)
    with pytest.raises(Conflict, match="last admin"):
        people.change_role(membership=admin, role=Role.LEAD, by=admin)
    people.change_role(membership=lead, role=Role.VIEWER, by=admin)


def test_a_role_taken_away_counts_at_once() -> None:
    project = make.project()
    stale = make.membership(project, Role.LEAD)
    make.membership(project, Role.ADMIN)
    Membership.objects.filter(pk=stale.pk).update(role=Role.VIEWER)
    with pytest.raises(NotAllowed):
        people.change_role(membership=make.membership(project, Role.VIEWER), role=Role.LEAD, by=stale)


# --- commands ----------------------------------------------------------------------------------------------------


def test_the_commands_make_a_project_and_print_a_key_once() -> None:
    User.objects.create_user("ada")
    call_command("create_project", "safety", name="Safety", owner="ada", stdout=StringIO())
    out, err = StringIO(), StringIO()
    call_command("create_runner_key", project="safety", name="ci", stdout=out, stderr=err)
    key = project_of_key(out.getvalue().strip())
    assert key is not None
    assert key.project.name == "Safety"
    assert out.getvalue().strip() not in err.getvalue()


def test_the_commands_say_what_is_wrong() -> None:
    with pytest.raises(CommandError, match="There is no project nowhere"):
        call_command("create_runner_key", project="nowhere", name="ci")
    with pytest.raises(CommandError, match="There is no user nobody"):
        call_command("create_project", "safety", owner="nobody")
    call_command("create_project", "safety", stdout=StringIO())
    with pytest.raises(CommandError, match="already"):
        call_command("create_project", "safety")
    call_command("create_runner_key", project="safety", name="ci", stdout=StringIO(), stderr=StringIO())
    with pytest.raises(CommandError, match="live key ci already"):
        call_command("create_runner_key", project="safety", name="ci")


def test_a_project_that_nobody_can_open_can_be_given_an_owner_once() -> None:
    people.create_project(key="orphan", name="")
    owner = User.objects.create_user("owner")
    people.create_project(key="orphan", name="", owner=owner)
    assert Membership.objects.get(project__key="orphan").role == Role.ADMIN
    with pytest.raises(Conflict):
        people.create_project(key="orphan", name="", owner=User.objects.create_user("other"))
