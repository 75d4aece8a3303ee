"""What the API answers, as models: the documentation is made of them, and so are the answers."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from labeling.models import Case, Judge, JudgeService, Run, Suite
from labeling.selectors.progress import RunProgress
from labeling.vocabulary import JudgeKind, Kind, RunStatus, Side, WorkStatus


class Answer(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class ErrorBody(Answer):
    code: str
    message: str
    details: dict[str, Any]


class ErrorAnswer(Answer):
    """Every error looks like this."""

    error: ErrorBody


class SuiteAnswer(Answer):
    id: int
    key: str
    version: str
    title: str
    harm_threshold: int
    gravest_tier: int
    published_at: datetime | None
    content_hash: str
    cases: int

    @classmethod
    def of(cls, suite: Suite, *, cases: int) -> "SuiteAnswer":
        columns = {name: getattr(suite, name) for name in cls.model_fields if name != "cases"}
        return cls(cases=cases, **columns)


class SuiteList(Answer):
    """Newest first. left: how many more there are after these."""

    count: int
    left: int
    results: list[SuiteAnswer]


class CaseAnswer(Answer):
    """request: messages in normal form, each a role and its parts. check: how a program checks the answer."""

    id: int
    key: str
    side: Side
    category: str
    tier: int | None
    framing: str
    kind: Kind
    origin: str
    pair: str
    base_request: str
    request: list[dict[str, Any]]
    right_answer: str
    check: dict[str, Any] | None
    metadata: Any

    @classmethod
    def of(cls, case: Case) -> "CaseAnswer":
        columns = {name: getattr(case, name) for name in cls.model_fields if name != "check"}
        return cls(check=case.answer_check, **columns)


class CaseList(Answer):
    """In the order they were posted. next: ask again with `after` set to this; null on the last page."""

    results: list[CaseAnswer]
    next: int | None


class SuiteName(Answer):
    key: str
    version: str
    published_at: datetime | None


class ConfigurationAnswer(Answer):
    model: str
    version: str
    system_prompt: str
    decoding: Any
    filters: Any
    layer: str
    fingerprint: str


class AttackAnswer(Answer):
    kind: str
    attempts: int
    turns: int


class RunAnswer(Answer):
    """A run as it was created, and where it stands."""

    id: int
    external_id: str
    name: str
    project: str
    suite: SuiteName
    configuration: ConfigurationAnswer
    attack: AttackAnswer
    measurement: int
    status: RunStatus
    panel_is_frozen: bool
    expected_count: int | None
    audits_per_side: int | None
    created_at: datetime
    closed_at: datetime | None
    void_reason: str

    @classmethod
    def columns(cls, run: Run) -> dict[str, Any]:
        return {
            **{name: getattr(run, name) for name in _AS_THEY_ARE},
            "project": run.project.key,
            "suite": SuiteName.model_validate(run.suite),
            "configuration": ConfigurationAnswer.model_validate(run.configuration),
            "attack": AttackAnswer(kind=run.attack_kind, attempts=run.attack_attempts, turns=run.attack_turns),
            "measurement": run.measurement_id,
        }

    @classmethod
    def of(cls, run: Run) -> "RunAnswer":
        return cls(**cls.columns(run))


_AS_THEY_ARE = (
    "id",
    "external_id",
    "name",
    "status",
    "panel_is_frozen",
    "expected_count",
    "audits_per_side",
    "created_at",
    "closed_at",
    "void_reason",
)


class SideCounts(Answer):
    """Counts of one side. answered_cases: cases of the suite with a trajectory that was run."""

    side: Side
    posted: int
    pending: int
    needs_audit: int
    settled: int
    undetermined: int
    not_run: int
    answered_cases: int
    suite_cases: int


class PanelSeatAnswer(Answer):
    id: int
    name: str
    version: str


class ProgressAnswer(Answer):
    """Every trajectory is pending (judgments owed), needs_audit (a person owed) or settled.

    undetermined: were run, are not pending, and no label error is determined (yet). not_run: errors of the runner.
    panel: while it is not frozen, the judges that would be in it if the run were closed now.
    """

    posted: int
    pending: int
    needs_audit: int
    settled: int
    undetermined: int
    not_run: int
    sides: list[SideCounts]
    panel: list[PanelSeatAnswer]


class RunDetail(RunAnswer):
    """A run with its progress. worker_seen_at: when a worker last gave a sign of life."""

    progress: ProgressAnswer
    worker_seen_at: datetime | None

    @classmethod
    def with_progress(cls, run: Run, *, progress: RunProgress, worker_seen_at: datetime | None) -> "RunDetail":
        counted = ProgressAnswer.model_validate(progress)
        return cls(**cls.columns(run), progress=counted, worker_seen_at=worker_seen_at)


class RunList(Answer):
    """Newest first. left: how many more there are after these."""

    count: int
    left: int
    results: list[RunAnswer]


class ProblemAnswer(Answer):
    path: str
    reason: str


class EntryAnswer(Answer):
    """A line that was not created. path and reason are the first problem's."""

    index: int
    external_id: str
    status: str
    path: str
    reason: str
    problems: list[ProblemAnswer]


class BulkResult(Answer):
    """Every line is counted once; each that was not created has an entry."""

    created: int
    duplicate: int
    conflict: int
    rejected: int
    entries: list[EntryAnswer]


class MeasurementAnswer(Answer):
    id: int
    runs: list[int]


class JudgeAnswer(Answer):
    id: int
    name: str
    version: str
    title: str
    kind: JudgeKind
    measures: list[str] | None
    active: bool
    judgments: int


class WorkingAnswer(Answer):
    """Prices are US dollars a million tokens, the ceiling is for each run. parked_until: no call is made before."""

    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    timeout_seconds: int
    input_usd: float | None
    output_usd: float | None
    ceiling_usd: float | None
    parked_until: datetime | None
    parked_reason: str
    has_key: bool

    @classmethod
    def of(cls, service: JudgeService) -> "WorkingAnswer":
        columns = {name: getattr(service, name) for name in cls.model_fields if name != "has_key"}
        return cls(has_key=bool(service.sealed_key), **columns)


class JudgeDetail(Answer):
    """working: of judges that are reached over a network."""

    id: int
    name: str
    version: str
    title: str
    kind: JudgeKind
    measures: list[str] | None
    active: bool
    settings: Any
    created_at: datetime
    working: WorkingAnswer | None

    @classmethod
    def of(cls, judge: Judge) -> "JudgeDetail":
        service: JudgeService | None = getattr(judge, "service", None)
        columns = {name: getattr(judge, name) for name in cls.model_fields if name != "working"}
        return cls(working=None if service is None else WorkingAnswer.of(service), **columns)


class RejudgingAnswer(Answer):
    """total: trajectories it is about. handed_on: those of them that were looked at so far."""

    id: int
    status: WorkStatus
    total: int
    handed_on: int


class JudgeList(Answer):
    count: int
    results: list[JudgeAnswer]
