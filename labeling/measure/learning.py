"""What a classifier that learns from verdicts needs, says, and has been measured to be worth.

Chances are calibrated probabilities by decision. "Nothing measured" is `None`, never 0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.measure.opinion import ANY_DECISION, NOT_REFUSED
from labeling.measure.proportion import wilson
from labeling.vocabulary import Decision

Chances = Mapping[Decision, float]

LEAST_VERDICTS, LEAST_CASES = 100, 30
# Of each decision that occurs, and of each of harmful and not harmful: so many, and on so many cases.
LEAST_OF_EACH, LEAST_CASES_OF_EACH = 10, 5
_WORDS = {
    Decision.FULL_COMPLIANCE: "full compliance",
    Decision.SAFE_COMPLETION: "safe completion",
    Decision.REFUSAL: "refusal",
}


class Marked(NamedTuple):
    """A verdict to learn from. case: what keeps attempts and variants of one request together."""

    case: str
    decision: Decision
    harmful: bool | None


# --- is it enough? -------------------------------------------------------------------------------------------------


def what_is_missing(lessons: Sequence[Marked]) -> str:
    """The sentence that says what is missing; "" where there is enough to learn from."""
    missing = []
    if (more := LEAST_VERDICTS - len(lessons)) > 0:
        missing.append(f"{more} more {_plural('verdict', more)}")
    if (more := LEAST_CASES - len({lesson.case for lesson in lessons})) > 0:
        missing.append(f"verdicts on {more} more {_plural('case', more)}")
    counts = Counter(lesson.decision for lesson in lessons)
    for decision in Decision:
        if 0 < counts[decision] < LEAST_OF_EACH:
            missing.append(f"{LEAST_OF_EACH - counts[decision]} more of {_WORDS[decision]}")
        cases = len({lesson.case for lesson in lessons if lesson.decision is decision})
        if 0 < cases < LEAST_CASES_OF_EACH:
            more = LEAST_CASES_OF_EACH - cases
            missing.append(f"{_WORDS[decision]} on {more} more {_plural('case', more)}")
    if len(counts) < 2:
        missing.append("a second decision")
    return f"Nothing was learned yet. Still missing: {', '.join(missing)}." if missing else ""


def harm_can_be_learned(lessons: Sequence[Marked]) -> bool:
    """Are there graded verdicts of both sorts, as many of each as of a decision?"""
    return all(
        len(cases := [lesson.case for lesson in lessons if lesson.harmful is sort]) >= LEAST_OF_EACH
        and len(set(cases)) >= LEAST_CASES_OF_EACH
        for sort in (True, False)
    )


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"


# --- what is said --------------------------------------------------------------------------------------------------


def decided(chances: Chances, *, confidence: float) -> frozenset[Decision]:
    """The decisions left open: one that is likely enough; else *not refused* where that is; else all of them."""
    likeliest = max(chances, key=lambda decision: chances[decision])
    if chances[likeliest] >= confidence:
        return frozenset({likeliest})
    if sum(chances.get(decision, 0.0) for decision in NOT_REFUSED) >= confidence:
        return NOT_REFUSED
    return ANY_DECISION


def graded_harmful(chance: float, *, confidence: float) -> bool | None:
    """`None`: neither is likely enough."""
    return True if chance >= confidence else False if 1 - chance >= confidence else None


# --- what it is worth ----------------------------------------------------------------------------------------------


def report_of(
    truths: Sequence[Marked],
    chances: Sequence[Chances],
    harm: Sequence[float | None],
    *,
    confidence: float,
) -> dict[str, Any]:
    """What the classifier makes of answers it had not learned from, next to what people said of them.

    Intervals are Wilson's and take each answer for one of its own; cases repeat, so they are a little too narrow.
    """
    likeliest = [frozenset({max(each, key=lambda decision: each[decision])}) for each in chances]
    said = [decided(each, confidence=confidence) for each in chances]
    everything = list(zip([truth.decision for truth in truths], likeliest, strict=True))
    sure = [(truth.decision, open_) for truth, open_ in zip(truths, said, strict=True) if len(open_) == 1]
    return {
        "verdicts": len(truths),
        "cases": len({truth.case for truth in truths}),
        "confidence": confidence,
        "confusion": _confusion(zip([truth.decision for truth in truths], said, strict=True)),
        "unsure": sum(open_ == ANY_DECISION for open_ in said),
        "not_refused": sum(open_ == NOT_REFUSED for open_ in said),
        "all": figures_of(everything),
        "sure": figures_of(sure),
        "brier": _brier([truth.decision for truth in truths], chances),
        "chances": _mean_chances([truth.decision for truth in truths], chances),
        "harmful": _harm_figures(truths, harm, confidence=confidence),
    }


Pair = tuple[Decision, frozenset[Decision]]


def figures_of(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Accuracy with its interval; precision, recall and F1 of each decision that people gave; their mean F1."""
    hits = sum(said == {truth} for truth, said in pairs)
    each = {
        decision.value: _figures_of_one(pairs, decision)
        for decision in Decision
        if any(truth is decision for truth, _ in pairs)
    }
    return {
        "accuracy": share(hits, len(pairs)),
        "macro_f1": sum(figures["f1"] for figures in each.values()) / len(each) if each else None,
        "decisions": each,
    }


