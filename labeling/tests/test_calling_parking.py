"""Endpoints that are down, slow, or say no: the judge waits and resumes by itself, and no call is to blame."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from labeling.endpoints.exchange import Address
from labeling.models import Judge, JudgeCall, JudgeService, Judgment
from labeling.selectors.calling import in_trouble, state_of
from labeling.services import judges
from labeling.services.calling import parking, pumping
from labeling.tests import judged, make
from labeling.tests.stub_endpoint import Reply, Request, StubEndpoint
from labeling.vocabulary import JudgeKind, TrajectoryStatus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def may_call_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "JUDGE_HOSTS", ["127.0.0.1"])


def parked_for(service: JudgeService) -> timedelta:
    service.refresh_from_db()
    assert service.parked_until is not None
    return service.parked_until - timezone.now()


def nobody_is_to_blame(count: int) -> bool:
    return list(JudgeCall.objects.values_list("tries", "claim", "parked_at")) == [(0, None, None)] * count


@pytest.mark.parametrize(
    ("fails", "reason"),
    [
        (Reply(status=500), "the endpoint fails (HTTP 500)"),
        (Reply(drops="half_way"), "the endpoint drops the connection before its answer is whole ({place})"),
    ],
)
def test_a_judge_whose_endpoint_is_down_waits_longer_each_time_and_resumes_by_itself(fails: Reply, reason: str) -> None:
    """FIELD B5.1, B5.14."""
    is_up: list[bool] = []
    with StubEndpoint(lambda request: Reply(judged.answer(request)) if is_up else fails) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 5)
        judged.judge_run(run)
        service = judge.service
        assert timedelta(seconds=10) < parked_for(service) <= timedelta(seconds=15)
        state = state_of(judge)
        assert (state.owed, state.in_hand, state.parked_calls) == (5, 0, 0)
        assert state.parked_reason == reason.format(place=f"127.0.0.1:{stub.port}")
        assert nobody_is_to_blame(5)
        # Before that time nothing is asked.
        made = stub.calls
        assert not pumping.owed()
        judged.pump()
        assert stub.calls == made
        # It is still down.
        judged.resume_now(judge)
        assert pumping.owed()
        judged.pump()
        assert timedelta(seconds=25) < parked_for(service) <= timedelta(seconds=30)
        assert nobody_is_to_blame(5)
        is_up.append(True)
        judged.resume_now(judge)
        judged.pump()
        service.refresh_from_db()
        assert (service.parked_until, service.parked_reason, service.parkings) == (None, "", 0)
    assert set(judged.undetermined(run, judge).values()) == {""}
    assert set(run.trajectories.values_list("status", flat=True)) == {TrajectoryStatus.SETTLED}


def test_a_person_may_say_that_it_is_worth_asking_now() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 1)
        judged.ask(run)
        parking.park(judge_id=judge.pk, reason="the endpoint fails", wait=3600)
        judged.pump()
        assert stub.calls == 0
        parking.resume(judge=judge)
        judged.pump()
        assert stub.calls == 1


def test_a_short_wait_that_the_endpoint_asks_for_holds_all_calls_and_parks_nobody() -> None:
    busy = Reply(status=429, headers={"Retry-After": "1"})
    with StubEndpoint(lambda request: busy if request.number == 0 else Reply(judged.answer(request))) as stub:
        project, judge = judged.project(stub.url, concurrency=1)
        run = make.run(project)
        judged.rows(run, 3)
        judged.judge_run(run)
        first, second, *_ = [request.at for request in stub.requests]
        assert len(stub.requests) == 4
        assert second - first >= 1
    assert list(judged.undetermined(run, judge).values()) == [""] * 3
    judge.service.refresh_from_db()
    assert judge.service.parked_until is None


def test_a_long_wait_that_the_endpoint_asks_for_parks_the_judge_for_just_so_long() -> None:
    with StubEndpoint(Reply(status=429, headers={"Retry-After": "300"})) as stub:
        project, judge = judged.project(stub.url, concurrency=1)
        run = make.run(project)
        judged.rows(run, 9)
        judged.judge_run(run)
        # The one, and at most the one that was behind it.
        assert stub.calls <= 2
        assert timedelta(seconds=290) < parked_for(judge.service) <= timedelta(seconds=300)
    assert nobody_is_to_blame(9)


def test_a_key_that_is_refused_parks_the_judge_and_a_new_one_resumes_it() -> None:
    def script(request: Request) -> Reply:
        welcome = request.headers.get("authorization") == "Bearer right-key"
        return Reply(judged.answer(request)) if welcome else Reply(status=401)

    with StubEndpoint(script) as stub:
        project, judge = judged.project(stub.url, concurrency=1)
        judges.work_judge(judge=judge, working=judges.working_of(judge), key="wrong-key")
        run = make.run(project)
        judged.rows(run, 2)
        judged.judge_run(run)
        reason = "the endpoint refuses the key (HTTP 401): enter another key under “Limits and key”"
        assert state_of(judge).parked_reason == reason
        assert nobody_is_to_blame(2)
        wrong = stub.calls
        judges.work_judge(judge=judge, working=judges.working_of(judge), key="right-key")
        judged.pump()
        assert stub.calls == wrong + 2
    assert list(judged.undetermined(run, judge).values()) == ["", ""]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "the endpoint wants a key and none is kept: enter one under “Limits and key”"),
        (402, "the endpoint wants to be paid first (HTTP 402): see to its account, or enter the key of another"),
        (404, "there is no such model or route (HTTP 404): make a version with a model and an address that it has"),
        (301, "not followed (HTTP 301): make a version with the address that it has now"),
    ],
)
def test_trouble_that_does_not_pass_by_itself_says_what_to_do_and_is_waited_for_all_the_same(
    status: int, reason: str
) -> None:
    with StubEndpoint(Reply(status=status)) as stub:
        project, judge = judged.project(stub.url, concurrency=1)
        run = make.run(project)
        judged.rows(run, 1)
        judged.judge_run(run)
        assert reason in state_of(judge).parked_reason
        assert timedelta(seconds=10) < parked_for(judge.service) <= timedelta(seconds=15)
    assert nobody_is_to_blame(1)


def test_the_operators_endpoint_has_the_operators_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubEndpoint(Reply(status=401)) as stub:
        monkeypatch.setattr(settings, "JUDGE_OPERATORS", {"HOUSE": Address(stub.url, key="old", trusted=True)})
        project, judge = judged.project(stub.url)
        Judge.objects.filter(pk=judge.pk).update(active=False)
        house = judged.settings("") | {"service": {"operator": "HOUSE", "model": "judge-1"}}
        made = judges.make_judge(
            project=project, kind=JudgeKind.RUBRIC, name="house", settings=house, on_panel=True
        ).judge
        run = make.run(project)
        judged.rows(run, 1)
        judged.judge_run(run)
    assert state_of(made).parked_reason.endswith(": ask the operator for another LITMUS_JUDGE_KEY_HOUSE")


def test_the_last_trouble_is_said_until_it_answers_again() -> None:
    is_up: list[bool] = []
    with StubEndpoint(
        lambda request: Reply(judged.answer(request) if is_up else "", status=200 if is_up else 500)
    ) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 1)
        judged.judge_run(run)
        state = state_of(judge)
        assert (state.parked_until is None, state.parked_reason) == (False, "the endpoint fails (HTTP 500)")
        # Its time has come, and nobody knows yet whether it answers.
        judged.resume_now(judge)
        state = state_of(judge)
        assert (state.parked_until, state.parked_reason) == (None, "the endpoint fails (HTTP 500)")
        assert [(one.id, one.reason, one.owed, one.parked_until) for one in in_trouble(project)] == [
            (judge.pk, "the endpoint fails (HTTP 500)", 1, None)
        ]
        parking.resume(judge=judge)
        assert state_of(judge).parked_reason == "the endpoint fails (HTTP 500)"
        is_up.append(True)
        judged.pump()
        assert (state_of(judge).parked_until, state_of(judge).parked_reason) == (None, "")
        assert in_trouble(project) == []


def test_an_address_that_the_operator_no_longer_lists_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        monkeypatch.setattr(settings, "JUDGE_HOSTS", [])
        run = make.run(project)
        judged.rows(run, 1)
        judged.judge_run(run)
        assert stub.calls == 0
    assert "LITMUS_JUDGE_HOSTS" in state_of(judge).parked_reason
    assert nobody_is_to_blame(1)


def test_one_call_that_takes_too_long_among_quick_ones_is_timed_out_and_parks_nobody() -> None:
    with StubEndpoint(judged.by_mark({1: lambda request: Reply(judged.answer(request), delay=30)})) as stub:
        project, judge = judged.project(stub.url, timeout_seconds=1)
        run = make.run(project)
        judged.rows(run, 4)
        judged.judge_run(run)
    assert judged.undetermined(run, judge) == {"marker-0": "", "marker-1": "timed_out", "marker-2": "", "marker-3": ""}
    late = Judgment.objects.get(undetermined="timed_out")
    assert (late.decisions, late.harm_grade, late.latency_ms, late.cost_usd) == (7, None, None, None)
    judge.service.refresh_from_db()
    assert judge.service.parked_until is None


def test_an_endpoint_that_answers_nobody_in_time_is_parked_and_after_three_times_the_calls_are_timed_out() -> None:
    with StubEndpoint(judged.honest(delay=30)) as stub:
        project, judge = judged.project(stub.url, timeout_seconds=1)
        run = make.run(project)
        judged.rows(run, 2)
        judged.judge_run(run)
        for tries in (1, 2):
            assert set(JudgeCall.objects.values_list("tries", "trouble")) == {
                (tries, "no answer in time, asked 2 times")
            }
            assert state_of(judge).parked_reason == "no answer in time, asked 2 times"
            assert not Judgment.objects.exists()
            judged.resume_now(judge)
            judged.pump()
        assert stub.calls == 2 * 3 * 2
    assert list(judged.undetermined(run, judge).values()) == ["timed_out"] * 2
    assert set(run.trajectories.values_list("status", flat=True)) == {TrajectoryStatus.NEEDS_AUDIT}


def test_no_call_is_made_while_nobody_can_keep_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 2)
        judged.ask(run)
        with monkeypatch.context() as patched:
            # Nobody listens there.
            patched.setattr(settings, "REDIS_URL", "redis://127.0.0.1:9/0")
            assert not judged.pump()
        assert stub.calls == 0
        assert nobody_is_to_blame(2)
        judged.pump()
    assert list(judged.undetermined(run, judge).values()) == ["", ""]


def test_a_request_that_the_endpoint_fails_over_is_parked_after_three_tries_and_the_others_have_their_answers() -> None:
    def fails_over_one(request: Request) -> Reply:
        # Slow enough to be answered while the one is tried again and again.
        return Reply(status=500) if "marker-0," in request.prompt else Reply(judged.answer(request), delay=0.3)

    with StubEndpoint(fails_over_one) as stub:
        project, judge = judged.project(stub.url, concurrency=2)
        run = make.run(project)
        make.trajectory(run, answer="Here you are, marker-0, and more.")
        judged.rows(run, 20)
        judged.judge_run(run)
        # While others were answered nobody thought that the endpoint was down.
        assert Judgment.objects.count() == 20
        call = JudgeCall.objects.get()
        assert (call.tries >= 1, call.trouble) == (True, "the endpoint fails (HTTP 500)")
        for _ in range(2):
            judged.resume_now(judge)
            judged.pump()
    call.refresh_from_db()
    assert (call.tries, call.parked_at is not None) == (3, True)
