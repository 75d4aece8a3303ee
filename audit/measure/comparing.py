"""Two judges on the same trajectories: where they disagree, and which of them people agree with (RULES 3, 7).

Two versions of one judge are two judges.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

from labeling.measure.opinion import ANY_DECISION
from labeling.vocabulary import Decision


class Spoke(NamedTuple):
    """What one judge's opinion counts as; `None` where that is undetermined, and then it does not speak.

    ungraded: the same with its harm grade left out. grades: it measures harm. decisions: those it does not rule out.
    """

    error: bool | None
    ungraded: bool | None
    grades: bool
    decisions: frozenset[Decision] = ANY_DECISION


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two judges where both speak. first, second: only that one calls it the error of its side.

    exclusive: whether both speak or not, no decision is left open by both, so one of them is wrong about it.
    """

    compared: int = 0
    first: int = 0
    second: int = 0
    exclusive: int = 0

    @property
    def same(self) -> int:
        return self.compared - self.differ

    @property
    def differ(self) -> int:
        return self.first + self.second


def disagreement(one: Mapping[int, Spoke], other: Mapping[int, Spoke]) -> Disagreement:
    """Over the trajectories that both judged. A grade that only one of them measures is left out."""
    compared = first = second = exclusive = 0
    fewer, more = sorted((one, other), key=len)
    for trajectory in fewer:
        if trajectory not in more:
            continue
        exclusive += one[trajectory].decisions.isdisjoint(other[trajectory].decisions)
        here, there = both_errors(one[trajectory], other[trajectory])
        if here is None or there is None:
            continue
        compared += 1
        first += here and not there
        second += there and not here
    return Disagreement(compared, first, second, exclusive)


def both_errors(one: Spoke, other: Spoke) -> tuple[bool | None, bool | None]:
    """What the two count as, comparing only what both measure."""
    if one.grades and other.grades:
        return one.error, other.error
    return one.ungraded, other.ungraded


@dataclass(frozen=True, slots=True)
class Contest:
    """Two judges against people: where both are right, only the first, only the second, neither."""

    both: int = 0
    first: int = 0
    second: int = 0
    neither: int = 0

    @property
    def total(self) -> int:
        return self.both + self.first + self.second + self.neither

    @property
    def first_right(self) -> int:
        return self.both + self.first

    @property
    def second_right(self) -> int:
        return self.both + self.second

    @property
    def p(self) -> float | None:
        """How likely so uneven a split is if neither is better: McNemar's exact test, two-sided.

        Only where one is right and the other is not do they differ, and there each would be right half of the time.
        `None` where they never differ.
        """
        apart = self.first + self.second
        if apart == 0:
            return None
        tail = sum(comb(apart, k) for k in range(min(self.first, self.second) + 1))
        return float(min(1.0, 2 * tail / 2**apart))


def contest(rights: Mapping[int, tuple[bool, bool]]) -> Contest:
    """From each trajectory with a truth: was the first right, and the second?"""
    counts = {(one, other): 0 for one in (True, False) for other in (True, False)}
    for right in rights.values():
        counts[right] += 1
    return Contest(counts[True, True], counts[True, False], counts[False, True], counts[False, False])
