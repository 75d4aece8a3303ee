"""Who waits for whom at a run. PostgreSQL only: on SQLite a writing transaction is alone."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Barrier, BrokenBarrierError, Event
from typing import Any

import pytest
from django.db import connection, transaction

from labeling.errors import Conflict
from labeling.models import Run, Trajectory
from labeling.services import bulk, ingest, runs, sharing
from labeling.tests import make
from labeling.tests.posting import line, parsed
from labeling.tests.threads import at_once

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="a writing transaction of SQLite is alone"),
]
PATIENCE = 10


@pytest.fixture
def run() -> Run:
    suite = make.suite(make.project(), published_at="2026-01-01T00:00:00Z")
    for number in range(3):
        make.case(suite, key=f"c-{number}")
    return make.run(suite=suite)


def post(run: Run, number: int) -> int:
    return ingest.store_trajectories(run=run, lines=parsed(line(f"t-{number}", f"c-{number}"))).created


def sharing_until(run: Run, done: Event, *, holds: Event) -> Callable[[], None]:
    """Work that has a post under way until then."""

    def work() -> None:
        with transaction.atomic():
            sharing.share(run.pk)
            holds.set()
            assert done.wait(PATIENCE)

    return work


def when(event: Event, work: Callable[[], Any]) -> Callable[[], Any]:
    def waiting() -> Any:
        assert event.wait(PATIENCE)
        return work()

    return waiting


def wait_for_a_queue_of(length: int) -> None:
    deadline = time.monotonic() + PATIENCE
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone() == (length,):
                return
        time.sleep(0.02)
    raise AssertionError(f"There is no queue of {length}.")


def test_a_post_does_not_wait_for_another(run: Run) -> None:
    holds, done = Event(), Event()

    def second() -> int:
        created = post(run, 1)
        done.set()
        return created

    assert at_once([sharing_until(run, done, holds=holds), when(holds, second)]) == [None, 1]


def test_a_run_that_is_being_closed_is_overtaken_by_no_post(run: Run) -> None:
    holds, done = Event(), Event()

    def close() -> str:
        return runs.close_run(run=run, expected_count=None, audits_per_side=None).status

    def late() -> str:
        wait_for_a_queue_of(1)
        try:
            post(run, 2)
        except Conflict as error:
            return str(error.details["status"])
        return "stored"

    def end_when_both_wait() -> None:
        wait_for_a_queue_of(2)
        done.set()

    works = [sharing_until(run, done, holds=holds), *(when(holds, each) for each in (close, late, end_when_both_wait))]
    assert at_once(works) == [None, "closed", "closed", None]
    assert not Trajectory.objects.exists()


def test_posts_that_wait_for_each_other_are_both_answered(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    both = Barrier(2)
    insert = bulk.insert_unless_there

    def in_halves(model: Any, names: Any, rows: Any) -> int:
        first, second = rows
        inserted = insert(model, names, [first])
        with suppress(BrokenBarrierError):
            both.wait(PATIENCE)
        return inserted + insert(model, names, [second])

    monkeypatch.setattr(bulk, "insert_unless_there", in_halves)
    # The same attempts under other ids, in an order in which each waits for what the other has inserted.
    mine = parsed(line("a", "c-0"), line("b", "c-1"))
    theirs = parsed(line("c", "c-1"), line("d", "c-0"))
    answers = at_once([partial(ingest.store_trajectories, run=run, lines=lines) for lines in (mine, theirs)])
    assert sorted(answer[:4] for answer in answers) == [(0, 0, 2, 0), (2, 0, 0, 0)]
    assert Trajectory.objects.count() == 2


def test_a_draft_is_not_shared(run: Run) -> None:
    assert sharing.can_be_shared(run)
    assert not sharing.can_be_shared(make.run())
