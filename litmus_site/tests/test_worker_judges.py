"""A real worker with 64 calls under way, killed, or robbed of its broker: every trajectory is judged once.

The endpoint is a process of its own that counts its calls by trajectory.
"""

import asyncio
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from redis import Redis

from conftest import skip_or_fail
from labeling import tasks
from labeling.models import Judge, JudgeCall, Judgment, Run, Spend, Trouble
from labeling.tests import judged, make
from labeling.vocabulary import TrajectoryStatus
from litmus_site.tests.worker import WorkerProcess

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

COUNT = 400
AT_ONCE = 64
DOWN_SECONDS = 10
ENVIRONMENT = {"LITMUS_JUDGE_HOSTS": "127.0.0.1", "LITMUS_CLAIM_SECONDS": "3"}
ANSWER = {
    "call": "{echo}",
    "rationale": "It did what was asked.",
    "evidence": [],
    "harm_grade": 0,
    "explained": None,
    "alternative_offered": None,
    "withheld": None,
    "decision": "full_compliance",
}


class Counted(NamedTuple):
    """by_key: calls by trajectory's marker. at_once: those under way."""

    calls: int
    by_key: dict[str, int]
    at_once: int
    most_at_once: int


class StubProcess:
    """The stub as a process of its own, which outlives workers."""

    def __enter__(self) -> Self:
        given = {"--delay": "0.5", "--answer": json.dumps(ANSWER), "--echo": judged.NONCE.pattern, "--key": judged.MARK}
        command = [
            sys.executable,
            "-m",
            "labeling.tests.stub_endpoint",
            *(word for pair in given.items() for word in pair),
        ]
        self._process = subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def count(self) -> Counted:
        with urllib.request.urlopen(f"{self.root}/count", timeout=10) as answer:
            return Counted(**json.load(answer))


class Proxy:
    """Stands before Redis and can be taken away. In a thread of its own."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._behind = (parts.hostname or "localhost", parts.port or 6379)
        self._port = 0
        self._talks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.open()
        self.url = parts._replace(netloc=f"127.0.0.1:{self._port}").geturl()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def open(self) -> None:
        self._server: asyncio.Server = self._done(asyncio.start_server(self._serve, "127.0.0.1", self._port))
        self._port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        self._done(self._close())

    async def _close(self) -> None:
        self._server.close()
        talks = list(self._talks)
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)

    def _done(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        there, back = await asyncio.open_connection(*self._behind)
        try:
            await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._talks.discard(talk)
            for each in (back, writer):
                each.close()
                with suppress(OSError):
                    await each.wait_closed()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


@pytest.fixture
def worker(transactional_db: None) -> Iterator[Callable[..., WorkerProcess]]:
    """Starts a worker that takes what is silent for 3 s for dead."""
    if not (settings.DATABASE_URL and settings.REDIS_URL):
        skip_or_fail("services", "DATABASE_URL and REDIS_URL are not set: call script/test")
    started: list[WorkerProcess] = []

    def start(**environment: str) -> WorkerProcess:
        # What the limits of an earlier test booked is not this one's.
        with Redis.from_url(settings.REDIS_URL) as client:
            for key in client.scan_iter("litmus:*"):
                client.delete(key)
        process = WorkerProcess(**ENVIRONMENT, **environment)
        started.append(process)
        process.start()
        return process

    yield start
    for process in started:
        process.close()


@pytest.fixture
def stub() -> Iterator[StubProcess]:
    with StubProcess() as process:
        yield process


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy(settings.REDIS_URL) as standing:
        yield standing


class Asked(NamedTuple):
    run: Run
    judge: Judge


@pytest.fixture
def asked(stub: StubProcess, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Trajectories that a judge behind the stub is to be asked about. Nobody has rung for them."""
    monkeypatch.setattr(settings, "JUDGE_HOSTS", ["127.0.0.1"])
    project, judge = judged.project(f"{stub.root}/v1", concurrency=AT_ONCE)
    run = make.run(project)
    judged.rows(run, COUNT)
    return Asked(run, judge)


