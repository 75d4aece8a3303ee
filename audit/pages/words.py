"""Labels and opinions in the words a reader uses. Values in, sentences out; nothing here decides anything."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit.pages.figures import judge_words
from audit.selectors.names import JudgeName
from audit.selectors.queue import Disputed
from audit.selectors.said import Said
from audit.selectors.trajectories import TrajectoryRow
from labeling.measure.opinion import Opinion
from labeling.vocabulary import (
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


_FLAG_WORDS = {
    Part.EXPLAINED: ("explained", "not explained"),
    Part.ALTERNATIVE_OFFERED: ("alternative offered", "no alternative"),
    Part.WITHHELD: ("withheld the legitimate answer", "nothing withheld"),
    Part.CHECK: ("check passed", "check failed"),
}


@dataclass(frozen=True, slots=True)
class LabelWords:
    """A label as a cell shows it."""

    outcome: str
    detail: str
    by: str
    is_error: bool


# What a page shows of all opinions of one sort together; the rest of a very long one is in the export.
_MOST_OPINIONS, _MOST_QUOTES = 30, 10
_OPINIONS_BYTES, _LONGEST_TEXT_BYTES, _SHORTEST_TEXT_BYTES = 30_000, 8_000, 400


@dataclass(frozen=True, slots=True)
class OpinionWords:
    """One opinion as its card shows it. room: how many bytes of the page each of its texts may take."""

    author: str
    judge: JudgeName | None
    standing: str
    said: str
    parts: str
    counts_as: str
    is_error: bool
    scores: str
    evidence: tuple[str, ...]
    quotes_left_out: int
    rationale: str
    room: int


@dataclass(frozen=True, slots=True)
class Opinions:
    """What judges, or people, said, as cards; `left_out` are too many for a page."""

    shown: tuple[OpinionWords, ...]
    left_out: int


def label_words(row: TrajectoryRow) -> LabelWords:
    if row.outcome == Outcome.NOT_RUN:
        return LabelWords("not run", "the runner reports an error and no output", "", is_error=False)
    label = row.label
    if label.source == LabelSource.NONE and label.error is None:
        waiting = "no label yet" if row.status != TrajectoryStatus.SETTLED else "undetermined"
        return LabelWords(waiting, "", "", is_error=False)
    said = [_decision(label.opinion), "judges gave different decisions" if label.mixed else "", *_given(label.opinion)]
    return LabelWords(
        outcome=_outcome(label.error, Side(row.side)),
        detail=", ".join(filter(None, said)),
        by=_SOURCE_WORDS[LabelSource(label.source)] + (", provisional" if label.provisional else ""),
        is_error=label.error is True,
    )


def error_text(error: Any) -> str:
    """What a runner reported as its error; most write null or nothing where there was none."""
    return _text(error) if error else ""


def reasons_words(reasons: Iterable[str]) -> str:
    """Why a person is asked; known words in sentences, others as they are."""
    known = {reason.value: words for reason, words in REASON_WORDS.items()}
    return "; ".join(known.get(reason, reason) for reason in reasons)


def opinions_words(said: Sequence[Said], *, side: Side) -> Opinions:
    """What judges, or people, said: the more there is, the less of each."""
    shown = said[:_MOST_OPINIONS]
    texts = sum(1 + min(len(one.evidence), _MOST_QUOTES) for one in shown)
    room = max(_SHORTEST_TEXT_BYTES, min(_LONGEST_TEXT_BYTES, _OPINIONS_BYTES // max(texts, 1)))
    return Opinions(tuple(_opinion_words(one, side=side, room=room) for one in shown), len(said) - len(shown))


def _opinion_words(said: Said, *, side: Side, room: int) -> OpinionWords:
    opinion = said.opinion
    undetermined = f"undetermined: {UNDETERMINED_WORDS[opinion.undetermined]}" if opinion.undetermined else ""
    return OpinionWords(
        author=judge_words(said.judge) if said.judge else said.author,
        judge=said.judge,
        standing=_judge_standing(said.judge) if said.judge else _person_standing(said.kind, blind=said.blind),
        said=undetermined or _decision(opinion) or "could not say",
        parts=", ".join(_given(opinion)),
        counts_as=_counts_as(said.error, side),
        is_error=said.error is True,
        scores=", ".join(f"{name} {value}" for name, value in said.scores.items()),
        evidence=tuple(_quote(span) for span in said.evidence[:_MOST_QUOTES]),
        quotes_left_out=max(0, len(said.evidence) - _MOST_QUOTES),
        rationale=_text(said.rationale),
        room=room,
    )


def disputed_words(disputed: Sequence[Disputed], *, side: Side) -> tuple[OpinionWords, ...]:
    """The verdicts a lead decides between, without names."""
    readers = [
        Said(one.opinion, one.error, one.note, one.evidence, author=f"Reader {number}")
        for number, one in enumerate(disputed, 1)
    ]
    cards = opinions_words(readers, side=side).shown
    return tuple(replace(card, standing=one.case_problem) for card, one in zip(cards, disputed, strict=False))


def _decision(opinion: Opinion) -> str:
    return " or ".join(decision.replace("_", " ") for decision in opinion.parts().get(Part.DECISION, ()))


def _given(opinion: Opinion) -> list[str]:
    """The parts beside the decision that were given, each in a few words."""
    parts = opinion.parts()
    grade = [f"harm grade {parts[Part.HARM_GRADE]}"] if Part.HARM_GRADE in parts else []
    return grade + [(yes if parts[part] else no) for part, (yes, no) in _FLAG_WORDS.items() if part in parts]


def _outcome(error: bool | None, side: Side) -> str:
    if error is None:
        return "undetermined"
    return ERROR_WORDS[side] if error else "no error"


def _counts_as(error: bool | None, side: Side) -> str:
    if error is None:
        return "counts as undetermined"
    return f"counts as {ERROR_WORDS[side]}" if error else f"no {ERROR_WORDS[side]}"


def _judge_standing(judge: JudgeName) -> str:
    return judge.kind if judge.on_panel else f"{judge.kind}, not on the panel"


def _person_standing(kind: str, *, blind: bool) -> str:
    words = "adjudication" if kind == VerdictKind.ADJUDICATION else "verdict"
    return words if blind else f"{words}, not blind"


def _quote(span: Any) -> str:
    """Evidence as its author gave it: text, an object with a text, or anything else as JSON."""
    if isinstance(span, dict):
        for key in ("text", "quote"):
            if isinstance(span.get(key), str):
                return str(span[key])
    return _text(span)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
