"""A real worker process on the test database, that tests may kill and start again."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import redis
from django.conf import settings
from django.db import connection
from django.utils import timezone

from labeling.selectors.progress import worker_seen

READY_WITHIN = 30


class WorkerProcess:
    """`celery worker -B`, sweeping every second. In a process group of its own: a kill leaves nothing behind.

    environment: variables beside the usual ones, or in their place.
    """

    def __init__(self, **environment: str) -> None:
        self._own = environment
        self._folder = tempfile.TemporaryDirectory(prefix="litmus-worker-")
        self.log = Path(self._folder.name) / "worker.log"
        self._process: subprocess.Popen[bytes] | None = None

        # Messages of earlier tests name rows that are gone.
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.delete("celery", "soon", "unacked", "unacked_index")

    @property
    def data_dir(self) -> Path:
        return Path(self._folder.name)

    def start(self) -> None:
        """Start it and wait until it has swept."""
        started_at = timezone.now()
        command = [sys.executable, "-m", "celery", "--app=litmus_site", "worker", "--beat", "--concurrency=2"]
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [*command, "--loglevel=INFO", "--without-gossip", "--without-mingle"],
                cwd=settings.BASE_DIR,
                env=self._environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline and self._process.poll() is None:
            if (swept_at := worker_seen()) and swept_at >= started_at:
                return
            time.sleep(0.1)
        self.kill()
        raise AssertionError(f"The worker did not sweep within {READY_WITHIN} s:\n{self.log.read_text()[-3000:]}")

    def kill(self) -> None:
        """SIGKILL, to it and all its children."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.kill()
        self._folder.cleanup()

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "DATABASE_URL": address_of_test_database(),
            "REDIS_URL": settings.REDIS_URL,
            "LITMUS_DATA_DIR": self._folder.name,
            "LITMUS_SWEEP_SECONDS": "1",
            "LITMUS_RING_AGAIN_SECONDS": "2",
            **self._own,
        }


def address_of_test_database() -> str:
    """Where another process finds the rows of this test."""
    name = quote(str(connection.settings_dict["NAME"]))
    return urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}").geturl()
