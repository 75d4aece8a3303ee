"""Calls to a judge behind real sockets, end to end: claimed, made, stored, routed, each once."""

import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from audit.measure.rates import RatePair
from audit.selectors.observing import pair_as_labeled, rows_of
from labeling import tasks
from labeling.endpoints.caller import Caller
from labeling.endpoints.exchange import Address, Question
from labeling.judges import registry
from labeling.judges.base import Item, ServedJudge
from labeling.judges.rubrics.rubric import RubricJudge
from labeling.limits import limits as shared_limits
from labeling.models import Judge, JudgeCall, JudgeService, Judgment, PanelSeat, Spend, Trajectory, TrajectoryContent
from labeling.selectors.items import items_of
from labeling.services import judges, runs
from labeling.services.calling import lines, parking, storing
from labeling.tests import judged, make
from labeling.tests.stub_endpoint import Reply, Request, StubEndpoint
from labeling.tests.threads import at_once
from labeling.vocabulary import LabelSource, Side, TrajectoryStatus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def may_call_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "JUDGE_HOSTS", ["127.0.0.1"])


def statuses(run: Any) -> set[str]:
    return set(run.trajectories.values_list("status", flat=True))


# --- what comes of an answer ---------------------------------------------------------------------------------------


def test_what_a_model_says_becomes_a_judgment_with_its_cost_and_the_label() -> None:
    with StubEndpoint(judged.honest(input_tokens=2000, output_tokens=100, delay=0.02)) as stub:
        project, judge = judged.project(stub.url, input_usd=Decimal(3), output_usd=Decimal(15))
        run = make.run(project)
        rows = judged.rows(run, 5)
        judged.judge_run(run)
    assert Judgment.objects.filter(judge=judge).count() == 5
    judgment = Judgment.objects.get(trajectory=rows[3], judge=judge)
    assert (judgment.undetermined, judgment.harm_grade, judgment.rationale) == ("", 0, "It did what was asked.")
    assert judgment.evidence == [{"message": 1, "part": 0, "start": 14, "end": 22, "quote": "marker-3"}]
    # 2000 tokens at 3 dollars a million and 100 at 15.
    assert (judgment.input_tokens, judgment.output_tokens, judgment.cost_usd) == (2000, 100, Decimal("0.0075"))
    assert judgment.latency_ms is not None
    assert judgment.latency_ms >= 20
    rows[3].refresh_from_db()
    assert (rows[3].status, rows[3].label_source) == (TrajectoryStatus.SETTLED, LabelSource.MACHINE)
    assert not JudgeCall.objects.exists()
    spend = Spend.objects.get()
    assert (spend.run_id, spend.judge_id, spend.calls, spend.usd) == (run.pk, judge.pk, 5, Decimal("0.0375"))
    assert (spend.input_tokens, spend.output_tokens) == (10_000, 500)
    assert stub.calls == 5


def forbidden(_: Request) -> Reply:
    document = {"error": {"code": "content_filter", "message": "The prompt was filtered."}}
    return Reply(status=400, document=document)


NO_ANSWERS = {
    1: lambda _: Reply(text=None, refusal="I will not read this."),
    2: lambda _: Reply(text="I'm sorry, but I can't help with evaluating this content."),
    3: forbidden,
    4: lambda _: Reply(text="", finish_reason="content_filter"),
    5: lambda _: Reply(text="It is harmful. Or not."),
    6: lambda request: Reply(judged.answer(request)[:-20]),
    7: lambda request: Reply(judged.answer(request), finish_reason="length"),
    8: lambda request: Reply(judged.answer(request, call="0123456789abcdef")),
    9: lambda _: Reply(raw=b"<html>Proxy</html>"),
    10: lambda _: Reply(status=400, document={"error": {"code": "context_length_exceeded"}}),
}


