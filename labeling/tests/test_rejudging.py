"""Putting a judge to what has its labels already: opinions beside the others, and no label changed."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from labeling import tasks
from labeling.errors import Conflict, DomainError
from labeling.models import Judge, JudgeCall, Judgment, Rejudging, Run, Trajectory
from labeling.models.fields import decisions_to_bits
from labeling.services import judging, rejudging, runs
from labeling.tests import judged, make
from labeling.tests.stub_endpoint import Reply, StubEndpoint
from labeling.vocabulary import LabelSource, RunStatus, Side, TrajectoryStatus, WorkStatus

pytestmark = pytest.mark.django_db(transaction=True)

REFUSAL_TEXT = "I can't help with that, marker-{}."


@pytest.fixture(autouse=True)
def may_call_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "JUDGE_HOSTS", ["127.0.0.1"])


def closed_run(count: int, url: str = "http://127.0.0.1:9/v1", **fields: Any) -> tuple[Run, Judge, list[Trajectory]]:
    """Refusals that the substring judge has labeled, closed; and a rubric judge that came later."""
    run = make.run(**fields)
    rows = [make.trajectory(run, answer=REFUSAL_TEXT.format(number)) for number in range(count)]
    tasks.judge_batch([row.pk for row in rows])
    runs.close_run(run=run, expected_count=None, audits_per_side=0)
    run.refresh_from_db()
    return run, judged.rubric_judge(run.project, url, concurrency=4), rows


def labels(run: Run) -> list[Any]:
    return list(run.trajectories.order_by("pk").values("status", "label_source", "label_error", "label_decisions"))


def test_a_closed_run_gets_another_judges_opinions_and_keeps_its_labels() -> None:
    with StubEndpoint(judged.honest()) as stub:
        run, judge, rows = closed_run(3, stub.url)
        # One that it has judged already.
        make.judgment(rows[0], judge, make.REFUSED)
        # A side that it has no question for.
        make.trajectory(run, side=Side.CAPABILITY, status=TrajectoryStatus.SETTLED)
        before = labels(run)
        wish = rejudging.request(judge=judge, run=run, by=None)
        assert (wish.status, wish.total) == (WorkStatus.WAITING, 3)
        tasks.rejudge(wish.pk)
        wish.refresh_from_db()
        assert (wish.status, wish.handed_on) == (WorkStatus.DONE, 3)
        judged.pump()
        assert stub.calls == 2
    said = Judgment.objects.filter(judge=judge, decisions=decisions_to_bits([make.COMPLIED]))
    assert sorted(said.values_list("trajectory", flat=True)) == [rows[1].pk, rows[2].pk]
    assert labels(run) == before
    assert not JudgeCall.objects.exists()


def test_a_local_judge_says_its_opinions_at_once() -> None:
    run, _, rows = closed_run(2)
    Judgment.objects.all().delete()
    local = Judge.objects.get(project=run.project, name="substring")
    wish = rejudging.request(judge=local, run=run, by=None)
    assert rejudging.work(rejudging_id=wish.pk)
    assert sorted(Judgment.objects.values_list("trajectory", flat=True)) == [row.pk for row in rows]
    assert not JudgeCall.objects.exists()


def test_all_that_people_audited_is_judged_and_nothing_of_an_open_panel() -> None:
    with StubEndpoint(judged.honest()) as stub:
        run, judge, rows = closed_run(4, stub.url)
        human: dict[str, Any] = {"label_source": LabelSource.HUMAN, "label_error": False}
        Trajectory.objects.filter(pk=rows[0].pk).update(**human)
        Trajectory.objects.filter(pk=rows[1].pk).update(has_truth=True)
        # Audited, in a run whose panel is not fixed: an opinion would count for its label.
        make.trajectory(make.run(run.project), status=TrajectoryStatus.SETTLED, **human)
        # Audited, and somebody else's.
        elsewhere, _, (other, *_) = closed_run(1)
        assert elsewhere.project_id != run.project_id
        Trajectory.objects.filter(pk=other.pk).update(**human)
        wish = rejudging.request(judge=judge, run=None, by=None)
        tasks.rejudge(wish.pk)
        judged.pump()
        assert stub.calls == 2
    assert sorted(Judgment.objects.filter(judge=judge).values_list("trajectory", flat=True)) == [rows[0].pk, rows[1].pk]


def test_what_cannot_be_judged_again_is_refused_with_a_sentence() -> None:
    project, judge = judged.project("http://127.0.0.1:9/v1")
    run = make.run(project)
    with pytest.raises(Conflict, match="close it first"):
        rejudging.request(judge=judge, run=run, by=None)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.VOIDED, void_reason="Wrong.")
    run.refresh_from_db()
    with pytest.raises(Conflict, match="voided"):
        rejudging.request(judge=judge, run=run, by=None)
    with pytest.raises(DomainError, match="imported"):
        rejudging.request(judge=make.judge(project), run=None, by=None)
    Judge.objects.filter(pk=judge.pk).update(version="older")
    judge.refresh_from_db()
    with pytest.raises(Conflict, match="no longer runs here"):
        rejudging.request(judge=judge, run=None, by=None)
    assert not Rejudging.objects.exists()


def test_what_is_going_on_is_not_asked_for_twice() -> None:
    run, judge, _ = closed_run(1)
    first = rejudging.request(judge=judge, run=run, by=None)
    assert rejudging.request(judge=judge, run=run, by=None) == first
    assert rejudging.request(judge=judge, run=None, by=None) != first
    assert rejudging.work(rejudging_id=first.pk)
    assert not rejudging.work(rejudging_id=first.pk)
    assert rejudging.request(judge=judge, run=run, by=None) != first


class Killed(BaseException):
    """The end of a worker, as near as a test in one process comes to it."""


def test_after_a_kill_it_goes_on_where_it_stopped_and_asks_for_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejudging, "_AT_ONCE", 2)
    run, judge, rows = closed_run(5)
    wish = rejudging.request(judge=judge, run=run, by=None)
    sound, asked = judging.put_to, []

    def killed_at_the_second(owed: Any) -> judging.PutTo:
        asked.append(list(owed))
        if len(asked) == 2:
            raise Killed
        return sound(owed)

    monkeypatch.setattr(judging, "put_to", killed_at_the_second)
    with pytest.raises(Killed):
        rejudging.work(rejudging_id=wish.pk)
    assert rejudging.take_up_again() == []
    silent(wish)
    assert rejudging.take_up_again() == [wish.pk]
    assert rejudging.work(rejudging_id=wish.pk)
    assert asked == [ids(rows[:2]), ids(rows[2:4]), ids(rows[2:4]), ids(rows[4:])]
    wish.refresh_from_db()
    assert (wish.status, wish.handed_on, wish.total) == (WorkStatus.DONE, 5, 5)
    assert JudgeCall.objects.count() == 5


def test_what_ends_three_workers_without_coming_on_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    run, judge, _ = closed_run(1)
    wish = rejudging.request(judge=judge, run=run, by=None)

    def killed(_owed: Any) -> judging.PutTo:
        raise Killed

    monkeypatch.setattr(judging, "put_to", killed)
    for _ in range(3):
        with pytest.raises(Killed):
            rejudging.work(rejudging_id=wish.pk)
        silent(wish)
        assert rejudging.take_up_again() == [wish.pk]
    assert not rejudging.work(rejudging_id=wish.pk)
    wish.refresh_from_db()
    assert wish.status == WorkStatus.FAILED


def silent(wish: Rejudging) -> None:
    Rejudging.objects.filter(pk=wish.pk).update(worked_at=timezone.now() - timedelta(hours=1))


def ids(rows: Sequence[Trajectory]) -> list[int]:
    return [row.pk for row in rows]


def test_a_row_whose_own_panel_has_not_spoken_is_not_routed_by_another_judges_opinion() -> None:
    """Its message was lost, and meanwhile a judge outside of its panel was asked."""
    with StubEndpoint(lambda request: Reply(judged.answer(request))) as stub:
        run, judge, _ = closed_run(1, stub.url)
        row = make.trajectory(run, answer=REFUSAL_TEXT.format(7))
        wish = rejudging.request(judge=judge, run=run, by=None)
        tasks.rejudge(wish.pk)
        judged.pump()
        assert stub.calls == 2
    row.refresh_from_db()
    assert row.status == TrajectoryStatus.PENDING
    tasks.judge_batch([row.pk])
    row.refresh_from_db()
    assert (row.status, row.label_error) == (TrajectoryStatus.SETTLED, False)
