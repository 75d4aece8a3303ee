"""`litmus watch`, `litmus report`, `litmus gate`, on the real service."""

import json
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from labeling.models import Heartbeat, Judge, PanelSeat, Run, Trajectory
from labeling.tests import make
from labeling.tests.make import COMPLIED, REFUSED
from labeling.vocabulary import Decision, RunStatus, Side
from tests.conftest import Litmus, Service, command
from tests.serving import Answer, serving

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def judge(service: Service) -> Judge:
    return make.judge(service.project, "oracle", version="2026-11")


@pytest.fixture
def run(service: Service, judge: Judge) -> Run:
    made = make.run(service.project, external_id="nightly", status=RunStatus.CLOSED, panel_is_frozen=True)
    PanelSeat.objects.create(run=made, judge=judge)
    return made


def labeled(run: Run, judge: Judge, side: Side, decision: Decision, *, error: bool | None) -> Trajectory:
    row = make.trajectory(run, side=side, status="settled", label_source="machine", label_error=error)
    make.judgment(row, judge, decision)
    return row


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Trajectory, str], None]:
    """What happens to a trajectory between two looks."""

    def happens(row: Trajectory, status: str) -> None:
        def pause(_seconds: float) -> None:
            Trajectory.objects.filter(pk=row.pk).update(status=status)

        monkeypatch.setattr("litmus_client.watching.time", SimpleNamespace(sleep=pause))

    return happens


def test_watch_ends_when_the_judges_are_through(litmus: Litmus, run: Run, judge: Judge, between: Any) -> None:
    labeled(run, judge, Side.HARMFUL, REFUSED, error=False)
    Heartbeat.objects.create(name="worker", beat_at=timezone.now())
    between(make.trajectory(run), "needs_audit")
    result = litmus("watch", "nightly")
    assert result.stderr == "1 of 2 judged, 1 settled.\n2 of 2 judged, 1 settled, 1 wait for a person.\n"
    assert result.stdout == "nightly: 2 of 2 judged, 1 settled, 1 wait for a person (closed)\n"


def test_watch_can_wait_for_people_too(litmus: Litmus, run: Run, between: Any) -> None:
    between(make.trajectory(run, status="needs_audit"), "settled")
    result = litmus("watch", "nightly", "--until-settled")
    assert "1 wait for a person" in result.stderr
    assert "1 settled (closed)" in result.stdout


@pytest.mark.parametrize("ago", [None, 605])
def test_watch_says_when_nobody_is_at_work(litmus: Litmus, run: Run, between: Any, ago: int | None) -> None:
    if ago:
        Heartbeat.objects.create(name="worker", beat_at=timezone.now() - timedelta(seconds=ago))
    between(make.trajectory(run), "settled")
    said = litmus("watch", "nightly").stderr
    assert said.count("No worker of this service has") == 1
    assert ("has been seen for 60" in said) is (ago is not None)


def test_the_report_shows_both_rates_with_all_that_belongs_to_them(litmus: Litmus, run: Run, judge: Judge) -> None:
    for decision, error in ((COMPLIED, True), (REFUSED, False), (REFUSED, False), (REFUSED, None)):
        labeled(run, judge, Side.HARMFUL, decision, error=error)
    labeled(run, judge, Side.BENIGN, REFUSED, error=True)
    labeled(run, judge, Side.BENIGN, COMPLIED, error=False)
    output = litmus("report", "nightly", env={"COLUMNS": "200"}).stdout
    assert "judged by oracle 2026-11\n" in output
    row = next(line for line in output.splitlines() if line.startswith("as labeled"))
    # 1 of 4, one undetermined: 25 to 50 %; 1 of 2.
    assert "25.0–50.0 % (4.6–85.0) 1/4, 1 undetermined" in row
    assert "50.0 % (9.5–90.5) 1/2" in row
    assert "oracle 2026-11 alone*" in output
    assert "as labeled, by category" in output
    assert "sampling only" in output
    assert "harmful: 4 of 4 cases answered, 1 undetermined" in output


def test_one_side_alone_is_incomplete_and_shows_no_rate(litmus: Litmus, run: Run, judge: Judge) -> None:
    labeled(run, judge, Side.HARMFUL, COMPLIED, error=True)
    output = litmus("report", "nightly").stdout
    assert "INCOMPLETE: no benign case was run" in output
    assert " %" not in output.replace("95 % intervals", "")
    assert "by category" not in output


def test_the_report_is_there_as_json(litmus: Litmus, run: Run) -> None:
    answer = json.loads(litmus("report", "nightly", "--json").stdout)
    assert answer["as_labeled"]["status"] == "incomplete"


@pytest.mark.parametrize("name", ["watch", "report", "gate"])
def test_an_unknown_run_is_said(litmus: Litmus, name: str) -> None:
    assert "There is no run no\\x1bthing" in litmus(name, "no\x1bthing", code=2).stderr


def test_a_service_without_gates_is_said(litmus: Litmus, run: Run) -> None:
    assert litmus("gate", "nightly", code=2).stderr == "litmus: This service has no gates yet.\n"


@pytest.mark.parametrize(
    ("outcome", "code"), [("pass", 0), ("fail", 1), ("undecided", 3), ("needs_sign_off", 4), ("maybe", 2)]
)
def test_a_gate_is_an_exit_code(outcome: str, code: int) -> None:
    def answer(request: Any) -> Answer:
        return Answer(200, {"outcome": outcome} if request.path.endswith("/gate/") else {"results": [{"id": 1}]})

    with serving(answer) as url:
        command(url)("gate", "r", code=code)
