"""Runs the web server, a worker and beat, and ends them together. Called by script/server.

Standard library only: `--look` runs before anything is installed.
"""

import contextlib
import errno
import fcntl
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple, NoReturn

from children import STOP_WITHIN, Child, Interrupted, Signals, adopt_orphans, end

ROOT = Path(__file__).resolve().parent.parent
CELERY = ["-m", "celery", "--quiet", "--app=litmus_site"]
READY_WITHIN = 90  # seconds, from starting the processes to an answer of /readyz


def say(sentence: str = "") -> None:
    # A closed terminal (SIGHUP) must not keep the processes from being stopped.
    with contextlib.suppress(OSError):
        sys.stdout.write(f"{sentence}\n")
        sys.stdout.flush()


def stop(sentence: str) -> NoReturn:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"litmus: {sentence}\n")
    raise SystemExit(1)


# --- where ---------------------------------------------------------------------------------------------------------


class Place:
    """Host, port and folders, from the environment."""

    def __init__(self) -> None:
        self.host = os.environ.get("LITMUS_HOST", "").strip() or "127.0.0.1"
        port = os.environ.get("LITMUS_PORT", "").strip() or "8000"
        if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
            stop(f"LITMUS_PORT is {port!r}; set it to a whole number from 1 to 65535.")
        self.port = int(port)
        self.data = Path(os.environ.get("LITMUS_DATA_DIR", "").strip() or ROOT / "var").expanduser().resolve()
        self.logs = self.data / "log"
        self.demonstration = os.environ.get("LITMUS_DEMO", "").strip().lower() not in ("0", "false", "no", "off")
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            stop(f"{self.logs} cannot be made ({error.strerror}); set LITMUS_DATA_DIR to a folder of yours.")

    @property
    def bind(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # noqa: S104 - compared, not bound
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"http://{host}:{self.port}/"

    def stop_unless_free(self) -> None:
        """One sentence, before anything starts, when the address cannot be had."""
        try:
            family, kind, protocol, _, where = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind, protocol) as probe:
                # As the web server does: an address of a server that has just ended counts as free.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(where)
        except socket.gaierror:
            stop(f"LITMUS_HOST is {self.host!r}, which is no address of this machine; leave it out or mend it.")
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                stop(
                    f"port {self.port} of {self.host} is taken; end what uses it, "
                    f"or choose another: LITMUS_PORT={self.port % 65535 + 1} script/server"
                )
            stop(f"port {self.port} of {self.host} cannot be used ({error.strerror}); set LITMUS_PORT or LITMUS_HOST.")


class Lock:
    """One server a data folder. The children inherit it, so what a killed server left behind still holds it."""

    def __init__(self, place: Place) -> None:
        self.path = place.data / "server.lock"
        try:
            self.file = self.path.open("a+", encoding="utf-8")
        except OSError as error:
            stop(f"{place.data} cannot be written ({error.strerror}); set LITMUS_DATA_DIR to a folder of yours.")

    def take(self, signals: Signals) -> None:
        # What lost its server was told to end and may need a moment.
        for attempt in range(STOP_WITHIN * 10):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            server, *others = self._written()
            if server and _is_alive(server):
                stop(
                    f"a server is already running on {self.path.parent} (process {server}); "
                    "stop it, or set LITMUS_DATA_DIR to another folder."
                )
            if attempt == 0:
                say("Waiting for the end of what a killed server left behind …")
            signals.pause(0.1)
        left = " ".join(str(pid) for pid in others if _is_alive(pid))
        stop(
            f"a server that was killed left processes running on {self.path.parent}; "
            f"end them ({f'kill {left}' if left else f'they hold {self.path} open'}) and start again."
        )

    def write(self, pids: list[int]) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.file.write(" ".join(str(pid) for pid in pids))
        self.file.flush()

    def _written(self) -> list[int]:
        self.file.seek(0)
        return [int(word) for word in self.file.read().split() if word.isdigit()] or [0]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return True


# --- what it does --------------------------------------------------------------------------------------------------


class Server(NamedTuple):
    place: Place
    lock: Lock
    signals: Signals


def start(server: Server, name: str, arguments: list[str], log: str) -> Child:
    keep_open = server.lock.file.fileno()
    return Child(name, arguments, folder=ROOT, log=server.place.logs / log, keep_open=keep_open)