def test_what_is_no_answer_is_undetermined_with_its_reason_and_never_a_label() -> None:
    """FIELD B5.1, B5.2, B5.11, B5.14."""
    with StubEndpoint(judged.by_mark(NO_ANSWERS)) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 11)
        judged.judge_run(run)
        assert stub.calls == 11
    assert judged.undetermined(run, judge) == {
        "marker-0": "",
        "marker-1": "judge_refused",
        "marker-2": "judge_refused",
        "marker-3": "blocked",
        "marker-4": "blocked",
        "marker-5": "unparsable",
        "marker-6": "unparsable",
        "marker-7": "unparsable",
        "marker-8": "unparsable",
        "marker-9": "unparsable",
        "marker-10": "other",
    }
    open_ones = Judgment.objects.exclude(undetermined="")
    assert set(open_ones.values_list("decisions", "harm_grade")) == {(7, None)}
    assert run.trajectories.filter(status=TrajectoryStatus.NEEDS_AUDIT, label_error=None).count() == 10


def test_the_bounds_of_a_rate_take_in_what_the_judge_could_not_say() -> None:
    """FIELD B5.1: eight harmful cases, of which two were complied with, three refused and three not read."""

    def said(decision: str, **more: Any) -> Any:
        return lambda request: Reply(judged.answer(request, decision=decision, **more))

    harmful = said("full_compliance", harm_grade=4)
    script = {0: harmful, 1: harmful, **dict.fromkeys((5, 6, 7), lambda _: Reply(text="unclear"))}
    with StubEndpoint(judged.by_mark(script, otherwise=said("refusal"))) as stub:
        project, _ = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 8)
        make.trajectory(run, side=Side.BENIGN, answer="Here you are, marker-8.")
        judged.judge_run(run)
    pair = pair_as_labeled(rows_of(run.trajectories.all()))
    assert isinstance(pair, RatePair)
    rate = pair.harmful_compliance
    # From 2 of 8 to 5 of 8; there is no one value.
    assert (rate.errors, rate.undetermined, rate.low, rate.high, rate.value) == (2, 3, 0.25, 0.625, None)


# --- each once -----------------------------------------------------------------------------------------------------


def test_a_batch_delivered_five_times_at_once_is_called_and_paid_once() -> None:
    """FIELD B6.1."""
    with StubEndpoint(judged.honest(delay=0.1), key=judged.MARK) as stub:
        project, judge = judged.project(stub.url, concurrency=4)
        run = make.run(project)
        ids = [row.pk for row in judged.rows(run, 12)]
        deliveries = [lambda: tasks.judge_batch(ids)] * 5
        pumps = [lambda: judged.pump(seats=2)] * 2
        at_once([*deliveries, *pumps])
        judged.pump()
        assert stub.by_key == {f"marker-{number}": 1 for number in range(12)}
    assert Judgment.objects.filter(judge=judge).count() == 12
    assert Spend.objects.get().calls == 12
    assert statuses(run) == {TrajectoryStatus.SETTLED}


def test_a_call_that_is_written_down_after_its_judgment_is_not_made() -> None:
    """FIELD B6.1: a batch that came twice read what is owed before the judgment was there."""
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        (row,) = judged.rows(run, 1)
        judged.judge_run(run)
        JudgeCall.objects.create(trajectory=row, judge=judge)
        judged.pump()
        assert stub.calls == 1
    assert not JudgeCall.objects.exists()


def test_two_workers_at_once_share_the_calls_and_the_slots() -> None:
    with StubEndpoint(judged.honest(delay=0.15), key=judged.MARK) as stub:
        project, _ = judged.project(stub.url, concurrency=3)
        run = make.run(project)
        judged.rows(run, 15)
        judged.ask(run)
        at_once([lambda: judged.pump(seats=2)] * 2)
        assert stub.by_key == {f"marker-{number}": 1 for number in range(15)}
        assert stub.most_at_once == 3


def test_only_as_many_workers_call_as_there_are_seats() -> None:
    with StubEndpoint(judged.honest(delay=0.3)) as stub:
        project, _ = judged.project(stub.url, concurrency=1)
        run = make.run(project)
        judged.rows(run, 4)
        judged.ask(run)
        at_once([lambda: judged.pump(seats=1)] * 3)
        assert (stub.calls, stub.connections) == (4, 1)


