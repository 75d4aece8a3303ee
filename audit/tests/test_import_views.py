"""RULES 7 where imports are shown: who may yet judge a row of the file is not told what judges said of it."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.models import ContentView
from audit.services.viewing import record_views
from audit.tests.make import claimed
from labeling.models import Membership, Run, Trajectory
from labeling.services.judging import route_trajectories
from labeling.tests import make
from labeling.tests.posting import error, judgment
from labeling.tests.uploading import IMPORTS, Importer, ndjson, row
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db

SAID: dict[str, Any] = {"decision": "full_compliance", "harm_grade": 4, "scores": {"grade": 4}}


@pytest.fixture
def importer() -> Importer:
    return Importer()


@pytest.fixture
def job(importer: Importer) -> dict[str, Any]:
    """Two rows that went in, and one that contradicts what the same judge said of the first."""
    first, second = (row(name, judgments=[judgment(**SAID)]) for name in ("1", "2"))
    again = {**first, "judgments": [judgment(decision="refusal")]}
    return importer.committed(ndjson(first, second, again))


def lead(importer: Importer) -> User:
    return make.member(importer.project, Role.LEAD)


def asked(user: User, path: str) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(path)


def scores(user: User, job: dict[str, Any]) -> list[bool]:
    """Of each example, whether what judges said of it is there."""
    preview = asked(user, f"{IMPORTS}{job['id']}/").json()["preview"]
    return [bool(each["scores"]) for each in preview["examples"]]


def test_a_runner_and_who_looks_before_the_commit_are_told_everything(importer: Importer, job: dict[str, Any]) -> None:
    assert all(each["scores"] for each in importer.get(job["id"])["preview"]["examples"])
    new = importer.previewed(ndjson(row("9", judgments=[judgment(**SAID)])), run="other")
    assert scores(lead(importer), new) == [True]


def test_who_looked_before_the_commit_has_seen_what_is_said_of_the_examples(importer: Importer) -> None:
    who, other = lead(importer), lead(importer)
    content = ndjson(*(row(name, judgments=[judgment(**SAID)] if name != "3" else []) for name in ("1", "2", "3")))
    new = importer.previewed(content)
    assert scores(who, new) == [True, True, False]
    importer.commit(new["id"])
    seen = ContentView.objects.filter(showed_opinions=True).values_list("user", "trajectory__external_id")
    assert set(seen) == {(who.pk, "t-1"), (who.pk, "t-2")}
    assert scores(who, new) == [True, True, False]
    assert scores(other, new) == [False, False, False]


def test_what_a_lead_may_yet_be_asked_comes_without_scores(importer: Importer, job: dict[str, Any]) -> None:
    who = lead(importer)
    assert scores(who, job) == [False, False, False]
    page = asked(who, reverse("import", args=[importer.project.key, job["id"]])).content.decode()
    assert 'class="plain taken"' not in page
    assert not ContentView.objects.filter(showed_opinions=True).exists()
    seen = Trajectory.objects.get(external_id="t-2")
    record_views(trajectory_ids=[seen.pk], user=who, showed_opinions=True)
    assert scores(who, job) == [False, True, False]


def test_who_takes_rejected_rows_along_has_seen_what_is_said_in_them(importer: Importer, job: dict[str, Any]) -> None:
    who = lead(importer)
    response = asked(who, f"{IMPORTS}{job['id']}/rejected/")
    assert b"refusal" in b"".join(response.streaming_content)
    (view,) = ContentView.objects.filter(user=who, showed_opinions=True)
    assert view.trajectory.external_id == "t-1"


def test_who_is_judging_an_item_of_the_file_sees_neither(importer: Importer, job: dict[str, Any]) -> None:
    route_trajectories(trajectory_ids=list(Trajectory.objects.values_list("pk", flat=True)))
    make.audit_request(Trajectory.objects.get(external_id="t-2", run=Run.objects.get()))
    who = lead(importer)
    claimed(Membership.objects.get(user=who))
    assert asked(who, f"{IMPORTS}{job['id']}/").json()["preview"] is None
    response = asked(who, f"{IMPORTS}{job['id']}/rejected/")
    assert (response.status_code, error(response)["code"]) == (403, "not_allowed")
    page = asked(who, reverse("import", args=[importer.project.key, job["id"]])).content.decode()
    assert "You are judging an item of a run that this file went into" in page
    assert "full_compliance" not in page
