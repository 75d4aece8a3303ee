"""Bytes on their way to disk: whole in one request, or in parts over several, and known by their hash."""

import re
import uuid
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.errors import Conflict, DomainError
from labeling.formats.problems import BrokenOff
from labeling.models import ImportJob, Project, RunnerKey
from labeling.services.importing import claims, files
from labeling.services.importing.options import Asked
from labeling.vocabulary import ImportStatus

_HASH = re.compile(r"[0-9a-f]{64}")


class Received(NamedTuple):
    """created: it was not there before."""

    job: ImportJob
    created: bool


class _Announced(NamedTuple):
    sha256: str
    size: int


def receive(
    *,
    project: Project,
    asked: Asked,
    chunks: Iterable[bytes],
    sha256: str = "",
    size: int | None = None,
    by: User | None = None,
    key: RunnerKey | None = None,
) -> Received:
    """A whole file. The same bytes with the same wishes again are the job that is there.

    sha256, size: what the sender says it has; other bytes are refused.
    """
    path = files.folder_of(project.pk) / f"{uuid.uuid4().hex}.part"
    try:
        written = files.write(path, chunks, limit=settings.MAX_UPLOAD_BYTES)
        if not written.size:
            raise DomainError("The file is empty; there is nothing to import.", field="file")
        if sha256.casefold() not in ("", written.sha256) or size not in (None, written.size):
            raise DomainError(
                "The bytes received are not those announced by sha256 and size; send the file again.",
                **written._asdict(),
            )
        files.move(path, path.parent / written.sha256)
    finally:
        path.unlink(missing_ok=True)
    return _registered(project, asked, _Announced(written.sha256, written.size), by, key, is_whole=True)


def open_upload(
    *,
    project: Project,
    asked: Asked,
    sha256: str,
    size: int,
    by: User | None = None,
    key: RunnerKey | None = None,
) -> Received:
    """A job for a file that will come in parts, or the one that is there with what it has already."""
    if not _HASH.fullmatch(sha256.casefold()):
        raise DomainError("sha256 must be the file's hash, 64 hexadecimal digits.", field="sha256")
    if size < 1:
        raise DomainError("The file is empty; there is nothing to import.", field="size")
    if size > settings.MAX_UPLOAD_BYTES:
        raise files.too_large(size)
    announced = _Announced(sha256.casefold(), size)
    there = files.folder_of(project.pk) / announced.sha256
    is_whole = there.is_file() and there.stat().st_size == size
    return _registered(project, asked, announced, by, key, is_whole=is_whole)


def append(*, job: ImportJob, offset: int, chunks: Iterable[bytes]) -> ImportJob:
    """The next part of a file. With the last one, the hash is checked and the job waits to be read.

    Of a part that breaks off, what came is kept; then this raises BrokenOff.
    """
    if job.status != ImportStatus.RECEIVING:
        if offset == job.received == job.size:
            return job
        raise _takes_no_more(job)
    path = files.part(job)
    # Held until it is written down what came: who takes the file next must know where it ends, and a whole one is
    # nobody's to write to.
    with files.appending(path) as part:
        job.refresh_from_db()
        if job.status != ImportStatus.RECEIVING:
            raise _takes_no_more(job)
        if offset != job.received:
            raise Conflict(f"{job.received:,} bytes have been received; go on at that offset.", received=job.received)
        # What lies behind the offset came with a request that never ended.
        part.truncate(offset)
        came, broken = _appended(part, chunks, most=job.size - offset)
        files.sync(part)
        files.refuse_if_moved(part, path)
        job = _came(job, offset, came)
        if job.received == job.size:
            job = _whole(job)
    if broken is not None:
        raise broken
    return job


def _appended(part: BinaryIO, chunks: Iterable[bytes], *, most: int) -> tuple[int, BrokenOff | None]:
    """How many bytes came, and what broke them off."""
    came = 0
    try:
        for chunk in chunks:
            came += len(chunk)
            if came > most:
                raise DomainError("More bytes were sent than were announced; check size.", field="size")
            part.write(chunk)
    except BrokenOff as error:
        return came, error
    return came, None


def _takes_no_more(job: ImportJob) -> Conflict:
    return Conflict(f"This import is {job.status} and takes no more bytes.", received=job.received, status=job.status)


@transaction.atomic(durable=True)
def _registered(
    project: Project,
    asked: Asked,
    announced: _Announced,
    by: User | None,
    key: RunnerKey | None,
    *,
    is_whole: bool,
) -> Received:
    """The job of these bytes and wishes. One that had failed, was cancelled, or lacked bytes goes on."""
    received = announced.size if is_whole else 0
    status = ImportStatus.UPLOADED if is_whole else ImportStatus.RECEIVING
    job, created = ImportJob.objects.get_or_create(
        project=project,
        sha256=announced.sha256,
        asked_hash=asked.identity,
        defaults={
            "created_by": by,
            "runner_key": key,
            "filename": asked.filename,
            "size": announced.size,
            "received": received,
            "format": asked.format,
            "run_name": asked.run,
            "suite": asked.suite,
            "mapping": asked.mapping,
            "status": status,
        },
    )
    if created:
        return Received(job, created=True)
    job = claims.held(job)
    mistold = job.size != announced.size
    # A size is only known to be right once the bytes had the hash; until some came, a first announcement is no more
    # than another one.
    if mistold and job.received and not (is_whole and job.received < job.size):
        raise Conflict(
            f"A file with this hash was announced to have {job.size:,} bytes; check size, or cancel that import.",
            field="size",
        )
    if is_whole and job.status == ImportStatus.RECEIVING:
        files.part(job).unlink(missing_ok=True)
    stopped = job.status in (ImportStatus.FAILED, ImportStatus.CANCELLED)
    if stopped or mistold or (is_whole and job.status == ImportStatus.RECEIVING):
        job = claims.ask(job, status, size=announced.size, received=received)
    return Received(job, created=False)


@transaction.atomic(durable=True)
def _came(job: ImportJob, offset: int, came: int) -> ImportJob:
    taken = ImportJob.objects.filter(pk=job.pk, status=ImportStatus.RECEIVING, received=offset).update(
        received=offset + came, worked_at=timezone.now()
    )
    job.refresh_from_db()
    if not taken:
        raise _takes_no_more(job)
    return job


def _whole(job: ImportJob) -> ImportJob:
    """Every byte is here: are they those that were announced?"""
    path = files.part(job)
    if is_right := files.hash_of(path) == job.sha256:
        files.move(path, files.kept(job))
    else:
        path.unlink(missing_ok=True)
    job = _settled(job, is_right=is_right)
    if not is_right:
        raise DomainError(
            "The bytes received do not have the hash that was announced; send the file again, from offset 0.",
            received=0,
        )
    return job


@transaction.atomic(durable=True)
def _settled(job: ImportJob, *, is_right: bool) -> ImportJob:
    job = claims.held(job)
    if job.status != ImportStatus.RECEIVING:
        return job
    if is_right:
        return claims.ask(job, ImportStatus.UPLOADED)
    job.received = 0
    job.save(update_fields=["received"])
    return job
