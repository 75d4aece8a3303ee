"""One endpoint and how a request is sent to it: once, and what came back as a value."""

import asyncio
import json
import logging
from time import monotonic
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI

from labeling.endpoints.exchange import Address, Answer, Question, Route
from labeling.endpoints.faults import Fault, Forbidden, Late, Loss, Lost, Unreadable
from labeling.endpoints.guarding import GuardedTransport, Lookup, NoConnection, PrivateAddress, TooLong, look_up
from labeling.endpoints.replies import answer_of, fault_of

# They write addresses at INFO, and OPENAI_LOG would let them write more.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)

_PATHS = {Route.CHAT: "/chat/completions", Route.COMPLETION: "/completions"}
# Where no connection comes about within this, or half the time there is, nobody was asked: that is no slow answer.
_CONNECT_SECONDS = 5.0


class Client:
    """Keeps its connections between calls. timeout: seconds for a whole sending, from the first byte to the last."""

    def __init__(self, address: Address, *, timeout: float, lookup: Lookup = look_up) -> None:
        self._url = address.base_url
        self._place = address.place
        self._timeout = timeout
        transport = GuardedTransport(key=address.key, trusted=address.trusted, lookup=lookup)
        waits = httpx2.Timeout(None, connect=min(timeout / 2, _CONNECT_SECONDS))
        self._http = httpx2.AsyncClient(transport=transport, timeout=waits, trust_env=False, follow_redirects=False)
        # The transport writes all headers, the key among them: of what the library finds in the environment nothing is
        # sent.
        self._openai = AsyncOpenAI(
            api_key="unused", base_url=address.base_url, timeout=waits, max_retries=0, http_client=self._http
        )

    async def send(self, question: Question) -> Answer | Fault:
        started = monotonic()
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._post(question)
        except TimeoutError:
            return Late()
        except NoConnection as error:
            return Lost(error.loss, self._place)
        except (APIConnectionError, httpx2.TransportError):
            return Lost(Loss.DROPPED, self._place)
        except PrivateAddress:
            return Forbidden()
        except TooLong:
            return Unreadable("the answer is over 2 MB or packed")
        if not response.is_success:
            return fault_of(response.status_code, response.headers, response.content)
        return answer_of(question.route, response.content, latency_ms=round((monotonic() - started) * 1000))

    async def _post(self, question: Question) -> httpx2.Response:
        body = packed(question.body)
        path = _PATHS.get(question.route)
        if path is None:
            return await self._http.post(self._url, content=body)
        try:
            return await self._openai.post(path, cast_to=httpx2.Response, content=body)
        except APIStatusError as error:
            return error.response

    async def aclose(self) -> None:
        await self._http.aclose()


def packed(body: dict[str, Any]) -> bytes:
    """The JSON that is sent. A lone surrogate, which UTF-8 cannot hold, becomes the replacement character."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
