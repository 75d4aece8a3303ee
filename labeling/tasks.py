"""What Celery runs. A message names rows and carries nothing else; the rows are the job.

A message may be lost, doubled or late: each task reads what is owed from the rows, and the sweep rings again.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from labeling.models import Heartbeat, ImportJob, Run, Trajectory
from labeling.selectors.progress import WORKER
from labeling.services import drawing, judging, registering
from labeling.services.importing import claims, committing, previewing
from labeling.vocabulary import ImportStatus, RunStatus, TrajectoryStatus

logger = logging.getLogger(__name__)

# One sweep rings for at most this many batches; the next one goes on.
_SWEEP_BATCHES = 50
# A file may be large. A worker that hangs for longer than this is ended, and the sweep gives the file to another.
_IMPORT_SECONDS = 12 * 3600
# An upload that broke off may be gone on with for so long.
_UPLOAD_DAYS = 7


def request_judging(trajectory_ids: Sequence[int]) -> None:
    """Ring the doorbell for these rows once they are committed.

    With the broker down the request still succeeds: the failure is logged and the sweep finds the rows.
    """
    ids = list(trajectory_ids)
    for start in range(0, len(ids), settings.BATCH_SIZE):
        _ring(judge_batch, ids[start : start + settings.BATCH_SIZE])


def request_draw(run_id: int) -> None:
    """Ask for the audit draw of a closed run."""
    _ring(draw_closed_run, run_id)


def request_import(job: ImportJob) -> None:
    """Ask for the work that this import waits for, if it waits for any."""
    if job.status in (ImportStatus.UPLOADED, ImportStatus.READING):
        _ring(read_import, job.pk)
    elif job.status == ImportStatus.COMMITTING:
        _ring(commit_import, job.pk)


def _ring(task: object, argument: object) -> None:
    # An inner function, not a partial: Django logs the name of a callback that fails, and a partial has none.
    def ring() -> None:
        task.delay(argument)  # type: ignore[attr-defined]

    transaction.on_commit(ring, robust=True)


@shared_task
def judge_batch(trajectory_ids: list[int]) -> None:
    """Judge and route a batch of trajectories.

    A row that breaks the work on it must not keep its neighbours waiting: then each is worked on by itself.
    """
    try:
        _judge(trajectory_ids)
    except Exception:
        if len(trajectory_ids) == 1:
            raise
        logger.exception("A batch of %d trajectories failed; trying each by itself.", len(trajectory_ids))
        for pk in trajectory_ids:
            _judge_alone(pk)


def _judge(trajectory_ids: Sequence[int]) -> None:
    judging.store_judgments(trajectory_ids=trajectory_ids)
    judging.route_trajectories(trajectory_ids=trajectory_ids)


def _judge_alone(pk: int) -> None:
    try:
        _judge([pk])
    except Exception:
        logger.exception("Trajectory %d cannot be judged; the sweep will try again.", pk)


@shared_task
def draw_closed_run(run_id: int) -> None:
    """Draw a closed run, if nothing is owed on it; else the sweep comes back to it."""
    drawing.draw_run(run_id=run_id)


@shared_task(time_limit=_IMPORT_SECONDS)
def read_import(job_id: int) -> None:
    """Read and preview an uploaded file."""
    previewing.read_file(job_id=job_id)


@shared_task(time_limit=_IMPORT_SECONDS)
def commit_import(job_id: int) -> None:
    """Put the rows of a previewed file into runs."""
    committing.commit_file(job_id=job_id, ring=request_judging)


@shared_task
def sweep(*, everything: bool = False) -> None:
    """Ring again for rows whose work is owed; everything: also those rung for just now (a worker has just started)."""
    if everything:
        registering.register_everywhere()
    now = timezone.now()
    Heartbeat.objects.update_or_create(name=WORKER, defaults={"beat_at": now})
    owed = Trajectory.objects.filter(status=TrajectoryStatus.PENDING)
    if not everything:
        owed = owed.filter(rung_at__lt=now - timedelta(seconds=settings.RING_AGAIN_SECONDS))
    ids = list(owed.order_by("rung_at").values_list("pk", flat=True)[: _SWEEP_BATCHES * settings.BATCH_SIZE])
    Trajectory.objects.filter(pk__in=ids).update(rung_at=now)
    request_judging(ids)
    undrawn = Run.objects.filter(status=RunStatus.CLOSED, drawn_at=None).order_by("closed_at")
    for run_id in undrawn.values_list("pk", flat=True)[:_SWEEP_BATCHES]:
        request_draw(run_id)
    for job in _owed_imports(everything=everything):
        request_import(job)
    claims.cancel_abandoned(older_than=now - timedelta(days=_UPLOAD_DAYS))


def _owed_imports(*, everything: bool) -> list[ImportJob]:
    """Imports of which nobody has given a sign for long; everything: also those that nobody has begun."""
    given_up = claims.take_up_again(older_than=timezone.now() - timedelta(seconds=settings.RING_AGAIN_SECONDS))
    return claims.waiting() if everything else given_up
