"""A worker reads a file through, and says what would become of it; nothing of it goes into any run."""

from labeling.formats import registry, wire
from labeling.formats.files.source import Source, Unread
from labeling.formats.mapping import ImportMapping
from labeling.formats.reading import Format, System
from labeling.models import ImportJob
from labeling.services.importing import claims, files, guarding, matching
from labeling.services.importing.claims import Progress
from labeling.services.importing.survey import Survey
from labeling.vocabulary import ImportStatus

_WAITING = (ImportStatus.UPLOADED, ImportStatus.READING)


def read_file(*, job_id: int) -> None:
    """Read the file and preview it. Returns at once if somebody else does, or it does not wait for that."""
    job = claims.claim(job_id=job_id, waiting=_WAITING, working=ImportStatus.READING)
    if job is not None:
        with guarding.failures_kept(job):
            _read(job)


def _read(job: ImportJob) -> None:
    progress = Progress(job, counts=True)
    mapping = wire.read(ImportMapping, job.mapping)
    source = Source(files.Watched(files.whole(job), progress.moved), job.filename, mapping)
    form = registry.named(job.format) if job.format else registry.detected(source)
    cases = matching.cases_of(matching.suite_meant(job.project, job.suite))
    survey = _surveyed(form, source, cases, progress)
    claims.finish(
        job=job,
        status=ImportStatus.PREVIEWED,
        detected_format=form.name,
        preview=survey.preview(),
        bytes_read=job.size,
        rows_total=survey.rows + survey.unreadable,
        rows_done=survey.rows + survey.unreadable,
    )


def _surveyed(form: Format, source: Source, cases: matching.Cases, progress: Progress) -> Survey:
    survey = Survey(source.mapping)
    for item in form.read(source):
        if isinstance(item, System):
            survey.system(item)
            continue
        if isinstance(item, Unread):
            survey.unread(item)
        else:
            survey.row(item, matching.prepared(progress.rows, item, source.mapping, cases))
        progress.row()
        if progress.is_lost:
            raise claims.Lost
    return survey
