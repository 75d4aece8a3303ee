"""Limits in the database, where there is no Redis. Each step is a short transaction of its own.

PostgreSQL goes by its own clock. SQLite has none that differs from ours: its workers are on this machine.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Sum

from labeling.limits.base import LimitsUnavailable, Pace, book
from labeling.models import RateLimit, SlotHolding

# The first half of the names of our advisory locks, so that they are nobody else's.
_HOLDINGS = 21_538


class DatabaseLimits:
    def reserve(self, key: str, *, per_minute: int, amount: int = 1, count: int = 1) -> list[float]:
        pace = Pace.of(per_minute, amount)
        with _step():
            row, _ = RateLimit.objects.select_for_update(no_key=True).get_or_create(key=key)
            waits, row.used_until = book(used_until=row.used_until, now=_now(), pace=pace, count=count)
            row.save(update_fields=["used_until"])
        return waits

    def give_back(self, key: str, *, per_minute: int, amount: int = 1, count: int = 1) -> None:
        unused = Pace.of(per_minute, amount).cost * count
        with _step():
            RateLimit.objects.filter(key=key).update(used_until=F("used_until") - unused)

    def hold(self, key: str, holder: str, *, want: int, limit: int, seconds: float) -> int:
        with _step():
            _take_turn(key)
            now, holdings = _now(), SlotHolding.objects.filter(key=key)
            holdings.filter(until__lte=now).delete()
            taken: int = holdings.exclude(holder=holder).aggregate(slots=Sum("slots", default=0))["slots"]
            mine = max(min(want, limit - taken), 0)
            if mine:
                holdings.update_or_create(key=key, holder=holder, defaults={"slots": mine, "until": now + seconds})
            else:
                holdings.filter(holder=holder).delete()
        return mine

    def let_go(self, key: str, holder: str) -> None:
        with _step():
            SlotHolding.objects.filter(key=key, holder=holder).delete()


@contextmanager
def _step() -> Iterator[None]:
    """Durable: inside a caller's transaction, all other workers would wait for its end."""
    try:
        with transaction.atomic(durable=True):
            yield
    except (OperationalError, InterfaceError) as error:
        raise LimitsUnavailable(
            "The database keeps the limits of judges and does not answer; no call is made until it does."
        ) from error


def _take_turn(key: str) -> None:
    """One at a time: the rows that are counted are not the row that is written. SQLite's writers are alone anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_HOLDINGS, key])


def _now() -> float:
    """Seconds since 1970, read when the lock is held, so that nobody books by an earlier time than the one before."""
    if connection.vendor != "postgresql":
        return time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(cursor.fetchone()[0])
