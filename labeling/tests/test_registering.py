"""Judges of new code: another version by itself, with the same settings, limits and key."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings

from labeling import tasks
from labeling.judges import registry
from labeling.judges.rubrics import rubric
from labeling.models import Judge, JudgeCall, JudgeService, Judgment, PanelSeat
from labeling.services import judges, registering, sealing
from labeling.services.calling import parking
from labeling.tests import judged, make
from labeling.tests.stub_endpoint import StubEndpoint
from labeling.vocabulary import JudgeKind, TrajectoryStatus

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def may_call_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "JUDGE_HOSTS", ["127.0.0.1"])


@pytest.fixture
def new_code(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Called, it makes this process run another code of the rubric judge: its versions are other hashes."""

    def change() -> None:
        monkeypatch.setattr(rubric, "version_of", lambda *_: "newer")
        registry._made.cache_clear()

    yield change
    registry._made.cache_clear()


def test_a_judge_of_changed_code_is_a_new_version_with_its_settings_limits_and_key(new_code: Any) -> None:
    project, old = judged.project(NOWHERE, concurrency=7, input_usd=1, output_usd=1, ceiling_usd=12)
    judges.work_judge(judge=old, working=judges.working_of(old), key="sk-project")
    parking.park(judge_id=old.pk, reason="the endpoint fails", wait=60)
    new_code()
    registering.register_everywhere()
    newer = Judge.objects.get(project=project, name="model", active=True)
    assert (newer.version, newer.settings, newer.kind) == ("newer", old.settings, old.kind)
    assert (newer.title, newer.measures) == (old.title, old.measures)
    old.refresh_from_db()
    assert not old.active
    service = newer.service
    assert (service.concurrency, service.ceiling_usd) == (7, Decimal(12))
    assert sealing.unseal(service.sealed_key) == "sk-project"
    # Its endpoint has not been asked yet.
    assert (service.parked_until, service.parkings) == (None, 0)
    # Once more makes no other.
    registering.register_everywhere()
    assert Judge.objects.filter(project=project, name="model").count() == 2
    assert JudgeService.objects.count() == 2


def test_what_the_old_code_owed_is_asked_of_the_new_one(new_code: Any) -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, old = judged.project(stub.url)
        run, fixed = make.run(project), make.run(project, panel_is_frozen=True)
        PanelSeat.objects.create(run=fixed, judge=old)
        rows, (seated,) = judged.rows(run, 3), judged.rows(fixed, 1)
        judged.ask(run)
        judged.ask(fixed)
        new_code()
        registering.register_everywhere()
        # A fixed panel is what it is: its call waits for a person.
        assert [call.trajectory_id for call in JudgeCall.objects.all()] == [seated.pk]
        tasks.judge_batch([row.pk for row in rows])
        judged.pump()
        assert stub.calls == 3
    assert set(Judgment.objects.values_list("judge__version", flat=True)) == {"newer"}
    assert set(run.trajectories.values_list("status", flat=True)) == {TrajectoryStatus.SETTLED}
    assert JudgeCall.objects.get().parked_at is not None


def test_a_judge_that_is_not_on_the_panel_gets_no_new_version(new_code: Any) -> None:
    project, judge = judged.project(NOWHERE)
    judges.unseat(judge=judge)
    new_code()
    registering.register_everywhere()
    assert Judge.objects.filter(project=project, name="model").get() == judge


def test_a_version_put_on_the_panel_takes_the_place_of_the_other_and_of_what_it_owed() -> None:
    project, first = judged.project(NOWHERE)
    run = make.run(project)
    judged.rows(run, 2)
    judged.ask(run)
    longer = judged.settings(NOWHERE, transcript_characters=90_000)
    second = judges.make_judge(
        project=project, kind=JudgeKind.RUBRIC, name="model", settings=longer, based_on=first, on_panel=False
    ).judge
    assert JudgeCall.objects.filter(judge=first).count() == 2
    judges.seat(judge=second)
    assert not JudgeCall.objects.exists()
    judged.ask(run)
    assert set(JudgeCall.objects.values_list("judge", flat=True)) == {second.pk}


def test_the_same_settings_are_the_same_version() -> None:
    project, judge = judged.project(NOWHERE, concurrency=3)
    again = judges.make_judge(
        project=project, kind=JudgeKind.RUBRIC, name="model", settings=judged.settings(NOWHERE), on_panel=True
    )
    assert (again.judge, again.created) == (judge, False)
    assert JudgeService.objects.get().concurrency == 3


def test_a_key_goes_along_to_a_new_version_only_where_the_address_is_the_same() -> None:
    project, judge = judged.project(NOWHERE)
    judges.work_judge(judge=judge, working=judges.working_of(judge), key="sk-project")
    for url, sealed in ((NOWHERE, True), ("http://127.0.0.1:10/v1", False)):
        made = judges.make_judge(
            project=project,
            kind=JudgeKind.RUBRIC,
            name="model",
            settings=judged.settings(url, title="Another"),
            based_on=judge,
        )
        assert made.created
        assert bool(made.judge.service.sealed_key) is sealed