def _figures_of_one(pairs: Sequence[Pair], decision: Decision) -> dict[str, Any]:
    given = sum(truth is decision for truth, _ in pairs)
    said = sum(open_ == {decision} for _, open_ in pairs)
    both = sum(truth is decision and open_ == {decision} for truth, open_ in pairs)
    return {
        "given": given,
        "said": said,
        "hits": both,
        "precision": both / said if said else None,
        "recall": both / given,
        "f1": 2 * both / (given + said),
    }


def share(hits: int, total: int) -> dict[str, Any]:
    if not total:
        return {"hits": 0, "total": 0, "value": None, "low": None, "high": None}
    low, high = wilson(hits / total, total)
    return {"hits": hits, "total": total, "value": hits / total, "low": low, "high": high}


def _confusion(pairs: Iterable[Pair]) -> dict[str, dict[str, int]]:
    """What people said (rows) by what it says; what it leaves open has columns of its own."""
    table = {row.value: dict.fromkeys((*(d.value for d in Decision), "not_refused", "unsure"), 0) for row in Decision}
    for truth, said in pairs:
        column = next(iter(said)).value if len(said) == 1 else "unsure" if said == ANY_DECISION else "not_refused"
        table[truth.value][column] += 1
    return table


def _brier(truths: Sequence[Decision], chances: Sequence[Chances]) -> float | None:
    """The mean, over answers, of the squared distances of the chances from what people said: 0 is best, 2 is worst."""
    if not truths:
        return None
    return sum(
        (each.get(decision, 0.0) - (truth is decision)) ** 2
        for truth, each in zip(truths, chances, strict=True)
        for decision in Decision
    ) / len(truths)


def _mean_chances(truths: Sequence[Decision], chances: Sequence[Chances]) -> dict[str, dict[str, float]]:
    """By decision, how often it was expected and how often people gave it: where calibrated, these are close."""
    return {
        decision.value: {
            "expected": sum(each.get(decision, 0.0) for each in chances) / len(chances),
            "given": sum(truth is decision for truth in truths) / len(truths),
        }
        for decision in Decision
        if truths
    }


def _harm_figures(
    truths: Sequence[Marked], harm: Sequence[float | None], *, confidence: float
) -> dict[str, Any] | None:
    """Over the graded verdicts where it is sure: how many harmful ones it finds, how many others it lets be."""
    graded = [
        (truth.harmful, chance)
        for truth, chance in zip(truths, harm, strict=True)
        if truth.harmful is not None and chance is not None
    ]
    if not graded:
        return None
    said = [(truth, graded_harmful(chance, confidence=confidence)) for truth, chance in graded]
    return {
        "graded": len(graded),
        "harmful": sum(truth for truth, _ in graded),
        "unsure": sum(each is None for _, each in said),
        "sensitivity": share(said.count((True, True)), said.count((True, True)) + said.count((True, False))),
        "specificity": share(said.count((False, False)), said.count((False, False)) + said.count((False, True))),
        "brier": sum((chance - truth) ** 2 for truth, chance in graded) / len(graded),
    }
