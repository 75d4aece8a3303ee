"""What a runner's score comes to: a posted judgment, and the sentence that says so before anything is stored.

A wrong polarity is the worst fault an import can have: it turns the safest system into the worst one. So a score means
something only where its format or a mapping says what, and both are shown.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labeling.formats.mapping import ScoreRule, as_number
from labeling.formats.normal import canonical, digest
from labeling.formats.reading import NOT_STATED, Score
from labeling.measure.meaning import NO, YES
from labeling.measure.opinion import ANY_DECISION
from labeling.vocabulary import HARM_GRADES, Decision, Meaning, Part, Undetermined

_SENTENCES: dict[Meaning, tuple[str, str]] = {
    Meaning.HARMFUL: ("harmful: full compliance", "not harmful, which says nothing of the decision"),
    Meaning.RESISTED: ("resisted, which says nothing of the decision", "not resisted: full compliance"),
    Meaning.REFUSED: ("a refusal", "no refusal: full compliance or a safe completion"),
    Meaning.ANSWERED: ("no refusal: full compliance or a safe completion", "a refusal"),
    Meaning.COMPLIED: ("full compliance", "no full compliance: a safe completion or a refusal"),
    Meaning.CORRECT: ("a right answer", "a wrong answer"),
}
_MEASURES: dict[Meaning, tuple[Part, ...]] = {
    **dict.fromkeys(YES, (Part.DECISION,)),
    Meaning.CORRECT: (Part.CHECK,),
    Meaning.HARM_GRADE: (Part.HARM_GRADE,),
}
_LONGEST_VERSION = 100
# The keys of a posted judgment that are an opinion; what else it holds is said beside it.
_PARTS = ("decision", "harm_grade", "flags", "check_passed")


def mapped(score: Score, rule: ScoreRule | None) -> Score:
    """The score with what a mapping says of it. What was chosen becomes part of the judge's version: another reading of
    the same score is another judge, and never contradicts what was stored before."""
    if rule is None:
        return score
    meaning = score.meaning if rule.meaning is None else rule.meaning
    truth = rule.truth(score.value, otherwise=score.truth)
    chosen = [] if rule.meaning is None or score.meaning is rule.meaning else [f"yes={rule.meaning}"]
    if rule.at_least is not None:
        chosen.append(f">={rule.at_least}")
    elif rule.yes is not None or rule.no is not None:
        chosen.append(canonical([rule.yes, rule.no]))
    version = rule.version or _version(score.version, " ".join(chosen))
    # A mapping's word goes over what the reader decoded by itself. One that draws a line without saying what lies
    # beyond it leaves the score without a meaning, for there is none to keep.
    opinion = None if rule.meaning is not None or rule.draws_a_line else score.opinion
    return replace(
        score, judge=rule.judge or score.judge, version=version, meaning=meaning, truth=truth, opinion=opinion
    )


def _version(of_reader: str, chosen: str) -> str:
    """Both, in the 100 characters there are; what is cut short stays told apart by its digest."""
    whole = " ".join(filter(None, (of_reader, chosen)))
    if len(whole) <= _LONGEST_VERSION:
        return whole
    return f"{whole[: _LONGEST_VERSION - 9]} {digest(whole)[:8]}"


def is_read(score: Score) -> bool:
    """Does anything say what this score means?"""
    return score.meaning is not None or score.opinion is not None


def judge_of(score: Score) -> tuple[str, str]:
    """Name and version of the judge that the score is a judgment of."""
    return score.judge[:100], score.version[:100] or NOT_STATED


def measures_of(score: Score) -> tuple[Part, ...]:
    """The parts of an opinion that this score's judge measures."""
    if score.opinion is not None:
        return score.measures
    return () if score.meaning is None else _MEASURES.get(score.meaning, ())


def judgment_of(score: Score) -> dict[str, Any] | None:
    """The score as a posted judgment; `None` where nothing says what it means, or it is to be ignored."""
    if not is_read(score) or score.meaning is Meaning.IGNORED:
        return None
    judge, version = judge_of(score)
    judgment: dict[str, Any] = {
        "judge": judge,
        "version": version,
        "raw_output": score.value,
        "rationale": score.rationale,
    }
    if (number := _number(score.value)) is not None:
        judgment["scores"] = {score.name[:100]: number}
    said = dict(_opinion(score))
    if reason := score.undetermined or _unscored(score):
        # What is no part of an opinion, such as what the judge cost, stands all the same.
        said = {name: value for name, value in said.items() if name not in _PARTS} | {"undetermined": reason}
    return judgment | said


def sentence(score: Score) -> str:
    """What the score is taken to mean: "1.0 means harmful: full compliance"."""
    given = canonical(score.value)
    given = given if len(given) <= 60 else given[:59] + "…"
    if not is_read(score):
        return f"{given}: nothing says what this means, so it becomes no judgment"
    if score.meaning is Meaning.IGNORED:
        return f"{given}: ignored"
    if reason := score.undetermined or _unscored(score):
        return f"{given}: the judge could not say ({reason.replace('_', ' ')})"
    if score.opinion is not None:
        return f"{given} means {_described(score.opinion)}"
    if score.meaning is Meaning.HARM_GRADE:
        return f"{given} means harm grade {_grade(score.value)}"
    assert score.meaning is not None
    if score.truth is None:
        return f"{given}: neither a yes nor a no, which says nothing"
    return f"{given} means {outcome(score.meaning, truth=score.truth)}"


def outcome(meaning: Meaning, *, truth: bool) -> str:
    """What a yes or a no of this meaning is, in words; of the meanings that have both."""
    return _SENTENCES[meaning][0 if truth else 1]


def _opinion(score: Score) -> Mapping[str, Any]:
    if score.opinion is not None:
        return score.opinion
    if score.meaning is Meaning.HARM_GRADE:
        return {"harm_grade": _grade(score.value)}
    assert score.meaning is not None
    if score.truth is None:
        return {}
    if score.meaning is Meaning.CORRECT:
        return {"check_passed": score.truth}
    return _decision((YES if score.truth else NO)[score.meaning])


def _decision(left_open: frozenset[Decision]) -> Mapping[str, Any]:
    """As it is posted: one, or a list of those not ruled out; where none is, nothing."""
    if left_open == ANY_DECISION:
        return {}
    first, *others = [decision.value for decision in Decision if decision in left_open]
    return {"decision": [first, *others] if others else first}


def _unscored(score: Score) -> str:
    """No value is no score, and never a zero."""
    value = score.value
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return Undetermined.OTHER
    if score.opinion is None and score.meaning is Meaning.HARM_GRADE and _grade(value) is None:
        return Undetermined.UNPARSABLE
    return ""


def _grade(value: Any) -> int | None:
    number = as_number(value)
    return int(number) if number is not None and number in HARM_GRADES else None


def _number(value: Any) -> float | int | None:
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int | float) else None


def _described(opinion: Mapping[str, Any]) -> str:
    parts = {key: value for key, value in opinion.items() if value is not None and key in _PARTS and key != "flags"}
    parts |= {key: value for key, value in (opinion.get("flags") or {}).items() if value is not None}
    words = [f"{key.replace('_', ' ')} {_words(value)}" for key, value in parts.items()]
    return ", ".join(words) or "nothing of the decision"


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " or ".join(map(_words, value)) if isinstance(value, list) else str(value).replace("_", " ")
