"""POST /api/v1/runs/{id}/verdicts/."""

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from audit.models import Verdict
from labeling.models import Run, Trajectory
from labeling.tests import make
from labeling.tests.posting import Runner, error
from labeling.vocabulary import LabelSource, Role, RunStatus, VerdictKind

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    made = make.run()
    for number in range(3):
        make.trajectory(made, external_id=f"t{number}")
    return made


@pytest.fixture
def runner(run: Run) -> Runner:
    return Runner(run.project)


def line(external_id: str = "t0", author: str = "Ada", **fields: Any) -> dict[str, Any]:
    given = {"external_id": external_id, "author": author, "decided_at": "2026-11-29T10:00:00Z"}
    return {**given, "decision": "full_compliance", "harm_grade": 3, **fields}


def post(runner: Runner, run: Run, body: Any, *, query: str = "", **options: Any) -> Any:
    return runner.post(f"/api/v1/runs/{run.pk}/verdicts/{query}", body, **options)


def counts(response: Any) -> dict[str, int]:
    body = json.loads(response.content)
    return {name: body[name] for name in ("created", "duplicate", "conflict", "rejected") if body[name]}


def test_verdicts_with_a_declaration_of_blindness(run: Run, runner: Runner) -> None:
    body = {"blind": True, "verdicts": [line("t0"), line("t1", blind=False), line("t2", kind="adjudication")]}
    response = post(runner, run, body)
    assert (response.status_code, counts(response)) == (201, {"created": 3})
    assert list(Verdict.objects.order_by("pk").values_list("blind", "kind")) == [
        (True, VerdictKind.REVIEW),
        (False, VerdictKind.REVIEW),
        (True, VerdictKind.ADJUDICATION),
    ]
    assert Trajectory.objects.get(external_id="t0").label_source == LabelSource.HUMAN
    again = post(runner, run, body)
    assert (again.status_code, counts(again)) == (200, {"duplicate": 3})


@pytest.mark.parametrize(("query", "blind"), [("", False), ("?blind=1", True), ("?blind=false", False)])
def test_an_array_declares_its_blindness_in_the_address(run: Run, runner: Runner, query: str, blind: bool) -> None:
    assert counts(post(runner, run, [line("t0"), line("t1")], query=query)) == {"created": 2}
    assert set(Verdict.objects.values_list("blind", flat=True)) == {blind}


def test_a_single_verdict_needs_no_array(run: Run, runner: Runner) -> None:
    assert counts(post(runner, run, line())) == {"created": 1}


@pytest.mark.parametrize("packed", [False, True])
def test_one_verdict_a_line_also_packed(run: Run, runner: Runner, packed: bool) -> None:
    lines = b"\xef\xbb\xbf" + b"\r\n".join([json.dumps(line("t0")).encode(), b"", b"{broken", b'{"author": 1}'])
    headers = {"content-encoding": "gzip"} if packed else {}
    response = post(
        runner,
        run,
        gzip.compress(lines) if packed else lines,
        query="?blind=true",
        content_type="application/x-ndjson",
        **headers,
    )
    assert counts(response) == {"created": 1, "rejected": 2}
    assert [(entry["index"], entry["path"]) for entry in json.loads(response.content)["entries"]] == [
        (1, ""),
        (2, "external_id"),
    ]
    assert Verdict.objects.get().blind


def test_each_line_that_was_not_created_says_why(run: Run, runner: Runner) -> None:
    post(runner, run, [line("t0")])
    body = [
        line("t0"),
        line("t0", harm_grade=4),
        line("nowhere"),
        line("t1", decided_at="2026-11-29T10:00:00"),
        line("t1", harm_grade="3"),
        line("t1"),
    ]
    response = post(runner, run, body)
    assert counts(response) == {"created": 1, "duplicate": 1, "conflict": 1, "rejected": 3}
    entries = json.loads(response.content)["entries"]
    assert [(entry["index"], entry["status"], entry["path"]) for entry in entries] == [
        (0, "duplicate", ""),
        (1, "conflict", ""),
        (2, "rejected", "external_id"),
        (3, "rejected", "decided_at"),
        (4, "rejected", "harm_grade"),
    ]
    assert "time zone" in entries[3]["reason"]
    assert entries[4]["problems"] == [{"path": "harm_grade", "reason": "must be a whole number"}]


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ({"verdicts": {}}, ""),
        ({"verdicts": [], "blind": "yes"}, ""),
        ({"verdicts": [], "author": "Ada"}, ""),
        ([], "?blind=maybe"),
        (b"{", ""),
    ],
)
def test_a_body_that_makes_no_sense_stores_nothing(run: Run, runner: Runner, body: Any, query: str) -> None:
    response = post(runner, run, body, query=query)
    assert response.status_code == 400
    error(response)


def test_another_kind_of_body_is_415(run: Run, runner: Runner) -> None:
    assert post(runner, run, b"a,b", content_type="text/csv").status_code == 415


def test_a_closed_run_takes_them_and_a_voided_one_is_409(run: Run, runner: Runner) -> None:
    Run.objects.update(status=RunStatus.CLOSED)
    assert post(runner, run, [line("t0")]).status_code == 201
    Run.objects.update(status=RunStatus.VOIDED, void_reason="wrong prompt")
    response = post(runner, run, [line("t1")])
    assert (response.status_code, error(response)["code"]) == (409, "conflict")


def test_the_cast(run: Run, runner: Runner) -> None:
    def person(role: Role, *, elsewhere: bool = False) -> int:
        client = Client()
        client.force_login(make.member(make.project() if elsewhere else run.project, role))
        body = json.dumps([line("t0", author=f"{role} {elsewhere}")])
        return client.post(f"/api/v1/runs/{run.pk}/verdicts/", body, content_type="application/json").status_code

    assert post(runner, run, [line("t0")]).status_code == 201
    assert post(Runner(make.project()), run, [line("t1")]).status_code == 404
    assert person(Role.LEAD) == 201
    assert person(Role.REVIEWER) == 403
    assert person(Role.ADMIN, elsewhere=True) == 404
    stranger = Client().post(f"/api/v1/runs/{run.pk}/verdicts/", b"[]", content_type="application/json")
    assert stranger.status_code == 401
