"""What the API answers about imports."""

from datetime import datetime
from typing import Any, Literal

from labeling.api.answers import Answer, ProblemAnswer
from labeling.vocabulary import ImportStatus, Meaning


class SystemFound(Answer):
    """A system under test in the file: it becomes a run."""

    key: str
    name: str
    model: str
    version: str
    rows: int


class CasesFound(Answer):
    """matched: are in the suite. defined: will be, in its draft or the run's own. unknown: its suite is published."""

    total: int
    matched: int
    defined: int
    unknown: int


class ScoreCounts(Answer):
    """other: on a scale of its own, such as a grade or a decision. neither: unscored, or neither yes nor no."""

    yes: int
    no: int
    neither: int
    other: int


class ScoreFound(Answer):
    """A score, read in one way. meaning: what a yes of it says; null where nothing tells, or the reader decodes it."""

    name: str
    judge: str
    version: str
    meaning: Meaning | None
    counts: ScoreCounts
    sentence: str


class JudgeFound(Answer):
    """A judge that will be declared, and the parts it measures; none where that differs from row to row."""

    name: str
    version: str
    measures: list[str]


class ColumnFound(Answer):
    """A path that a mapping may use, with some of the values found there."""

    path: str
    values: list[str]


class ScoreTaken(Answer):
    name: str
    value: Any
    taken_as: str


class ExampleRow(Answer):
    """A row, decoded. request: its beginning. answer: its beginning and its end."""

    place: str
    external_id: str
    case: dict[str, Any]
    request: str
    answer: str
    stop_reason: str
    scores: list[ScoreTaken]
    problems: list[ProblemAnswer]


class Unmapped(Answer):
    """what: `case.side`, `scores.NAME`, or `mapping.…` where the mapping names what no row has. say: how to mend it."""

    what: str
    count: int
    say: str


class ProblemCount(Answer):
    path: str
    reason: str
    count: int


class PreviewAnswer(Answer):
    """What would become of the file. Nothing of it is in any run before the commit.

    sides: rows a side; "" counts those of which nothing says it. not_run: rows with an error and nothing from the
    target, of those that can go in.
    """

    rows: int
    unreadable: int
    without_side: int
    not_run: int
    systems: list[SystemFound]
    sides: dict[str, int]
    cases: CasesFound
    scores: list[ScoreFound]
    judges: list[JudgeFound]
    verdicts: int
    columns: list[ColumnFound]
    examples: list[ExampleRow]
    unmapped: list[Unmapped]
    problems: list[ProblemCount]


class ImportProgress(Answer):
    """rows: done so far, of rows_total. rejected: also those that cannot be read."""

    bytes_read: int
    rows: int
    rows_total: int
    created: int
    duplicate: int
    conflict: int
    rejected: int
    verdicts: int


class ImportedRunAnswer(Answer):
    id: int
    external_id: str
    name: str


class ImportRow(Answer):
    """An import without its preview. received: bytes that are here. error: a sentence, where it failed."""

    id: int
    project: str
    filename: str
    format: str
    detected_format: str
    sha256: str
    size: int
    received: int
    status: ImportStatus
    run: str
    suite: str
    model: str
    model_version: str
    mapping: dict[str, Any]
    blind: bool
    error: str
    worker_seen_at: datetime | None
    created_at: datetime
    committed_at: datetime | None
    finished_at: datetime | None
    progress: ImportProgress
    runs: list[ImportedRunAnswer]


class ImportAnswer(ImportRow):
    """An import, and its preview once it is there."""

    preview: PreviewAnswer | None


class ImportList(Answer):
    """Newest first. left: how many more there are after these."""

    count: int
    left: int
    results: list[ImportRow]


class RejectedRow(Answer):
    """A row in quarantine. raw: its text in the file."""

    place: str
    external_id: str
    status: Literal["rejected", "conflict", "unread"]
    path: str
    reason: str
    raw: str


class MappingAnswer(Answer):
    name: str
    mapping: dict[str, Any]
    updated_at: datetime


class MappingList(Answer):
    results: list[MappingAnswer]


class FormatAnswer(Answer):
    """versions: of its runner, on which the reader was tried."""

    name: str
    title: str
    versions: str


class FormatList(Answer):
    results: list[FormatAnswer]
