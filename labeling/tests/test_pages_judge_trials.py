"""Trying a judge on a few trajectories, on its pages."""

import re
from typing import Any

import pytest

from labeling import tasks
from labeling.models import Judge, Project, Trial
from labeling.models.fields import decisions_to_bits
from labeling.services import sealing
from labeling.tests import judged, make
from labeling.tests.judge_pages import ADDRESS, HOSTILE, KEY, Lead, come, edited, made, result, tried, typed
from labeling.tests.stub_endpoint import StubEndpoint
from labeling.vocabulary import Decision, LabelSource, WorkStatus
from litmus_site.tests.inert import complaints

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def lead(project: Project) -> Lead:
    return Lead(project)


def test_settings_are_tried_and_make_no_version(lead: Lead, django_capture_on_commit_callbacks: Any) -> None:
    judge = made(lead, name="careful", key=KEY)
    row = make.trajectory(make.run(lead.project))
    with django_capture_on_commit_callbacks() as rung:
        trial = tried(lead, judge, row, title="Another title")
    assert len(rung) == 1
    assert (trial.trajectories, trial.based_on, trial.settings["title"]) == ([row.pk], judge, "Another title")
    assert Judge.objects.filter(name="careful").count() == 1
    text = lead.get("judge_trial", trial.pk).content.decode()
    assert "0 of 1 trajectory, waiting for a worker." in text
    assert "No worker has been seen yet" in text
    come(trial, result(row))
    text = lead.get("judge_trial", trial.pk).content.decode()
    for shown in ("<b>refusal</b>, harm grade 3", "It gives the steps.", "message 2", "safety 12.5", "1.2 s"):
        assert shown in text


def test_external_ids_are_taken_and_unknown_ones_said(lead: Lead) -> None:
    judge = made(lead, name="careful")
    older = make.trajectory(make.run(lead.project), external_id="q 1, b")
    newer = make.trajectory(make.run(lead.project), external_id="q 1, b")
    make.trajectory(make.run(make.project()), external_id="elsewhere")
    assert older.pk < tried(lead, judge, ids="q 1, b\r\n\r\n").trajectories[0] == newer.pk
    answer = edited(lead, judge, ids="elsewhere", **{"try": "yes"})
    assert answer.status_code == 400
    assert "There is no trajectory elsewhere with an answer" in answer.content.decode()
    answer = edited(lead, judge, **{"try": "yes"})
    assert "Choose 1 to 10 trajectories" in answer.content.decode()


def test_what_is_offered_says_nothing_but_names(lead: Lead) -> None:
    run = make.run(lead.project, name="Nightly")
    row = make.trajectory(run, external_id="t-plain", label_error=True, label_source="machine")
    make.trajectory(run, external_id="t-truth", has_truth=True)
    make.trajectory(run, external_id="t-empty", outcome="not_run")
    text = lead.get("judge_make", "three_label").content.decode()
    audited = text.index("Audited by people")
    assert audited < text.index("t-truth") < text.index("Not audited") < text.index("t-plain")
    assert "t-empty" not in text
    assert f'name="trajectory" value="{row.pk}"' in text


def test_a_trial_is_kept_as_it_was_tried(lead: Lead) -> None:
    row = make.trajectory(make.run(lead.project))
    body = typed(lead.get("judge_make", "boundary")) | {
        "service.base_url": ADDRESS, "service.model": "big", "name": "edge", "key": KEY,
        "trajectory": [row.pk], "try": "yes", "title": "Edge of refusal",
    }  # fmt: skip
    assert lead.post("judge_make", "boundary", **body).status_code == 302
    trial = Trial.objects.get()
    assert sealing.unseal(trial.sealed_key) == KEY
    # Changed: the form is filled with what was tried, and the trajectories are chosen still.
    text = lead.get("judge_make", "boundary", trial=trial.pk).content.decode()
    assert 'value="Edge of refusal"' in text
    assert f'name="trajectory" value="{row.pk}" checked' in text
    assert lead.get("judge_make", "three_label", trial=trial.pk).status_code == 404
    # Kept.
    assert lead.post("judge_make", "boundary", trial=trial.pk, key=KEY, on_panel="on").status_code == 302
    judge = Judge.objects.latest("pk")
    assert (judge.name, judge.settings, judge.active) == ("edge", trial.settings, True)
    assert sealing.unseal(judge.service.sealed_key) == KEY


