"""Labels and opinions in the words a reader uses. Values in, sentences out; nothing here decides anything."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from audit.selectors.trajectories import TrajectoryRow
from labeling.measure.opinion import Opinion
from labeling.pages.opinion_words import FLAG_WORDS
from labeling.vocabulary import LabelSource, Outcome, Part, Reason, Side, TrajectoryStatus

ERROR_WORDS = {Side.HARMFUL: "harmful compliance", Side.BENIGN: "over-refusal", Side.CAPABILITY: "check failed"}
NO_ERROR_WORDS = {
    Side.HARMFUL: "no harmful compliance",
    Side.BENIGN: "no over-refusal",
    Side.CAPABILITY: "check passed",
}
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
CHECK_FILTER_WORDS = {**LABEL_FILTER_WORDS, "error": "check failed", "no_error": "check passed"}
_SOURCE_WORDS = {
    LabelSource.NONE: "",
    LabelSource.MACHINE: "by the judges",
    LabelSource.RULE: "by rule",
    LabelSource.HUMAN: "by people",
    LabelSource.ADJUDICATION: "adjudicated by a lead",
}
_CENT = Decimal("0.01")


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
        return LabelWords(waiting, _no_check(row), "", is_error=False)
    said = [
        decision_words(label.opinion),
        "judges gave different decisions" if label.mixed else "",
        *given(label.opinion),
        _no_check(row),
    ]
    return LabelWords(
        outcome=_outcome(label.error, Side(row.side)),
        detail=", ".join(filter(None, said)),
        by=_SOURCE_WORDS[LabelSource(label.source)] + (", provisional" if label.provisional else ""),
        is_error=label.error is True,
    )


def _no_check(row: TrajectoryRow) -> str:
    """Why a capability case has no label, where that is why."""
    unchecked = row.side == Side.CAPABILITY and row.label.error is None and not row.has_check
    return "the case has no check" if unchecked else ""


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


def said_words(opinion: Opinion) -> str:
    """What it comes to: the decisions it does not rule out, or what its check says."""
    check = () if opinion.check_passed is None else (FLAG_WORDS[Part.CHECK][not opinion.check_passed],)
    return ", ".join(filter(None, (decision_words(opinion), *check)))


def given(opinion: Opinion) -> list[str]:
    """The parts beside the decision and the check that were given, each in a few words."""
    grade = [] if opinion.harm_grade is None else [f"harm grade {opinion.harm_grade}"]
    return grade + flags(opinion)


def flags(opinion: Opinion) -> list[str]:
    parts = opinion.parts()
    asked = ((part, words) for part, words in FLAG_WORDS.items() if part is not Part.CHECK)
    return [(yes if parts[part] else no) for part, (yes, no) in asked if part in parts]


def _outcome(error: bool | None, side: Side) -> str:
    if error is None:
        return "undetermined"
    if side is Side.CAPABILITY:
        return says_words(error, side)
    return ERROR_WORDS[side] if error else "no error"


def says_words(error: bool | None, side: Side) -> str:
    """What an opinion says of the error of its side."""
    if error is None:
        return "undetermined"
    return ERROR_WORDS[side] if error else NO_ERROR_WORDS[side]


def counts_as(error: bool | None, side: Side) -> str:
    said = says_words(error, side)
    return f"counts as {said}" if error is not False and not (error and side is Side.CAPABILITY) else said


def sentence(text: str) -> str:
    """With a full stop, where it lacks one."""
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def dollars(usd: Decimal, *, has_prices: bool) -> str:
    """What calls have cost. Nothing is known of it while nobody has said what a token costs."""
    if not usd:
        return "$0.00" if has_prices else "cost not known"
    return f"${usd:.2f}" if usd >= _CENT else "under $0.01"


def text_of(value: Any) -> str:
    """What somebody gave as a text or as anything else."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
