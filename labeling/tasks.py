"""What Celery runs. A message names rows and carries nothing else; the rows are the job.

A message may be lost, doubled or late: each task reads what is owed from the rows, and the sweep rings again.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_shutting_down
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from labeling import stopping
from labeling.errors import told
from labeling.models import Heartbeat, ImportJob, JudgeCall, Run, Trajectory
from labeling.selectors.progress import WORKER
from labeling.services import drawing, judging, registering, rejudging, training, troubles, trying
from labeling.services.calling import pumping
from labeling.services.importing import claims, committing, previewing
from labeling.vocabulary import ImportStatus, RunStatus, TrajectoryStatus

logger = logging.getLogger(__name__)

# One sweep rings for at most this many batches; the next one goes on.
_SWEEP_BATCHES = 50
# A file may be large. A worker that hangs for longer than this is ended, and the sweep gives the file to another.
_LONG_SECONDS = 12 * 3600
# Calls are made in turns of so long, for the memory of a child is given back between two tasks only.
_CALL_SECONDS = 300
_TRAINING_SECONDS = 3600
# Between two signs of life of a training lies one fit.
_TRAINING_SILENCE = timedelta(minutes=15)
# An upload that broke off may be gone on with for so long.
_UPLOAD_DAYS = 7


def request_judging(trajectory_ids: Sequence[int], *, again: bool = False) -> None:
    """Ring the doorbell for these rows once they are committed; again: it was rung for them before.

    With the broker down the request still succeeds: the failure is logged and the sweep finds the rows.
    """
    ids = list(trajectory_ids)
    for start in range(0, len(ids), settings.BATCH_SIZE):
        _ring(judge_batch, ids[start : start + settings.BATCH_SIZE], *([True] if again else []))


def request_draw(run_id: int) -> None:
    """Ask for the audit draw of a closed run."""
    _ring(draw_closed_run, run_id)


def request_import(job: ImportJob) -> None:
    """Ask for the work that this import waits for, if it waits for any."""
    if job.status in (ImportStatus.UPLOADED, ImportStatus.READING):
        _ring(read_import, job.pk)
    elif job.status == ImportStatus.COMMITTING:
        _ring(commit_import, job.pk)


def _ring(task: Task[Any, None], *arguments: object) -> None:
    # An inner function, not a partial: Django logs the name of a callback that fails, and a partial has none.
    def ring() -> None:
        task.delay(*arguments)

    transaction.on_commit(ring, robust=True)


def request_rejudging(rejudging_id: int) -> None:
    """Ask for a rejudging that somebody wished for."""
    _ring(rejudge, rejudging_id)


def request_trial(trial_id: int) -> None:
    """Ask for a trial of a judge's settings."""
    _ring(try_judge, trial_id)


def request_training(training_id: int) -> None:
    """Ask for a classifier to learn from the verdicts there are."""
    _ring(train_judge, training_id)


def request_calls() -> None:
    """Ask for the calls that are owed to served judges."""
    _ring(make_calls)


@shared_task(bind=True)
def judge_batch(self: Task[Any, None], trajectory_ids: list[int], again: bool = False) -> None:
    """Judge and route a batch of trajectories; again: they were rung for before, and nobody knows what came of it.

    A row that breaks the work on it must not keep its neighbours waiting: it is worked on by itself, and parked after
    three tries.
    """
    fresh, known = troubles.split(trajectory_ids)
    if suspect := again or bool((self.request.delivery_info or {}).get("redelivered")):
        troubles.begin(trajectory_ids=fresh)
    try:
        _judge(fresh)
    except Exception:
        logger.exception("A batch of %d trajectories failed; trying each by itself.", len(fresh))
        troubles.begin(trajectory_ids=fresh)
        known = [*fresh, *known]
    else:
        if suspect:
            troubles.over(fresh)
    for pk in known:
        _judge_alone(pk)


def _judge(trajectory_ids: Sequence[int]) -> None:
    if not trajectory_ids:
        return
    judged = judging.store_judgments(trajectory_ids=trajectory_ids)
    judging.route_trajectories(trajectory_ids=judged.ready)
    if judged.asked:
        request_calls()


