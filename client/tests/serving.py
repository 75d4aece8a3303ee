"""A small HTTP server on a thread, whose answers a test decides."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from zlib import MAX_WBITS, decompress


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """value: bytes go as they are, anything else as JSON. hang_up: close the connection instead of answering."""

    status: int = 200
    value: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False


def error(status: int, code: str, message: str = "Do it otherwise.", **details: Any) -> Answer:
    """An error in the service's shape."""
    return Answer(status, {"error": {"code": code, "message": message, "details": details}})


@contextmanager
def serving(answer: Callable[[Asked], Answer]) -> Iterator[str]:
    """The address of a server that answers so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if self.headers.get("Content-Encoding") == "gzip":
                body = decompress(body, MAX_WBITS | 16)
            url = urlsplit(self.path)
            given = answer(Asked(self.command, url.path, dict(parse_qsl(url.query)), dict(self.headers), body))
            if given.hang_up:
                self.close_connection = True
                return
            content = given.value if isinstance(given.value, bytes) else json.dumps(given.value).encode()
            self.send_response(given.status)
            for name, value in {"Content-Length": str(len(content)), **given.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PATCH = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            return None

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that went away is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
