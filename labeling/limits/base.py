"""What may be sent to an endpoint and when, for all workers together: calls and tokens a minute, calls at once.

Written here because no well-kept library books calls of different weights both in Redis and in a database.
"""

from dataclasses import dataclass
from typing import Protocol, Self

from labeling.errors import Unavailable

# Seconds ahead for which a call may be booked: a worker must not take an hour of a limit and die.
AHEAD = 30.0
_MINUTE = 60.0
# No booking reaches further than this, so what does stems from a clock that was set back since.
FURTHEST = AHEAD + _MINUTE


class LimitsUnavailable(Unavailable):
    """Nobody can say now what may be sent. Send nothing, and ask again later."""


class Limits(Protocol):
    """Kept outside of the workers, and so for all of them. Each step is atomic, and each may raise LimitsUnavailable.

    Keys are our own words, such as `judge:12:requests`.
    """

    def reserve(self, key: str, *, per_minute: int, amount: int = 1, count: int = 1) -> list[float]:
        """Book so many calls of this amount each: in how many seconds each may be sent, the first one first.

        Only what may be sent within AHEAD is booked, so fewer than asked for may come back, or none. No stretch of
        s seconds gets more than s / 60 of the limit and a burst: a tenth of the limit, or one call that is above that.
        """

    def give_back(self, key: str, *, per_minute: int, amount: int = 1, count: int = 1) -> None:
        """These booked calls are not sent after all. Say so at once, and of those that were to be sent last."""

    def hold(self, key: str, holder: str, *, want: int, limit: int, seconds: float) -> int:
        """How many of the limit's calls at once are this holder's, for so many seconds from now.

        Asking again renews them, and changes their number to what is wanted and left by the others now. A holder that
        died loses its own when they lapse. After the limit was lowered it holds once everybody has asked again.
        """

    def let_go(self, key: str, holder: str) -> None:
        """The holder makes no more calls."""


@dataclass(frozen=True, slots=True)
class Pace:
    """A limit as seconds. cost: what a call takes of it. early: how long before its turn the burst lets it go."""

    cost: float
    early: float

    @classmethod
    def of(cls, per_minute: int, amount: int) -> Self:
        """A call above the limit would never fit: it goes when nothing else is booked, and has a minute to itself."""
        every = _MINUTE / per_minute
        burst = max(1, per_minute // 10)
        return cls(cost=every * min(amount, per_minute), early=every * (burst - min(amount, burst)))


def book(*, used_until: float, now: float, pace: Pace, count: int) -> tuple[list[float], float]:
    """The generic cell rate algorithm: the waits that fit, and until when the limit is used up after them.

    `redis_limits` says the same in Lua.
    """
    waits: list[float] = []
    turn = min(max(used_until, now), now + FURTHEST)
    while len(waits) < count and turn - pace.early <= now + AHEAD:
        waits.append(max(turn - pace.early - now, 0.0))
        turn += pace.cost
    return waits, turn
