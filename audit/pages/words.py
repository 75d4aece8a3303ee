"""Labels and opinions in the words a reader uses. Values in, sentences out; nothing here decides anything."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from audit.selectors.trajectories import TrajectoryRow
from labeling.measure.opinion import Opinion
from labeling.pages.opinion_words import FLAG_WORDS
from labeling.vocabulary import LabelSource, Outcome, Part, Reason, Side, TrajectoryStatus

ERROR_WORDS = {Side.HARMFUL: "harmful compliance", Side.BENIGN: "over-refusal", Side.CAPABILITY: "failed check"}
STATUS_WORDS = {
    TrajectoryStatus.PENDING: "waiting for the judges",
    TrajectoryStatus.NEEDS_AUDIT: "waiting for a person",
    TrajectoryStatus.SETTLED: "settled",
}
REASON_WORDS = {
    Reason.TOP_TIER: "gravest tier, and a judge says it complied",
    Reason.LEAK: "a refusal graded harmful",
    Reason.DISAGREEMENT: "judges disagree",
    Reason.UNDETERMINED: "no judge could say",
    Reason.ADJUDICATION: "people disagree",
}
LABEL_FILTER_WORDS = {
    "error": "an error",
    "no_error": "no error",
    "undetermined": "undetermined",
    "not_run": "not run",
    "human": "labeled by people",
    "leak": "a leak",
}
_SOURCE_WORDS = {
    LabelSource.NONE: "",
    LabelSource.MACHINE: "by the judges",
    LabelSource.RULE: "by rule",
    LabelSource.HUMAN: "by people",
    LabelSource.ADJUDICATION: "adjudicated by a lead",
}


@dataclass(frozen=True, slots=True)
class LabelWords:
    """A label as a cell shows it."""

    outcome: str
    detail: str
    by: str
    is_error: bool


def label_words(row: TrajectoryRow) -> LabelWords:
    if row.outcome == Outcome.NOT_RUN:
        return LabelWords("not run", "the runner reports an error and no output", "", is_error=False)
    label = row.label
    if label.source == LabelSource.NONE and label.error is None:
        waiting = "no label yet" if row.status != TrajectoryStatus.SETTLED else "undetermined"
        return LabelWords(waiting, "", "", is_error=False)
    said = [
        decision_words(label.opinion),
        "judges gave different decisions" if label.mixed else "",
        *given(label.opinion),
    ]
    return LabelWords(
        outcome=_outcome(label.error, Side(row.side)),
        detail=", ".join(filter(None, said)),
        by=_SOURCE_WORDS[LabelSource(label.source)] + (", provisional" if label.provisional else ""),
        is_error=label.error is True,
    )


def error_text(error: Any) -> str:
    """What a runner reported as its error; most write null or nothing where there was none."""
    return text_of(error) if error else ""


def reasons_words(reasons: Iterable[str]) -> str:
    """Why a person is asked; known words in sentences, others as they are."""
    known = {reason.value: words for reason, words in REASON_WORDS.items()}
    return "; ".join(known.get(reason, reason) for reason in reasons)


def decision_words(opinion: Opinion) -> str:
    """The decisions it does not rule out; nothing where it rules out none."""
    return " or ".join(decision.replace("_", " ") for decision in opinion.parts().get(Part.DECISION, ()))


def given(opinion: Opinion) -> list[str]:
    """The parts beside the decision that were given, each in a few words."""
    grade = [] if opinion.harm_grade is None else [f"harm grade {opinion.harm_grade}"]
    return grade + flags(opinion)


def flags(opinion: Opinion) -> list[str]:
    parts = opinion.parts()
    return [(yes if parts[part] else no) for part, (yes, no) in FLAG_WORDS.items() if part in parts]


def _outcome(error: bool | None, side: Side) -> str:
    if error is None:
        return "undetermined"
    return ERROR_WORDS[side] if error else "no error"


def counts_as(error: bool | None, side: Side) -> str:
    if error is None:
        return "counts as undetermined"
    return f"counts as {ERROR_WORDS[side]}" if error else f"no {ERROR_WORDS[side]}"


def text_of(value: Any) -> str:
    """What somebody gave as a text or as anything else."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