def test_requests_a_minute_hold_for_two_workers_together() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, _ = judged.project(stub.url, requests_per_minute=60)
        run = make.run(project)
        judged.rows(run, 10)
        judged.ask(run)
        at_once([lambda: judged.pump(seats=2)] * 2)
        came = sorted(request.at for request in stub.requests)
    assert len(came) == 10
    # Six at once, and one a second after them; a tenth of a second for the way.
    assert all(came[last] - came[first] > last - first - 6 - 0.1 for last in range(10) for first in range(last))


def test_a_claim_that_lapsed_is_taken_up_and_one_that_holds_is_left_alone() -> None:
    with StubEndpoint(judged.honest(), key=judged.MARK) as stub:
        project, _ = judged.project(stub.url)
        run = make.run(project)
        dead, alive = judged.rows(run, 2)
        judged.ask(run)
        now = timezone.now()
        of = JudgeCall.objects.filter
        of(trajectory=dead).update(claim=uuid.uuid4(), tries=1, ready_at=now - timedelta(seconds=1))
        of(trajectory=alive).update(claim=uuid.uuid4(), tries=1, ready_at=now + timedelta(seconds=60))
        judged.pump()
        assert stub.by_key == {"marker-0": 1}
    assert [call.trajectory_id for call in JudgeCall.objects.all()] == [alive.pk]


# --- the ceiling ---------------------------------------------------------------------------------------------------


def test_the_ceiling_of_a_run_is_never_passed_and_the_rest_is_over_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_WAIT", 0.2)
    # A dollar a call of 1000 tokens, where a call can cost `most`.
    with StubEndpoint(judged.honest(input_tokens=1000, output_tokens=0, delay=0.05)) as stub:
        project, judge = judged.project(stub.url, input_usd=1000, output_usd=0, ceiling_usd=12, concurrency=8)
        run, other = make.run(project), make.run(project)
        most = most_usd(judge, judged.rows(run, 20)[-1])
        assert 2 < most < 10
        judged.rows(other, 2)
        judged.ask(run)
        judged.judge_run(other)
        judged.pump()
    spent = dict(Spend.objects.values_list("run", "usd"))
    # The last call is made while what is spent and what it can cost are within the ceiling.
    expected = int(12 - most) + 1
    assert spent == {run.pk: expected, other.pk: 2}
    assert stub.calls == expected + 2
    reasons = list(judged.undetermined(run, judge).values())
    assert (reasons.count(""), reasons.count("over_budget")) == (expected, 20 - expected)
    over = Judgment.objects.filter(undetermined="over_budget")
    assert over.aggregate(Sum("cost_usd"))["cost_usd__sum"] is None
    assert {each.rationale for each in over} == {"The ceiling of 12.00 US dollars for this run was reached."}
    assert TrajectoryStatus.PENDING not in statuses(run)


def most_usd(judge: Judge, row: Trajectory) -> float:
    """What a call of this row can cost at a dollar a thousand tokens."""
    code = registry.running(judge)
    assert isinstance(code, ServedJudge)
    ((_, item),) = items_of([row.pk])
    question = code.ask(item, "0" * 16)
    assert isinstance(question, Question)
    return question.tokens / 1000


def test_where_an_endpoint_does_not_count_tokens_the_most_a_call_can_cost_is_held_against_the_ceiling() -> None:
    def uncounted(request: Request) -> Reply:
        message = {"role": "assistant", "content": judged.answer(request)}
        return Reply(document={"choices": [{"message": message, "finish_reason": "stop"}]})

    with StubEndpoint(uncounted) as stub:
        project, judge = judged.project(stub.url, input_usd=1000, output_usd=0, ceiling_usd=12, concurrency=1)
        run = make.run(project)
        most = most_usd(judge, judged.rows(run, 10)[-1])
        judged.judge_run(run)
    assert stub.calls == int(12 / most)
    assert Judgment.objects.filter(cost_usd__gt=0).count() == stub.calls


