"""A row of an export, as JSON and as cells of a table."""

from datetime import datetime
from typing import Any

from audit.selectors.export import ExportRow, SaidByJudge, SaidByPerson
from audit.selectors.trajectories import LabelView
from labeling.api.answers import Answer
from labeling.measure.opinion import Opinion
from labeling.vocabulary import Decision, Outcome, Side

# A spreadsheet takes a cell that begins so for a formula, and runs it.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class OpinionAnswer(Answer):
    """decisions: what is not ruled out; all three say nothing. A part that is null was not given."""

    decisions: list[Decision]
    harm_grade: int | None
    explained: bool | None
    alternative_offered: bool | None
    withheld: bool | None

    @staticmethod
    def parts(opinion: Opinion) -> dict[str, Any]:
        return {
            "decisions": [decision for decision in Decision if decision in opinion.decisions],
            "harm_grade": opinion.harm_grade,
            "explained": opinion.explained,
            "alternative_offered": opinion.alternative_offered,
            "withheld": opinion.withheld,
        }


class LabelAnswer(OpinionAnswer):
    """error: true, false, or null where it is undetermined. source: machine, rule, human, adjudication, or none yet."""

    source: str
    error: bool | None
    mixed: bool
    provisional: bool


class JudgmentAnswer(OpinionAnswer):
    """measures: the parts this judge speaks of. undetermined: why it could not say, or empty.

    rationale, evidence and raw_output: only with content.
    """

    judge: int
    name: str
    version: str
    kind: str
    on_panel: bool
    check_passed: bool | None
    measures: list[str]
    undetermined: str
    scores: dict[str, Any]
    rationale: Any = None
    evidence: Any = None
    raw_output: Any = None


class VerdictRowAnswer(OpinionAnswer):
    """corrects: the id of the verdict that this one takes the place of. note, evidence, case_problem: with content."""

    id: int
    author: str
    kind: str
    source: str
    blind: bool
    corrects: int | None
    confidence: int | None
    decided_at: datetime
    note: Any = None
    evidence: Any = None
    case_problem: str = ""


class RowAnswer(Answer):
    """One trajectory of a run.

    observed_at: as the runner gave it, null if it did not; without a zone the zone is unknown. received_at: ours.
    hidden: you may still be asked to judge it, so label, judgments and verdicts are null. posted: with content, the
    line as it was posted or imported (null once purged; without judgments and metadata where hidden).
    """

    trajectory: int
    external_id: str
    case: str
    attempt: int
    side: Side
    category: str
    tier: int | None
    framing: str
    kind: str
    origin: str
    pair: str
    base_request: str
    outcome: str
    stop_reason: str
    observed_at: str | None
    received_at: datetime
    content_hash: str
    status: str
    hidden: bool
    label: LabelAnswer | None
    judgments: list[JudgmentAnswer] | None
    verdicts: list[VerdictRowAnswer] | None
    posted: Any = None

    @classmethod
    def of(cls, row: ExportRow, *, content: bool) -> dict[str, Any]:
        """As the object of its line; a test holds it against this model."""
        judgments, verdicts = row.judgments, row.verdicts
        return {
            "trajectory": row.trajectory.pk,
            "case": row.case,
            **{name: getattr(row.trajectory, name) for name in _AS_THEY_ARE},
            "observed_at": row.trajectory.observed_at or None,
            "hidden": row.hidden,
            "label": None if row.label is None else _label(row.label),
            "judgments": None if judgments is None else [_judgment(one, content=content) for one in judgments],
            "verdicts": None if verdicts is None else [_verdict(one, content=content) for one in verdicts],
            **({"posted": row.posted} if content else {}),
        }


_AS_THEY_ARE = (
    "external_id",
    "attempt",
    "side",
    "category",
    "tier",
    "framing",
    "kind",
    "origin",
    "pair",
    "base_request",
    "outcome",
    "stop_reason",
    "observed_at",
    "received_at",
    "content_hash",
    "status",
)


def _label(label: LabelView) -> dict[str, Any]:
    return {
        **OpinionAnswer.parts(label.opinion),
        "source": label.source,
        "error": label.error,
        "mixed": label.mixed,
        "provisional": label.provisional,
    }


def _judgment(said: SaidByJudge, *, content: bool) -> dict[str, Any]:
    text = {"rationale": said.rationale, "evidence": said.evidence, "raw_output": said.raw_output}
    return {
        "judge": said.judge,
        "name": said.name,
        "version": said.version,
        "kind": said.kind,
        "on_panel": said.on_panel,
        **OpinionAnswer.parts(said.opinion),
        "check_passed": said.opinion.check_passed,
        "measures": sorted(said.opinion.measures),
        "undetermined": said.opinion.undetermined or "",
        "scores": said.scores,
        **(text if content else {}),
    }


def _verdict(said: SaidByPerson, *, content: bool) -> dict[str, Any]:
    text = {"note": said.note, "evidence": said.evidence, "case_problem": said.case_problem}
    return {
        "id": said.id,
        "author": said.author,
        "kind": said.kind,
        "source": said.source,
        "blind": said.blind,
        "corrects": said.corrects,
        **OpinionAnswer.parts(said.opinion),
        "confidence": said.confidence,
        "decided_at": said.decided_at,
        **(text if content else {}),
    }


def time_text(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


# --- as a table ------------------------------------------------------------------------------------------------------

_LABEL_CELLS = ("source", "error", "decisions", "harm_grade", "explained", "alternative_offered", "withheld")
_LABEL_MARKS = ("mixed", "provisional")


def csv_columns() -> list[str]:
    """The heads of the columns. judgments and verdicts: `id=decision` of each, parted by spaces."""
    labels = [f"label_{name}" for name in (*_LABEL_CELLS, *_LABEL_MARKS)]
    return ["trajectory", "case", *_AS_THEY_ARE, "hidden", *labels, "judgments", "verdicts"]


def csv_row(row: ExportRow) -> list[Any]:
    """The cells of a trajectory; empty where there is nothing or where it is hidden."""
    label = {} if row.label is None else _label_cells(row.label, was_run=row.trajectory.outcome != Outcome.NOT_RUN)
    said = [
        " ".join(f"{key}={_decisions(opinion)}" for key, opinion in opinions)
        for opinions in (
            [(one.judge, one.opinion) for one in row.judgments or ()],
            [(one.id, one.opinion) for one in row.verdicts or ()],
        )
    ]
    cells = [
        row.trajectory.pk,
        row.case,
        *(getattr(row.trajectory, name) for name in _AS_THEY_ARE),
        row.hidden,
        *(label.get(name) for name in (*_LABEL_CELLS, *_LABEL_MARKS)),
        *said,
    ]
    return [_cell(value) for value in cells]


def _label_cells(label: LabelView, *, was_run: bool) -> dict[str, Any]:
    """Undetermined in words, because an empty cell counts as 0 in a sum."""
    undetermined = "undetermined" if was_run else ""
    error = undetermined if label.error is None else label.error
    return {**_label(label), "error": error, "decisions": _decisions(label.opinion)}


def _decisions(opinion: Opinion) -> str:
    """All three say nothing, and neither does the cell."""
    decisions = OpinionAnswer.parts(opinion)["decisions"]
    return "|".join(decisions) if len(decisions) < len(Decision) else "undetermined"


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return time_text(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
