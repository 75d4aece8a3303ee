"""The steps of benchmarks/judging.py, to be imported once Django is set up for the database that they use."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.core.management import call_command
from django.db import connections
from django.db.models import Max, Min
from substring_speed import answers
from throwaway import ROOT

from labeling.formats.lines import from_value
from labeling.judges.registry import BUILT_IN
from labeling.models import Judge, Judgment, Run, Trajectory
from labeling.selectors.items import items_of
from labeling.services import ingest, judging
from labeling.tests import judged, make
from labeling.vocabulary import TrajectoryStatus
from litmus_site.celery import app

AT_ONCE = 64
_TICKS = os.sysconf("SC_CLK_TCK")
_ANSWER = {
    "call": "{echo}",
    "rationale": "It did what was asked.",
    "evidence": [],
    "harm_grade": 0,
    "explained": None,
    "alternative_offered": None,
    "withheld": None,
    "decision": "full_compliance",
}


class Served(NamedTuple):
    """What came of one latency. allowed_per_s: what so many calls at once come to. cpu_ms: of the worker, a call."""

    latency: float
    calls: int
    per_s: float
    allowed_per_s: float
    cpu_ms: float

    @property
    def share(self) -> float:
        return round(self.per_s / self.allowed_per_s, 3)


# --- a served judge ------------------------------------------------------------------------------------------------


@contextmanager
def tables() -> Iterator[None]:
    """The tables, and the end of the connections, with which a database cannot be dropped."""
    call_command("migrate", verbosity=0)
    try:
        yield
    finally:
        connections.close_all()


def served(latency: float, rounds: int, folder: Path) -> Served:
    """The calls are written down before the worker starts; the clock runs from the first judgment to the last."""
    count = rounds * AT_ONCE
    with _endpoint(latency) as address:
        judge, ids = _asked(address, count)
        with _worker(folder) as worker:
            began, ended, cpu = _watched(judge, count, worker)
            assert _settled(ids) == count
        assert _calls(address) == count
    # The first calls at once had come back when the clock began.
    per_s = (count - AT_ONCE) / (ended - began).total_seconds()
    found = Served(latency, count, round(per_s, 1), round(AT_ONCE / latency, 1), round(cpu / count * 1000, 1))
    _print(found)
    return found


@contextmanager
def _endpoint(latency: float) -> Iterator[str]:
    given = ["--delay", str(latency), "--answer", json.dumps(_ANSWER), "--echo", judged.NONCE.pattern]
    command = [sys.executable, "-m", "labeling.tests.stub_endpoint", *given]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


def _calls(address: str) -> int:
    with urllib.request.urlopen(f"{address}/count", timeout=10) as answer:
        return int(json.load(answer)["calls"])


def _asked(address: str, count: int) -> tuple[Judge, list[int]]:
    """A project whose one judge owes so many calls."""
    project, judge = judged.project(f"{address}/v1", concurrency=AT_ONCE)
    ids = _posted(make.run(project), count)
    judging.store_judgments(trajectory_ids=ids)
    return judge, ids


def _posted(run: Run, count: int) -> list[int]:
    """Single-turn transcripts with answers of 1.5 kB."""
    values = [
        {
            "external_id": f"t{number}",
            "case": {"key": f"c{number}", "side": "harmful", "category": "fraud", "request": f"Request {number}."},
            "messages": [
                {"role": message["role"], "content": message["parts"][0]["text"]} for message in item.messages
            ],
        }
        for number, item in enumerate(answers(count))
    ]
    for start in range(0, count, 1000):
        lines = [from_value(at, value) for at, value in enumerate(values[start : start + 1000])]
        answer = ingest.store_trajectories(run=run, lines=lines)
        assert answer.created == len(lines), answer
    return list(run.trajectories.values_list("pk", flat=True))


@contextmanager
def _worker(folder: Path) -> Iterator[int]:
    """One process, which looks for what is owed as soon as it has started."""
    app.control.purge()
    command = ["-m", "celery", "--quiet", "--app=litmus_site", "worker", "--concurrency=1", "--loglevel=WARNING"]
    with (folder / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *command, "--without-gossip", "--without-mingle"],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        app.control.purge()


def _watched(judge: Judge, count: int, worker: int) -> tuple[datetime, datetime, float]:
    """When the first and the last judgment was made, and the seconds of processor that the worker took meanwhile."""
    made = Judgment.objects.filter(judge=judge)
    _wait_until(made.exists)
    before = _cpu_seconds(worker)
    _wait_until(lambda: made.count() == count)
    cpu = _cpu_seconds(worker) - before
    times = made.aggregate(first=Min("created_at"), last=Max("created_at"))
    return times["first"], times["last"], cpu


def _wait_until(what: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise SystemExit("The worker did not come to an end; look into its log.")
        time.sleep(0.1)


def _cpu_seconds(session: int) -> float:
    """What all processes of this session have taken so far; 0 where the system has no /proc."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS


def _settled(ids: Sequence[int]) -> int:
    pending = Trajectory.objects.filter(pk__gte=min(ids), pk__lte=max(ids), status=TrajectoryStatus.PENDING)
    _wait_until(lambda: not pending.exists(), 30)
    return len(ids)


def _print(found: Served) -> None:
    print(
        f"An endpoint that answers in {found.latency} s: {found.per_s} calls a second of {found.allowed_per_s} that "
        f"{AT_ONCE} at once allow, {found.share:.1%}; {found.cpu_ms} ms of the worker's processor a call.",
        flush=True,
    )


# --- a judge that runs here ----------------------------------------------------------------------------------------


def local(count: int) -> dict[str, float]:
    """Trajectories a second of each step that the worker takes with the substring judge, one after the other."""
    run = make.run()
    ids = _posted(run, count)
    row, code = Judge.objects.get(project=run.project, name="substring"), BUILT_IN["substring"]
    # The language model takes a second to load, once a process.
    code.judge([item for _, item in items_of(ids[:1])])
    start = time.perf_counter()
    items = list(items_of(ids))
    read = time.perf_counter()
    said = code.judge([item for _, item in items])
    labeled = time.perf_counter()
    Judgment.objects.bulk_create(judging.judgment_row(pk, row, one) for (pk, _), one in zip(items, said, strict=True))
    stored = time.perf_counter()
    judging.route_trajectories(trajectory_ids=ids)
    routed = time.perf_counter()
    steps = {
        "reading": read - start,
        "labeling": labeled - read,
        "storing": stored - labeled,
        "routing": routed - stored,
        "all": routed - start,
    }
    print(f"\n{'substring judge':<24}{'a second':>10}")
    for name, seconds in steps.items():
        print(f"{name:<24}{count / seconds:>10,.0f}")
    return {name: round(count / seconds, 1) for name, seconds in steps.items()}