def test_a_call_that_needs_no_answer_costs_nothing_whatever_the_ceiling() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url, input_usd=1000, output_usd=0, ceiling_usd=0)
        run = make.run(project)
        make.trajectory(run, answer="")
        judged.judge_run(run)
        assert stub.calls == 0
    assert list(judged.undetermined(run, judge).values()) == ["empty"]


# --- what breaks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["ask", "read"])
def test_a_call_on_which_the_code_breaks_is_parked_after_three_tries_and_keeps_no_other_waiting(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FIELD B6.2."""
    monkeypatch.setattr(lines, "_BROKE_WAIT", 0.1)
    sound = getattr(RubricJudge, step)
    tried = []

    def breaks(self: RubricJudge, item: Item, *rest: Any) -> Any:
        if "marker-1." in str(item.messages):
            tried.append(step)
            raise ArithmeticError("a text that nobody may see")
        return sound(self, item, *rest)

    monkeypatch.setattr(RubricJudge, step, breaks)
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        rows = judged.rows(run, 3)
        judged.judge_run(run)
        assert tried == [step] * 3
        (call,) = JudgeCall.objects.all()
        assert (call.trajectory_id, call.tries, call.claim) == (rows[1].pk, 3, None)
        assert call.parked_at is not None
        assert call.trouble.startswith("ArithmeticError in ")
        assert "nobody may see" not in call.trouble
        assert judged.undetermined(run, judge) == {"marker-0": "", "marker-2": ""}
        judged.pump()
        assert tried == [step] * 3
        # Mended, and a person says so.
        monkeypatch.setattr(RubricJudge, step, sound)
        assert parking.try_again(judge=judge) == 1
        judged.pump()
    assert judged.undetermined(run, judge) == {"marker-0": "", "marker-1": "", "marker-2": ""}
    assert statuses(run) == {TrajectoryStatus.SETTLED}


def test_what_is_given_up_is_undetermined_and_says_by_whom_and_why() -> None:
    project, judge = judged.project("http://127.0.0.1:9/v1")
    run, other = make.run(project), make.run(project)
    judged.rows(run, 2)
    judged.rows(other, 1)
    judged.ask(run)
    judged.ask(other)
    lead = make.member(project, "lead", "ada")  # type: ignore[arg-type]
    call = JudgeCall.objects.order_by("pk")[0]
    JudgeCall.objects.filter(pk=call.pk).update(parked_at=timezone.now(), trouble="KeyError in labeling/x.py, line 1")
    # One that a worker has now comes back by itself.
    held = JudgeCall.objects.order_by("pk")[1]
    JudgeCall.objects.filter(pk=held.pk).update(claim=uuid.uuid4(), ready_at=timezone.now() + timedelta(seconds=60))
    assert parking.give_up(judge=judge, by=lead, why="The house is closed.") == 2
    judgment, elsewhere = Judgment.objects.order_by("trajectory")
    assert (elsewhere.trajectory.run, elsewhere.rationale) == (other, "Given up by ada: The house is closed.")
    assert judgment.rationale == "Given up by ada: The house is closed.\nKeyError in labeling/x.py, line 1"
    assert (judgment.undetermined, judgment.decisions, judgment.harm_grade) == ("other", 7, None)
    call.trajectory.refresh_from_db()
    assert (call.trajectory.status, call.trajectory.label_error) == (TrajectoryStatus.NEEDS_AUDIT, None)
    assert [each.pk for each in JudgeCall.objects.all()] == [held.pk]
    # Once the claim has lapsed, it is nobody's.
    JudgeCall.objects.update(ready_at=timezone.now())
    assert parking.give_up(judge=judge, by=None, why="Closed.") == 1
    assert not JudgeCall.objects.exists()


def test_a_call_that_ended_two_workers_is_made_with_no_other_beside_it_and_one_that_ended_three_never() -> None:
    """FIELD B6.2."""
    beside: dict[str, int] = {}

    def script(request: Request) -> Reply:
        beside[judged.marker(request)] = stub.at_once
        return Reply(judged.answer(request), delay=0.05)

    with StubEndpoint(script) as stub:
        project, _ = judged.project(stub.url)
        run = make.run(project)
        twice, thrice, *_ = judged.rows(run, 8)
        judged.ask(run)
        long_ago = timezone.now() - timedelta(seconds=1)
        for row, tries in ((twice, 2), (thrice, 3)):
            JudgeCall.objects.filter(trajectory=row).update(tries=tries, claim=uuid.uuid4(), ready_at=long_ago)
        judged.pump()
    assert beside["marker-0"] == 1
    assert max(beside.values()) > 1
    assert list(beside)[-1] == "marker-0"
    (call,) = JudgeCall.objects.all()
    assert call.trajectory_id == thrice.pk
    assert call.trouble == "The worker ended 3 times while it had this call."
    assert call.parked_at is not None


# --- whom is asked what --------------------------------------------------------------------------------------------


def test_a_judge_that_comes_on_the_panel_in_the_middle_is_asked_too_before_a_row_is_routed() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, first = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 3)
        judged.ask(run)
        second = judged.rubric_judge(project, stub.url, name="second", concurrency=2)
        judged.pump()
        assert statuses(run) == {TrajectoryStatus.PENDING}
        # The sweep rings again.
        judged.judge_run(run)
        assert stub.calls == 6
    assert statuses(run) == {TrajectoryStatus.SETTLED}
    assert set(Judgment.objects.values_list("judge", flat=True)) == {first.pk, second.pk}


def test_a_judge_that_leaves_the_panel_owes_nothing_more_and_the_rows_are_routed_without_it() -> None:
    project, judge = judged.project("http://127.0.0.1:9/v1")
    run, fixed = make.run(project), make.run(project, panel_is_frozen=True)
    PanelSeat.objects.create(run=fixed, judge=judge)
    judged.rows(run, 3)
    judged.rows(fixed, 1)
    judged.ask(run)
    judged.ask(fixed)
    assert judges.unseat(judge=judge) == 3
    assert set(JudgeCall.objects.values_list("trajectory__run", flat=True)) == {fixed.pk}
    tasks.judge_batch(list(rung_long_ago(run)))
    assert statuses(run) == {TrajectoryStatus.NEEDS_AUDIT}
    assert statuses(fixed) == {TrajectoryStatus.PENDING}
    assert not Judgment.objects.exists()


def rung_long_ago(run: Any) -> Any:
    hour_ago = timezone.now() - timedelta(hours=1)
    return Trajectory.objects.filter(run=run, rung_at__lt=hour_ago).values_list("pk", flat=True)


def test_a_fixed_panel_asks_its_seats_and_nobody_else() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, seated = judged.project(stub.url)
        judged.rubric_judge(project, stub.url, name="another", concurrency=2)
        run = make.run(project, panel_is_frozen=True)
        PanelSeat.objects.create(run=run, judge=seated)
        judged.rows(run, 2)
        judged.judge_run(run)
        assert stub.calls == 2
    assert set(Judgment.objects.values_list("judge", flat=True)) == {seated.pk}
    assert statuses(run) == {TrajectoryStatus.SETTLED}


def test_capability_cases_are_put_to_their_check_and_to_no_model() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        Judge.objects.filter(project=project, name="checks").update(active=True)
        run = make.run(project)
        case = make.case(
            run.suite, Side.CAPABILITY, answer_check={"kind": "number", "answer": 42, "tolerance": 0, "relative": False}
        )
        row = make.trajectory(run, case, answer="The answer is 42.")
        judged.judge_run(run)
        assert stub.calls == 0
    judgment = Judgment.objects.get(trajectory=row)
    assert (judgment.judge.name, judgment.check_passed) == ("checks", True)
    assert not Judgment.objects.filter(judge=judge).exists()


def test_a_text_that_was_purged_while_it_waited_is_undetermined_without_a_call() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        (row,) = judged.rows(run, 1)
        judged.ask(run)
        TrajectoryContent.objects.filter(trajectory=row).update(purged_at=timezone.now(), messages=[])
        judged.pump()
        assert stub.calls == 0
    assert Judgment.objects.get(judge=judge).rationale == "The text was purged before it was judged."
    assert statuses(run) == {TrajectoryStatus.NEEDS_AUDIT}


def test_a_voided_run_pays_for_nothing_more() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, _ = judged.project(stub.url)
        run = make.run(project)
        rows = judged.rows(run, 3)
        judged.ask(run)
        runs.void_run(run=run, by=None, reason="It was the wrong model.")
        # A message that was under way.
        tasks.judge_batch([row.pk for row in rows])
        judged.pump()
        assert stub.calls == 0
    assert not JudgeCall.objects.exists()


def test_a_version_whose_code_is_gone_is_not_called_and_says_what_to_do() -> None:
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        judged.rows(run, 1)
        judged.ask(run)
        Judge.objects.filter(pk=judge.pk).update(version="older")
        judged.pump()
        assert stub.calls == 0
    (call,) = JudgeCall.objects.all()
    assert call.parked_at is not None
    assert call.trouble.startswith("This version no longer runs here: give it up")


def test_an_answer_that_cannot_be_stored_costs_no_other_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BROKE_WAIT", 0.1)
    sound = storing.Result.row

    def row(self: storing.Result) -> Judgment:
        if self.call.trajectory_id == rows[1].pk:
            raise ArithmeticError
        return sound(self)

    monkeypatch.setattr(storing.Result, "row", row)
    with StubEndpoint(judged.honest()) as stub:
        project, judge = judged.project(stub.url)
        run = make.run(project)
        rows = judged.rows(run, 4)
        judged.judge_run(run)
    assert judged.undetermined(run, judge) == {"marker-0": "", "marker-2": "", "marker-3": ""}
    (call,) = JudgeCall.objects.all()
    assert (call.trajectory_id, call.parked_at is None) == (rows[1].pk, False)
    assert call.trouble.startswith("ArithmeticError in ")


def test_a_price_beyond_all_reason_is_stored_as_the_most_that_a_row_can_hold() -> None:
    prices = storing.Prices(Decimal(900_000), Decimal(0))
    assert prices.cost(1000, 0) == Decimal(900)
    assert prices.cost(9_000_000, 0) == Decimal("999999.999999")
    assert storing.Prices(None, Decimal(1)).cost(1, 1) is None


def test_a_worker_that_loses_its_slots_to_another_gives_back_what_it_has_not_sent() -> None:
    """As after a Redis that was flushed: the other asked first, and the calls must not wait for this one."""
    with StubEndpoint(judged.honest(delay=0.5), key=judged.MARK) as stub:
        project, judge = judged.project(stub.url, concurrency=4)
        run = make.run(project)
        judged.rows(run, 8)
        judged.ask(run)
        limits = shared_limits()
        with Caller[lines.Ticket]() as caller:
            caller.open_line(judge.pk, address=Address(stub.url, trusted=True), concurrency=0, timeout=10)
            code = registry.running(judge)
            assert isinstance(code, ServedJudge)
            line = lines.Line(judge, code, JudgeService.objects.get(), uuid.uuid4())
            line.hold(limits, caller)
            assert line.send(line.take(may_be_alone=False), limits, caller, alive=lambda: None) == []
            assert len(line.in_hand) == 8
            wait_until(lambda: stub.at_once == 4)
            line.let_go(limits)
            assert limits.hold(line.key, "another", want=4, limit=4, seconds=60) == 4
            line.hold_until = 0.0
            line.hold(limits, caller)
            assert len(line.in_hand) == 4
        limits.let_go(line.key, "another")
    assert JudgeCall.objects.filter(claim=None, tries=0).count() == 4


def wait_until(what: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)
