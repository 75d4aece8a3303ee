"""The page where a lead manages members, invitations and keys."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.models import Invitation, Membership, Project, RunnerKey
from labeling.selectors.access import project_of_key
from labeling.tests import make
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db


class Lead:
    def __init__(self, project: Project, role: Role = Role.LEAD) -> None:
        self.membership = make.membership(project, role)
        self.key = project.key
        self.client = Client()
        self.client.force_login(self.membership.user)

    def page(self) -> str:
        return self.client.get(reverse("people", args=[self.key])).content.decode()

    def post(self, name: str, /, *args: object, **body: str) -> Any:
        return self.client.post(reverse(name, args=[self.key, *args]), body)


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def lead(project: Project) -> Lead:
    return Lead(project)


def test_an_invitation_link_is_shown_once_and_works(project: Project, lead: Lead) -> None:
    text = lead.post("invite", label="Grace <G>", role="reviewer").content.decode()
    link = re.search(r"http://testserver(/join/[^<]+)", text)
    assert link is not None
    assert "Grace &lt;G&gt;" in text
    assert link[1] not in lead.page()
    assert "Grace &lt;G&gt;" in lead.page()
    assert Client().get(link[1]).status_code == 200
    lead.post("invitation_revoke", Invitation.objects.get().pk)
    assert Client().get(link[1]).status_code == 404
    assert "Open invitation" not in lead.page()


def test_a_key_is_shown_once_and_works_until_it_is_revoked(lead: Lead) -> None:
    text = lead.post("key_make", name="nightly").content.decode()
    secret = re.search(r'<code id="key">(lit_[^<]+)</code>', text)
    assert secret is not None
    assert project_of_key(secret[1]) is not None
    assert secret[1] not in lead.page()
    assert secret[1][:12] in lead.page()
    lead.post("key_revoke", RunnerKey.objects.get().pk)
    assert project_of_key(secret[1]) is None
    assert "revoked" in lead.page()


def test_a_name_that_is_in_use_is_said_and_kept(lead: Lead) -> None:
    lead.post("key_make", name="nightly")
    answer = lead.post("key_make", name="nightly")
    assert answer.status_code == 409
    assert "There is a live key nightly already" in answer.content.decode()
    assert 'value="nightly"' in answer.content.decode()
    assert lead.post("key_make", name=" ").status_code == 400
    assert lead.post("invite", label="", role="reviewer").status_code == 400


def test_a_role_is_changed_and_the_page_says_so(project: Project, lead: Lead) -> None:
    reviewer = make.membership(project, Role.REVIEWER)
    answer = lead.client.post(reverse("member_role", args=[project.key, reviewer.pk]), {"role": "viewer"}, follow=True)
    assert f"{reviewer.user.get_username()} is viewer now." in answer.content.decode()
    assert Membership.objects.get(pk=reviewer.pk).role == Role.VIEWER


def test_what_a_lead_may_not_do_is_said_on_the_page(project: Project, lead: Lead) -> None:
    reviewer = make.membership(project, Role.REVIEWER)
    answer = lead.post("member_role", reviewer.pk, role="admin")
    assert answer.status_code == 403
    assert "Only an admin" in answer.content.decode()
    assert lead.post("member_role", reviewer.pk, role="emperor").status_code == 400
    assert 'value="admin"' not in lead.page()
    assert 'value="admin"' in Lead(project, Role.ADMIN).page()


def test_members_of_another_project_are_not_found(lead: Lead) -> None:
    stranger = make.membership(make.project(), Role.REVIEWER)
    for name in ("member_role", "member_deactivate", "member_reactivate"):
        assert lead.post(name, stranger.pk, role="viewer").status_code == 404
    assert lead.post("key_revoke", 999).status_code == 404
    assert lead.post("invitation_revoke", 999).status_code == 404


def test_deactivating_and_coming_back(project: Project, lead: Lead) -> None:
    reviewer = make.membership(project, Role.REVIEWER)
    lead.post("member_deactivate", reviewer.pk)
    assert "deactivated" in lead.page()
    assert not Membership.objects.get(pk=reviewer.pk).active
    lead.post("member_reactivate", reviewer.pk)
    assert Membership.objects.get(pk=reviewer.pk).active


def test_the_last_lead_cannot_be_deactivated(project: Project, lead: Lead) -> None:
    answer = lead.post("member_deactivate", lead.membership.pk)
    assert answer.status_code == 409
    assert "make somebody else one first" in answer.content.decode()


def test_the_page_takes_a_known_number_of_queries(
    project: Project, lead: Lead, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        make.membership(project, Role.REVIEWER)
        lead.post("key_make", name=str(make.membership(project, Role.VIEWER).pk))
    with django_assert_max_num_queries(6):
        lead.page()
