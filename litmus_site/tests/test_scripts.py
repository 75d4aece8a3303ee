"""The scripts as a newcomer meets them: one sentence for what is missing, a server that starts and leaves nothing."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from litmus_site.tests.worker import address_of_test_database

ROOT: Path = settings.BASE_DIR
PYTHONS = ["python", "python3", "python3.11", "python3.12", "python3.13", "python3.14"]
START_WITHIN = 90
STOP_WITHIN = 30


def run(script: str, *arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(ROOT / "script" / script), *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def pythons(tmp_path: Path) -> Callable[[dict[str, str]], str]:
    """A PATH on which each Python says of itself what the test wants."""

    def make(answers: dict[str, str]) -> str:
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in PYTHONS:
            fake = folder / name
            fake.write_text(f'#!/bin/sh\necho "{answers[name]}"\n' if name in answers else "#!/bin/sh\nexit 127\n")
            fake.chmod(0o755)
        return f"{folder}:/usr/bin:/bin"

    return make


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({}, "Python 3.11 or newer is needed, found none; install it or set LITMUS_PYTHON."),
        (
            {"python3": "3.9.2 old", "python": "2.7.18 old"},
            "Python 3.11 or newer is needed, found 3.9.2; install it or set LITMUS_PYTHON.",
        ),
        (
            {"python3": "3.11.2 bare"},
            "Python 3.11.2 (python3) has no venv module; "
            "install it (on Debian: apt-get install python3-venv) or set LITMUS_PYTHON.",
        ),
    ],
    ids=["no Python", "an old one", "one without venv"],
)
@pytest.mark.parametrize("script", ["setup", "server"])
def test_a_python_that_will_not_do_gets_one_sentence(
    tmp_path: Path, pythons: Callable[[dict[str, str]], str], script: str, answers: dict[str, str], sentence: str
) -> None:
    done = run(script, cwd=tmp_path, PATH=pythons(answers), LITMUS_VENV=str(tmp_path / "venv"))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"litmus: {sentence}\n")
    assert not (tmp_path / "venv").exists()


def test_a_newer_python_is_found_behind_an_old_one(tmp_path: Path, pythons: Callable[[dict[str, str]], str]) -> None:
    path = pythons({"python3": "3.9.2 old", "python3.12": "3.12.1 ready"})
    done = run("setup", cwd=tmp_path, PATH=path, LITMUS_VENV="a venv")
    # The fake makes no virtual environment; that it was asked to is what counts, and where: the caller's folder.
    assert done.stdout.startswith(f"Making the virtual environment in {tmp_path}/a venv …\n")


def test_a_chosen_python_is_not_replaced_by_another(tmp_path: Path) -> None:
    done = run("setup", cwd=tmp_path, LITMUS_PYTHON="no-such-python", LITMUS_VENV=str(tmp_path / "venv"))
    assert done.stderr.startswith("litmus: LITMUS_PYTHON is no-such-python, which does not run; ")


def test_a_folder_of_somebody_else_is_not_made_into_a_virtual_environment(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    done = run("setup", cwd=tmp_path, LITMUS_VENV=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "remove it or set LITMUS_VENV" in done.stderr
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_word_that_a_script_does_not_know_is_named(tmp_path: Path) -> None:
    assert run("setup", "--develop", cwd=tmp_path).stderr == "litmus: script/setup knows only --dev, not --develop.\n"
    assert "takes no arguments" in run("server", "now", cwd=tmp_path).stderr
    assert "may name services and browser" in run("test", cwd=tmp_path, LITMUS_TEST_REQUIRE="everything").stderr


def test_a_taken_port_is_said_before_anything_is_installed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(
            "server",
            cwd=tmp_path,
            LITMUS_PORT=str(port),
            LITMUS_PYTHON=sys.executable,
            LITMUS_VENV=str(tmp_path / "venv"),
            LITMUS_DATA_DIR=str(tmp_path / "data"),
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"litmus: port {port} of 127.0.0.1 is taken; ")
    assert "LITMUS_PORT=" in done.stderr
    assert not (tmp_path / "venv").exists()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


class Server:
    """script/serve.py with the Python of the tests, on a data folder and a port of its own."""

    def __init__(self, data: Path, **environment: str) -> None:
        self.data = data
        self.port = free_port()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(data.parent),
            "LITMUS_DATA_DIR": str(data),
            "LITMUS_PORT": str(self.port),
            **environment,
        }
        self.said: list[str] = []
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(ROOT / "script" / "serve.py")],
            cwd=self.data.parent,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def another(self, **environment: str) -> str:
        """What a second server says that must not start."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "script" / "serve.py")],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=START_WITHIN,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if line.startswith("Logs are in"):
                return
        raise AssertionError("".join(self.said))

    def get(self, path: str) -> tuple[int, str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()

    def worker_was_seen(self) -> bool:
        ready: dict[str, Any] = json.loads(self.get("/readyz")[1])
        return ready["worker_last_seen_seconds"] is not None

    @property
    def groups(self) -> list[int]:
        """The server, the web server, the worker: each leads a process group, the first one its caller's."""
        return [int(word) for word in (self.data / "server.lock").read_text().split()]

    def stop(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        return self.end()

    def end(self) -> tuple[int, str]:
        said, _ = self.process.communicate(timeout=STOP_WITHIN)
        return self.process.returncode, said

    @staticmethod
    def left(groups: list[int]) -> list[int]:
        """Those of the groups in which something still is."""
        found = []
        for group in groups:
            with suppress(ProcessLookupError):
                os.killpg(group, 0)
                found.append(group)
        return found

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=STOP_WITHIN)
        for group in self.left(self.groups[1:]):
            os.killpg(group, signal.SIGKILL)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def make(**environment: str) -> Server:
        (tmp_path / "a folder").mkdir(exist_ok=True)
        servers.append(Server(tmp_path / "a folder" / "data", **environment))
        servers[-1].wait_until_ready()
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_WITHIN
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_server_serves_alone_on_its_folder_until_ctrl_c(start: Callable[..., Server]) -> None:
    server = start()
    said = "".join(server.said)
    assert f"Litmus is at http://127.0.0.1:{server.port}/ (Ctrl-C stops it)." in said
    assert re.search("reviewer", said)
    assert server.get("/healthz") == (200, "ok")
    assert server.get("/")[0] == 200
    until(server.worker_was_seen)
    assert "a server is already running on" in server.another(LITMUS_PORT=str(server.port + 1))
    assert "is taken" in server.another(LITMUS_DATA_DIR=str(server.data.parent / "other"))
    status, last = server.stop(signal.SIGINT)
    assert (status, server.left(server.groups[1:])) == (0, [])
    assert last.endswith("Stopped.\n")
    assert "GET /readyz 200" in (server.data / "log" / "web.log").read_text()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_whatever_is_killed_nothing_stays_behind_and_the_next_start_works(start: Callable[..., Server]) -> None:
    where = {"DATABASE_URL": address_of_test_database(), "REDIS_URL": settings.REDIS_URL, "LITMUS_DEMO": "0"}
    server = start(**where)
    assert "reviewer" not in "".join(server.said)
    assert not list(server.data.glob("*.sqlite3"))
    until(server.worker_was_seen)
    os.kill(server.groups[2], signal.SIGKILL)
    status, last = server.end()
    assert (status, server.left(server.groups[1:])) == (1, [])
    assert "the worker was killed by signal 9, so everything was stopped; its log is" in last

    server = start(**where)
    left_alone = server.groups[1:]
    server.process.kill()
    server.process.wait()

    server = start(**where)
    until(lambda: server.left(left_alone) == [])
    status, _ = server.stop(signal.SIGTERM)
    assert (status, server.left(server.groups[1:])) == (0, [])


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"LITMUS_PORT": "none"}, "LITMUS_PORT is 'none'; set it to a whole number from 1 to 65535."),
        ({"LITMUS_BATCH_SIZE": "many"}, "LITMUS_BATCH_SIZE is 'many'; set it to a whole number from 1 to 5000."),
        (
            {"DATABASE_URL": "nonsense"},
            "DATABASE_URL cannot be read; write it as postgres://user:password@host:5432/name.",
        ),
    ],
    ids=["port", "a setting", "database"],
)
def test_a_setting_that_cannot_be_read_stops_the_start_with_its_sentence(
    tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "script" / "serve.py")],
        env={
            "PATH": os.environ["PATH"],
            "LITMUS_PORT": str(free_port()),
            "LITMUS_DATA_DIR": str(tmp_path),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=START_WITHIN,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, f"litmus: {sentence}\n")
