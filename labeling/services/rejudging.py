"""Putting a judge version to trajectories that have their labels already: a closed run, or all that people audited.

Its opinions are kept beside the others and change no label: only a run's panel does that.
"""

from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from labeling.errors import Conflict, DomainError
from labeling.judges import registry
from labeling.models import Judge, Judgment, Rejudging, Run, Trajectory
from labeling.services import judging
from labeling.vocabulary import GOING_ON, NOT_JUDGED, PEOPLE_SOURCES, JudgeKind, RunStatus, WorkStatus

_AT_ONCE = 500
# A trajectory that ends the worker itself must not do so for ever.
_MOST_TRIES = 3


class Extent(NamedTuple):
    """What a judge could be put to, and how much of it that it has judged: once and for good, over budget or not."""

    total: int
    judged: int


def extent(*, judge: Judge, run: Run | None) -> Extent:
    """run: None for all that people audited. Raises DomainError where it may not be put to them."""
    _check(judge, run)
    rows = _scope(judge, run)
    judged = Exists(Judgment.objects.filter(judge=judge, trajectory=OuterRef("pk")))
    return Extent(rows.count(), rows.filter(judged).count())


@transaction.atomic(durable=True)
def request(*, judge: Judge, run: Run | None, by: User | None) -> Rejudging:
    """Ask for it; what is going on already is not asked for twice."""
    _check(judge, run)
    going_on = Rejudging.objects.filter(judge=judge, run=run, status__in=GOING_ON)
    if found := going_on.first():
        return found
    try:
        with transaction.atomic():
            return Rejudging.objects.create(judge=judge, run=run, requested_by=by, total=_scope(judge, run).count())
    except IntegrityError:
        return going_on.get()


def _check(judge: Judge, run: Run | None) -> None:
    if judge.kind == JudgeKind.IMPORTED:
        raise DomainError("An imported judge does not run here: post its judgments with the trajectories again.")
    if registry.running(judge) is None:
        raise Conflict("This version no longer runs here; choose its newest version.")
    if run is not None and run.status == RunStatus.OPEN:
        raise Conflict("The run is open, and what judges it while it is open makes its labels; close it first.")
    if run is not None and run.status == RunStatus.VOIDED:
        raise Conflict("A voided run is not judged again.")


def work(*, rejudging_id: int) -> bool:
    """Hand on all that is owed; True if this worker did. A killed one is gone on with where it stopped."""
    taken = Rejudging.objects.filter(pk=rejudging_id, status=WorkStatus.WAITING)
    if taken.filter(tries__gte=_MOST_TRIES).update(status=WorkStatus.FAILED, worked_at=timezone.now()):
        return False
    if not taken.update(status=WorkStatus.WORKING, worked_at=timezone.now(), tries=F("tries") + 1):
        return False
    wish = Rejudging.objects.select_related("judge", "run").get(pk=rejudging_id)
    while ids := _next(wish):
        _hand_on(wish, ids)
        Rejudging.objects.filter(pk=wish.pk).update(
            cursor=ids[-1], tries=0, handed_on=F("handed_on") + len(ids), worked_at=timezone.now()
        )
        wish.cursor = ids[-1]
    Rejudging.objects.filter(pk=wish.pk).update(status=WorkStatus.DONE, worked_at=timezone.now())
    return True


def take_up_again() -> list[int]:
    """The wishes that nobody works on; those of workers that have given no sign for long are free again."""
    silent = timezone.now() - timedelta(seconds=settings.RING_AGAIN_SECONDS)
    Rejudging.objects.filter(status=WorkStatus.WORKING, worked_at__lt=silent).update(status=WorkStatus.WAITING)
    return list(Rejudging.objects.filter(status=WorkStatus.WAITING).values_list("pk", flat=True))


def _next(wish: Rejudging) -> list[int]:
    rows = _scope(wish.judge, wish.run).filter(pk__gt=wish.cursor).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:_AT_ONCE])


def _scope(judge: Judge, run: Run | None) -> QuerySet[Trajectory]:
    rows = Trajectory.objects.filter(run__project=judge.project_id).exclude(outcome__in=NOT_JUDGED)
    if run is not None:
        rows = rows.filter(run=run)
    else:
        # A run whose panel is not fixed would count this judge among it.
        audited = rows.filter(label_source__in=PEOPLE_SOURCES) | rows.filter(has_truth=True)
        rows = audited.filter(run__panel_is_frozen=True).exclude(run__status=RunStatus.VOIDED)
    code = registry.running(judge)
    return rows.filter(side__in=code.sides if code else ())


def _hand_on(wish: Rejudging, ids: list[int]) -> None:
    done = set(Judgment.objects.filter(judge=wish.judge, trajectory__in=ids).values_list("trajectory_id", flat=True))
    owed = [pk for pk in ids if pk not in done]
    judging.put_to({pk: judging.owing_on(wish.judge) for pk in owed})
