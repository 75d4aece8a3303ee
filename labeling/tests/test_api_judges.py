"""Judges over the API: what is taken, what is refused, and who may let one speak again."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.errors import DomainError
from labeling.judges.rubrics.rubric_text import ready_rubrics
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


def test_what_is_wrong_in_settings_is_named_as_it_stands_in_the_body(lead: Person) -> None:
    service = {"base_url": "https://judge.example/v1", "modell": "big", "max_tokens": 0}
    settings = {"scale": "three_label", "title": "T", "instructions": "Judge.", "service": service}
    refused = error(lead.makes(settings=settings | {"categories": {"fraud": {"tiers": {"first": "x"}}}}))
    assert {each["path"] for each in refused["details"]["problems"]} == {
        "settings.service.modell",
        "settings.service.max_tokens",
        "settings.categories.fraud.tiers",
    }
    assert refused["message"].startswith("settings.")
    # What is wrong with the settings as a whole, too.
    refused = error(lead.makes(settings=settings | {"scale": "boundary", "service": service | {"max_tokens": 9}}))
    assert all(each["path"].startswith("settings") for each in refused["details"]["problems"])


def test_limits_are_changed_as_the_example_in_the_schema_does_it(lead: Person) -> None:
    made = lead.makes().json()["id"]
    schema = lead.client.get("/api/v1/schema/", headers={"accept": "application/json"}).json()
    request = schema["paths"]["/api/v1/judges/{judge_id}/"]["patch"]["requestBody"]["content"]["application/json"]
    (example,) = (each["value"] for each in request["examples"].values())
    changed = lead.client.patch(f"/api/v1/judges/{made}/", json.dumps(example), content_type="application/json")
    assert changed.status_code == 200
    service = Judge.objects.get(pk=made).service
    assert (service.concurrency, service.requests_per_minute, service.ceiling_usd) == (32, 600, Decimal(20))


def test_a_ceiling_without_prices_is_refused_for_it_would_hold_nothing_back(lead: Person) -> None:
    made = lead.makes().json()["id"]
    body = json.dumps({"working": {"ceiling_usd": 5, "input_usd": 0.1}})
    refused = lead.client.patch(f"/api/v1/judges/{made}/", body, content_type="application/json")
    assert refused.status_code == 400
    assert error(refused)["message"].startswith("A ceiling needs both prices")
    assert Judge.objects.get(pk=made).service.ceiling_usd is None


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
