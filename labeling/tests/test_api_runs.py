"""/api/v1/suites/, /api/v1/runs/, /api/v1/judges/."""

import json
from typing import Any

import pytest
from django.utils import timezone

from labeling.judges.registry import BUILT_IN
from labeling.models import Heartbeat, Judge, Run
from labeling.tests import make
from labeling.tests.posting import Runner, definition, error, judgment, line, run_body
from labeling.vocabulary import Part

pytestmark = pytest.mark.django_db

SUITE = {
    "key": "boundary",
    "version": "1",
    "title": "Boundary",
    "cases": [definition("a"), definition("b", side="benign")],
}


@pytest.fixture
def runner(db: None) -> Runner:
    return Runner(make.project("safety"))


def created(runner: Runner, **fields: Any) -> Any:
    response = runner.post("/api/v1/runs/", run_body(**fields))
    assert response.status_code == 201, response.content
    return response.json()


# --- suites ------------------------------------------------------------------------------------------------------


def test_a_suite_is_created_recognised_and_never_changed(runner: Runner) -> None:
    body = {**SUITE, "publish": True}
    first, again = runner.post("/api/v1/suites/", body), runner.post("/api/v1/suites/", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert (first.json()["cases"], len(first.json()["content_hash"])) == (2, 64)
    other = runner.post("/api/v1/suites/", {**body, "cases": [definition("a")]})
    assert (other.status_code, error(other)["code"]) == (409, "conflict")
    assert error(other)["details"] == {"field": "cases", "cases": ["b"]}


def test_a_bad_suite_says_what_is_wrong_with_it(runner: Runner) -> None:
    response = runner.post("/api/v1/suites/", {"version": "1", "cases": [definition(side="x"), {"key": 1}]})
    assert response.status_code == 400
    assert [each["path"] for each in error(response)["details"]["problems"]] == [
        "key",
        "cases[0].side",
        "cases[1].key",
        "cases[1].side",
    ]


# --- runs --------------------------------------------------------------------------------------------------------


def test_a_run_is_created_once(runner: Runner) -> None:
    runner.post("/api/v1/suites/", SUITE)
    body = run_body(name="Nightly", suite="boundary@1", expected_count=2, attack={"kind": "templated", "attempts": 3})
    first, again = runner.post("/api/v1/runs/", body), runner.post("/api/v1/runs/", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    shown = first.json()
    assert (shown["external_id"], shown["name"], shown["project"], shown["status"]) == (
        "run-1",
        "Nightly",
        "safety",
        "open",
    )
    assert shown["suite"] == {"key": "boundary", "version": "1", "published_at": None}
    assert shown["attack"] == {"kind": "templated", "attempts": 3, "turns": 1}
    assert shown["configuration"]["layer"] == "model"
    other = runner.post("/api/v1/runs/", body | {"attack": {}})
    assert (other.status_code, error(other)["details"]["field"]) == (409, "attack")


def test_decoding_with_odd_values_is_answered_as_it_came(runner: Runner) -> None:
    decoding = {"bias": float("inf"), "stop": "\ud800\0"}
    shown = created(runner, configuration={"model": "m", "version": "1", "decoding": decoding})
    assert shown["configuration"]["decoding"] == decoding


def test_an_unknown_judge_in_the_panel_is_named(runner: Runner) -> None:
    response = runner.post("/api/v1/runs/", run_body(panel=["substring", "oracle"]))
    assert (response.status_code, error(response)["details"]) == (400, {"field": "panel"})
    assert "oracle" in error(response)["message"]


def test_runs_are_listed_newest_first_and_found_by_id(runner: Runner, django_assert_num_queries: Any) -> None:
    for name in "abc":
        created(runner, external_id=name)
    make.run(make.project(), external_id="a")
    listed = runner.get("/api/v1/runs/", limit=2).json()
    assert ([run["external_id"] for run in listed["results"]], listed["count"], listed["left"]) == (["c", "b"], 3, 1)
    assert runner.get("/api/v1/runs/", offset=2).json()["left"] == 0
    assert [run["external_id"] for run in runner.get("/api/v1/runs/", external_id="a").json()["results"]] == ["a"]
    assert runner.get("/api/v1/runs/", status="closed").json()["count"] == 0
    with django_assert_num_queries(3):  # the key, the count, the page
        runner.get("/api/v1/runs/")


@pytest.mark.parametrize("query", [{"limit": "x"}, {"limit": "501"}, {"offset": "-1"}, {"status": "lost"}])
def test_nonsense_in_a_query_is_said(runner: Runner, query: dict[str, str]) -> None:
    response = runner.get("/api/v1/runs/", **query)
    assert (response.status_code, error(response)["details"]["field"]) == (400, next(iter(query)))


def test_progress_says_who_is_owed_what(runner: Runner) -> None:
    runner.post("/api/v1/suites/", SUITE)
    run = created(runner, suite="boundary")
    runner.post_lines(run["id"], [line("t-1", "a", judgments=[judgment()]), line("t-2", "b", None, error="timeout")])
    Heartbeat.objects.create(name="worker", beat_at=timezone.now())
    shown = runner.get(f"/api/v1/runs/{run['id']}/").json()
    progress = shown["progress"]
    assert (progress["posted"], progress["pending"], progress["not_run"]) == (2, 2, 1)
    assert [(side["side"], side["answered_cases"], side["suite_cases"]) for side in progress["sides"]] == [
        ("harmful", 1, 1),
        ("benign", 0, 1),
    ]
    assert [judge["name"] for judge in progress["panel"]] == ["gpt-4", "substring"]
    assert shown["worker_seen_at"] is not None


def test_a_run_is_closed_when_all_is_there(runner: Runner, django_capture_on_commit_callbacks: Any) -> None:
    run = created(runner)
    path = f"/api/v1/runs/{run['id']}/close/"
    runner.post_lines(run["id"], [line(case=definition())])
    response = runner.post(path, {"expected_count": 2})
    assert (response.status_code, error(response)["details"]) == (409, {"expected": 2, "posted": 1})
    with django_capture_on_commit_callbacks() as callbacks:
        closed = runner.post(path, {"expected_count": 1, "audits_per_side": 5})
    assert (closed.status_code, closed.json()["status"], closed.json()["audits_per_side"]) == (200, "closed", 5)
    assert len(callbacks) == 1
    assert runner.post(path, b"").status_code == 200
    late = runner.post(f"/api/v1/runs/{run['id']}/trajectories/", line("late", definition()))
    assert (late.status_code, error(late)["details"]) == (409, {"status": "closed"})


def test_a_run_is_voided_with_a_reason(runner: Runner) -> None:
    run = created(runner)
    path = f"/api/v1/runs/{run['id']}/void/"
    assert runner.post(path, {}).status_code == 400
    assert runner.post(path, {"reason": " "}).status_code == 400
    response = runner.post(path, {"reason": "Wrong model."})
    assert (response.json()["status"], response.json()["void_reason"]) == ("voided", "Wrong model.")
    assert runner.post(f"/api/v1/runs/{run['id']}/close/", {}).status_code == 409
    assert Run.objects.get().voided_by is None


def test_runs_are_joined(runner: Runner) -> None:
    one, other = created(runner, external_id="a"), created(runner, external_id="b")
    response = runner.post(f"/api/v1/runs/{one['id']}/join/", {"run": other["id"]})
    assert response.json() == {"id": other["measurement"], "runs": [one["id"], other["id"]]}
    apart = created(runner, external_id="c", attack={"turns": 2})
    refused = runner.post(f"/api/v1/runs/{apart['id']}/join/", {"run": one["id"]})
    assert (refused.status_code, error(refused)["details"]["field"]) == (409, "attack")


# --- judges ------------------------------------------------------------------------------------------------------


def test_judges_are_listed_with_their_judgments_counted(runner: Runner, django_assert_num_queries: Any) -> None:
    judges = [{"name": "gpt-4", "version": "1", "title": "GPT-4", "measures": ["decision"]}]
    run = created(runner, judges=judges)
    runner.post_lines(run["id"], [line(f"t-{n}", definition(f"c-{n}"), judgments=[judgment()]) for n in range(3)])
    make.judge(make.project(), "elsewhere")
    with django_assert_num_queries(2):  # the key, the judges
        listed = runner.get("/api/v1/judges/").json()
    said = {each["name"]: each["judgments"] for each in listed["results"]}
    assert said == {"gpt-4": 3, **dict.fromkeys(BUILT_IN, 0)}
    assert next(each for each in listed["results"] if each["name"] == "gpt-4") == {
        "id": Judge.objects.get(name="gpt-4").pk,
        "name": "gpt-4",
        "version": "1",
        "title": "GPT-4",
        "kind": "imported",
        "measures": [Part.DECISION],
        "active": True,
        "judgments": 3,
    }


def test_answers_are_json_whatever_the_client_accepts(runner: Runner) -> None:
    response = runner.client.get(
        "/api/v1/runs/", headers={"authorization": f"Bearer {runner.secret}", "accept": "text/html"}
    )
    assert response.status_code in (200, 406)
    json.loads(response.content)
