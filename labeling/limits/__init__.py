"""Limits that all workers share: in Redis, or in the database where there is no Redis."""

from functools import lru_cache

from django.conf import settings

from labeling.limits.base import AHEAD, Limits, LimitsUnavailable
from labeling.limits.database_limits import DatabaseLimits
from labeling.limits.redis_limits import RedisLimits

__all__ = ["AHEAD", "Limits", "LimitsUnavailable", "limits"]


def limits() -> Limits:
    return _in_redis(settings.REDIS_URL) if settings.REDIS_URL else DatabaseLimits()


@lru_cache(maxsize=4)
def _in_redis(url: str) -> RedisLimits:
    """One for each process, with its connections. What a fork inherits of them, the Redis client opens anew."""
    return RedisLimits(url)
