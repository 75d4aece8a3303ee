"""Trajectories that break the work on them: counted, tried by themselves, and after three tries parked with the reason.

What ends the worker itself can only be counted beforehand. So the first try is free, and from the second on a row is
written down before it is worked on.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from labeling.models import Trouble

MOST_TRIES = 3
# Those who have a row at once, for its message came twice, make one try.
_ONE_TRY = timedelta(seconds=5)
_ENDED = "The worker ended while it judged this: too little memory, most likely."


class Split(NamedTuple):
    """fresh: no trouble known. known: to be worked on one by one. What is parked is in neither."""

    fresh: list[int]
    known: list[int]


def split(trajectory_ids: Sequence[int]) -> Split:
    """In one query."""
    found = dict(Trouble.objects.filter(trajectory__in=trajectory_ids).values_list("trajectory_id", "parked_at"))
    return Split(
        fresh=[pk for pk in trajectory_ids if pk not in found],
        known=[pk for pk in trajectory_ids if pk in found and found[pk] is None],
    )


@transaction.atomic(durable=True)
def begin(*, trajectory_ids: Sequence[int]) -> None:
    """These may have ended a worker before: should they do so again, it is known."""
    Trouble.objects.bulk_create(
        (Trouble(trajectory_id=pk, tries=1, reason=_ENDED) for pk in trajectory_ids), ignore_conflicts=True
    )


@transaction.atomic(durable=True)
def may_try(*, trajectory_id: int) -> bool:
    """One more try of a row in trouble, counted; False, and it is parked, where it has had all."""
    mine = Trouble.objects.filter(trajectory=trajectory_id, parked_at=None)
    now = timezone.now()
    another = mine.filter(last_at__lt=now - _ONE_TRY)
    if another.filter(tries__lt=MOST_TRIES).update(tries=F("tries") + 1, last_at=now):
        return True
    if another.update(parked_at=now, last_at=now):
        return False
    return mine.exists()


@transaction.atomic(durable=True)
def broke(*, trajectory_id: int, reason: str) -> bool:
    """The work on it ended in an exception; True if it is parked by that."""
    now = timezone.now()
    trouble, _ = Trouble.objects.get_or_create(trajectory_id=trajectory_id, defaults={"tries": 1})
    parked = trouble.tries >= MOST_TRIES
    Trouble.objects.filter(pk=trouble.pk).update(reason=reason, last_at=now, parked_at=now if parked else None)
    return parked


def over(trajectory_ids: Sequence[int]) -> None:
    """It went well after all."""
    Trouble.objects.filter(trajectory__in=trajectory_ids).delete()


@transaction.atomic(durable=True)
def try_again(*, run_id: int) -> list[int]:
    """A person says that what is parked in this run is worth another three tries: these rows, for whom to ring."""
    parked = Trouble.objects.filter(trajectory__run=run_id).exclude(parked_at=None)
    ids = list(parked.order_by("trajectory").values_list("trajectory_id", flat=True))
    Trouble.objects.filter(trajectory__in=ids).delete()
    return ids
