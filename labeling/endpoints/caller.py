"""Many calls at once, for somebody who does one thing at a time.

A thread of its own keeps the calls of every line going, also while whoever asked for them is busy with a database.
"""

import asyncio
import queue
import random
import threading
from collections.abc import Coroutine, Hashable
from contextlib import suppress
from types import TracebackType
from typing import Any, Generic, Self

from labeling.endpoints.client import Client
from labeling.endpoints.exchange import Address, Answer, Broken, Outcome, Question
from labeling.endpoints.guarding import Lookup, look_up
from labeling.endpoints.lines import Line, Ticket, Waiting
from labeling.endpoints.retrying import Again, Pace, Tries, after
from labeling.errors import told


class Caller(Generic[Ticket]):
    """Calls are queued on a line, which is one endpoint as one judge calls it, and come back as results.

    A call is in the count of the queued, then of those under way, then among the results. Leaving the block ends what
    is under way without a result.
    """

    def __init__(self, *, pace: Pace | None = None, lookup: Lookup = look_up) -> None:
        self._pace = pace or Pace()
        self._lookup = lookup
        self._lines: dict[Hashable, Line[Ticket]] = {}
        self._back: queue.SimpleQueue[tuple[Ticket, Outcome]] = queue.SimpleQueue()
        self._clients: set[Client] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="calls to endpoints", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # --- lines ---------------------------------------------------------------------------------------------------

    def open_line(self, line: Hashable, *, address: Address, concurrency: int, timeout: float) -> None:
        """timeout: seconds for one sending. concurrency: calls at once; 0 holds them back."""
        if line in self._lines:
            raise ValueError("The line is open already; close it before it is opened in another way.")
        client = Client(address, timeout=timeout, lookup=self._lookup)
        self._clients.add(client)
        self._lines[line] = Line(client, concurrency)

    def set_concurrency(self, line: Hashable, concurrency: int) -> None:
        """Of more calls than that under way, none is broken off."""
        self._lines[line].concurrency = concurrency
        self._wake(self._lines[line])

    def close_line(self, line: Hashable) -> list[Ticket]:
        """As `abandon`; the name is free, and the connections end with the last call under way."""
        closed = self._lines.pop(line, None)
        if closed is None:
            return []
        tickets = closed.take_all()
        closed.closing = True
        self._wake(closed)
        return tickets

    # --- calls ---------------------------------------------------------------------------------------------------

    def submit(self, ticket: Ticket, *, line: Hashable, question: Question, delay: float = 0.0) -> None:
        """Queue a call; it is not sent before `delay` seconds have passed."""
        self._lines[line].put(ticket, question, delay)
        self._wake(self._lines[line])

    def results(self, *, wait: float) -> list[tuple[Ticket, Outcome]]:
        """What has come back, in the order in which it did; at most `wait` seconds are spent on the first."""
        came: list[tuple[Ticket, Outcome]] = []
        with suppress(queue.Empty):
            came.append(self._back.get(timeout=wait) if wait > 0 else self._back.get_nowait())
            while True:
                came.append(self._back.get_nowait())
        return came

    def abandon(self, line: Hashable) -> list[Ticket]:
        """Take out the calls that were not sent yet. Those under way come back as results."""
        return self._lines[line].take_all() if line in self._lines else []

    def in_flight(self, line: Hashable) -> int:
        """Calls under way, those among them that wait for another try."""
        return self._lines[line].under_way if line in self._lines else 0

    def queued(self, line: Hashable) -> int:
        return self._lines[line].queued if line in self._lines else 0

    # --- in the thread of the loop -------------------------------------------------------------------------------

    def _wake(self, line: Line[Ticket]) -> None:
        self._loop.call_soon_threadsafe(self._fill, line)

    def _fill(self, line: Line[Ticket]) -> None:
        while (call := line.take()) is not None:
            self._start(self._call(line, call))
        line.wake_when_ready(self._fill)
        if line.closing and not line.under_way:
            self._start(self._close(line.client))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        # The loop itself only remembers tasks weakly.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, line: Line[Ticket], call: Waiting[Ticket]) -> None:
        try:
            outcome = await self._outcome(line, call.question)
        except Exception as error:
            outcome = Broken(told(error))
        self._back.put((call.ticket, outcome))
        line.under_way -= 1
        self._fill(line)

    async def _outcome(self, line: Line[Ticket], question: Question) -> Outcome:
        tries = Tries(self._pace)
        while True:
            await line.released()
            came = await line.client.send(question)
            if isinstance(came, Answer):
                return came
            step = after(came, tries)
            if not isinstance(step, Again):
                return step
            if step.all_wait:
                line.hold(step.seconds)
            else:
                await asyncio.sleep(step.seconds * random.uniform(0.75, 1.25))

    # --- the end -------------------------------------------------------------------------------------------------

    async def _stop(self) -> None:
        others = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for client in list(self._clients):
            await self._close(client)
        await self._loop.shutdown_asyncgens()

    async def _close(self, client: Client) -> None:
        await client.aclose()
        self._clients.discard(client)
