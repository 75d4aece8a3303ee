"""Asking for a classifier that learns from a project's verdicts, and who works on it: one worker at a time.

A claim is known by its number: a worker that was taken for dead cannot write over the one that followed it.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from labeling.models import Heartbeat, Project, Training
from labeling.selectors.progress import WORKER
from labeling.vocabulary import GOING_ON, WorkStatus

# Learning that ends the worker itself, by its memory for example, must not do so for ever.
MOST_TRIES = 3


class Lost(Exception):
    """The training is not this worker's any more: it was taken for dead."""


@transaction.atomic(durable=True)
def request_training(*, project: Project, by: User | None) -> Training:
    """Ask for it; while one is going on, that one is the answer."""
    going_on = Training.objects.filter(project=project, status__in=GOING_ON)
    if found := going_on.first():
        return found
    try:
        with transaction.atomic():
            return Training.objects.create(project=project, requested_by=by)
    except IntegrityError:
        # Somebody else asked at the same moment.
        return going_on.get()


@transaction.atomic(durable=True)
def claim(*, training_id: int) -> Training | None:
    """The training, for this worker alone; `None` if somebody has it, or it is over."""
    waiting = Training.objects.filter(pk=training_id, status=WorkStatus.WAITING)
    if not waiting.update(status=WorkStatus.WORKING, tries=F("tries") + 1, worked_at=timezone.now()):
        return None
    return Training.objects.get(pk=training_id)


@transaction.atomic(durable=True)
def alive(*, training: Training) -> None:
    """A sign of life; a worker that learns is alive, even if it comes to nothing else meanwhile. Raises Lost."""
    now = timezone.now()
    if not _mine(training).update(worked_at=now):
        raise Lost
    Heartbeat.objects.update_or_create(name=WORKER, defaults={"beat_at": now})


@transaction.atomic(durable=True)
def finish(*, training: Training, status: WorkStatus, outcome: str, judge_id: int | None = None) -> None:
    """The work has come to an end, good or bad. Raises Lost."""
    end(training, status=status, outcome=outcome, judge_id=judge_id)


@transaction.atomic(durable=True)
def take_up_again(*, older_than: datetime) -> list[int]:
    """Trainings that are owed and of which nobody has given a sign since: free to be claimed again, or given up."""
    silent = Training.objects.filter(status=WorkStatus.WORKING, worked_at__lt=older_than)
    silent.filter(tries__gte=MOST_TRIES).update(
        status=WorkStatus.FAILED,
        outcome=f"Learning has ended the worker {MOST_TRIES} times; give the worker more memory.",
    )
    silent.update(status=WorkStatus.WAITING, worked_at=timezone.now())
    return waiting()


def waiting() -> list[int]:
    """The trainings that are owed and that nobody works on."""
    return list(Training.objects.filter(status=WorkStatus.WAITING).order_by("pk").values_list("pk", flat=True))


def end(training: Training, *, status: WorkStatus, outcome: str, judge_id: int | None = None) -> None:
    """The same inside the caller's transaction."""
    if not _mine(training).update(status=status, outcome=outcome, judge=judge_id, worked_at=timezone.now()):
        raise Lost


def _mine(training: Training) -> QuerySet[Training]:
    return Training.objects.filter(pk=training.pk, status=WorkStatus.WORKING, tries=training.tries)
