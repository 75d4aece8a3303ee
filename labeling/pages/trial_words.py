"""What a judge on trial said, and how work that was asked for stands, in words."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from labeling.models.fields import bits_to_decisions
from labeling.pages.opinion_words import FLAG_WORDS, UNDETERMINED_WORDS
from labeling.selectors.trying import PeoplesLabel
from labeling.vocabulary import Decision, Part, Undetermined, WorkStatus

_MOST_QUOTES = 10
STANDINGS = {
    WorkStatus.WAITING: "waiting for a worker",
    WorkStatus.WORKING: "at work",
    WorkStatus.DONE: "done",
    WorkStatus.FAILED: "stopped",
}


class Quote(NamedTuple):
    """place: which message it stands in, counted from 1."""

    place: int
    text: str


class SaidWords(NamedTuple):
    """What a judge said of one trajectory. parts: beside the decision, with what it could not say."""

    decision: str
    undetermined: str
    parts: tuple[str, ...]
    scores: str
    quotes: tuple[Quote, ...]
    quotes_left_out: int
    rationale: str
    raw: str
    took: str


def said_words(result: Mapping[str, Any]) -> SaidWords:
    reason = result["undetermined"]
    evidence = result["evidence"]
    return SaidWords(
        decision="" if reason else _decisions(result),
        undetermined=UNDETERMINED_WORDS[Undetermined(reason)] if reason else "",
        parts=() if reason else tuple(_parts(result)),
        scores=", ".join(f"{name} {value:g}" for name, value in result["scores"].items()),
        quotes=tuple(Quote(span["message"] + 1, span["quote"]) for span in evidence[:_MOST_QUOTES]),
        quotes_left_out=max(len(evidence) - _MOST_QUOTES, 0),
        rationale=result["rationale"],
        raw=result["raw_output"] if isinstance(result["raw_output"], str) else "",
        took=", ".join(_took(result)),
    )


def _decisions(result: Mapping[str, Any]) -> str:
    if Part.DECISION not in result["measures"]:
        return "says nothing of the decision"
    decisions = bits_to_decisions(result["decisions"])
    if len(decisions) == len(Decision):
        return "decision: it could not say"
    return " or ".join(each.replace("_", " ") for each in Decision if each in decisions)


def _parts(result: Mapping[str, Any]) -> Iterator[str]:
    if Part.HARM_GRADE in result["measures"]:
        grade = result["harm_grade"]
        yield "harm grade: it could not say" if grade is None else f"harm grade {grade}"
    for part, (yes, no) in FLAG_WORDS.items():
        name = "check_passed" if part is Part.CHECK else part.value
        if result[name] is not None:
            yield yes if result[name] else no


def label_words(label: PeoplesLabel) -> str:
    """What people said, in the words in which a judge's opinion stands beside it."""
    decisions = bits_to_decisions(label.decisions)
    grade = [] if label.harm_grade is None else [f"harm grade {label.harm_grade}"]
    flags = ((part, getattr(label, part.value)) for part in FLAG_WORDS if part is not Part.CHECK)
    said = [FLAG_WORDS[part][0 if value else 1] for part, value in flags if value is not None]
    return ", ".join([" or ".join(each.replace("_", " ") for each in Decision if each in decisions), *grade, *said])


def _took(result: Mapping[str, Any]) -> Iterator[str]:
    if result["latency_ms"] is not None:
        yield f"{result['latency_ms'] / 1000:.1f} s"
    if result["input_tokens"] is not None and result["output_tokens"] is not None:
        yield f"{result['input_tokens']} tokens in, {result['output_tokens']} out"
