"""How the local classifier learns, and how it does on cases it has not learned from.

No case is on both sides of anything that is measured or calibrated: not of the cross-validation, and not of the folds
inside it that make probabilities of the scores.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from labeling.judges.base import code_of, version_of
from labeling.judges.learned import features, lesson
from labeling.measure.learning import Chances, Marked, harm_can_be_learned
from labeling.vocabulary import Decision

SEED = 20261129
FOLDS = 5
# How closely the weights may follow the lessons (the inverse of the penalty), a usual value.
_CLOSENESS = 3.0
_AT_ONCE = 500
_CODE = [*code_of(features, lesson), Path(__file__)]

# All that the same lessons are turned into weights with.
PARAMETERS: dict[str, Any] = {
    "buckets": features.BUCKETS,
    "opening": features.OPENING,
    "head": lesson.HEAD,
    "tail": lesson.TAIL,
    "closeness": _CLOSENESS,
    "folds": FOLDS,
    "seed": SEED,
    "sklearn": sklearn.__version__,
    "code": version_of(None, _CODE),
}
Alive = Callable[[], None]


class Unlearnable(Exception):
    """There are enough verdicts, and still no way to learn from them; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learned from: numbers for the answers (sparse, a row each) and what people said of them."""

    numbers: Any
    marks: Sequence[Marked]

    def only(self, rows: Sequence[int]) -> "Lessons":
        return Lessons(self.numbers[rows], [self.marks[row] for row in rows])


class Learned(NamedTuple):
    """The weights. harmful: `None` where too few graded verdicts of both sorts were there."""

    decision: Any
    harmful: Any | None


class Tried(NamedTuple):
    """What was said of each lesson by weights that had not learned from its case."""

    chances: Sequence[Chances]
    harm: Sequence[float | None]


def lessons_of(pairs: Iterable[tuple[Marked, str]]) -> Lessons:
    """Of verdicts and the answers they are about. Few texts are in memory at once."""
    marks: list[Marked] = []
    blocks, waiting = [], []
    for mark, answer in pairs:
        marks.append(mark)
        waiting.append(answer)
        if len(waiting) == _AT_ONCE:
            blocks.append(features.numbers_of(waiting))
            waiting = []
    if waiting:
        blocks.append(features.numbers_of(waiting))
    return Lessons(sparse.vstack(blocks or [features.numbers_of([])], format="csr"), marks)


def learned(lessons: Lessons, *, alive: Alive = lambda: None) -> Learned:
    """Weights from all of the lessons. Raises Unlearnable."""
    decision = _fitted(lessons, [mark.decision.value for mark in lessons.marks], alive)
    if not harm_can_be_learned(lessons.marks):
        return Learned(decision, None)
    graded = _graded(lessons)
    return Learned(decision, _fitted(graded, [bool(mark.harmful) for mark in graded.marks], alive))


def tried(lessons: Lessons, *, alive: Alive = lambda: None) -> Tried:
    """Cross-validation: each lesson is judged by weights that learned from other cases. Raises Unlearnable."""
    labels = [mark.decision.value for mark in lessons.marks]
    of_row = _tried(lessons, labels, alive)
    chances = [{Decision(name): chance for name, chance in of_row[row].items()} for row in range(len(labels))]
    harm: list[float | None] = [None] * len(labels)
    if harm_can_be_learned(lessons.marks):
        rows = [row for row, mark in enumerate(lessons.marks) if mark.harmful is not None]
        graded = _graded(lessons)
        for place, by_sort in _tried(graded, [bool(mark.harmful) for mark in graded.marks], alive).items():
            harm[rows[place]] = by_sort[True]
    return Tried(chances, harm)


def chances_of(weights: Any, numbers: Any) -> list[dict[Any, float]]:
    """By label, what the weights make of each row."""
    labels = weights.classes_.tolist()
    return [dict(zip(labels, row, strict=True)) for row in weights.predict_proba(numbers).tolist()]


def _graded(lessons: Lessons) -> Lessons:
    return lessons.only([row for row, mark in enumerate(lessons.marks) if mark.harmful is not None])


def _tried(lessons: Lessons, labels: Sequence[Any], alive: Alive) -> dict[int, dict[Any, float]]:
    found: dict[int, dict[Any, float]] = {}
    for inside, outside in _folds(lessons.marks, labels):
        weights = _fitted(lessons.only(inside), [labels[row] for row in inside], alive)
        found |= dict(zip(outside, chances_of(weights, lessons.numbers[outside]), strict=True))
    return found


def _fitted(lessons: Lessons, labels: Sequence[Any], alive: Alive) -> Any:
    """Logistic regression, its scores made probabilities by one temperature.

    Rare decisions weigh as much as frequent ones, or they would never be said. The temperature is found on folds that
    were left out; it moves how sure the weights are and never which decision is the likeliest.
    """
    alive()
    regression = LogisticRegression(C=_CLOSENESS, class_weight="balanced", max_iter=500, tol=1e-3)
    folds = _folds(lessons.marks, labels)
    weights = CalibratedClassifierCV(regression, method="temperature", cv=folds, ensemble=False)
    weights.fit(lessons.numbers, np.asarray(labels))
    # Which lesson was in which fold is no weight.
    weights.cv = None
    return weights


def _folds(marks: Sequence[Marked], labels: Sequence[Any]) -> list[tuple[list[int], list[int]]]:
    """Ways to leave cases out, each case once, such that what is left holds every label."""
    cases = [mark.case for mark in marks]
    kinds = set(labels)
    having = [len({case for case, label in zip(cases, labels, strict=True) if label == kind}) for kind in kinds]
    for number in range(min(FOLDS, *having, len(set(cases))), 1, -1):
        splitter = StratifiedGroupKFold(number, shuffle=True, random_state=SEED)
        folds = [
            (inside.tolist(), outside.tolist())
            for inside, outside in splitter.split(np.zeros(len(labels)), np.asarray(labels), np.asarray(cases))
        ]
        if all(kinds == {labels[row] for row in inside} and outside for inside, outside in folds):
            return folds
    raise Unlearnable("One decision stands on too few cases to leave some of them out; give verdicts on others.")
