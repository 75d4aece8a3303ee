"""Members who go, come back, or sign out."""

import pytest

from audit.models import Assignment, Verdict
from audit.services import people, reviewing
from audit.tests.make import claimed, queue, reviewed, user_of
from labeling.errors import Conflict, NotAllowed, NotFound
from labeling.models import Membership, Project, Run
from labeling.tests import make
from labeling.vocabulary import AssignmentState, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    made = make.run()
    queue(made, 3)
    return made


@pytest.fixture
def project(run: Run) -> Project:
    made: Project = run.project
    return made


def is_active(membership: Membership) -> bool:
    return Membership.objects.get(pk=membership.pk).active


def test_deactivating_a_member_frees_what_they_hold_and_keeps_what_they_said(project: Project) -> None:
    lead, reviewer = make.membership(project, Role.LEAD), make.membership(project, Role.REVIEWER)
    verdict = reviewed(reviewer)
    held = claimed(reviewer)
    people.deactivate_member(membership=reviewer, by=lead)
    assert not is_active(reviewer)
    assert Assignment.objects.get(pk=held.pk).state == AssignmentState.RELEASED
    assert Verdict.objects.get(pk=verdict.pk).reviewer_id == reviewer.user_id
    assert claimed(lead).request_id == held.request_id


def test_what_they_hold_in_another_project_stays_theirs(project: Project) -> None:
    lead, reviewer = make.membership(project, Role.LEAD), make.membership(project, Role.REVIEWER)
    elsewhere = make.run()
    queue(elsewhere, 1)
    held = claimed(Membership.objects.create(project=elsewhere.project, user=reviewer.user, role=Role.REVIEWER))
    people.deactivate_member(membership=reviewer, by=lead)
    assert Assignment.objects.get(pk=held.pk).state == AssignmentState.HELD


def test_a_member_let_back_in_has_the_role_they_had(project: Project) -> None:
    lead, reviewer = make.membership(project, Role.LEAD), make.membership(project, Role.REVIEWER)
    people.deactivate_member(membership=reviewer, by=lead)
    with pytest.raises(NotAllowed):
        reviewing.claim(membership=reviewer)
    assert people.reactivate_member(membership=reviewer, by=lead).active
    assert isinstance(reviewing.claim(membership=reviewer), Assignment)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_only_leads_and_admins_end_a_membership(project: Project, role: Role) -> None:
    other = make.membership(project, Role.VIEWER)
    with pytest.raises(NotAllowed):
        people.deactivate_member(membership=other, by=make.membership(project, role))
    assert is_active(other)


def test_a_lead_does_not_end_the_membership_of_an_admin(project: Project) -> None:
    admin, lead = make.membership(project, Role.ADMIN), make.membership(project, Role.LEAD)
    with pytest.raises(NotAllowed):
        people.deactivate_member(membership=admin, by=lead)
    people.deactivate_member(membership=lead, by=admin)
    assert not is_active(lead)


def test_a_lead_of_another_project_finds_no_such_member(project: Project) -> None:
    member = make.membership(project, Role.REVIEWER)
    with pytest.raises(NotFound):
        people.deactivate_member(membership=member, by=make.membership(make.project(), Role.ADMIN))


@pytest.mark.parametrize("role", [Role.LEAD, Role.ADMIN])
def test_the_last_one_in_charge_cannot_leave(project: Project, role: Role) -> None:
    alone = make.membership(project, role)
    make.membership(project, Role.REVIEWER)
    with pytest.raises(Conflict, match=f"last {Role.LEAD}"):
        people.deactivate_member(membership=alone, by=alone)
    assert is_active(alone)


def test_the_last_admin_cannot_leave_while_only_leads_remain(project: Project) -> None:
    admin = make.membership(project, Role.ADMIN)
    make.membership(project, Role.LEAD)
    with pytest.raises(Conflict, match="last admin"):
        people.deactivate_member(membership=admin, by=admin)


def test_a_lead_may_leave_when_another_stays(project: Project) -> None:
    one = make.membership(project, Role.LEAD)
    make.membership(project, Role.LEAD)
    people.deactivate_member(membership=one, by=one)
    assert not is_active(one)


def test_who_was_deactivated_meanwhile_deactivates_nobody(project: Project) -> None:
    one, two = make.membership(project, Role.LEAD), make.membership(project, Role.LEAD)
    people.deactivate_member(membership=two, by=one)
    with pytest.raises(NotAllowed):
        people.deactivate_member(membership=one, by=two)


def test_signing_out_gives_back_what_one_holds_everywhere(project: Project) -> None:
    """B1.4."""
    reviewer, colleague = make.membership(project, Role.REVIEWER), make.membership(project, Role.REVIEWER)
    elsewhere = make.run()
    queue(elsewhere, 1)
    there = Membership.objects.create(project=elsewhere.project, user=reviewer.user, role=Role.REVIEWER)
    held = [claimed(reviewer), claimed(there)]
    kept = claimed(colleague)
    assert people.release_all(user=user_of(reviewer)) == 2
    states = Assignment.objects.in_bulk([row.pk for row in [*held, kept]])
    assert [states[row.pk].state for row in held] == [AssignmentState.RELEASED] * 2
    assert states[kept.pk].state == AssignmentState.HELD
    assert people.release_all(user=user_of(reviewer)) == 0
