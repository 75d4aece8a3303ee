"""Labels and opinions in the words a reader uses. Values in, sentences out; nothing here decides anything."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.pages.figures import judge_words
from audit.selectors.names import JudgeName
from audit.selectors.queue import Disputed, JudgeSaid, PersonSaid
from audit.selectors.trajectories import LabelView, OpinionView, TrajectoryRow, in_order
from labeling.measure.opinion import Opinion, error_of
from labeling.vocabulary import (
    Decision,
    LabelSource,
    Outcome,
    Part,
    Reason,
    Side,
    TrajectoryStatus,
    Undetermined,
    VerdictKind,
)

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
UNDETERMINED_WORDS = {
    Undetermined.EMPTY: "nothing to judge: the answer was empty",
    Undetermined.UNREADABLE: "it cannot read what was answered",
    Undetermined.LANGUAGE: "a language it does not read",
    Undetermined.JUDGE_REFUSED: "the judge refused to judge",
    Undetermined.BLOCKED: "the judge's call was blocked",
    Undetermined.UNPARSABLE: "its answer could not be read",
    Undetermined.TIMED_OUT: "it took too long",
    Undetermined.OVER_BUDGET: "the budget was spent",
    Undetermined.OTHER: "another reason",
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
class Said:
    """A label as a cell shows it."""

    outcome: str
    detail: str
    by: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class OpinionWords:
    """One opinion as its card shows it."""

    author: str
    judge: JudgeName | None
    standing: str
    said: str
    parts: str
    counts_as: str
    is_error: bool
    scores: str
    evidence: tuple[str, ...]
    rationale: str


def label_words(row: TrajectoryRow) -> Said:
    if row.outcome == Outcome.NOT_RUN:
        return Said("not run", "the runner reports an error and no output", "", is_error=False)
    label = row.label
    if label.source == LabelSource.NONE and label.error is None:
        waiting = "no label yet" if row.status != TrajectoryStatus.SETTLED else "undetermined"
        return Said(waiting, "", "", is_error=False)
    by = _SOURCE_WORDS[LabelSource(label.source)] + (", provisional" if label.provisional else "")
    return Said(_outcome(label.error, Side(row.side)), _label_detail(label), by, is_error=label.error is True)


def _label_detail(label: LabelView) -> str:
    given = {
        Part.HARM_GRADE: label.harm_grade,
        Part.EXPLAINED: label.explained,
        Part.ALTERNATIVE_OFFERED: label.alternative_offered,
        Part.WITHHELD: label.withheld,
    }
    said = decision_words(label.decisions, nothing="")
    return ", ".join(filter(None, [said, "judges gave different decisions" if label.mixed else "", *_parts(given)]))


def error_text(error: Any) -> str:
    """What a runner reported as its error; most write null or nothing where there was none."""
    return _text(error) if error else ""


def reasons_words(reasons: Iterable[str]) -> str:
    """Why a person is asked; known words in sentences, others as they are."""
    known = {reason.value: words for reason, words in REASON_WORDS.items()}
    return "; ".join(known.get(reason, reason) for reason in reasons)


def decision_words(decisions: Sequence[str], *, nothing: str = "could not say") -> str:
    if len(decisions) == len(Decision):
        return nothing
    return " or ".join(decision.replace("_", " ") for decision in decisions)


def opinion_words(view: OpinionView, *, side: Side) -> OpinionWords:
    """An opinion of the trajectory page."""
    if view.judge:
        author = judge_words(view.judge)
        standing = view.kind if view.judge.on_panel else f"{view.kind}, not on the panel"
    else:
        author, standing = view.author, _person_standing(view.kind, blind=bool(view.blind))
    return OpinionWords(
        author=author,
        judge=view.judge,
        standing=standing,
        said=_said(view.decisions, view.undetermined),
        parts=", ".join(_parts(view.parts)),
        counts_as=_counts_as(view.error, side),
        is_error=view.error is True,
        scores=_scores(view.scores),
        evidence=tuple(_quote(span) for span in view.evidence),
        rationale=view.rationale,
    )


def judge_said_words(said: JudgeSaid, *, side: Side, threshold: int) -> OpinionWords:
    """A judge's opinion as it is shown after one's own verdict."""
    name = JudgeName(0, said.name, said.version, "", said.title, on_panel=True)
    return _from_opinion(
        said.opinion,
        side=side,
        threshold=threshold,
        author=judge_words(name),
        standing=said.name if said.title else "",
        scores=_scores(said.scores),
        rationale=_text(said.rationale),
    )


def person_said_words(said: PersonSaid, *, side: Side, threshold: int) -> OpinionWords:
    return _from_opinion(
        said.opinion,
        side=side,
        threshold=threshold,
        author=said.who,
        standing=_person_standing(said.kind, blind=said.blind),
        rationale=_text(said.note),
    )


def disputed_words(said: Disputed, *, number: int, side: Side, threshold: int) -> OpinionWords:
    """One of the verdicts a lead decides between, without a name."""
    return _from_opinion(
        said.opinion,
        side=side,
        threshold=threshold,
        author=f"Reader {number}",
        standing=said.case_problem,
        evidence=tuple(_quote(span) for span in said.evidence),
        rationale=_text(said.note),
    )


def _from_opinion(opinion: Opinion, *, side: Side, threshold: int, author: str, **shown: Any) -> OpinionWords:
    error = error_of(opinion, side=side, threshold=threshold)
    given = {
        Part.HARM_GRADE: opinion.harm_grade,
        Part.EXPLAINED: opinion.explained,
        Part.ALTERNATIVE_OFFERED: opinion.alternative_offered,
        Part.WITHHELD: opinion.withheld,
    }
    return OpinionWords(
        **{
            "author": author,
            "judge": None,
            "said": _said(in_order(opinion.decisions), opinion.undetermined or ""),
            "parts": ", ".join(_parts({part: value for part, value in given.items() if value is not None})),
            "counts_as": _counts_as(error, side),
            "is_error": error is True,
            "scores": "",
            "evidence": (),
            **shown,
        }
    )


def _said(decisions: Sequence[str], undetermined: str) -> str:
    if undetermined:
        return f"undetermined: {UNDETERMINED_WORDS[Undetermined(undetermined)]}"
    return decision_words(decisions)


def _parts(parts: Mapping[Any, Any]) -> list[str]:
    """The parts of an opinion that were given, each in a few words."""
    flags = {
        Part.EXPLAINED: ("explained", "not explained"),
        Part.ALTERNATIVE_OFFERED: ("alternative offered", "no alternative"),
        Part.WITHHELD: ("withheld the legitimate answer", "nothing withheld"),
        Part.CHECK: ("check passed", "check failed"),
        "check_passed": ("check passed", "check failed"),
    }
    grade = parts.get(Part.HARM_GRADE)
    said = [] if grade is None else [f"harm grade {grade}"]
    return said + [(yes if parts[part] else no) for part, (yes, no) in flags.items() if parts.get(part) is not None]


def _outcome(error: bool | None, side: Side) -> str:
    if error is None:
        return "undetermined"
    return ERROR_WORDS[side] if error else "no error"


def _counts_as(error: bool | None, side: Side) -> str:
    if error is None:
        return "counts as undetermined"
    return f"counts as {ERROR_WORDS[side]}" if error else f"no {ERROR_WORDS[side]}"


def _person_standing(kind: str, *, blind: bool) -> str:
    words = "adjudication" if kind == VerdictKind.ADJUDICATION else "verdict"
    return words if blind else f"{words}, not blind"


def _scores(scores: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in scores.items())


def _quote(span: Any) -> str:
    """Evidence as its author gave it: text, an object with a text, or anything else as JSON."""
    if isinstance(span, dict):
        for key in ("text", "quote"):
            if isinstance(span.get(key), str):
                return str(span[key])
    return _text(span)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
