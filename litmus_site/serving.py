"""How gunicorn serves: `gunicorn --config python:litmus_site.serving --bind HOST:PORT litmus_site.wsgi`."""

import gc
from typing import Any

from django.urls import get_resolver
from gunicorn.glogging import Logger

from litmus_site.logs import QuietFormatter

workers = 2
worker_class = "gthread"
threads = 4
# One copy of the code in memory; nothing opens a connection before the fork.
preload_app = True
timeout = 120
graceful_timeout = 5
control_socket_disable = True
SILENT_SECONDS = 60
accesslog = "-"
# The path without its query: nothing that somebody typed.
access_log_format = "%(t)s %(h)s %(m)s %(U)s %(s)s %(B)s bytes %(M)s ms"


class AccessLog(Logger):  # type: ignore[misc]
    """The path of an invitation is its secret, and what went wrong is told as everywhere: without anybody's text."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(QuietFormatter(self.error_fmt, self.datefmt))

    def atoms(self, *arguments: Any) -> dict[str, Any]:
        atoms: dict[str, Any] = super().atoms(*arguments)
        return {**atoms, "U": "/join/…/"} if str(atoms["U"]).startswith("/join/") else atoms

    def warning(self, msg: str, *args: Any, **kwargs: Any) -> None:
        # It quotes what is no request: the rest of a body, where Content-Length was too small.
        cut = msg.partition(": ")[0] if msg.startswith("Invalid request from") else msg
        super().warning(cut, *args, **kwargs)

    def exception(self, msg: str, *args: Any, **kwargs: Any) -> None:
        super().exception(msg, *(str(each).partition("?")[0] for each in args), **kwargs)


logger_class = AccessLog


def pre_request(_worker: object, request: Any) -> None:
    """A client that falls silent in the middle of a body, or takes nothing of an answer, keeps no thread for ever."""
    request.unreader.sock.settimeout(SILENT_SECONDS)


def when_ready(_arbiter: object) -> None:
    """Before the fork: load what each worker would load at its first request, and keep it shared."""
    assert get_resolver().url_patterns
    gc.freeze()
