"""Child processes that end when they are told to, with all they started, and a place that says when to stop.

Standard library only.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

STOP_WITHIN = 10  # seconds a process has to end by itself
KEEP_LOG_BYTES = 10_000_000
# Of Linux's prctl.
_PARENT_DEATH_SIGNAL, _CHILD_SUBREAPER = 1, 36


class Interrupted(Exception):
    """Somebody wants it to stop."""


class Signals:
    """Ctrl-C, a closed terminal, a polite kill: only counted here, acted on where nothing is half done."""

    def __init__(self) -> None:
        self.count = 0
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGTERM, self._on_signal)
        # nohup said that a closed terminal is no reason to stop.
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1

    def pause(self, seconds: float) -> None:
        if self.count:
            raise Interrupted
        time.sleep(seconds)
        if self.count:
            raise Interrupted


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value)


def adopt_orphans() -> None:
    """What a child leaves behind becomes ours to bury (Linux; elsewhere the system does it)."""
    _prctl(_CHILD_SUBREAPER, 1)


def _end_with_parent() -> None:
    """In the child: when the server is killed outright, the kernel tells its children to end (Linux)."""
    _prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


class Child:
    """A process in a group of its own, so that all it started can be ended, and nothing else."""

    def __init__(self, name: str, arguments: list[str], *, folder: Path, log: Path, keep_open: int) -> None:
        self.name = name
        self.log = log
        if log.exists() and log.stat().st_size > KEEP_LOG_BYTES:
            log.replace(log.with_suffix(".1.log"))
        with log.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own commands
                [sys.executable, *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[keep_open],
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - there are no threads here
            )

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def is_gone(self) -> bool:
        """It has ended, and so has everything in its group."""
        if not self.ended:
            return False
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-self.process.pid, os.WNOHANG) != (0, 0):
                pass
        try:
            os.killpg(self.process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return True
        return False

    def kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace").strip()

    def tail(self) -> str:
        return "\n".join(self.said().splitlines()[-15:])


def end(children: list[Child], signals: Signals) -> None:
    """Ask each to finish, then make sure; what it started ends with it. A second Ctrl-C does not wait."""
    for child in children:
        # The leader alone: it lets its own children finish what they hold.
        if not child.ended:
            child.process.terminate()
    before = signals.count
    deadline = time.monotonic() + STOP_WITHIN
    while not all(child.is_gone for child in children):
        if time.monotonic() > deadline or signals.count > before:
            break
        time.sleep(0.02)
    for child in children:
        child.kill_group()
    deadline = time.monotonic() + 2
    while not all(child.is_gone for child in children) and time.monotonic() < deadline:
        time.sleep(0.02)
