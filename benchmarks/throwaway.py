"""A Litmus to measure: a database of its own, the web server as script/server starts it, and their end.

No worker runs, so nothing else uses the processors.
"""

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

ROOT = Path(__file__).resolve().parent.parent
READY_WITHIN = 60


class Client:
    """A runner on one kept connection."""

    def __init__(self, port: int, secret: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self._headers = {"Authorization": f"Bearer {secret}"}

    def post(self, path: str, body: bytes, content_type: str = "application/json") -> Any:
        self._connection.request("POST", path, body, self._headers | {"Content-Type": content_type})
        response = self._connection.getresponse()
        said = response.read()
        if response.status not in (200, 201):
            raise SystemExit(f"POST {path} was answered with {response.status}: {said[:500].decode()}")
        return json.loads(said)

    def close(self) -> None:
        self._connection.close()


class Litmus:
    """A running web server on an empty database. database_url: of the throw-away database; empty for SQLite."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.database_url = database_url
        self.sqlite = folder / "litmus.sqlite3"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LITMUS_", "REDIS_URL"))}
        self._environment = kept | {
            "LITMUS_DATA_DIR": str(folder),
            "DATABASE_URL": database_url,
            "LITMUS_MAX_PENDING": "1000000000",
        }
        self.log = folder / "web.log"
        self._manage("migrate", "--verbosity=0")
        self._manage("create_project", "benchmark")
        self.secret = self._manage("create_runner_key", "--project=benchmark", "--name=benchmark").split()[-1]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = ["-m", "gunicorn", "--config=python:litmus_site.serving", f"--bind=127.0.0.1:{self.port}"]
        with self.log.open("wb") as log:
            self._server = subprocess.Popen(
                [sys.executable, *command, "litmus_site.wsgi"], cwd=ROOT, env=self._environment, stdout=log, stderr=log
            )

    def client(self) -> Client:
        return Client(self.port, self.secret)

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline and self._server.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise SystemExit(f"The web server did not start:\n{self.log.read_text()[-3000:]}")

    def stop(self) -> None:
        self._server.terminate()
        try:
            self._server.wait(15)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()

    def _manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"manage.py {arguments[0]} failed:\n{done.stderr[-3000:]}")
        return done.stdout


@contextlib.contextmanager
def litmus(server_url: str) -> Iterator[Litmus]:
    """Litmus on a new database of this PostgreSQL server, or on a new SQLite file where there is none."""
    folder = Path(tempfile.mkdtemp(prefix="litmus-benchmark-"))
    try:
        with database(server_url) as database_url:
            served = Litmus(folder, database_url)
            try:
                served.wait_until_ready()
                yield served
            finally:
                served.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def database(server_url: str) -> Iterator[str]:
    """The address of a new database of this PostgreSQL server; empty where there is none, for SQLite."""
    if not server_url:
        yield ""
        return
    name = f"litmus_benchmark_{os.getpid()}"
    with psycopg.connect(server_url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlsplit(server_url)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