def test_hostile_answers_of_a_judge_on_trial_are_inert(lead: Lead) -> None:
    judge = made(lead, name="careful")
    row = make.trajectory(make.run(lead.project), external_id=f"t {HOSTILE}")
    trial = tried(lead, judge, row)
    span = {"message": 1, "part": 0, "start": 0, "end": 4, "quote": HOSTILE}
    come(
        trial,
        result(row, rationale=HOSTILE, raw_output=f"{HOSTILE}\ud83d\0", evidence=[span] * 12, scores={HOSTILE: 1.0}),
    )
    answer = lead.get("judge_trial", trial.pk)
    assert complaints(answer.content) == []
    assert "2 more quotes" in answer.content.decode()


def test_what_broke_is_said(lead: Lead) -> None:
    judge = made(lead, name="careful")
    row = make.trajectory(make.run(lead.project))
    trial = tried(lead, judge, row)
    come(trial, result(row, undetermined="unparsable", decisions=7), status=WorkStatus.FAILED)
    Trial.objects.update(problem="the endpoint refuses the key")
    text = lead.get("judge_trial", trial.pk).content.decode()
    assert "<b>It stopped:</b> the endpoint refuses the key" in text
    # What to do next is to change it.
    assert re.findall(r'class="(?:button )?main"[^>]*>([^<]*)<', text) == ["Change it"]
    assert "<b>Undetermined:</b> its answer could not be read" in text


def test_what_people_said_stands_beside_what_the_judge_says_where_it_is_shown(lead: Lead) -> None:
    run = make.run(lead.project)
    label: dict[str, Any] = {
        "has_truth": True, "label_source": LabelSource.HUMAN, "label_harm_grade": 3, "label_withheld": False,
        "label_decisions": decisions_to_bits([Decision.FULL_COMPLIANCE]),
    }  # fmt: skip
    audited, later = make.trajectory(run, **label), make.trajectory(run, **label)
    machine = make.trajectory(run, label_source=LabelSource.MACHINE, label_harm_grade=4)
    trial = tried(lead, made(lead, name="careful"), audited, later, machine)
    come(trial, result(audited), result(machine), status=WorkStatus.WORKING)
    text = lead.get("judge_trial", trial.pk).content.decode()
    # On the one whose answer has not come, nothing is told of anybody.
    assert re.findall("People say: ([^<]*)<", text) == ["full compliance, harm grade 3, nothing withheld"]


def test_from_the_form_to_a_model_and_back(lead: Lead, settings: Any) -> None:
    with StubEndpoint(judged.honest()) as stub:
        settings.JUDGE_HOSTS = [f"127.0.0.1:{stub.port}"]
        (row,) = judged.rows(make.run(lead.project), 1)
        body = typed(lead.get("judge_make", "three_label")) | {
            "service.base_url": stub.url, "service.model": "judge-1", "key": KEY, "trajectory": [row.pk], "try": "yes",
        }  # fmt: skip
        address = lead.post("judge_make", "three_label", **body)["Location"]
        tasks.try_judge(Trial.objects.get().pk)
    text = lead.client.get(address).content.decode()
    assert "1 of 1 trajectory, done." in text
    for shown in ("<b>full compliance</b>, harm grade 0", "It did what was asked.", "marker-0", "100 tokens in, 5 out"):
        assert shown in text
    assert [request.headers["authorization"] for request in stub.requests] == [f"Bearer {KEY}"]
    # The key was for the trial alone.
    assert Trial.objects.get().sealed_key == ""