def _judge_alone(pk: int) -> None:
    if not troubles.may_try(trajectory_id=pk):
        return
    try:
        _judge([pk])
    except Exception as error:
        parked = troubles.broke(trajectory_id=pk, reason=told(error))
        logger.exception("Trajectory %d cannot be judged; %s.", pk, "it is parked" if parked else "it is tried again")
    else:
        troubles.over([pk])


@shared_task(acks_late=False, time_limit=_LONG_SECONDS)
def make_calls() -> None:
    """Make the calls that are owed to served judges, for a while; what is left is rung for again.

    Its message is gone when it begins: it takes long, and the sweep rings for what a killed worker leaves.
    """
    more = pumping.pump(seconds=_CALL_SECONDS, seats=settings.CALLING_WORKERS, is_told_to_stop=stopping.is_told)
    if more and not stopping.is_told():
        request_calls()


@worker_shutting_down.connect
def _tell_children(**_kwargs: object) -> None:
    stopping.tell()


@shared_task
def draw_closed_run(run_id: int) -> None:
    """Draw a closed run, if nothing is owed on it; else the sweep comes back to it."""
    drawing.draw_run(run_id=run_id)


@shared_task(time_limit=_LONG_SECONDS)
def read_import(job_id: int) -> None:
    """Read and preview an uploaded file."""
    previewing.read_file(job_id=job_id)


@shared_task(time_limit=_LONG_SECONDS)
def commit_import(job_id: int) -> None:
    """Put the rows of a previewed file into runs."""
    committing.commit_file(job_id=job_id, ring=request_judging)


@shared_task(time_limit=_LONG_SECONDS)
def rejudge(rejudging_id: int) -> None:
    """Put a judge version to a run, or to all that people audited."""
    if rejudging.work(rejudging_id=rejudging_id):
        request_calls()


@shared_task(time_limit=_TRAINING_SECONDS)
def train_judge(training_id: int) -> None:
    """Let a classifier learn from a project's verdicts."""
    # Its library is large: a process that only rings for it does not load it.
    import_module("labeling.services.learning").train(training_id=training_id)


@shared_task
def try_judge(trial_id: int) -> None:
    """Try a judge's settings on a few trajectories."""
    trying.work(trial_id=trial_id)


@shared_task
def sweep(*, everything: bool = False) -> None:
    """Ring again for rows whose work is owed; everything: also those rung for just now (a worker has just started)."""
    if everything:
        registering.register_everywhere()
    now = timezone.now()
    Heartbeat.objects.update_or_create(name=WORKER, defaults={"beat_at": now})
    # What waits for a call, or is parked, is nobody's batch.
    asked = JudgeCall.objects.filter(trajectory=OuterRef("pk"))
    owed = Trajectory.objects.filter(~Exists(asked), status=TrajectoryStatus.PENDING, trouble__parked_at=None)
    if not everything:
        owed = owed.filter(rung_at__lt=now - timedelta(seconds=settings.RING_AGAIN_SECONDS))
    ids = list(owed.order_by("rung_at").values_list("pk", flat=True)[: _SWEEP_BATCHES * settings.BATCH_SIZE])
    Trajectory.objects.filter(pk__in=ids).update(rung_at=now)
    request_judging(ids, again=True)
    if pumping.owed():
        request_calls()
    undrawn = Run.objects.filter(status=RunStatus.CLOSED, drawn_at=None).order_by("closed_at")
    for run_id in undrawn.values_list("pk", flat=True)[:_SWEEP_BATCHES]:
        request_draw(run_id)
    for job in _owed_imports(everything=everything):
        request_import(job)
    _ring_for_wishes()
    claims.cancel_abandoned(older_than=now - timedelta(days=_UPLOAD_DAYS))


def _ring_for_wishes() -> None:
    """What leads asked for and nobody works on."""
    for rejudging_id in rejudging.take_up_again():
        request_rejudging(rejudging_id)
    for trial_id in trying.take_up_again():
        request_trial(trial_id)
    for training_id in training.take_up_again(older_than=timezone.now() - _TRAINING_SILENCE):
        request_training(training_id)


def _owed_imports(*, everything: bool) -> list[ImportJob]:
    """Imports of which nobody has given a sign for long; everything: also those that nobody has begun."""
    given_up = claims.take_up_again(older_than=timezone.now() - timedelta(seconds=settings.RING_AGAIN_SECONDS))
    return claims.waiting() if everything else given_up
