"""FIELD B2: nothing that a person or a judge said is lost, doubled or overwritten. One row a test.

B2.3 is in audit/tests/test_drafting.py; B2.15 and B2.16 in test_claiming.py and test_history.py.
"""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import Verdict
from audit.selectors.report import report_of
from audit.tests.make import claimed, reviewed
from labeling import tasks
from labeling.models import Judge, Judgment, Trajectory
from labeling.tests import make
from labeling.tests.posting import definition, error, judgment, line
from labeling.vocabulary import Role, VerdictSource
from litmus_site.tests.stage import Stage

pytestmark = pytest.mark.django_db

REFUSAL = {"decision": "refusal", "harm_grade": 0, "explained": True, "alternative_offered": False}


@pytest.fixture
def stage() -> Stage:
    return Stage.set()


def disputed(stage: Stage, external_id: str = "t-1") -> Trajectory:
    """A trajectory that waits for a person, because two judges disagree."""
    said = [judgment("one", decision="refusal"), judgment("two", decision="full_compliance")]
    (row,) = stage.post(line(external_id, definition(f"case of {external_id}"), judgments=said))
    return row


def test_b2_1_two_posts_of_one_verdict_store_one_and_the_second_gets_the_first(stage: Stage) -> None:
    disputed(stage)
    seat = make.membership(stage.run.project, Role.REVIEWER)
    held, client = claimed(seat), Client()
    client.force_login(seat.user)
    body = {"token": held.token, **REFUSAL}
    answers = [
        client.post(reverse("api_verdict", args=[held.pk]), body, content_type="application/json") for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json()["id"] == answers[1].json()["id"] == Verdict.objects.get().pk


def test_b2_2_the_same_claim_with_another_body_is_a_conflict_and_the_page_says_what_stands(stage: Stage) -> None:
    disputed(stage)
    seat = make.membership(stage.run.project, Role.REVIEWER)
    held, client = claimed(seat), Client(raise_request_exception=False)
    client.force_login(seat.user)
    form = {"token": held.token, "decision": "full_compliance", "harm_grade": "3"}
    submit = reverse("review_submit", args=[seat.project.key])
    assert client.post(submit, form).status_code == 200
    assert client.post(submit, form).status_code == 200
    other = client.post(submit, {**form, "harm_grade": "0"})
    assert other.status_code == 409
    assert "You gave another verdict on this item before, and that one stands." in other.content.decode()
    over_api: Any = client.post(
        reverse("api_verdict", args=[held.pk]), {"token": held.token, **REFUSAL}, content_type="application/json"
    )
    assert (over_api.status_code, error(over_api)["code"]) == (409, "conflict")
    assert Verdict.objects.get().harm_grade == 3


def test_b2_4_a_blank_verdict_is_refused_whichever_way_it_comes(stage: Stage) -> None:
    disputed(stage)
    seat = make.membership(stage.run.project, Role.REVIEWER)
    held, client = claimed(seat), Client()
    client.force_login(seat.user)
    by_form = client.post(reverse("review_submit", args=[seat.project.key]), {"token": held.token})
    by_api = client.post(reverse("api_verdict", args=[held.pk]), {"token": held.token}, content_type="application/json")
    assert (by_form.status_code, by_api.status_code) == (400, 400)
    assert not Verdict.objects.exists()


def test_b2_7_the_export_has_each_trajectory_and_each_verdict_and_its_correction_once(stage: Stage) -> None:
    rows = [disputed(stage, f"t-{number}") for number in range(3)]
    first = reviewed(make.membership(stage.run.project, Role.REVIEWER), make.COMPLIED, 3)
    correction = Verdict.objects.create(
        trajectory=first.trajectory,
        reviewer=first.reviewer,
        corrects=first,
        source=VerdictSource.API,
        blind=False,
        decision="refusal",
        harm_grade=0,
        decided_at=timezone.now(),
    )
    exported = stage.exported()
    assert [row["trajectory"] for row in exported] == [row.pk for row in rows]
    said = [(one["id"], one["corrects"]) for row in exported for one in row["verdicts"]]
    assert sorted(said, key=lambda each: each[0]) == [(first.pk, None), (correction.pk, first.pk)]


def test_b2_8_the_runners_time_and_ours_are_two_and_a_repeat_changes_neither(stage: Stage) -> None:
    sent = line("t", definition(), observed_at="2024-02-29T23:59:59+05:30")
    (row,) = stage.post(sent)
    assert stage.send(json.dumps({**sent, "observed_at": "2025-01-01"}).encode()).json()["duplicate"] == 1
    (exported,) = stage.exported()
    assert exported["observed_at"] == "2024-02-29T23:59:59+05:30"
    assert exported["received_at"][:19] == row.received_at.isoformat()[:19]


def test_b2_9_what_is_there_already_is_a_duplicate_and_never_a_failure(stage: Stage) -> None:
    body = json.dumps(line("t", definition())).encode()
    assert stage.send(body).status_code == 201
    for _ in range(2):
        again = stage.send(body)
        assert again.status_code == 200
        assert [entry["status"] for entry in again.json()["entries"]] == ["duplicate"]


def test_b2_10_what_a_judge_said_never_counts_as_read_by_a_person(stage: Stage) -> None:
    (row,) = stage.post(line("t", definition(), judgments=[judgment()]))
    assert (row.label_source, row.status) == ("", "pending")
    row.refresh_from_db()
    assert (row.label_source, row.status) == ("machine", "settled")
    assert sum(side.human_labels for side in report_of(stage.run).sides) == 0
    assert not row.has_truth


def test_b2_11_a_note_is_there_after_the_verdict_and_in_the_export(stage: Stage) -> None:
    disputed(stage)
    reviewed(make.membership(stage.run.project, Role.REVIEWER), note="Why: \0 \ud83d\n=1")
    (said,) = stage.exported()[0]["verdicts"]
    assert said["note"] == "Why: \0 \ud83d\n=1"


def test_b2_13_one_judge_version_says_one_thing_of_a_trajectory(stage: Stage) -> None:
    row = disputed(stage)
    before = Judgment.objects.filter(trajectory=row).count()
    for _ in range(3):
        tasks.judge_batch([row.pk])
    assert Judgment.objects.filter(trajectory=row).count() == before
    judge = Judge.objects.get(name="one")
    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(trajectory=row, judge=judge)


def test_b2_15_a_reload_shows_the_item_one_holds(stage: Stage) -> None:
    disputed(stage, "t-1")
    disputed(stage, "t-2")
    seat = make.membership(stage.run.project, Role.REVIEWER)
    client, held = Client(), claimed(seat)
    client.force_login(seat.user)
    pages = {
        client.get(reverse("review", args=[seat.project.key])).content.count(held.token.encode()) for _ in range(3)
    }
    assert pages == {1}


def test_b2_17_a_judgment_and_a_verdict_of_one_trajectory_meet_by_its_ids(stage: Stage) -> None:
    row = disputed(stage, "chosen by the runner")
    verdict = reviewed(make.membership(stage.run.project, Role.REVIEWER))
    (exported,) = stage.exported()
    assert (exported["trajectory"], exported["external_id"]) == (row.pk, "chosen by the runner")
    assert {one["judge"] for one in exported["judgments"]} == set(row.judgments.values_list("judge_id", flat=True))
    assert {(one["name"], one["version"]) for one in exported["judgments"]} >= {("one", "1"), ("two", "1")}
    assert [one["id"] for one in exported["verdicts"]] == [verdict.pk]
