"""What still stands between a run and its figures: calls that are owed or broke, judges that are parked."""

from datetime import datetime
from typing import NamedTuple

from audit.selectors.names import JudgeName
from labeling.models import Judge, JudgeService, Run
from labeling.selectors.calling import Calls, calls_on


class Waiting(NamedTuple):
    """What one judge still owes a run. parked: calls that broke and wait for a person.

    parked_until: no call is made before. trouble: why the last one was not answered, there until one is.
    a_minute: how many requests it may make; `None`: as many as it takes.
    """

    judge: JudgeName
    owed: int
    parked: int
    parked_until: datetime | None
    trouble: str
    a_minute: int | None

    @property
    def minutes(self) -> float | None:
        """How long that takes at its limit."""
        return self.owed / self.a_minute if self.a_minute else None


def waiting_on(run: Run) -> tuple[Waiting, ...]:
    """In two queries; judges that owe nothing are not in it."""
    calls = calls_on(run)
    judges = Judge.objects.filter(pk__in=calls).select_related("service").order_by("name", "-created_at")
    return tuple(_waiting(judge, calls[judge.pk]) for judge in judges) if calls else ()


def _waiting(judge: Judge, calls: Calls) -> Waiting:
    service: JudgeService = getattr(judge, "service", None) or JudgeService()
    return Waiting(
        JudgeName.of(judge),
        calls.owed,
        calls.parked,
        service.parked_until if service.is_parked else None,
        service.parked_reason,
        service.requests_per_minute,
    )
