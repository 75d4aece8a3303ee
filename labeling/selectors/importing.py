"""Import jobs as they are shown, and what lies in quarantine."""

from collections.abc import Iterator
from datetime import datetime
from itertools import accumulate
from typing import Any, NamedTuple

from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Length

from labeling.errors import NotFound
from labeling.formats.problems import shown as shown_text
from labeling.models import ImportedRun, ImportJob, ImportRejection, Project, SavedMapping
from labeling.selectors.progress import worker_seen

_PAGE = 500
_PAGE_BYTES = 8 * 1024 * 1024


class JobPage(NamedTuple):
    """total: of all of the project, not only of this page. jobs: as `shown`, without their previews."""

    total: int
    jobs: list[dict[str, Any]]


def job_numbered(job_id: int) -> ImportJob:
    """The job with this id, whoever may see it: check the project before anything else."""
    return _there(_jobs().filter(pk=job_id).first())


def job_in(project: Project, job_id: int) -> ImportJob:
    """The job with this id, if it is one of this project."""
    return _there(_jobs().filter(project=project, pk=job_id).first())


def jobs_listed(project: Project, *, offset: int, limit: int) -> JobPage:
    """A page of the project's imports, newest first, in four queries."""
    page = _jobs().filter(project=project).defer("preview").order_by("-pk")[offset : offset + limit]
    seen_at = worker_seen()
    jobs = [_shown(job, seen_at) for job in page]
    return JobPage(ImportJob.objects.filter(project=project).count(), jobs)


def shown(job: ImportJob) -> dict[str, Any]:
    """The job with its preview, as the API and the page have it; in two queries."""
    return {**_shown(job, worker_seen()), "preview": job.preview}


def rejections(job: ImportJob, *, after: int = -1, limit: int) -> list[ImportRejection]:
    """Rows in quarantine without their bytes, in the order of the file, after the one with the number `after`."""
    return list(_rejections(job, after=after)[:limit])


def _rejections(job: ImportJob, *, after: int) -> QuerySet[ImportRejection]:
    return job.rejections.filter(number__gt=after).order_by("number").defer("raw")


def pages_of_rejections(job: ImportJob) -> Iterator[list[ImportRejection]]:
    """All of them, with their bytes: of large rows few at a time."""
    last = -1
    while sizes := list(_rejections(job, after=last).values_list("number", Length("raw"))[:_PAGE]):
        so_far = accumulate(size for _, size in sizes)
        fitting = sum(1 for size in so_far if size <= _PAGE_BYTES) or 1
        until = sizes[fitting - 1][0]
        yield list(_rejections(job, after=last).filter(number__lte=until).defer(None))
        last = until


def rejection_count(job: ImportJob) -> int:
    """How many rows lie in quarantine."""
    return job.rejections.count()


def saved_mappings(project: Project) -> list[SavedMapping]:
    """By name."""
    return list(SavedMapping.objects.filter(project=project).order_by("name"))


def saved_mapping(project: Project, name: str) -> SavedMapping:
    found = SavedMapping.objects.filter(project=project, name=name).first()
    if found is None:
        raise NotFound(f"There is no saved mapping {shown_text(name)} in this project; see /api/v1/mappings/.")
    return found


def _jobs() -> QuerySet[ImportJob]:
    runs = ImportedRun.objects.select_related("run").order_by("pk")
    return ImportJob.objects.select_related("project").prefetch_related(Prefetch("runs", runs))


def _there(job: ImportJob | None) -> ImportJob:
    if job is None:
        raise NotFound("There is no such import, or it is not in a project of yours.")
    return job


_AS_THEY_ARE = (
    "id",
    "filename",
    "format",
    "detected_format",
    "sha256",
    "size",
    "received",
    "status",
    "suite",
    "mapping",
    "blind",
    "error",
    "created_at",
    "committed_at",
    "finished_at",
)
_COUNTS = ("bytes_read", "created", "duplicate", "conflict", "rejected", "verdicts")


def _shown(job: ImportJob, worker_seen_at: datetime | None) -> dict[str, Any]:
    system = job.mapping.get("system") or {}
    return {
        **{name: getattr(job, name) for name in _AS_THEY_ARE},
        "project": job.project.key,
        "run": job.run_name,
        "model": system.get("model") or "",
        "model_version": system.get("version") or "",
        "worker_seen_at": worker_seen_at,
        "progress": {
            **{name: getattr(job, name) for name in _COUNTS},
            "rows": job.rows_done,
            "rows_total": job.rows_total,
        },
        "runs": [
            {"id": each.run_id, "external_id": each.run.external_id, "name": each.run.name} for each in job.runs.all()
        ],
    }
