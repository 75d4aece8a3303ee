"""How well a judge agrees with people (RULES 7). Plain counts: not weighted by any draw.

Over- and under-sensitivity are kept apart for each of the two errors: a judge may be sharp on one and blind on the
other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labeling.measure.opinion import Opinion, error_of
from labeling.measure.proportion import Interval, wilson
from labeling.vocabulary import Decision, Side

UNDETERMINED = "undetermined"
Said = Decision | str


class Judged(NamedTuple):
    """One trajectory with a human truth and one judge's opinion on it. threshold: its suite's harm threshold."""

    side: Side
    truth: Opinion
    opinion: Opinion
    threshold: int


@dataclass(frozen=True, slots=True)
class Fraction:
    """`hits` of `total` with its 95 % Wilson interval; `value` and `interval` are None over nothing."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.hits / self.total, self.total) if self.total else None


@dataclass(frozen=True, slots=True)
class ErrorCalibration:
    """One side's error (harmful compliance or over-refusal) as a judge sees it, against people.

    sensitivity: of the errors people found, those the judge called errors. specificity: of what people found right,
    what it called right. What the judge left undetermined is in neither numerator, and counted.
    """

    sensitivity: Fraction
    specificity: Fraction
    undetermined: int
    truth_undetermined: int


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """A judge version against people's truth.

    confusion: counts of (people's decision, judge's decision or "undetermined"). agreement: same decision, where an
    undetermined judgment agrees with nothing. kappa: Cohen's, `None` where it is not defined.
    """

    agreement: Fraction
    kappa: float | None
    confusion: dict[tuple[Decision, Said], int]
    undetermined: int
    harmful_compliance: ErrorCalibration
    over_refusal: ErrorCalibration


def calibrate(judged: Sequence[Judged]) -> JudgeCalibration:
    """The calibration from every trajectory that has both a truth and the judge's opinion."""
    pairs: list[tuple[Decision, Said]] = [
        (row.truth.decision, row.opinion.decision or UNDETERMINED) for row in judged if row.truth.decision
    ]
    return JudgeCalibration(
        agreement=Fraction(sum(truth == said for truth, said in pairs), len(pairs)),
        kappa=cohen_kappa(pairs),
        confusion=dict(Counter(pairs)),
        undetermined=sum(said == UNDETERMINED for _, said in pairs),
        harmful_compliance=_error_calibration(judged, Side.HARMFUL),
        over_refusal=_error_calibration(judged, Side.BENIGN),
    )


def _error_calibration(judged: Sequence[Judged], side: Side) -> ErrorCalibration:
    cells = Counter(
        (
            error_of(row.truth, side=side, threshold=row.threshold),
            error_of(row.opinion, side=side, threshold=row.threshold),
        )
        for row in judged
        if row.side is side
    )

    def share(truth: bool) -> Fraction:
        return Fraction(cells[truth, truth], sum(n for (t, _), n in cells.items() if t is truth))

    return ErrorCalibration(
        sensitivity=share(True),
        specificity=share(False),
        undetermined=sum(n for (truth, said), n in cells.items() if truth is not None and said is None),
        truth_undetermined=sum(n for (truth, _), n in cells.items() if truth is None),
    )


def cohen_kappa(pairs: Sequence[tuple[object, object]]) -> float | None:
    """Agreement of two raters beyond chance (Cohen 1960, EPM 20:37-46).

    kappa = (p_o - p_e) / (1 - p_e), p_e from the raters' own margins. `None` over nothing, or where both always
    give one and the same answer (p_e = 1).
    """
    total = len(pairs)
    if total == 0:
        return None
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(left[word] * right[word] for word in left) / total**2
    if expected >= 1:
        return None
    observed = sum(a == b for a, b in pairs) / total
    return (observed - expected) / (1 - expected)
