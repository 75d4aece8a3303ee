"""An OpenAI-compatible endpoint: one request, at the pace it allows, tried again where that may help."""

import json
import threading
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx

from litmus_client.api import encoded
from litmus_client.errors import Json, LitmusError
from litmus_client.patience import TOO_MANY, Patience, is_passing, retry_after

FILTERED = "content_filter"
_FILTER_CODES = {FILTERED, "content_policy_violation"}
# About the key or the address, not about what was asked.
_ABOUT_THE_CALLER = {401, 402, 404, 405}
_SHOWN = 4000


class Reply(NamedTuple):
    """message: as it came; None where a filter left nothing. metadata: everything else that came."""

    message: Json | None
    stop_reason: str
    model: str
    metadata: Json


class Failure(Exception):
    """No reply. is_of_case: the endpoint refused this request; else it may be down for every one."""

    def __init__(self, error: Json, *, is_of_case: bool, passing: bool = False, wait: float | None = None) -> None:
        super().__init__(str(error.get("message") or error))
        self.error = error
        self.is_of_case = is_of_case
        self.passing = passing
        self.wait = wait


class Stopped(Exception):
    """Somebody wants to end; this request was not made."""


class Pace:
    """At most so many requests a minute over all threads, and none while the endpoint asks for a rest."""

    def __init__(self, a_minute: float | None, stop: threading.Event) -> None:
        self._gap = 60 / a_minute if a_minute else 0.0
        self._stop = stop
        self._lock = threading.Lock()
        self._next = 0.0

    def take(self) -> None:
        with self._lock:
            moment = max(self._next, time.monotonic())
            self._next = moment + self._gap
        self.rest(moment - time.monotonic())

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)

    def rest(self, seconds: float) -> None:
        if self._stop.wait(max(0.0, seconds)):
            raise Stopped


@dataclass(frozen=True, slots=True)
class Endpoint:
    """settings: what goes with every request beside the messages: model, temperature and the like."""

    http: httpx.Client
    url: str
    settings: Json
    pace: Pace
    patience: Patience

    def ask(self, messages: list[Json]) -> Reply:
        """Raises Failure when it is of no use to try on, Stopped when somebody wants to end."""
        content = encoded({**self.settings, "messages": messages})
        tried, waited = 0, 0.0
        while True:
            self.pace.take()
            tried += 1
            try:
                return self._once(content)
            except Failure as failure:
                if not failure.passing:
                    raise
                pause = max(failure.wait or 0.0, self.patience.pause(tried))
                if failure.error.get("status") == TOO_MANY:
                    waited += pause
                    self.pace.hold(pause)
                    tried -= 1
                if tried >= self.patience.tries or waited > self.patience.busy_seconds:
                    raise
            self.pace.rest(pause)

    def _once(self, content: bytes) -> Reply:
        try:
            response = self.http.post(self.url, content=content, headers={"Content-Type": "application/json"})
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise LitmusError(f"{self.url} is no address: --base-url begins with http:// or https://.") from None
        except httpx.TransportError as error:
            kind = "timeout" if isinstance(error, httpx.TimeoutException) else "connection"
            what = {"kind": kind, "message": type(error).__name__}
            raise Failure(what, is_of_case=False, passing=True) from None
        value = _json(response)
        if response.is_success:
            return _reply(value, response)
        if reply := _filtered(value):
            return reply
        status = response.status_code
        raise Failure(
            {"kind": "http", "status": status, "message": f"HTTP {status}", "body": _body(value, response)},
            is_of_case=not is_passing(status) and status not in _ABOUT_THE_CALLER,
            passing=is_passing(status),
            wait=retry_after(response.headers),
        )


def address(base_url: str) -> str:
    """Where completions are asked for; what stands behind a question mark stays there."""
    base, mark, query = base_url.partition("?")
    base = base.rstrip("/")
    return (base if base.endswith("/chat/completions") else f"{base}/chat/completions") + mark + query


def _json(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return None


def _reply(value: Any, response: httpx.Response) -> Reply:
    choices = value.get("choices") if isinstance(value, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not (isinstance(choice.get("message"), dict) or choice.get("finish_reason")):
        error = {"kind": "broken", "message": "no chat completion", "body": _body(value, response)}
        raise Failure(error, is_of_case=False, passing=True)
    message = choice.get("message")
    return Reply(
        message=message if isinstance(message, dict) else None,
        stop_reason=_word(choice.get("finish_reason")),
        model=_word(value.get("model")),
        metadata={
            "response": {name: each for name, each in value.items() if name != "choices"},
            "choice": {name: each for name, each in choice.items() if name != "message"},
        },
    )


def _filtered(value: Any) -> Reply | None:
    """Some endpoints answer with an error when their filter stops a request. That is an outcome, no error."""
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, dict) and error.get("code") in _FILTER_CODES:
        return Reply(message=None, stop_reason=FILTERED, model="", metadata={"response": value})
    return None


def _word(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _body(value: Any, response: httpx.Response) -> Any:
    """What came instead, for the trajectory's error: JSON as it is, other text cut."""
    return response.text[:_SHOWN] if value is None else value
