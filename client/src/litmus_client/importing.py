"""Files of other runners: uploaded in pieces, previewed, committed."""

import gzip
import time
from dataclasses import dataclass
from typing import Any

from litmus_client.api import Api, Query, encoded
from litmus_client.errors import Conflict, Json, LitmusError, NoWorker
from litmus_client.progress import Advance
from litmus_client.showing import visible
from litmus_client.sources import Source
from litmus_client.workers import silence

PIECE = 8 * 1024 * 1024
POLL_SECONDS = 0.5
# Who has just been started may take a moment to show.
_PATIENCE_WITH_WORKERS = 20.0
_AT_REST = {"previewed", "done", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a file is to be read. mapping: the name of a saved one, or a mapping itself, then saved as `save_as`."""

    format: str | None = None
    run: str | None = None
    suite: str | None = None
    mapping: str | Json | None = None
    model: str | None = None
    model_version: str | None = None
    save_as: str | None = None


def upload(api: Api, source: Source, wishes: Wishes, *, advance: Advance) -> Json:
    """The import of this file, with all of it on the service. Goes on where an earlier upload broke off."""
    saved = wishes.mapping if isinstance(wishes.mapping, str) else None
    query: Query = {
        "filename": source.filename,
        "sha256": source.sha256,
        "size": source.size,
        "format": wishes.format,
        "run": wishes.run,
        "suite": wishes.suite,
        "mapping": saved,
        "model": wishes.model,
        "model_version": wishes.model_version,
    }
    job: Json = api.post("imports/", query=query)
    while job["status"] == "receiving" and job["received"] < source.size:
        job = _send_from(api, job, source, advance)
    return job


def _send_from(api: Api, job: Json, source: Source, advance: Advance) -> Json:
    """Send on from what the service has, until the end or until it says that it has something else."""
    offset = job["received"]
    with source.open(at=offset) as stream:
        while offset < source.size and job["status"] == "receiving":
            piece = stream.read(PIECE)
            if not piece:
                raise LitmusError(f"{visible(source.filename)} has become shorter while it was read; push it again.")
            try:
                job = _send(api, job["id"], offset, piece)
            except Conflict as error:
                # An answer got lost, or somebody else sends the same file.
                job = api.get(f"imports/{job['id']}/")
                if job["status"] == "receiving" and job["received"] == offset:
                    raise error from None
                return job
            offset += len(piece)
            advance(offset, "sent")
    return job


def _send(api: Api, job_id: int, offset: int, piece: bytes) -> Json:
    packed = gzip.compress(piece, 1, mtime=0)
    headers = {"Content-Type": "application/octet-stream"}
    if len(packed) < len(piece):
        piece, headers = packed, headers | {"Content-Encoding": "gzip"}
    answer: Json = api.send(
        "PATCH", f"imports/{job_id}/", query={"offset": offset}, content=piece, headers=headers
    ).json()
    return answer


def preview(api: Api, job: Json, wishes: Wishes, *, advance: Advance) -> Json:
    """The import once its preview is there, made with the mapping that was given."""
    if isinstance(wishes.mapping, dict):
        if job["status"] == "committing":
            job = wait(api, job, advance=advance)
        # A mapping replaces the one before, and what was said of the model with it.
        asked = {
            "mapping": wishes.mapping,
            "model": wishes.model,
            "model_version": wishes.model_version,
            "save_as": wishes.save_as,
        }
        job = api.post(f"imports/{job['id']}/preview/", asked)
    return wait(api, job, advance=advance)


def commit(api: Api, job: Json, *, blind: bool, advance: Advance) -> Json:
    job = api.post(f"imports/{job['id']}/commit/", {"blind": blind})
    return wait(api, job, advance=advance)


def wait(api: Api, job: Json, *, advance: Advance) -> Json:
    """The import once a worker is through with it. Raises NoWorker where there is none, LitmusError where it failed."""
    began = time.monotonic()
    while job["status"] not in _AT_REST:
        if (sentence := silence(api, job["worker_seen_at"])) and time.monotonic() - began > _PATIENCE_WITH_WORKERS:
            raise NoWorker(f"{sentence} The file is there; the same command goes on with it.")
        advance(job["progress"]["bytes_read"], f"{job['progress']['rows']:,} rows")
        time.sleep(POLL_SECONDS)
        job = api.get(f"imports/{job['id']}/")
    if job["status"] == "failed":
        raise LitmusError(f"{visible(job['filename'], limit=200)}: {visible(job['error']) or 'the import failed.'}")
    if job["status"] == "cancelled":
        raise LitmusError(f"The import of {visible(job['filename'], limit=200)} was cancelled.")
    return job


def rejected_rows(api: Api, job: Json) -> Any:
    """Each row that was not taken: its place, the path and the reason, and its text."""
    return api.lines(f"imports/{job['id']}/rejected/")


def is_all_there(job: Json) -> bool:
    return not (job["progress"]["rejected"] or job["progress"]["conflict"])


def as_line(row: Json) -> bytes:
    return encoded(row) + b"\n"
