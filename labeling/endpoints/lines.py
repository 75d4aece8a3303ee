"""The calls to one endpoint: those that wait, those under way, and the time until which all of them wait."""

import asyncio
import heapq
from collections.abc import Callable
from itertools import count
from threading import Lock
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from labeling.endpoints.client import Client
from labeling.endpoints.exchange import Question

# What the caller knows a call by.
Ticket = TypeVar("Ticket")


class Waiting(NamedTuple, Generic[Ticket]):
    """A call that is not sent before a time; of those for the same time, the first that came is the first to go."""

    ready_at: float
    place: int
    ticket: Ticket
    question: Question


class Line(Generic[Ticket]):
    """Two threads put in and take out: whoever calls, and the one whose loop keeps the calls going."""

    def __init__(self, client: Client, concurrency: int) -> None:
        self.client = client
        self.concurrency = concurrency
        self.under_way = 0
        self.closing = False
        # No request is sent before this time: the endpoint asked for it.
        self.held_until = 0.0
        self._lock = Lock()
        self._waiting: list[Waiting[Ticket]] = []
        self._places = count()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def queued(self) -> int:
        return len(self._waiting)

    def put(self, ticket: Ticket, question: Question, delay: float) -> None:
        with self._lock:
            heapq.heappush(self._waiting, Waiting(monotonic() + delay, next(self._places), ticket, question))

    def take_all(self) -> list[Ticket]:
        """The tickets of the calls that were not sent, which now never will be."""
        with self._lock:
            taken, self._waiting = sorted(self._waiting), []
        return [each.ticket for each in taken]

    def take(self) -> Waiting[Ticket] | None:
        """The next call that may go now; it counts as under way from here on, so that it is never in neither count."""
        with self._lock:
            free = self.under_way < self.concurrency and monotonic() >= self.held_until
            if not free or not self._waiting or self._waiting[0].ready_at > monotonic():
                return None
            self.under_way += 1
            return heapq.heappop(self._waiting)

    def hold(self, seconds: float) -> None:
        self.held_until = max(self.held_until, monotonic() + seconds)

    async def released(self) -> None:
        while (seconds := self.held_until - monotonic()) > 0:
            await asyncio.sleep(seconds)

    def wake_when_ready(self, wake: Callable[["Line[Ticket]"], None]) -> None:
        """Where the next call only has to wait for its time, look again then. Only in the loop's thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        with self._lock:
            if not self._waiting or self.under_way >= self.concurrency:
                return
            seconds = max(self._waiting[0].ready_at, self.held_until) - monotonic()
        self._timer = asyncio.get_running_loop().call_later(max(seconds, 0.0), wake, self)