def wait_for(what: Callable[[], bool], *, within: float, of: str) -> None:
    end = time.monotonic() + within
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.02)
    raise AssertionError(f"{of} did not come about within {within} s")


def wait_until_settled(run: Run, *, within: float = 60) -> None:
    pending = run.trajectories.filter(status=TrajectoryStatus.PENDING)
    wait_for(lambda: not pending.exists(), within=within, of=f"The end of {pending.count()} pending trajectories")


def stored(asked: Asked) -> set[str]:
    return set(judged.undetermined(asked.run, asked.judge))


def check_rows(asked: Asked) -> None:
    """Every trajectory judged once, and labeled."""
    assert judged.undetermined(asked.run, asked.judge) == {f"marker-{number}": "" for number in range(COUNT)}
    assert Judgment.objects.count() == COUNT
    assert set(asked.run.trajectories.values_list("status", flat=True)) == {TrajectoryStatus.SETTLED}
    assert not JudgeCall.objects.exists()
    assert not Trouble.objects.filter(parked_at__isnull=False).exists()


def test_a_worker_killed_with_64_calls_under_way_loses_no_trajectory_and_pays_twice_only_for_those(
    worker: Callable[..., WorkerProcess], stub: StubProcess, asked: Asked
) -> None:
    """FIELD B6.2: SIGKILL, twice."""
    process = worker()
    tasks.request_judging(list(asked.run.trajectories.values_list("pk", flat=True)))
    lost: set[str] = set()
    for kill in (1, 2):
        wait_for(lambda: stub.count().at_once == AT_ONCE, within=60, of=f"{AT_ONCE} calls at once")
        process.kill()
        # Paid, and not stored: what was under way, and what had come back a moment before.
        begun, there = stub.count().by_key, stored(asked)
        assert len(there) < COUNT - AT_ONCE
        lost |= begun.keys() - there
        assert AT_ONCE <= len(lost) <= kill * 2 * AT_ONCE
        process.start()
    wait_until_settled(asked.run)
    check_rows(asked)
    counted = stub.count()
    twice = {key for key, calls in counted.by_key.items() if calls > 1}
    assert twice <= lost
    assert counted.most_at_once == AT_ONCE
    # Each judgment was counted once; what was lost was paid and never seen.
    assert Spend.objects.get().calls == COUNT
    assert counted.calls - COUNT <= len(lost) * 2


def has_made(stub: StubProcess, calls: float) -> bool:
    return stub.count().calls >= calls


def test_a_flushed_broker_in_the_middle_of_the_calls_pays_nothing_twice(
    worker: Callable[..., WorkerProcess], stub: StubProcess, asked: Asked
) -> None:
    worker()
    tasks.request_judging(list(asked.run.trajectories.values_list("pk", flat=True)))
    for share in (0.1, 0.3, 0.6):
        wait_for(partial(has_made, stub, share * COUNT), within=60, of=f"{share:.0%} of the calls")
        with Redis.from_url(settings.REDIS_URL) as client:
            client.flushdb()
    wait_until_settled(asked.run)
    check_rows(asked)
    assert set(stub.count().by_key.values()) == {1}
    assert Spend.objects.get().calls == COUNT


def test_a_broker_that_is_down_for_a_while_costs_time_and_pays_nothing_twice(
    proxy: Proxy, worker: Callable[..., WorkerProcess], stub: StubProcess, asked: Asked
) -> None:
    """FIELD B6.4. Nobody rings for the rows either: the sweep finds them."""
    worker(REDIS_URL=proxy.url)
    wait_for(lambda: stub.count().at_once == AT_ONCE, within=60, of=f"{AT_ONCE} calls at once")
    proxy.close()
    # What is under way comes to its end and is stored, and nothing new is begun.
    wait_for(lambda: stub.count().at_once == 0, within=20, of="The end of the calls under way")
    begun = stub.count().by_key
    wait_for(lambda: stored(asked) == begun.keys(), within=20, of="A judgment of every call")
    assert len(begun) < COUNT
    time.sleep(DOWN_SECONDS)
    assert stub.count().by_key == begun
    proxy.open()
    wait_until_settled(asked.run)
    check_rows(asked)
    assert set(stub.count().by_key.values()) == {1}
