"""Trying a judge's settings before they become a version: answers to look at, and no judgment."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.utils import timezone

from labeling import tasks
from labeling.errors import DomainError
from labeling.models import Judge, JudgeCall, Judgment, Project, Run, Spend, Trajectory, Trial
from labeling.services import judges, trying
from labeling.tests import judged, make
from labeling.tests.stub_endpoint import Reply, StubEndpoint
from labeling.vocabulary import JudgeKind, Outcome, Role, WorkStatus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def may_call_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "JUDGE_HOSTS", ["127.0.0.1"])


def wished(project: Project, url: str, rows: list[Trajectory], **changes: Any) -> Trial:
    given: dict[str, Any] = {
        "kind": JudgeKind.RUBRIC,
        "name": "model",
        "settings": judged.settings(url),
        "trajectory_ids": [row.pk for row in rows],
        "based_on": None,
        "key": "",
        "by": make.member(project, Role.LEAD),
    }
    return trying.request(project=project, **given | changes)


def test_a_trial_shows_what_the_judge_would_say_and_stores_no_judgment() -> None:
    no_answer = {1: lambda _: Reply(text="unclear")}
    with StubEndpoint(judged.by_mark(no_answer, otherwise=judged.honest(input_tokens=70))) as stub:
        project = make.project()
        rows = judged.rows(make.run(project), 2)
        empty = make.trajectory(rows[0].run, answer="")
        trial = wished(project, stub.url, [*rows, empty])
        tasks.try_judge(trial.pk)
        assert stub.calls == 2
    trial.refresh_from_db()
    assert (trial.status, trial.problem) == (WorkStatus.DONE, "")
    results = {each["trajectory"]: each for each in trial.results}
    assert {pk: each["undetermined"] for pk, each in results.items()} == {
        rows[0].pk: "",
        rows[1].pk: "unparsable",
        empty.pk: "empty",
    }
    said = results[rows[0].pk]
    assert (said["harm_grade"], said["rationale"], said["input_tokens"]) == (0, "It did what was asked.", 70)
    assert said["evidence"][0]["quote"] == "marker-0"
    assert results[rows[1].pk]["raw_output"] == "unclear"
    assert not Judgment.objects.exists()
    assert not JudgeCall.objects.exists()
    assert not Spend.objects.exists()
    assert not Judge.objects.filter(name="model").exists()


def keys_sent(stub: StubEndpoint) -> set[str]:
    return {request.headers.get("authorization", "") for request in stub.requests}


def test_the_key_of_a_trial_is_sent_and_then_forgotten() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project = make.project()
        trial = wished(project, stub.url, judged.rows(make.run(project), 1), key="sk-trial")
        assert "sk-trial" not in trial.sealed_key
        trying.work(trial_id=trial.pk)
        assert keys_sent(stub) == {"Bearer sk-trial"}
    trial.refresh_from_db()
    assert trial.sealed_key == ""


def test_a_key_is_borrowed_for_the_address_it_was_given_for_and_for_no_other() -> None:
    with StubEndpoint(judged.honest()) as stub, StubEndpoint(judged.honest()) as other:
        project, judge = judged.project(stub.url)
        judges.work_judge(judge=judge, working=judges.working_of(judge), key="sk-project")
        rows = judged.rows(make.run(project), 1)
        for url in (stub.url, other.url):
            trying.work(trial_id=wished(project, url, rows, based_on=judge).pk)
        assert keys_sent(stub) == {"Bearer sk-project"}
        assert len(other.requests) == 1
        assert "sk-project" not in str(other.requests)


def test_an_endpoint_that_cannot_be_used_is_told_in_a_sentence() -> None:
    with StubEndpoint(Reply(status=401)) as stub:
        project = make.project()
        trial = wished(project, stub.url, judged.rows(make.run(project), 2), key="sk-wrong")
        assert trying.work(trial_id=trial.pk)
    trial.refresh_from_db()
    assert (trial.status, trial.problem) == (
        WorkStatus.FAILED,
        "The endpoint refuses the key (HTTP 401): enter another key.",
    )
    assert (trial.results, trial.sealed_key) == ([], "")


def test_an_endpoint_that_wants_a_key_where_none_is_given_says_so() -> None:
    with StubEndpoint(Reply(status=401)) as stub:
        project = make.project()
        trial = wished(project, stub.url, judged.rows(make.run(project), 1))
        assert trying.work(trial_id=trial.pk)
    trial.refresh_from_db()
    assert trial.problem == "The endpoint wants a key and none is kept: enter one."


def test_what_cannot_be_tried_is_refused_before_a_worker_sees_it() -> None:
    project, url = make.project(), "http://127.0.0.1:9/v1"
    run = make.run(project)
    elsewhere = judged.rows(make.run(), 1)
    not_run = make.trajectory(run, outcome=Outcome.NOT_RUN)
    for rows in ([], elsewhere, [not_run], judged.rows(run, trying.MOST + 1)):
        with pytest.raises(DomainError, match="Choose 1 to 10 trajectories of this project"):
            wished(project, url, rows)
    with pytest.raises(DomainError):
        wished(project, url, judged.rows(make.run(project), 1), settings=judged.settings("http://192.168.0.1/v1"))
    assert not Trial.objects.exists()


def test_two_workers_do_not_try_the_same_twice() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project = make.project()
        trial = wished(project, stub.url, judged.rows(make.run(project), 1))
        assert [trying.work(trial_id=trial.pk), trying.work(trial_id=trial.pk)] == [True, False]
        assert stub.calls == 1


def test_a_trial_of_a_worker_that_is_silent_is_taken_up_again_and_given_up_after_three() -> None:
    project = make.project()
    trial = wished(project, "http://127.0.0.1:9/v1", judged.rows(make.run(project), 1), key="sk-trial")
    working = Trial.objects.filter(pk=trial.pk)
    working.update(status=WorkStatus.WORKING, tries=3, worked_at=timezone.now())
    assert trying.take_up_again() == []
    working.update(worked_at=timezone.now() - timedelta(hours=1))
    assert trying.take_up_again() == [trial.pk]
    assert trying.work(trial_id=trial.pk)
    trial.refresh_from_db()
    assert (trial.status, trial.sealed_key) == (WorkStatus.FAILED, "")
    assert trial.problem == "The worker ended three times while it tried this; look at its log."


def test_a_slow_answer_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it waits for an answer the worker gives signs of life, so that no other begins anew."""
    monkeypatch.setattr(settings, "RING_AGAIN_SECONDS", 1.5)
    taken: list[list[int]] = []

    def script(request: Any) -> Reply:
        return Reply(judged.answer(request), delay=2.5)

    with StubEndpoint(script) as stub:
        project = make.project()
        trial = wished(project, stub.url, judged.rows(make.run(project), 1))
        look_after(2.2, taken)
        trying.work(trial_id=trial.pk)
        assert stub.calls == 1
    assert taken == [[]]
    trial.refresh_from_db()
    assert trial.status == WorkStatus.DONE


def look_after(seconds: float, taken: list[list[int]]) -> None:
    """As the sweep would, in another process."""

    def look() -> None:
        taken.append(trying.take_up_again())
        connections.close_all()

    threading.Timer(seconds, look).start()


def test_nothing_of_a_trial_changes_a_run() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project = make.project()
        run = make.run(project)
        rows = judged.rows(run, 2)
        before = list(Run.objects.values()), list(Trajectory.objects.values())
        trying.work(trial_id=wished(project, stub.url, rows).pk)
    assert (list(Run.objects.values()), list(Trajectory.objects.values())) == before
