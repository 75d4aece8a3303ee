"""A worker puts a file's rows into runs, batch after batch; what does not go in is kept in quarantine with the reason.

A killed worker's work is taken up where it was last written down; the batch in between is recognised as there already.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from labeling.errors import Conflict
from labeling.formats import registry, wire
from labeling.formats.decoding import attack, configuration
from labeling.formats.files.source import Source, Unread
from labeling.formats.lines import Parsed, Rejected, read_values
from labeling.formats.mapping import ImportMapping
from labeling.formats.normal import canonical, digest
from labeling.formats.packing import pack
from labeling.formats.problems import shown
from labeling.formats.reading import Row, System
from labeling.models import ImportedRun, ImportJob, ImportRejection, Run, Suite
from labeling.selectors.naming import suite_ref
from labeling.services import ingest, runs
from labeling.services.importing import claims, files, guarding, matching, showing, verdicts
from labeling.services.importing.claims import Progress
from labeling.services.importing.matching import Prepared
from labeling.vocabulary import ImportStatus

# A batch is as many rows, or as many bytes of them, as memory easily holds.
_ROWS = 500
_BYTES = 8 * 1024 * 1024
# The rest of a longer row is in the file.
_KEPT_BYTES = 32 * 1024 * 1024
_ROW_COUNTS = ("created", "duplicate", "conflict", "rejected")
_COUNTS = (*_ROW_COUNTS, "verdicts")

Ring = Callable[[Sequence[int]], None]


@transaction.atomic(durable=True)
def request_commit(*, job: ImportJob, blind: bool = False) -> ImportJob:
    """Have a previewed file committed, also once more after it was done, failed or cancelled.

    What is there is recognised; the quarantine of the commit before gives way to this one's.
    blind: the people whose labels are in the file had seen no judge's opinion.
    """
    job = claims.held(job)
    if job.status == ImportStatus.COMMITTING:
        return job
    claims.refuse_unless_whole(job)
    if job.preview is None:
        raise Conflict("There is no preview yet; look at it before you commit.", status=job.status)
    ImportRejection.objects.filter(job=job).delete()
    return claims.ask(
        job, ImportStatus.COMMITTING, blind=blind, committed_at=timezone.now(), **dict.fromkeys(_COUNTS, 0)
    )


def commit_file(*, job_id: int, ring: Ring) -> None:
    """Do the work. Returns at once if somebody else does, or nobody asked for it.

    ring: asks for the judging of trajectories.
    """
    job = claims.claim(job_id=job_id, waiting=(ImportStatus.COMMITTING,), working=ImportStatus.COMMITTING)
    if job is not None:
        with guarding.failures_kept(job):
            _Commit(job, ring).work()


class _Numbered(NamedTuple):
    """A row with its place among the file's rows, and as it would be posted."""

    number: int
    row: Row
    made: Prepared


@dataclass(slots=True)
class _Batch:
    rows: list[_Numbered] = field(default_factory=list)
    rejections: list[ImportRejection] = field(default_factory=list)
    size: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.rows) + len(self.rejections) >= _ROWS or self.size >= _BYTES


