"""Which worker makes a call: the claim on its row, which lapses when the worker is silent for too long."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from labeling.models import JudgeCall, Judgment

# A call that ended a worker more often than this is made alone; one that did so once more, never again.
_OFTEN, MOST_TRIES = 2, 3
_ENDED = f"The worker ended {MOST_TRIES} times while it had this call."


@transaction.atomic(durable=True)
def take(*, judge_id: int, count: int, claim: UUID, alone: bool) -> list[JudgeCall]:
    """Up to so many calls that nobody has, longest ready first, claimed and counted; with their trajectory.

    alone: one of those that have been in the hands of workers that ended, if there is any; else none of them.
    """
    ready = JudgeCall.objects.filter(judge=judge_id, parked_at=None, ready_at__lte=timezone.now())
    if alone:
        ready.filter(tries__gte=MOST_TRIES).update(parked_at=timezone.now(), claim=None, trouble=_ENDED)
        wanted = ready.filter(tries__gte=_OFTEN)
    else:
        wanted = ready.filter(tries__lt=_OFTEN)
    calls = list(
        wanted.order_by("ready_at", "pk")
        .select_related("trajectory")
        .select_for_update(of=("self",), skip_locked=True, no_key=True)[:count]
    )
    _rows(calls).update(claim=claim, ready_at=_lapse(), tries=F("tries") + 1)
    return calls


def in_nobodys_hands() -> Q:
    """Calls that no worker has; what a dead one had is among them once its claim has lapsed."""
    return Q(claim=None) | Q(ready_at__lte=timezone.now())


def still_owed(calls: Sequence[JudgeCall]) -> list[JudgeCall]:
    """Without those that are judged: a batch that came twice may write down a call that has just been made."""
    judged = Judgment.objects.filter(
        judge__in={call.judge_id for call in calls}, trajectory__in=[call.trajectory_id for call in calls]
    )
    done = set(judged.order_by().values_list("trajectory_id", "judge_id"))
    _rows([call for call in calls if (call.trajectory_id, call.judge_id) in done]).delete()
    return [call for call in calls if (call.trajectory_id, call.judge_id) not in done]


def renew(*, claim: UUID) -> None:
    """The worker lives, and still has these."""
    JudgeCall.objects.filter(claim=claim).update(ready_at=_lapse())


def put_back(calls: Sequence[JudgeCall], *, claim: UUID, wait: float = 0.0) -> None:
    """These were not made, through no fault of theirs: they are as ready as before, or in so many seconds."""
    ready_at = timezone.now() + timedelta(seconds=wait)
    _mine(calls, claim).update(claim=None, ready_at=ready_at, tries=F("tries") - 1)


def put_off(call: JudgeCall, *, claim: UUID, trouble: str, wait: float) -> None:
    """This one was made for nothing. It is made again later, or parked where it has had all its tries."""
    now = timezone.now()
    last = call.tries + 1 >= MOST_TRIES
    _mine([call], claim).update(
        claim=None, trouble=trouble, ready_at=now + timedelta(seconds=wait), parked_at=now if last else None
    )


def _lapse() -> datetime:
    """When a worker that says nothing from now on is taken for dead, and its calls are made by another."""
    return timezone.now() + timedelta(seconds=settings.CLAIM_SECONDS)


def _mine(calls: Collection[JudgeCall], claim: UUID) -> QuerySet[JudgeCall]:
    return _rows(calls).filter(claim=claim)


def _rows(calls: Collection[JudgeCall]) -> QuerySet[JudgeCall]:
    return JudgeCall.objects.filter(pk__in=[call.pk for call in calls])
