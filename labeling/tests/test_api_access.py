"""Who gets in: runner keys, sessions, roles, and nothing of another project."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from labeling.models import RunnerKey
from labeling.services import people
from labeling.tests import make
from labeling.tests.posting import Runner, error, line, run_body
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db

LISTS = ["/api/v1/runs/", "/api/v1/judges/"]


def signed_in(project: Any, role: Role) -> Client:
    client = Client()
    client.force_login(make.member(project, role))
    return client


def post(client: Client, path: str, body: Any) -> Any:
    return client.post(path, json.dumps(body), content_type="application/json")


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer nonsense", "Bearer lit_ä", "bearer lit_x", "Basic YTpi", "lit_x"]
)
def test_without_a_live_key_or_a_session_nobody_gets_in(header: str) -> None:
    response = Client(headers={"authorization": header} if header else {}).get("/api/v1/runs/")
    assert (response.status_code, error(response)["code"]) == (401, "not_authenticated")
    assert response["WWW-Authenticate"] == 'Bearer realm="litmus"'


def test_a_revoked_key_is_refused_at_once() -> None:
    project = make.project()
    runner = Runner(project)
    assert runner.get("/api/v1/runs/").status_code == 200
    people.revoke_runner_key(key=RunnerKey.objects.get(), by=make.membership(project, Role.LEAD))
    response = runner.get("/api/v1/runs/")
    assert response.status_code == 401
    assert "revoked" in error(response)["message"]


def test_the_last_use_of_a_key_is_noted_once_a_minute(django_assert_num_queries: Any) -> None:
    runner = Runner(make.project())
    runner.get("/api/v1/judges/")
    first = RunnerKey.objects.get().last_used_at
    with django_assert_num_queries(2):  # the key, the judges
        runner.get("/api/v1/judges/")
    assert RunnerKey.objects.get().last_used_at == first
    RunnerKey.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    runner.get("/api/v1/judges/")
    assert RunnerKey.objects.filter(last_used_at__gt=timezone.now() - timedelta(minutes=1)).exists()


@pytest.mark.parametrize("path", LISTS)
def test_members_read_and_say_of_which_project(path: str) -> None:
    project = make.project("safety")
    viewer = signed_in(project, Role.VIEWER)
    assert viewer.get(path, {"project": "safety"}).status_code == 200
    response = viewer.get(path)
    assert (response.status_code, error(response)["details"]["projects"]) == (400, ["safety"])


@pytest.mark.parametrize("path", LISTS)
def test_outsiders_meet_the_same_answer_as_for_what_is_not_there(path: str) -> None:
    project = make.project()
    outsider = signed_in(make.project(), Role.ADMIN)
    answers = [outsider.get(path, {"project": key}) for key in (project.key, "nowhere")]
    assert [response.status_code for response in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    foreign = Runner(make.project()).get(path, project=project.key)
    assert (foreign.status_code, error(foreign)["code"]) == (404, "not_found")


@pytest.mark.parametrize("action", ["", "trajectories/", "close/", "void/", "join/"])
def test_nobody_sees_another_projects_run(action: str) -> None:
    run = make.run()
    outsider, runner = signed_in(make.project(), Role.ADMIN), Runner(make.project())
    answers = []
    for number in (run.pk, 10**6, 10**30):
        path = f"/api/v1/runs/{number}/{action}"
        body = {"reason": "x", "run": run.pk}
        answers += (
            [runner.post(path, body), post(outsider, path, body)] if action else [runner.get(path), outsider.get(path)]
        )
    assert {response.status_code for response in answers} == {404}
    assert len({response.content for response in answers}) == 1


def test_a_run_of_another_project_cannot_be_joined() -> None:
    project = make.project()
    run = make.run(project)
    response = Runner(project).post(f"/api/v1/runs/{run.pk}/join/", {"run": make.run().pk})
    assert response.status_code == 404


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.REVIEWER, 403), (Role.LEAD, 201)])
def test_leads_create_and_smaller_roles_read(role: Role, status: int) -> None:
    project = make.project()
    client = signed_in(project, role)
    run = make.run(project)
    responses = [
        post(client, f"/api/v1/runs/?project={project.key}", run_body()),
        post(client, "/api/v1/suites/", {"key": "s", "version": "1", "project": project.key}),
        post(client, f"/api/v1/runs/{run.pk}/trajectories/", line(case={"key": "c", "side": "benign"})),
    ]
    assert [response.status_code for response in responses] == [status] * 3
    for action, body in (("close/", {}), ("void/", {"reason": "x"}), ("join/", {"run": run.pk})):
        response = post(client, f"/api/v1/runs/{run.pk}/{action}", body)
        assert response.status_code == (200 if role is Role.LEAD else 403)
    if status == 403:
        assert error(responses[0])["details"] == {"needs": "lead", "role": role.value}


def test_a_session_needs_a_csrf_token_and_a_key_does_not() -> None:
    project = make.project()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make.member(project, Role.LEAD))
    response = post(strict, f"/api/v1/runs/?project={project.key}", run_body())
    assert (response.status_code, error(response)["code"]) == (403, "csrf_failed")
    runner = Runner(project)
    runner.client = Client(enforce_csrf_checks=True)
    assert runner.post("/api/v1/runs/", run_body()).status_code == 201


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b'{"external_id": "t-1"}\n', "application/x-ndjson"), (b"[" * 100_000, "application/json"), (b"NaN", "x/y")],
)
def test_a_sessions_body_is_read_by_the_same_rules_as_a_runners(content: bytes, kind: str) -> None:
    """The CSRF check must not parse the body before the view does."""
    run = make.run()
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.member(run.project, Role.LEAD))
    client.cookies["csrftoken"] = "a" * 32
    secret = people.create_runner_key(project=run.project, name="runner", by=None).secret
    path = f"/api/v1/runs/{run.pk}/trajectories/"
    mine = client.post(path, content, content_type=kind, headers={"x-csrftoken": "a" * 32})
    theirs = Client().post(path, content, content_type=kind, headers={"authorization": f"Bearer {secret}"})
    assert mine.status_code == theirs.status_code
    assert mine.status_code < 500
    assert mine.json() == theirs.json()