class _Commit:
    def __init__(self, job: ImportJob, ring: Ring) -> None:
        self._job = job
        self._ring = ring
        self._progress = Progress(job, counts=False)
        self._mapping = wire.read(ImportMapping, job.mapping)
        self._source = Source(files.Watched(files.whole(job), self._progress.moved), job.filename, self._mapping)
        self._counts = {name: getattr(job, name) for name in _COUNTS}
        self._systems: dict[str, System] = {}
        self._runs: dict[str, Run] = {}
        self._cases = matching.Cases()

    def work(self) -> None:
        suite = matching.suite_meant(self._job.project, self._job.suite)
        if suite is None and self._job.suite:
            suite = _drafted(self._job)
        self._cases = matching.cases_of(suite)
        for batch in self._batches():
            self._store(batch)
        claims.finish(
            job=self._job, status=ImportStatus.DONE, bytes_read=self._job.size, rows_total=self._progress.rows
        )

    def _batches(self) -> Iterator[_Batch]:
        """The rows that are not written down as done."""
        batch = _Batch()
        done = self._job.rows_done
        for item in registry.named(self._job.detected_format).read(self._source):
            if self._progress.is_lost:
                raise claims.Lost
            if isinstance(item, System):
                self._systems[item.key] = item
                continue
            self._progress.row()
            if self._progress.rows <= done:
                continue
            self._take(batch, item)
            if batch.is_full:
                yield batch
                batch = _Batch()
        yield batch

    def _take(self, batch: _Batch, item: Row | Unread) -> None:
        number = self._progress.rows - 1
        batch.size += len(item.raw or b"")
        if isinstance(item, Unread):
            batch.rejections.append(
                _rejection(self._job, number, item.place, status="unread", problem=item, raw=item.raw)
            )
            self._counts["rejected"] += 1
        else:
            made = matching.prepared(number, item, self._mapping, self._cases)
            batch.rows.append(_Numbered(number, item, made))

    def _store(self, batch: _Batch) -> None:
        by_system: dict[str, list[_Numbered]] = defaultdict(list)
        for each in batch.rows:
            by_system[each.row.system].append(each)
        for key, rows in by_system.items():
            # A run is made for what goes into it, not for what is refused.
            if key in self._runs or any(isinstance(each.made.line, Parsed) for each in rows):
                batch.rejections += self._store_rows(self._run_of(key), rows)
            else:
                batch.rejections += self._refused(rows)
        claims.advance(
            job=self._job,
            rejections=batch.rejections,
            bytes_read=self._progress.bytes_read,
            rows_done=self._progress.rows,
            attempts=0,
            **self._counts,
        )

    def _refused(self, rows: Sequence[_Numbered]) -> Iterator[ImportRejection]:
        for each in rows:
            assert isinstance(each.made.line, Rejected)
            self._counts["rejected"] += 1
            path, reason = each.made.line.problems[0]
            yield _rejected_row(self._job, each, _Refusal(ingest.REJECTED, path, reason))

    def _store_rows(self, run: Run, rows: Sequence[_Numbered]) -> Iterator[ImportRejection]:
        answer = ingest.store_trajectories(run=run, lines=[each.made.line for each in rows])
        for name in _ROW_COUNTS:
            self._counts[name] += getattr(answer, name)
        refused = {entry.index: entry for entry in answer.entries if entry.status != ingest.DUPLICATE}
        stored = [each for each in rows if _is_stored(refused.get(each.number))]
        quarantined = {
            number: _rejected_row(self._job, each, refused[number])
            for each in rows
            if (number := each.number) in refused
        }
        for each, entry in self._store_verdicts(run, stored):
            quarantined.setdefault(each.number, _rejected_row(self._job, each, entry))
        # Before anybody can be asked to judge them.
        showing.record_looks(self._job, run, [each.made.line.external_id for each in stored])
        self._ring(answer.owed)
        yield from quarantined.values()

    def _store_verdicts(self, run: Run, rows: Sequence[_Numbered]) -> Iterator[tuple[_Numbered, "_Refusal"]]:
        """Give people's labels to the human side; what it refuses, with the row it is of."""
        given = [(each, index, verdict) for each in rows for index, verdict in enumerate(each.made.decoded.verdicts)]
        if not given:
            return
        lines = read_values(wire.VerdictLine, [verdict for _, _, verdict in given])
        answer = verdicts.registered()(run=run, lines=lines, blind=self._job.blind)
        self._counts["verdicts"] += answer.created
        for entry in answer.entries:
            if entry.status != ingest.DUPLICATE:
                each, index, _ = given[entry.index]
                path = ".".join(filter(None, (f"verdicts[{index}]", entry.path)))
                yield each, _Refusal(entry.status, path, entry.reason)

    def _run_of(self, key: str) -> Run:
        """The run of a system of the file; made, or recognised, when its first row comes."""
        if key not in self._runs:
            spec = wire.read(wire.RunSpec, self._spec(self._systems[key]))
            self._runs[key] = runs.create_run(project=self._job.project, spec=spec).run
            _named(self._job, self._runs[key], key)
        return self._runs[key]

    def _spec(self, system: System) -> dict[str, Any]:
        # What somebody calls the run goes over what the file calls the system.
        given = "" if self._job.run_name else shown(system.name, limit=200)
        name = self._mapping.system.name or given
        judges = [
            {"name": judge["name"], "version": judge["version"], "measures": judge["measures"] or None}
            for judge in self._job.preview["judges"]
        ]
        return {
            "external_id": run_id_of(self._job, system),
            "name": name,
            "suite": self._job.suite or None,
            "configuration": configuration(system, self._mapping),
            "attack": attack(system, self._mapping) or None,
            "judges": judges,
        }


class _Refusal(NamedTuple):
    status: str
    path: str
    reason: str


def run_id_of(job: ImportJob, system: System) -> str:
    """The external id of the run that a system of the file becomes; the same for the same file and name."""
    name = job.run_name or f"{job.filename}-{job.sha256[:12]}"
    several = len(job.preview["systems"]) > 1
    whole = f"{name}/{shown(system.key, limit=200)}" if several and system.key else name
    return whole if len(whole) <= 200 else f"{whole[:150]}…{digest(whole)[:32]}"


def _is_stored(entry: ingest.Entry | None) -> bool:
    """Is the row's trajectory there as the row has it? A contradiction of a judge leaves it so."""
    return entry is None or (entry.status == ingest.CONFLICT and entry.path.startswith("judgments"))


def _rejected_row(job: ImportJob, each: _Numbered, entry: ingest.Entry | _Refusal) -> ImportRejection:
    return _rejection(
        job,
        each.number,
        each.row.place,
        external_id=each.made.line.external_id,
        status=entry.status,
        problem=entry,
        raw=each.row.raw or canonical(each.row.line).encode(),
    )


def _rejection(
    job: ImportJob,
    number: int,
    place: str,
    *,
    external_id: str = "",
    status: str,
    problem: ingest.Entry | _Refusal | Unread,
    raw: bytes,
) -> ImportRejection:
    return ImportRejection(
        job=job,
        number=number,
        place=shown(place, limit=200),
        external_id=shown(external_id, limit=200),
        status=status,
        path=shown(problem.path, limit=200),
        reason=shown(problem.reason, limit=1000),
        raw=pack(raw[:_KEPT_BYTES]),
    )


@transaction.atomic(durable=True)
def _drafted(job: ImportJob) -> Suite:
    """The draft that this file's cases are to make, or that was made in the same moment."""
    ref = suite_ref(job.suite)
    title = f"Cases of {job.filename}"[:200]
    suite, _ = Suite.objects.get_or_create(
        project=job.project, key=ref.key, version=ref.version or "", defaults={"title": title}
    )
    return suite


@transaction.atomic(durable=True)
def _named(job: ImportJob, run: Run, key: str) -> None:
    ImportedRun.objects.get_or_create(job=job, run=run, defaults={"system": shown(key, limit=200)})
