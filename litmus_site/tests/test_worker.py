"""A real worker on PostgreSQL and Redis, killed in the middle: the same rows at the end, once each."""

import random
import threading
import time
from collections import Counter

import pytest
from django.db import connection, connections

from labeling import tasks
from labeling.formats.lines import from_value
from labeling.models import AuditRequest, Judgment, Run, Trajectory
from labeling.services import ingest
from labeling.tests import make
from labeling.vocabulary import TrajectoryStatus
from litmus_site.tests.test_journey import line
from litmus_site.tests.worker import WorkerProcess

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

COUNT = 2250


def lines(count: int) -> list[dict[str, object]]:
    """A third refusals, so that some settle and some need a person."""
    return [
        line(
            f"case-{number:05d}",
            "harmful" if number % 2 else "benign",
            "I can't help with that." if number % 3 == 0 else "Here is a plain answer to what was asked.",
        )
        for number in range(count)
    ]


def post(run: Run, order: list[dict[str, object]]) -> list[int]:
    owed: list[int] = []
    for start in range(0, len(order), 250):
        batch = order[start : start + 250]
        answer = ingest.store_trajectories(run=run, lines=[from_value(i, value) for i, value in enumerate(batch)])
        assert answer.conflict == answer.rejected == 0
        owed += answer.owed
    return owed


def wait_until_settled(deadline: float = 60) -> None:
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        if not Trajectory.objects.filter(status=TrajectoryStatus.PENDING).exists():
            return
        time.sleep(0.2)
    left = Trajectory.objects.filter(status=TrajectoryStatus.PENDING).count()
    raise AssertionError(f"{left} trajectories are still pending")


def check_rows() -> None:
    assert Trajectory.objects.count() == COUNT
    assert Judgment.objects.count() == COUNT
    statuses = Counter(Trajectory.objects.values_list("status", flat=True))
    assert statuses == {TrajectoryStatus.SETTLED: 750, TrajectoryStatus.NEEDS_AUDIT: 1500}
    assert AuditRequest.objects.count() == 1500


def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(celery_worker_process: WorkerProcess) -> None:
    """FIELD B6.2."""
    run = make.run()
    tasks.request_judging(post(run, lines(COUNT)))
    # Kill it as soon as it has begun, three times over.
    for _ in range(3):
        begun = Judgment.objects.count()
        end = time.monotonic() + 20
        while time.monotonic() < end and Judgment.objects.count() in (begun, COUNT):
            if Judgment.objects.count() == COUNT:
                break
            time.sleep(0.005)
        celery_worker_process.kill()
        celery_worker_process.start()
    wait_until_settled()
    check_rows()


def test_two_clients_at_once_in_any_order_end_in_the_same_rows(celery_worker_process: WorkerProcess) -> None:
    run = make.run()
    failures: list[BaseException] = []

    def client(seed: int) -> None:
        try:
            order = lines(COUNT)
            random.Random(seed).shuffle(order)
            tasks.request_judging(post(run, order))
        except BaseException as failure:
            failures.append(failure)
        finally:
            connections.close_all()

    clients = [threading.Thread(target=client, args=(seed,)) for seed in (1, 2)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    assert failures == []
    wait_until_settled()
    check_rows()
    again = post(run, lines(COUNT))
    assert again == []


def test_an_emptied_broker_costs_time_and_nothing_else(celery_worker_process: WorkerProcess) -> None:
    """Rows are stored and nobody rings: the sweep finds them."""
    assert connection.vendor == "postgresql"
    post(make.run(), lines(COUNT))
    wait_until_settled()
    check_rows()