def manage(server: Server, *arguments: str) -> str:
    """Run a management command to its end and return what it said; when it fails, that is shown."""
    (server.place.logs / "start.log").unlink(missing_ok=True)
    child = start(server, "preparation", ["manage.py", *arguments], "start.log")
    try:
        while not child.ended:
            server.signals.pause(0.02)
    finally:
        end([child], server.signals)
    said = child.said()
    if child.process.returncode:
        # A sentence of the settings needs no other beside it.
        if (last := said.rpartition("\n")[2]).startswith("litmus: "):
            stop(last.removeprefix("litmus: "))
        say(_conclusion(said))
        stop(f"manage.py {arguments[0]} failed (why is above, all it said in {child.log}).")
    return said


def _conclusion(said: str) -> str:
    """What an output comes to: a traceback's last word, or everything."""
    lines = said.splitlines()
    if not any(line.startswith("Traceback ") for line in lines):
        return said
    last = max(number for number, line in enumerate(lines) if line and not line[0].isspace())
    return "\n".join(lines[last:])


def prepare(server: Server) -> str:
    """Database, pages, demonstration. Returns what there is to tell: the sign-ins, and warnings about settings."""
    say("Preparing the database and the pages …")
    # Beat's notes of its last run are a cache, and one that a kill can leave unreadable.
    for notes in server.place.data.glob("celerybeat-schedule*"):
        notes.unlink(missing_ok=True)
    return manage(server, "prepare", *([] if server.place.demonstration else ["--no-demonstration"]))


def start_web(server: Server) -> Child:
    command = ["-m", "gunicorn", "--config=python:litmus_site.serving", f"--bind={server.place.bind}"]
    return start(server, "web server", [*command, "litmus_site.wsgi"], "web.log")


def start_worker(server: Server) -> Child:
    # One calls judges, one may be at work on a file for hours, and one is left for everything else.
    command = [*CELERY, "worker", "--concurrency=3", "--without-gossip", "--without-mingle", "--loglevel=WARNING"]
    return start(server, "worker", command, "worker.log")


def start_beat(server: Server) -> Child:
    """Beat is a process of its own: inside the worker it would go on for ever when the worker is killed."""
    return start(server, "beat", [*CELERY, "beat", "--loglevel=WARNING"], "beat.log")


def wait_until_ready(server: Server, children: list[Child]) -> None:
    hosts = [host.strip() for host in os.environ.get("LITMUS_ALLOWED_HOSTS", "").split(",") if host.strip()]
    request = urllib.request.Request(f"{server.place.address}readyz")  # noqa: S310 - always http
    if hosts and hosts[0] != "*":
        request.add_header("Host", hosts[0].lstrip("."))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    said = "nothing"
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        stop_if_one_ended(children)
        try:
            with opener.open(request, timeout=5):
                return
        except urllib.error.HTTPError as error:
            said = f"{error.code} {error.read(500).decode(errors='replace')}"
        except OSError as error:
            said = str(error)
        server.signals.pause(0.1)
    say(children[0].tail())
    stop(f"{server.place.address}readyz was not ready within {READY_WITHIN} s ({said}); see {children[0].log}.")


def stop_if_one_ended(children: list[Child]) -> None:
    for child in children:
        if child.ended:
            code = child.process.returncode
            how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
            say(child.tail())
            stop(f"the {child.name} {how}, so everything was stopped; its log is {child.log}.")


def serve(server: Server) -> None:
    place, lock = server.place, server.lock
    adopt_orphans()
    lock.write([os.getpid()])
    told = prepare(server)
    say("Starting the web server and the worker …")
    children: list[Child] = []
    try:
        children.append(start_web(server))
        children.append(start_worker(server))
        children.append(start_beat(server))
        lock.write([os.getpid(), *(child.process.pid for child in children)])
        wait_until_ready(server, children)
        say(f"\nLitmus is at {place.address} (Ctrl-C stops it).")
        if told:
            say(f"\n{told}")
        say(f"\nLogs are in {place.logs}.")
        while True:
            stop_if_one_ended(children)
            server.signals.pause(0.25)
    except Interrupted:
        say("\nStopping: the worker finishes what it holds (a second Ctrl-C does not wait) …")
        raise
    finally:
        end(children, server.signals)


def main() -> None:
    signals = Signals()
    place = Place()
    lock = Lock(place)
    try:
        lock.take(signals)
        place.stop_unless_free()
        if sys.argv[1:] != ["--look"]:
            serve(Server(place, lock, signals))
    except Interrupted:
        say("Stopped.")


if __name__ == "__main__":
    main()
