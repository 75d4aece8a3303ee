"""Judges over the API: what is taken, what is refused, and who may let one speak again."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.errors import DomainError
from labeling.judges.rubric import ready_rubrics
from labeling.models import Judge, Project, Rejudging
from labeling.services import people, sealing
from labeling.services.judges import sealed_key
from labeling.tests import make
from labeling.tests.posting import error
from labeling.vocabulary import Role, RunStatus

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-keep-this-to-yourself"


class Person:
    def __init__(self, project: Project, role: Role = Role.LEAD) -> None:
        self.project = project
        self.user = make.member(project, role)
        self.client = Client()
        self.client.force_login(self.user)

    def makes(self, **changed: Any) -> Any:
        settings = ready_rubrics()["three_label"].model_dump(mode="json")
        service = {"base_url": "https://judge.example/v1", "model": "big"}
        body = {"name": "careful", "kind": "rubric", "settings": settings | {"service": service}, **changed}
        return self.client.post(f"/api/v1/judges/?project={self.project.key}", body, content_type="application/json")


@pytest.fixture
def lead() -> Person:
    return Person(make.project())


def test_a_judge_made_over_the_api_is_worked_and_changed_on_pages_like_any_other(lead: Person) -> None:
    """Its settings need not say their type, by which pages know it."""
    made = lead.makes()
    assert made.status_code == 201
    for page in ("judge_work", "judge_edit"):
        assert lead.client.get(reverse(page, args=[lead.project.key, made.json()["id"]])).status_code == 200
    assert lead.makes(settings=made.json()["settings"]).status_code == 200


@pytest.mark.parametrize("kind", ["substring", "check", "imported"])
def test_only_kinds_that_a_project_can_make_are_made(lead: Person, kind: str) -> None:
    """An imported judge's name must not become that of one that runs here."""
    make.judge(lead.project, "careful")
    refused = lead.makes(kind=kind)
    assert (refused.status_code, error(refused)["details"]) == (400, {"field": "kind"})
    assert Judge.objects.filter(name="careful").count() == 1


@pytest.mark.parametrize("name", ["two\nlines", "\u202eabc", "a\u200b", " careful", "careful "])
def test_a_name_is_one_that_can_be_read(lead: Person, name: str) -> None:
    assert error(lead.makes(name=name))["details"] == {"field": "name"}


@pytest.mark.parametrize("key", [f"{KEY}\nX-Other: 1", f"{KEY} x", f"{KEY}\u00e9", KEY * 200])
def test_a_key_that_cannot_be_sent_is_refused_at_once_and_not_repeated(lead: Person, key: str) -> None:
    made = lead.makes().json()["id"]
    changed = lead.client.patch(f"/api/v1/judges/{made}/", json.dumps({"key": key}), content_type="application/json")
    for refused in (lead.makes(name="other", key=key), changed):
        assert (refused.status_code, error(refused)["details"]) == (400, {"field": "key"})
        assert KEY not in refused.content.decode()
    assert not Judge.objects.get(pk=made).service.sealed_key
    assert not Judge.objects.filter(name="other").exists()


def test_a_key_is_kept_without_the_blanks_around_it() -> None:
    assert sealing.unseal(sealed_key(f" {KEY}\n")) == KEY
    assert sealed_key(" \n") == ""
    with pytest.raises(DomainError) as refused:
        sealed_key(f"{KEY}\n{KEY}")
    assert KEY not in refused.value.message


def test_only_leads_let_a_judge_speak_again(lead: Person) -> None:
    """It is paid with their key, so a runner key does not."""
    judge = lead.makes().json()["id"]
    run = make.run(lead.project, status=RunStatus.CLOSED, panel_is_frozen=True)
    make.trajectory(run)

    def asks(client: Client, **headers: str) -> int:
        path = f"/api/v1/judges/{judge}/rejudge/"
        return client.post(path, {"run": run.pk}, content_type="application/json", headers=headers).status_code

    runner = people.create_runner_key(project=lead.project, name="runner", by=lead.user)
    assert asks(Client(), authorization=f"Bearer {runner.secret}") == 403
    assert asks(Person(lead.project, Role.REVIEWER).client) == 403
    assert asks(Person(make.project()).client) == 404
    assert not Rejudging.objects.exists()
    assert asks(lead.client) == 202
