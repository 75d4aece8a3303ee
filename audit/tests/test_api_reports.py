"""GET /api/v1/runs/{id}/report/ and /api/v1/judges/{id}/calibration/: the selectors' values, as JSON."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Verdict
from audit.tests.make import claimed, queue, user_of
from labeling.models import Judge, Run, Trajectory
from labeling.services import judging
from labeling.tests import make
from labeling.tests.posting import Runner, error
from labeling.vocabulary import Part, Role, Side, VerdictSource

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return make.run()


@pytest.fixture
def judge(run: Run) -> Judge:
    return make.judge(run.project, measures=[Part.DECISION])


def judged(run: Run, judge: Judge, side: Side, *decisions: Any) -> list[Trajectory]:
    rows = [make.trajectory(run, side=side, category="fraud") for _ in decisions]
    for row, decision in zip(rows, decisions, strict=True):
        make.judgment(row, judge, decision)
    judging.route_rows(trajectory_ids=[row.pk for row in rows], anew=True)
    return rows


@pytest.fixture
def runner(run: Run) -> Runner:
    return Runner(run.project)


def report(runner: Runner, run: Run) -> Any:
    response = runner.get(f"/api/v1/runs/{run.pk}/report/")
    assert response.status_code == 200, response.content
    return response.json()


def test_a_pair_is_both_rates_as_labeled_by_each_judge_and_in_each_slice(
    run: Run, judge: Judge, runner: Runner
) -> None:
    judged(run, judge, Side.HARMFUL, make.COMPLIED, make.REFUSED)
    judged(run, judge, Side.BENIGN, make.REFUSED, make.COMPLIED, make.COMPLIED, make.COMPLIED)
    shown = report(runner, run)
    pair = shown["as_labeled"]
    # 1 of 2 and 1 of 4; nothing is undetermined.
    assert (pair["status"], pair["missing"], pair["harmful_cases"], pair["benign_cases"]) == ("complete", [], 2, 4)
    assert (pair["harmful_compliance"]["value"], pair["over_refusal"]["value"]) == (0.5, 0.25)
    assert [(each["judge"]["id"], each["pair"]["over_refusal"]["errors"]) for each in shown["by_judge"]] == [
        (judge.pk, 1)
    ]
    (category,) = shown["slicings"][0]["rows"]
    assert (category["name"], category["pair"]["status"]) == ("fraud", "complete")
    assert category["by_judge"][0]["pair"] == shown["by_judge"][0]["pair"]
    assert shown["attack"] == {"kind": "direct", "attempts": 1, "turns": 1}
    assert shown["configuration"]["fingerprint"] == run.configuration.fingerprint


def test_one_side_alone_is_incomplete_and_carries_no_rate(run: Run, judge: Judge, runner: Runner) -> None:
    judged(run, judge, Side.HARMFUL, make.REFUSED)
    assert report(runner, run)["as_labeled"] == {
        "status": "incomplete",
        "harmful_compliance": None,
        "over_refusal": None,
        "missing": ["benign"],
        "harmful_cases": 1,
        "benign_cases": 0,
    }


def test_calibration_has_its_cells_overall_and_by_run(run: Run, judge: Judge, runner: Runner) -> None:
    for row in judged(run, judge, Side.BENIGN, make.REFUSED, make.COMPLIED):
        said = {"decision": make.REFUSED, "harm_grade": 0, "decided_at": timezone.now()}
        Verdict.objects.create(trajectory=row, author="Ada", source=VerdictSource.IMPORT, blind=True, **said)
    Trajectory.objects.update(has_truth=True)
    shown = runner.get(f"/api/v1/judges/{judge.pk}/calibration/").json()
    assert (shown["judge"]["id"], shown["judgments"], shown["undetermined"]) == (judge.pk, 2, {})
    assert shown["overall"]["confusion"] == [
        {"people": "refusal", "judge": "full_compliance", "count": 1},
        {"people": "refusal", "judge": "refusal", "count": 1},
    ]
    sensitivity = shown["overall"]["over_refusal"]["sensitivity"]
    assert (sensitivity["hits"], sensitivity["total"], sensitivity["value"]) == (1, 2, 0.5)
    assert shown["by_run"] == [{"run": report(runner, run)["run"], "calibration": shown["overall"]}]


def test_the_cast(run: Run, judge: Judge) -> None:
    def asked(client: Client, path: str) -> int:
        return client.get(path).status_code

    def person(role: Role, *, elsewhere: bool = False) -> Client:
        client = Client()
        client.force_login(make.member(make.project() if elsewhere else run.project, role))
        return client

    paths = (f"/api/v1/runs/{run.pk}/report/", f"/api/v1/judges/{judge.pk}/calibration/?project={run.project.key}")
    for path in paths:
        assert asked(person(Role.VIEWER), path) == 200
        assert asked(person(Role.ADMIN, elsewhere=True), path) == 404
        assert asked(Client(), path) == 401
        foreign = Runner(make.project()).get(path)
        assert (foreign.status_code, error(foreign)["code"]) == (404, "not_found")


def test_who_judges_an_item_of_a_run_gets_no_report_of_it_until_it_is_off_their_hands() -> None:
    run = make.run()
    queue(run, 1)
    reviewer = make.membership(run.project, Role.REVIEWER)
    client = Client()
    client.force_login(user_of(reviewer))
    assert client.get(f"/api/v1/runs/{run.pk}/report/").status_code == 200
    claimed(reviewer)
    refused = client.get(f"/api/v1/runs/{run.pk}/report/")
    assert refused.status_code == 403
    assert "put it back" in refused.json()["error"]["message"]
