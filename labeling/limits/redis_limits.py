"""Limits in Redis: each step is one script, which Redis runs alone and by its own clock. Keys lapse by themselves.

A flushed Redis forgets what was booked: one burst too many, and calls at once that are right when all have asked again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from labeling.limits.base import AHEAD, FURTHEST, LimitsUnavailable, Pace

# Of our keys in a Redis that others may use too.
PREFIX = "litmus"

_NOW = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
"""
# labeling.limits.base.book in Lua.
_RESERVE = f"""{_NOW}
local cost, early, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local turn = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or now), now), now + {FURTHEST})
local waits = {{}}
while #waits < count and turn - early <= now + {AHEAD} do
    waits[#waits + 1] = string.format('%.6f', math.max(turn - early - now, 0))
    turn = turn + cost
end
redis.call('SET', KEYS[1], turn, 'PX', math.ceil((turn - now) * 1000) + 1)
return waits
"""
_GIVE_BACK = """
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('INCRBYFLOAT', KEYS[1], '-' .. ARGV[1]) end
"""
# A hash: holder to "slots until".
_HOLD = f"""{_NOW}
local holder, want, limit, seconds = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local left, last = limit, now + seconds
local held = redis.call('HGETALL', KEYS[1])
for i = 1, #held, 2 do
    local slots, till = string.match(held[i + 1], '(%S+) (%S+)')
    if tonumber(till) <= now then
        redis.call('HDEL', KEYS[1], held[i])
    elseif held[i] ~= holder then
        left, last = left - slots, math.max(last, tonumber(till))
    end
end
local mine = math.max(math.min(want, left), 0)
redis.call('HDEL', KEYS[1], holder)
if mine > 0 then
    redis.call('HSET', KEYS[1], holder, string.format('%d %.6f', mine, now + seconds))
end
redis.call('PEXPIRE', KEYS[1], math.ceil((last - now) * 1000) + 1)
return mine
"""
_CONNECT_SECONDS, _ANSWER_SECONDS = 3, 3


class RedisLimits:
    def __init__(self, url: str) -> None:
        # Once more at once, for a connection that a restart has cut; to wait for Redis is the caller's business.
        retry = Retry(NoBackoff(), 1)
        self._redis = Redis.from_url(
            url, socket_connect_timeout=_CONNECT_SECONDS, socket_timeout=_ANSWER_SECONDS, retry=retry
        )
        self._reserve = self._redis.register_script(_RESERVE)
        self._give_back = self._redis.register_script(_GIVE_BACK)
        self._hold = self._redis.register_script(_HOLD)

    def reserve(self, key: str, *, per_minute: int, amount: int = 1, count: int = 1) -> list[float]:
        pace = Pace.of(per_minute, amount)
        with _answering():
            waits: Any = self._reserve(keys=[_rate(key)], args=[pace.cost, pace.early, count])
        return [float(wait) for wait in waits]

    def give_back(self, key: str, *, per_minute: int, amount: int = 1, count: int = 1) -> None:
        with _answering():
            self._give_back(keys=[_rate(key)], args=[f"{Pace.of(per_minute, amount).cost * count:.6f}"])

    def hold(self, key: str, holder: str, *, want: int, limit: int, seconds: float) -> int:
        with _answering():
            return cast("int", self._hold(keys=[_slots(key)], args=[holder, want, limit, seconds]))

    def let_go(self, key: str, holder: str) -> None:
        with _answering():
            self._redis.hdel(_slots(key), holder)


def _rate(key: str) -> str:
    return f"{PREFIX}:rate:{key}"


def _slots(key: str) -> str:
    return f"{PREFIX}:slots:{key}"


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise LimitsUnavailable(
            "Redis keeps the limits of judges and does not answer; see that it runs. No call is made until it does."
        ) from error
