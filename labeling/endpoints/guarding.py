"""How requests leave: to an address that was looked at, with headers that are written here, and a limit on the answer.

A name is looked up once, what it leads to is checked, and the connection is made to just that: a name that leads
elsewhere a moment later gains nothing. Redirects are answers like any other, and nobody follows them.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import anyio
import httpcore2
import httpx2

from labeling.endpoints.addresses import all_public
from labeling.endpoints.faults import Loss

MOST_BYTES = 2 * 1024 * 1024
# Most servers keep a connection that nobody uses for five seconds.
_KEPT_SECONDS = 4.0

Lookup = Callable[[str, int], Awaitable[list[str]]]


class PrivateAddress(Exception):
    """The name leads into a network that is not everybody's."""


class NoConnection(Exception):
    """None came about, or it did not last until the answer was whole."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self.loss = loss


class TooLong(Exception):
    """The answer is longer than any that a judge gives, or packed so that its length cannot be known."""


async def look_up(host: str, port: int) -> list[str]:
    """The addresses behind a name, in the order in which the system would try them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class Guard(httpcore2.AnyIOBackend):
    """Makes connections only to what is public."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._lookup(host, port)
        except TimeoutError:
            raise httpcore2.ConnectTimeout from None
        except (OSError, UnicodeError) as error:
            # The second: a name that no name can be, with an empty part or one that is too long.
            raise httpcore2.ConnectError from error
        if not addresses or not all_public(addresses):
            raise PrivateAddress
        for address in addresses[:-1]:
            try:
                return await super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await super().connect_tcp(addresses[-1], port, timeout, local_address, socket_options)


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """Who may vouch for an endpoint: the system's authorities, or those in SSL_CERT_FILE. Read once: it takes long."""
    return httpx2.create_ssl_context()


class GuardedTransport(httpx2.AsyncBaseTransport):
    """The way out for one endpoint. Of the headers that a client library adds, none is sent.

    Connections are kept in a list of our own: how many are open is the caller's to say, and the library's pool looks at
    every one of them twice a call, which was a third of what a call cost.
    """

    def __init__(self, *, key: str = "", trusted: bool = False, lookup: Lookup = look_up) -> None:
        self._backend = httpcore2.AnyIOBackend() if trusted else Guard(lookup)
        self._idle: list[httpcore2.AsyncHTTPConnection] = []
        self._headers = [
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"identity"),
            (b"Content-Type", b"application/json"),
            (b"User-Agent", b"litmus"),
        ]
        if key:
            self._headers.append((b"Authorization", b"Bearer " + key.encode()))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        outgoing = self._outgoing(request)
        connection = await self._connection(outgoing.url.origin)
        steps = _Steps()
        if not connection.is_connected():
            outgoing.extensions["trace"] = steps
        try:
            response = await connection.handle_async_request(outgoing)
            body = await _read(response)
        except (
            httpcore2.ConnectTimeout,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            OSError,
            anyio.EndOfStream,
        ) as error:
            # The last two are what is left of a failed handshake.
            raise NoConnection(steps.loss(error)) from None
        finally:
            await self._keep(connection)
        return httpx2.Response(response.status, headers=response.headers, content=body)

    def _outgoing(self, request: httpx2.Request) -> httpcore2.Request:
        url, body = request.url, request.content
        host = (b"Host", request.headers["Host"].encode())
        return httpcore2.Request(
            request.method,
            httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=[host, *self._headers, (b"Content-Length", str(len(body)).encode())],
            content=body,
            extensions=dict(request.extensions),
        )

    # --- connections ---------------------------------------------------------------------------------------------

    async def _connection(self, origin: httpcore2.Origin) -> httpcore2.AsyncHTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_available() and not connection.has_expired() and connection.can_handle_request(origin):
                return connection
            await connection.aclose()
        return httpcore2.AsyncHTTPConnection(
            origin, ssl_context=certificates(), keepalive_expiry=_KEPT_SECONDS, network_backend=self._backend
        )

    async def _keep(self, connection: httpcore2.AsyncHTTPConnection) -> None:
        if connection.is_available():
            self._idle.append(connection)
        else:
            await connection.aclose()

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()


class _Steps:
    """How far a new connection has come, which tells why it went no further."""

    def __init__(self) -> None:
        self._last = ""

    async def __call__(self, step: str, _: dict[str, Any]) -> None:
        self._last = step

    def loss(self, error: Exception) -> Loss:
        met = set(map(type, _behind(error)))
        if "connect_tcp" in self._last:
            if met & {socket.gaierror, UnicodeError, UnicodeEncodeError}:
                return Loss.NAME
            return Loss.REFUSED if ConnectionRefusedError in met else Loss.UNREACHED
        if "start_tls" in self._last:
            return Loss.CERTIFICATE if ssl.SSLCertVerificationError in met else Loss.TLS
        return Loss.DROPPED


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that led to it."""
    while error is not None:
        yield error
        for each in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
            yield from _behind(each)
        error = error.__cause__ or error.__context__


async def _read(response: httpcore2.Response) -> bytes:
    try:
        if any(name.lower() == b"content-encoding" and value != b"identity" for name, value in response.headers):
            raise TooLong
        body = bytearray()
        async for chunk in response.aiter_stream():
            body += chunk
            if len(body) > MOST_BYTES:
                raise TooLong
        return bytes(body)
    finally:
        await response.aclose()
