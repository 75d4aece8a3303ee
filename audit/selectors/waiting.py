"""What still stands between a run and its figures: calls that are owed or broke, judges that are parked, spending."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Sum
from django.utils import timezone

from audit.selectors.names import JudgeName
from labeling.models import Judge, Run, Spend
from labeling.selectors.calling import calls_on


class Waiting(NamedTuple):
    """What one judge still owes a run. parked: calls that broke and wait for a person.

    parked_until: no call is made before, and why. a_minute: how many requests it may make; `None`: as many as it takes.
    """

    judge: JudgeName
    owed: int
    parked: int
    parked_until: datetime | None
    parked_reason: str
    a_minute: int | None

    @property
    def minutes(self) -> int | None:
        """How long that takes at its limit, rounded up."""
        return -(-self.owed // self.a_minute) if self.a_minute else None


class Spent(NamedTuple):
    calls: int
    usd: Decimal


def waiting_on(run: Run) -> tuple[Waiting, ...]:
    """In two queries; judges that owe nothing are not in it."""
    calls = calls_on(run)
    judges = Judge.objects.filter(pk__in=calls).select_related("service").order_by("name", "-created_at")
    return tuple(_waiting(judge, calls[judge.pk].owed, calls[judge.pk].parked) for judge in judges) if calls else ()


def _waiting(judge: Judge, owed: int, parked: int) -> Waiting:
    service = getattr(judge, "service", None)
    until = service.parked_until if service else None
    is_parked = until is not None and until > timezone.now()
    return Waiting(
        JudgeName.of(judge),
        owed,
        parked,
        until if is_parked else None,
        service.parked_reason if service and is_parked else "",
        service.requests_per_minute if service else None,
    )


def spent_on(run_ids: Collection[int]) -> dict[int, Spent]:
    """What each judge has cost on these runs, in one query."""
    rows = Spend.objects.filter(run__in=run_ids).order_by().values("judge").annotate(made=Sum("calls"), paid=Sum("usd"))
    return {row["judge"]: Spent(row["made"], row["paid"]) for row in rows}
