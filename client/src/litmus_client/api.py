"""The service over HTTP: one request, tried again where that is worth it, and its errors as exceptions."""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from litmus_client.errors import LitmusError, ServiceError, Unreachable, error_of
from litmus_client.patience import TOO_MANY, Patience, is_passing, retry_after

DEFAULT_URL = "http://127.0.0.1:8000"
NDJSON = "application/x-ndjson"
Query = Mapping[str, str | int | None]
_TIMEOUT = httpx.Timeout(120, connect=10)
# An address at which nobody ever answered is more likely wrong than busy.
_TRIES_BEFORE_THE_FIRST_ANSWER = 3


class Api:
    """Every request here may be repeated: the service recognises what it has.

    url, key and project default to LITMUS_URL, LITMUS_KEY and LITMUS_PROJECT. notice hears of each pause.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        project: str | None = None,
        *,
        patience: Patience | None = None,
        notice: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        self.url = (url or os.environ.get("LITMUS_URL") or DEFAULT_URL).rstrip("/")
        self._project = project or os.environ.get("LITMUS_PROJECT") or None
        self._patience = patience or Patience()
        self._notice = notice
        self._answered = False
        self._ahead = timedelta()
        key = key or os.environ.get("LITMUS_KEY")
        if not key:
            raise LitmusError("No runner key: give --key or set LITMUS_KEY; a lead makes one on the People page.")
        try:
            self._http = httpx.Client(
                base_url=f"{self.url}/api/v1/", headers={"Authorization": f"Bearer {key}"}, timeout=_TIMEOUT
            )
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            raise LitmusError(f"The address or the key cannot be used: {error}.") from None

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, query: Query | None = None) -> Any:
        return _value(self.send("GET", path, query=query))

    def post(self, path: str, value: Any = None, *, query: Query | None = None) -> Any:
        content = b"" if value is None else encoded(value)
        headers = {"Content-Type": "application/json"}
        return _value(self.send("POST", path, query=query, content=content, headers=headers))

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The answer, once there is a good one. Raises ServiceError or Unreachable."""
        params = {
            name: value for name, value in {"project": self._project, **(query or {})}.items() if value is not None
        }
        tried, waited = 0, 0.0
        while True:
            tried += 1
            trouble, asked = self._once(method, path, params=params, content=content, headers=headers)
            if isinstance(trouble, httpx.Response):
                return trouble
            if isinstance(trouble, ServiceError) and trouble.status == TOO_MANY:
                # Who says when to come back is working; that is no failed try.
                tried -= 1
                pause = asked if asked is not None else self._patience.pause(1)
                waited += max(pause, 0.01)
                if waited > self._patience.busy_seconds:
                    raise trouble
            elif tried >= self._tries():
                raise trouble
            else:
                pause = max(asked or 0.0, self._patience.pause(tried))
            self._notice(f"{trouble} Trying again in {pause:.0f} s.")
            time.sleep(pause)

    def lines(self, path: str) -> Iterator[Any]:
        """An NDJSON answer, line by line."""
        with self._streamed(path) as response:
            for line in response.iter_lines():
                if line.strip():
                    yield json.loads(line)

    def now(self) -> datetime:
        """The time by the service's clock, as far as it told."""
        return datetime.now(UTC) + self._ahead

    def _tries(self) -> int:
        return self._patience.tries if self._answered else min(self._patience.tries, _TRIES_BEFORE_THE_FIRST_ANSWER)

    def _once(
        self, method: str, path: str, *, params: Any, content: bytes, headers: Mapping[str, str] | None
    ) -> tuple[httpx.Response | ServiceError | Unreachable, float | None]:
        """A good answer, or what is wrong for now and for how long. Raises what will not pass."""
        try:
            response = self._http.request(method, path, params=params, content=content, headers=headers)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise LitmusError(f"{self.url} is no address of a service: it begins with http:// or https://.") from None
        except httpx.TransportError as error:
            return Unreachable(f"{self.url} does not answer ({type(error).__name__}): is the service running?"), None
        self._hear(response)
        if response.is_success:
            return response, None
        trouble = error_of(response)
        if not is_passing(response.status_code):
            raise trouble
        return trouble, retry_after(response.headers)

    @contextmanager
    def _streamed(self, path: str) -> Iterator[httpx.Response]:
        try:
            with self._http.stream("GET", path) as response:
                if not response.is_success:
                    response.read()
                    raise error_of(response)
                yield response
        except httpx.TransportError as error:
            raise Unreachable(f"{self.url} stopped answering ({type(error).__name__}).") from None

    def _hear(self, response: httpx.Response) -> None:
        self._answered = True
        if given := response.headers.get("Date"):
            try:
                self._ahead = parsedate_to_datetime(given) - datetime.now(UTC)
            except (TypeError, ValueError):
                return


def encoded(value: Any) -> bytes:
    """JSON in ASCII: NaN, NUL and lone surrogates arrive as they are."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _value(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except ValueError:
        where = f"HTTP {response.status_code} from {response.request.url.copy_with(query=None)}"
        raise ServiceError(f"{where}, and no JSON: is --url right?", status=response.status_code) from None
