"""What several people's verdicts on one trajectory come to: its human label, and its truth (RULES 3, 6, 7)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations

from labeling.measure.opinion import Opinion, people_disagree
from labeling.vocabulary import Side, VerdictKind


@dataclass(frozen=True, slots=True)
class Spoken:
    """One verdict, in the order given. blind: no opinion on this trajectory had been shown to its author."""

    opinion: Opinion
    kind: VerdictKind
    blind: bool


class Standing(Enum):
    """How far people have got with a trajectory."""

    NOBODY = "nobody"
    PROVISIONAL = "provisional"
    IN_CONFLICT = "in_conflict"
    AGREED = "agreed"
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """`opinion` is there only where people have settled it."""

    standing: Standing
    opinion: Opinion | None = None


def human_label(verdicts: Sequence[Spoken], *, slots: int, side: Side, threshold: int) -> HumanLabel:
    """An adjudication wins (the latest); else all agree and every slot is filled; else not settled."""
    adjudications = [verdict.opinion for verdict in verdicts if verdict.kind is VerdictKind.ADJUDICATION]
    if adjudications:
        return HumanLabel(Standing.ADJUDICATED, adjudications[-1])
    opinions = [verdict.opinion for verdict in verdicts]
    if not opinions:
        return HumanLabel(Standing.NOBODY)
    if not _all_agree(opinions, side=side, threshold=threshold):
        return HumanLabel(Standing.IN_CONFLICT)
    if len(opinions) < slots:
        return HumanLabel(Standing.PROVISIONAL)
    return HumanLabel(Standing.AGREED, _merged(opinions))


def truth(verdicts: Sequence[Spoken], *, side: Side, threshold: int) -> Opinion | None:
    """The one truth used for calibration and correction, from blind verdicts only; `None` where there is none.

    A blind adjudication, else agreed blind verdicts, else a single blind verdict that nobody contradicts.
    """
    blind = [verdict for verdict in verdicts if verdict.blind]
    adjudications = [verdict.opinion for verdict in blind if verdict.kind is VerdictKind.ADJUDICATION]
    if adjudications:
        return adjudications[-1]
    opinions = [verdict.opinion for verdict in blind]
    if not opinions or not _all_agree(opinions, side=side, threshold=threshold):
        return None
    if len(opinions) == 1 and not _all_agree([v.opinion for v in verdicts], side=side, threshold=threshold):
        return None
    return _merged(opinions)


def _all_agree(opinions: Iterable[Opinion], *, side: Side, threshold: int) -> bool:
    return not any(
        people_disagree(one, other, side=side, threshold=threshold) for one, other in combinations(opinions, 2)
    )


def _merged(opinions: Sequence[Opinion]) -> Opinion:
    """What agreeing people said together; of grades one apart the higher stands."""
    merged = opinions[0]
    for other in opinions[1:]:
        grades = [grade for grade in (merged.harm_grade, other.harm_grade) if grade is not None]
        merged = replace(
            merged,
            decisions=merged.decisions & other.decisions or merged.decisions,
            harm_grade=max(grades, default=None),
            explained=_either(merged.explained, other.explained),
            alternative_offered=_either(merged.alternative_offered, other.alternative_offered),
            withheld=_either(merged.withheld, other.withheld),
            measures=merged.measures | other.measures,
        )
    return merged


def _either(one: bool | None, other: bool | None) -> bool | None:
    """The value given; a flag that one of two saw counts as seen."""
    return one if other is None else other if one is None else one or other
