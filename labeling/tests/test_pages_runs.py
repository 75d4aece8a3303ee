"""Closing a run on the page: asked first, said what it does, and wrong counts keep it open."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.models import Project, Run
from labeling.tests import make
from labeling.vocabulary import Role, RunStatus

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(audits_per_side=25)


@pytest.fixture
def lead(project: Project) -> Client:
    client = Client()
    client.force_login(make.member(project, Role.LEAD))
    return client


def close(run: Run) -> str:
    return reverse("run_close", args=[run.project.key, run.pk])


def test_closing_is_asked_first_and_says_what_it_does(project: Project, lead: Client) -> None:
    run = make.run(project, name="Candidate")
    text = lead.get(close(run)).content.decode()
    assert "Close this run?" in text
    assert 'value="25"' in text
    assert Run.objects.get(pk=run.pk).status == RunStatus.OPEN


def test_closing_draws_as_many_as_asked(
    project: Project, lead: Client, django_capture_on_commit_callbacks: Any
) -> None:
    run = make.run(project)
    make.trajectory(run)
    with django_capture_on_commit_callbacks() as rung:
        answer = lead.post(close(run), {"audits_per_side": "3", "expected_count": "1"})
    assert answer["Location"] == reverse("run", args=[project.key, run.pk])
    run.refresh_from_db()
    assert (run.status, run.audits_per_side) == (RunStatus.CLOSED, 3)
    assert len(rung) == 1


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        ({"expected_count": "7"}, 409),
        ({"audits_per_side": "many"}, 400),
        ({"expected_count": "-1"}, 400),
    ],
)
def test_a_count_that_does_not_hold_keeps_the_run_open_and_the_field_filled(
    project: Project, lead: Client, typed: dict[str, str], status: int
) -> None:
    run = make.run(project)
    make.trajectory(run)
    answer = lead.post(close(run), typed)
    assert answer.status_code == status
    assert f'value="{next(iter(typed.values()))}"' in answer.content.decode()
    assert Run.objects.get(pk=run.pk).status == RunStatus.OPEN


def test_runs_that_do_not_belong_together_are_not_joined(project: Project, lead: Client) -> None:
    one, other = make.run(project), make.run(project)
    answer = lead.post(reverse("run_join", args=[project.key, one.pk]), {"other": other.pk})
    assert answer.status_code == 409
    assert "cannot be computed together" in answer.content.decode()
    assert lead.post(reverse("run_join", args=[project.key, one.pk]), {"other": "x"}).status_code == 404
