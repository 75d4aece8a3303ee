"""Signing in, joining, and the first page."""

import re
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from labeling.models import Membership, Project
from labeling.services import people
from labeling.tests import make
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def project() -> Project:
    return make.project("alpha")


def link_for(project: Project, role: Role = Role.REVIEWER) -> str:
    lead = make.membership(project, Role.LEAD)
    token = people.invite(project=project, by=lead, label="Somebody", role=role).token
    return reverse("join", args=[token])


def test_signing_in_leads_to_the_only_project(project: Project) -> None:
    make.member(project, Role.VIEWER, "ada")
    client = Client()
    answer = client.post(reverse("sign_in"), {"username": " ada ", "password": PASSWORD}, follow=True)
    assert answer.redirect_chain == [("/", 302), ("/p/alpha/", 302)]


def test_a_wrong_password_is_said_in_words_and_the_name_stays(project: Project) -> None:
    make.member(project, Role.VIEWER, "ada")
    answer = Client().post(reverse("sign_in"), {"username": "ada", "password": "wrong"})
    assert answer.status_code == 400
    assert "do not belong together" in answer.content.decode()
    assert 'value="ada"' in answer.content.decode()
    assert "wrong" not in answer.content.decode()


@pytest.mark.parametrize(
    ("wanted", "gets"),
    [("/p/alpha/judges/", "/p/alpha/judges/"), ("https://evil.example/", "/"), ("//evil.example", "/"), ("", "/")],
)
def test_after_signing_in_one_goes_on_within_litmus_only(project: Project, wanted: str, gets: str) -> None:
    make.member(project, Role.VIEWER, "ada")
    answer = Client().post(reverse("sign_in"), {"username": "ada", "password": PASSWORD, "next": wanted})
    assert answer["Location"] == gets


def test_somebody_signed_in_is_not_asked_again(project: Project) -> None:
    client = Client()
    client.force_login(make.member(project, Role.VIEWER))
    assert client.get(reverse("sign_in"))["Location"] == "/"


def test_several_projects_are_listed_and_no_others(project: Project) -> None:
    user = make.member(project, Role.VIEWER)
    Membership.objects.create(project=make.project("beta"), user=user, role=Role.LEAD)
    make.project("gamma")
    client = Client()
    client.force_login(user)
    text = client.get("/").content.decode()
    assert "/p/alpha/" in text
    assert "/p/beta/" in text
    assert "gamma" not in text


def test_somebody_without_a_project_is_told_what_to_do() -> None:
    client = Client()
    client.force_login(User.objects.create_user("new"))
    text = client.get("/").content.decode()
    assert "invitation link" in text
    command = re.search(r'<code class="command">script/manage (.*?)</code>', text)
    assert command is not None
    call_command(*command[1].split(), stdout=StringIO())
    assert client.get("/")["Location"] == "/p/my-project/"


def test_a_link_makes_an_account_and_a_member(project: Project) -> None:
    link = link_for(project)
    client = Client()
    assert "Join A project" in client.get(link).content.decode()
    answer = client.post(link, {"as": "new", "username": "grace", "password": PASSWORD}, follow=True)
    assert answer.redirect_chain == [("/p/alpha/", 302)]
    assert Membership.objects.get(user__username="grace").role == Role.REVIEWER
    assert client.get(link).status_code == 404


def test_somebody_signed_in_joins_as_who_they_are(project: Project) -> None:
    user = make.member(make.project(), Role.VIEWER, "ada")
    client = Client()
    client.force_login(user)
    link = link_for(project)
    assert "Join as ada" in client.get(link).content.decode()
    assert client.post(link, {"as": "me"})["Location"] == "/p/alpha/"
    assert Membership.objects.filter(user=user).count() == 2


@pytest.mark.parametrize(
    ("username", "password", "says"),
    [("grace", "hasty9x", "too short"), ("taken", PASSWORD, "taken"), ("bad name", PASSWORD, "valid username")],
)
def test_what_is_wrong_with_a_new_account_is_said_and_the_link_still_works(
    project: Project, username: str, password: str, says: str
) -> None:
    User.objects.create_user("taken")
    link = link_for(project)
    answer = Client().post(link, {"username": username, "password": password})
    # Not an error's status: Django would write the address, and with it the token, into the log.
    assert answer.status_code == 200
    assert says in answer.content.decode()
    assert password not in answer.content.decode()
    assert Client().get(link).status_code == 200


def test_a_link_that_is_none_says_what_to_do() -> None:
    answer = Client().get(reverse("join", args=["nothing"]))
    assert answer.status_code == 404
    assert "ask for a new one" in answer.content.decode()
