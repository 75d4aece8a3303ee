"""Trajectories that break the work on them: three tries, then parked with the reason; no neighbour waits."""

from datetime import timedelta

import pytest
from django.utils import timezone

from labeling import tasks
from labeling.models import Case, Judge, Judgment, Run, Trajectory, Trouble
from labeling.selectors.calling import parked_on
from labeling.services import troubles
from labeling.tests import make
from labeling.tests.threads import at_once
from labeling.vocabulary import Side, TrajectoryStatus

pytestmark = pytest.mark.django_db(transaction=True)

REFUSAL_TEXT = "I can't help with that."
SOUND_CHECK = {"kind": "number", "answer": 42, "tolerance": 0, "relative": False}


def broken_row(run: Run) -> Trajectory:
    """A check that no code of ours would have written: the judge of checks breaks on it."""
    Judge.objects.filter(project=run.project, name="checks").update(active=True)
    case = make.case(run.suite, Side.CAPABILITY, answer_check={"kind": "number"})
    return make.trajectory(run, case, answer="The answer is 42.")


def status(row: Trajectory) -> TrajectoryStatus:
    row.refresh_from_db()
    return TrajectoryStatus(row.status)


def test_a_row_that_breaks_a_judge_keeps_no_neighbour_waiting_and_is_parked_after_three_tries() -> None:
    """FIELD B6.2."""
    run = make.run()
    broken, sound = broken_row(run), make.trajectory(run, answer=REFUSAL_TEXT)
    # The first try is the batch, and at once the row by itself.
    tasks.judge_batch([broken.pk, sound.pk])
    assert (status(broken), status(sound)) == (TrajectoryStatus.PENDING, TrajectoryStatus.SETTLED)
    trouble = Trouble.objects.get()
    assert (trouble.trajectory_id, trouble.tries, trouble.parked_at) == (broken.pk, 1, None)
    assert trouble.reason.startswith("KeyError in labeling/judges/checking/checks.py, line ")
    for tries in (2, 3):
        a_minute_later()
        tasks.judge_batch([broken.pk])
        trouble.refresh_from_db()
        assert (trouble.tries, trouble.parked_at is None) == (tries, tries < 3)
    assert parked_on(run) == {trouble.reason: 1}
    assert Judgment.objects.filter(trajectory=broken).count() == 0


def a_minute_later() -> None:
    Trouble.objects.update(last_at=timezone.now() - timedelta(minutes=1))


def test_messages_that_come_twice_at_once_are_one_try() -> None:
    """FIELD B6.1, B6.2: else a worker that is killed while others have the same row parks it."""
    row = make.trajectory(make.run(), answer=REFUSAL_TEXT)
    troubles.begin(trajectory_ids=[row.pk])
    a_minute_later()
    assert at_once([lambda: troubles.may_try(trajectory_id=row.pk)] * 4) == [True] * 4
    assert (Trouble.objects.get().tries, Trouble.objects.get().parked_at) == (2, None)


def test_what_is_parked_is_neither_worked_on_nor_rung_for(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make.run()
    broken = broken_row(run)
    Trouble.objects.create(trajectory=broken, tries=3, parked_at=timezone.now(), reason="KeyError")
    Case.objects.update(answer_check=SOUND_CHECK)
    tasks.judge_batch([broken.pk])
    assert status(broken) == TrajectoryStatus.PENDING
    rung: list[int] = []
    monkeypatch.setattr(tasks.judge_batch, "delay", lambda ids, _again: rung.extend(ids))
    tasks.sweep(everything=True)
    assert rung == []


def test_a_person_may_have_it_tried_again() -> None:
    run, other = make.run(), make.run()
    broken, elsewhere = broken_row(run), broken_row(other)
    for row in (broken, elsewhere):
        Trouble.objects.create(trajectory=row, tries=3, parked_at=timezone.now(), reason="KeyError")
    Case.objects.update(answer_check=SOUND_CHECK)
    assert troubles.try_again(run_id=run.pk) == [broken.pk]
    assert [each.trajectory_id for each in Trouble.objects.all()] == [elsewhere.pk]
    tasks.judge_batch([broken.pk])
    assert status(broken) == TrajectoryStatus.SETTLED
    assert Judgment.objects.get(trajectory=broken).check_passed is True


def test_a_row_that_ends_the_worker_itself_is_parked_after_three_tries() -> None:
    """FIELD B6.2: nothing is written after the worker's end, so it is counted before."""
    row = make.trajectory(make.run(), answer=REFUSAL_TEXT)
    # A batch that comes a second time is written down, and the worker ends.
    troubles.begin(trajectory_ids=[row.pk])
    for tries in (2, 3):
        # It comes again, and ends the worker again.
        a_minute_later()
        assert troubles.split([row.pk]) == ([], [row.pk])
        assert troubles.may_try(trajectory_id=row.pk)
        assert Trouble.objects.get().tries == tries
    a_minute_later()
    tasks.judge_batch([row.pk], again=True)
    trouble = Trouble.objects.get()
    assert trouble.parked_at is not None
    assert trouble.reason == "The worker ended while it judged this: too little memory, most likely."
    assert status(row) == TrajectoryStatus.PENDING
    assert not Judgment.objects.exists()


def test_a_batch_that_comes_again_and_goes_well_leaves_no_trouble() -> None:
    run = make.run()
    rows = [make.trajectory(run, answer=REFUSAL_TEXT) for _ in range(3)]
    # One of them was tried before.
    troubles.begin(trajectory_ids=[rows[0].pk])
    tasks.judge_batch([row.pk for row in rows], again=True)
    assert [status(row) for row in rows] == [TrajectoryStatus.SETTLED] * 3
    assert not Trouble.objects.exists()


def test_a_first_try_that_goes_well_writes_nothing_down(django_assert_num_queries: object) -> None:
    assert troubles.split([make.trajectory(make.run()).pk]).known == []
    with django_assert_num_queries(1):  # type: ignore[operator]
        troubles.split([1, 2, 3])


def test_the_sweep_rings_for_a_row_in_trouble_until_it_is_parked(monkeypatch: pytest.MonkeyPatch) -> None:
    row = make.trajectory(make.run(), rung_at=timezone.now() - timedelta(hours=1))
    troubles.begin(trajectory_ids=[row.pk])
    rung: list[int] = []
    monkeypatch.setattr(tasks.judge_batch, "delay", lambda ids, _again: rung.extend(ids))
    tasks.sweep()
    assert rung == [row.pk]
