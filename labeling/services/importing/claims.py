"""Who works on a job: one worker at a time, which tells how far it has come, and hears here when it is to stop."""

import time
import uuid
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from labeling.errors import Conflict
from labeling.models import Heartbeat, ImportJob, ImportRejection
from labeling.selectors.progress import WORKER
from labeling.services.importing import files
from labeling.vocabulary import IMPORTS_OWED, ImportStatus

# A file whose reading ends the worker itself, by its memory for example, must not do so for ever.
MOST_ATTEMPTS = 5
_OVER = (ImportStatus.DONE, ImportStatus.FAILED, ImportStatus.CANCELLED)
_SECONDS = 1.0


class Lost(Exception):
    """The job is not this worker's any more: it was cancelled, asked for anew, or the worker was taken for dead."""


@transaction.atomic(durable=True)
def claim(*, job_id: int, waiting: Collection[ImportStatus], working: ImportStatus) -> ImportJob | None:
    """The job, for this worker alone; `None` if somebody has it, or it is not waiting."""
    token, now = uuid.uuid4(), timezone.now()
    taken = ImportJob.objects.filter(pk=job_id, status__in=waiting, claim=None).update(
        claim=token,
        status=working,
        worked_at=now,
        started_at=now,
        rows_before=F("rows_done"),
        attempts=F("attempts") + 1,
    )
    if not taken:
        return None
    job = ImportJob.objects.select_related("project").get(pk=job_id)
    if job.attempts <= MOST_ATTEMPTS:
        return job
    sentence = f"This file has ended the worker {MOST_ATTEMPTS} times; give the worker more memory, or split the file."
    _finish(job, status=ImportStatus.FAILED, error=sentence)
    return None


@transaction.atomic(durable=True)
def advance(*, job: ImportJob, rejections: Sequence[ImportRejection] = (), **columns: Any) -> None:
    """Write down how far the work has come, together with what it put into quarantine. Raises Lost.

    A worker that imports is alive, even if it comes to nothing else meanwhile.
    """
    now = timezone.now()
    if not _mine(job).update(worked_at=now, **columns):
        raise Lost
    ImportRejection.objects.bulk_create(rejections)
    Heartbeat.objects.update_or_create(name=WORKER, defaults={"beat_at": now})


@transaction.atomic(durable=True)
def finish(*, job: ImportJob, status: ImportStatus, **columns: Any) -> None:
    """The work has come to an end, good or bad. Raises Lost."""
    _finish(job, status=status, **columns)


@transaction.atomic(durable=True)
def cancel(*, job: ImportJob) -> ImportJob:
    """Stop, at the next batch. What was committed stays. Cancelling what is over changes nothing."""
    job = held(job)
    if job.status in _OVER:
        return job
    if job.status == ImportStatus.RECEIVING:
        files.part(job).unlink(missing_ok=True)
        job.received = 0
    job.status, job.claim, job.finished_at = ImportStatus.CANCELLED, None, timezone.now()
    job.save(update_fields=["status", "claim", "finished_at", "received"])
    return job


@transaction.atomic(durable=True)
def take_up_again(*, older_than: datetime) -> list[ImportJob]:
    """The jobs that are owed and of which nobody has given a sign since; they are free to be claimed again."""
    owed = ImportJob.objects.filter(status__in=IMPORTS_OWED, worked_at__lt=older_than)
    jobs = list(owed.select_for_update(no_key=True).order_by("worked_at").only("status", "project_id"))
    owed.filter(pk__in=[job.pk for job in jobs]).update(claim=None, worked_at=timezone.now())
    return jobs


def cancel_abandoned(*, older_than: datetime) -> None:
    """Cancel the uploads that nobody has gone on with since; what came of them takes up the disk."""
    for job in ImportJob.objects.filter(status=ImportStatus.RECEIVING, worked_at__lt=older_than):
        cancel(job=job)


def waiting() -> list[ImportJob]:
    """The jobs that are owed and that nobody works on."""
    return list(ImportJob.objects.filter(status__in=IMPORTS_OWED, claim=None).only("status", "project_id"))


def held(job: ImportJob) -> ImportJob:
    """The job as it is now, held until the caller's transaction ends."""
    return ImportJob.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=job.pk)


def ask(job: ImportJob, status: ImportStatus, **columns: Any) -> ImportJob:
    """Make the job wait for a worker; whoever works on it hears of it. Inside the caller's transaction, job held."""
    columns |= {"status": status, "claim": None, "attempts": 0, "worked_at": timezone.now(), "error": ""}
    columns |= {"finished_at": None, "bytes_read": 0, "rows_done": 0}
    for name, value in columns.items():
        setattr(job, name, value)
    job.save(update_fields=list(columns))
    return job


def refuse_unless_whole(job: ImportJob) -> None:
    if job.received < job.size:
        raise Conflict(
            f"{job.size - job.received:,} bytes of this file are still missing; send them first.",
            received=job.received,
        )


def _mine(job: ImportJob) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(pk=job.pk, claim=job.claim)


def _finish(job: ImportJob, *, status: ImportStatus, **columns: Any) -> None:
    if not _mine(job).update(status=status, claim=None, finished_at=timezone.now(), **columns):
        raise Lost


class Progress:
    """Signs of life while a file is read, about once a second.

    counts: whether a row is done once it is read; else whoever stores it writes that down.
    """

    def __init__(self, job: ImportJob, *, counts: bool) -> None:
        self._job = job
        self._counts = counts
        self._last = time.monotonic()
        self.bytes_read = 0
        self.rows = 0
        self.is_lost = False

    def moved(self, position: int) -> None:
        """The reader is here in the file."""
        self.bytes_read = position
        self._told()

    def row(self) -> None:
        """One more row, readable or not."""
        self.rows += 1
        self._told()

    def _told(self) -> None:
        """Write it down if it is time to. A reader must not be torn apart, so a loss is only noted."""
        if self.is_lost or time.monotonic() - self._last < _SECONDS:
            return
        self._last = time.monotonic()
        try:
            counted: dict[str, Any] = {"rows_done": self.rows} if self._counts else {}
            advance(job=self._job, bytes_read=self.bytes_read, **counted)
        except Lost:
            self.is_lost = True
