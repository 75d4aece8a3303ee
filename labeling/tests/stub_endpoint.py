"""An endpoint for tests: a real server that speaks the OpenAI routes and a plain one, and does what a script says.

As a process of its own, for workers and benchmarks: `python -m labeling.tests.stub_endpoint --port 0 --delay 1.0`
prints its port. GET /count answers how often it was asked.

A rubric judge takes an answer only if it carries the code of its call, so give the stub both
`--echo 'The code of this call is (\\w+)'` and an `--answer` with every field of the scale, of the default one:
`{"call": "{echo}", "rationale": "Made up.", "evidence": [], "harm_grade": 0, "explained": true,
"alternative_offered": false, "withheld": null, "decision": "refusal"}`. An empty `evidence` claims no quote.
"""

import argparse
import asyncio
import json
import re
import ssl
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Reply:
    """What the stub does with one request.

    document: instead of what the route would answer. raw: bytes instead of JSON. drops: the connection, before the
    answer ("at_once"), half way through it ("half_way") or behind it ("after").
    """

    text: str | None = "yes"
    status: int = 200
    delay: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    refusal: str | None = None
    finish_reason: str = "stop"
    input_tokens: int = 100
    output_tokens: int = 5
    document: Any = None
    raw: bytes | None = None
    drops: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What came. number: of the request, from 0. at: when, on the clock of `time.monotonic`."""

    number: int
    at: float
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw) if self.raw else None

    @property
    def prompt(self) -> str:
        """All that is sent to the model, as one text."""
        if not isinstance(self.body, dict):
            return ""
        messages = self.body.get("messages") or [{"content": self.body.get("prompt") or ""}]
        return "\n".join(str(message.get("content") or "") for message in messages)


Script = Callable[[Request], Reply]


def in_turn(*replies: Reply) -> Script:
    """The first request gets the first reply, and so on; the last is for all that follow."""
    return lambda request: replies[min(request.number, len(replies) - 1)]


class StubEndpoint:
    """Used as a context manager, it serves in a thread. key: what is counted apart, a pattern found in the prompt."""

    def __init__(
        self, script: Script | Reply | None = None, *, port: int = 0, key: str = "", tls: ssl.SSLContext | None = None
    ) -> None:
        self._script: Script = script if callable(script) else in_turn(script or Reply())
        self._key = re.compile(key) if key else None
        self._tls = tls
        self.port = port
        self.requests: list[Request] = []
        self.keeps_requests = True
        self.calls = 0
        self.by_key: Counter[str] = Counter()
        self.at_once = 0
        self.most_at_once = 0
        self.connections = 0
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()

    @property
    def root(self) -> str:
        return f"https://localhost:{self.port}" if self._tls else f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base address, as clients of OpenAI's routes know it."""
        return f"{self.root}/v1"

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self.requests]

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._talk, "127.0.0.1", self.port, backlog=512, limit=1 << 26, ssl=self._tls
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    # --- one connection ------------------------------------------------------------------------------------------

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._talks.discard(talk)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; does the connection stay?"""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        if path == "/count":
            writer.write(_packed(Reply(document=self._counts()), {}))
            return True
        request = Request(self.calls, monotonic(), method, path, headers, raw)
        reply = self._count(request)
        try:
            if reply.delay:
                await asyncio.sleep(reply.delay)
        finally:
            self.at_once -= 1
        if reply.drops == "at_once":
            return False
        answer = _packed(reply, _document(request, reply))
        writer.write(answer[: len(answer) // 2] if reply.drops == "half_way" else answer)
        await writer.drain()
        return not reply.drops

    def _count(self, request: Request) -> Reply:
        self.calls += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        if self.keeps_requests:
            self.requests.append(request)
        if self._key is not None and (found := self._key.search(request.prompt)):
            self.by_key[found[0]] += 1
        return self._script(request)

    def _counts(self) -> dict[str, Any]:
        return {"calls": self.calls, "by_key": self.by_key, "at_once": self.at_once, "most_at_once": self.most_at_once}


def _document(request: Request, reply: Reply) -> Any:
    """What the route answers."""
    usage = {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
    answer: dict[str, Any] = {"id": f"stub-{request.number}", "created": 0, "model": "stub", "usage": usage}
    choice: dict[str, Any] = {"index": 0, "finish_reason": reply.finish_reason, "logprobs": None}
    if request.path.endswith("/chat/completions"):
        choice["message"] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
        return answer | {"object": "chat.completion", "choices": [choice]}
    if request.path.endswith("/completions"):
        return answer | {"object": "text_completion", "choices": [choice | {"text": reply.text}]}
    return {"text": reply.text}


def _packed(reply: Reply, document: Any) -> bytes:
    body = reply.raw
    if body is None:
        body = json.dumps(document if reply.document is None else reply.document).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))} | reply.headers
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.status} Stub\r\n{head}\r\n".encode("latin-1") + body


# --- as a process ----------------------------------------------------------------------------------------------------


def echoing(answer: str, *, echo: str, delay: float) -> Script:
    """Where `echo` finds something in the prompt, its first group stands for {echo} in the answer."""
    pattern = re.compile(echo) if echo else None

    def script(request: Request) -> Reply:
        found = pattern.search(request.prompt) if pattern else None
        return Reply(answer.replace("{echo}", found[1]) if found else answer, delay=delay)

    return script


async def _serve(stub: StubEndpoint) -> None:
    await stub.start()
    sys.stdout.write(f"{stub.port}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="A judge's endpoint that answers everything in the same way.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--answer", default="yes", help="what each answer says; {echo} stands for what --echo found")
    parser.add_argument("--echo", default="", help="a pattern with a group, looked for in the prompt")
    parser.add_argument("--key", default="", help="a pattern looked for in the prompt; calls are counted by it")
    given = parser.parse_args(list(arguments) if arguments is not None else None)
    script = echoing(given.answer, echo=given.echo, delay=given.delay)
    stub = StubEndpoint(script, port=given.port, key=given.key)
    stub.keeps_requests = False
    asyncio.run(_serve(stub))


if __name__ == "__main__":
    main()
