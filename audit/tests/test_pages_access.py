"""Every page with the cast: who sees it, who is told why not, and who does not learn that it exists."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from audit.tests.make import claimed
from labeling.models import Membership, Project
from labeling.services.people import create_runner_key
from labeling.tests import make
from labeling.vocabulary import Role, Side

pytestmark = pytest.mark.django_db


class Stage(NamedTuple):
    """A project in which something has happened, and the addresses of everything in it."""

    project: Project
    run: int
    trajectory: int
    judge: int
    member: int


@pytest.fixture
def stage() -> Stage:
    project = make.project()
    run = make.run(project)
    trajectory = make.trajectory(run, side=Side.BENIGN)
    judge = make.judge(project)
    make.judgment(trajectory, judge, make.REFUSED)
    make.audit_request(trajectory)
    member = make.membership(project, Role.VIEWER)
    return Stage(project, run.pk, trajectory.pk, judge.pk, member.pk)


PAGES: dict[str, tuple[Role, Callable[[Stage], list[object]]]] = {
    "project": (Role.VIEWER, lambda _: []),
    "run": (Role.VIEWER, lambda s: [s.run]),
    "run_trajectories": (Role.VIEWER, lambda s: [s.run]),
    "trajectory": (Role.VIEWER, lambda s: [s.trajectory]),
    "transcript": (Role.VIEWER, lambda s: [s.trajectory]),
    "judges": (Role.VIEWER, lambda _: []),
    "judge": (Role.VIEWER, lambda s: [s.judge]),
    "judge_against": (Role.VIEWER, lambda s: [s.judge, s.judge]),
    "review": (Role.REVIEWER, lambda _: []),
    "people": (Role.LEAD, lambda _: []),
    "run_close": (Role.LEAD, lambda s: [s.run]),
    "run_void": (Role.LEAD, lambda s: [s.run]),
}
FORMS: dict[str, tuple[Role, Callable[[Stage], list[object]]]] = {
    "run_labels": (Role.VIEWER, lambda s: [s.run]),
    "trajectory_opinions": (Role.VIEWER, lambda s: [s.trajectory]),
    "review_start": (Role.REVIEWER, lambda _: []),
    "review_submit": (Role.REVIEWER, lambda _: []),
    "review_decline": (Role.REVIEWER, lambda _: []),
    "review_release": (Role.REVIEWER, lambda _: []),
    "run_close": (Role.LEAD, lambda s: [s.run]),
    "run_void": (Role.LEAD, lambda s: [s.run]),
    "run_join": (Role.LEAD, lambda s: [s.run]),
    "invite": (Role.LEAD, lambda _: []),
    "key_make": (Role.LEAD, lambda _: []),
    "member_role": (Role.LEAD, lambda s: [s.member]),
    "member_deactivate": (Role.LEAD, lambda s: [s.member]),
    "member_reactivate": (Role.LEAD, lambda s: [s.member]),
}
ROLES = [Role.VIEWER, Role.REVIEWER, Role.LEAD]


def signed_in(project: Project, role: Role) -> Client:
    client = Client()
    client.force_login(make.member(project, role))
    return client


def address(name: str, stage: Stage, args: Callable[[Stage], list[object]]) -> str:
    return reverse(name, args=[stage.project.key, *args(stage)])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_for_roles_from_its_own_up(stage: Stage, name: str) -> None:
    least, args = PAGES[name]
    for role in ROLES:
        answer = signed_in(stage.project, role).get(address(name, stage, args))
        assert answer.status_code == (200 if ROLES.index(role) >= ROLES.index(least) else 403), role
        assert answer["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_for_roles_from_its_own_up(stage: Stage, name: str) -> None:
    least, args = FORMS[name]
    for role in ROLES:
        if ROLES.index(role) < ROLES.index(least):
            assert signed_in(stage.project, role).post(address(name, stage, args)).status_code == 403, role


@pytest.mark.parametrize("name", PAGES)
def test_an_outsider_does_not_learn_that_a_page_exists(stage: Stage, name: str) -> None:
    outsider = signed_in(make.project(), Role.ADMIN)
    answer = outsider.get(address(name, stage, PAGES[name][1]))
    assert answer.status_code == 404
    assert stage.project.key not in answer.content.decode()


@pytest.mark.parametrize("name", FORMS)
def test_an_outsider_can_send_no_form(stage: Stage, name: str) -> None:
    outsider = signed_in(make.project(), Role.ADMIN)
    assert outsider.post(address(name, stage, FORMS[name][1])).status_code == 404


@pytest.mark.parametrize("name", [*PAGES, "home"])
def test_somebody_who_is_not_signed_in_is_asked_to(stage: Stage, name: str) -> None:
    where = reverse("home") if name == "home" else address(name, stage, PAGES[name][1])
    answer = Client().get(where)
    assert answer.status_code == 302
    assert answer["Location"] == f"/sign-in/?next={where}"


@pytest.mark.parametrize("name", FORMS)
def test_a_form_sent_after_the_session_ended_leads_to_signing_in(stage: Stage, name: str) -> None:
    where = f"http://testserver/p/{stage.project.key}/review/"
    answer = Client().post(address(name, stage, FORMS[name][1]), headers={"referer": where})
    assert answer["Location"] == f"/sign-in/?next=/p/{stage.project.key}/review/"


@pytest.mark.parametrize("name", PAGES)
def test_a_runner_key_opens_no_page(stage: Stage, name: str) -> None:
    secret = create_runner_key(project=stage.project, name="runner", by=None).secret
    answer = Client(headers={"authorization": f"Bearer {secret}"}).get(address(name, stage, PAGES[name][1]))
    assert answer.status_code == 302


@pytest.mark.parametrize(
    "name", ["run", "run_trajectories", "trajectory", "transcript", "judge", "judge_against", "run_close"]
)
def test_things_of_another_project_of_mine_are_not_found_under_this_one(stage: Stage, name: str) -> None:
    other = make.project()
    lead = make.member(other, Role.LEAD)
    Membership.objects.create(project=stage.project, user=lead, role=Role.LEAD)
    client = Client()
    client.force_login(lead)
    path = address(name, stage, PAGES[name][1])
    assert client.get(path).status_code == 200
    assert client.get(path.replace(f"/p/{stage.project.key}/", f"/p/{other.key}/")).status_code == 404


def test_a_deactivated_member_is_an_outsider(stage: Stage) -> None:
    user = make.member(stage.project, Role.LEAD)
    Membership.objects.filter(user=user).update(active=False)
    client = Client()
    client.force_login(user)
    assert client.get(reverse("project", args=[stage.project.key])).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_pages_carry_the_strict_policy_and_stay_in_no_cache(stage: Stage, name: str) -> None:
    answer = signed_in(stage.project, Role.LEAD).get(address(name, stage, PAGES[name][1]))
    policy = answer["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer["Cache-Control"] == "no-store"
    assert len(answer.content) < 300_000


def test_signing_out_puts_back_what_was_held(stage: Stage) -> None:
    member = make.membership(stage.project, Role.REVIEWER)
    assignment = claimed(member)
    client = Client()
    client.force_login(member.user)
    assert client.get(reverse("sign_out")).status_code == 405
    assert client.post(reverse("sign_out"))["Location"] == reverse("sign_in")
    assignment.refresh_from_db()
    assert assignment.state == "released"


def test_a_page_that_does_not_exist_looks_like_the_others() -> None:
    answer = Client().get("/nowhere/")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


def test_a_form_without_its_token_is_refused_with_a_page_that_says_what_to_do(stage: Stage) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.member(stage.project, Role.REVIEWER))
    answer = client.post(reverse("review_start", args=[stage.project.key]))
    assert answer.status_code == 403
    assert "This page was open too long" in answer.content.decode()


def test_the_page_for_our_own_mistakes_needs_nothing_to_be_shown() -> None:
    assert "Litmus failed" in render_to_string("500.html")
