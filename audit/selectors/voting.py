"""Who really judged a run: what each judge could not say and where, and where two of them disagree.

From rows that the report has read already; no query.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from audit.measure.comparing import Disagreement, disagreement
from audit.measure.piling import Pile, Share, piles
from audit.selectors.names import JudgeName
from audit.selectors.observing import JudgeSaid, Row
from labeling.vocabulary import NOT_JUDGED, JudgeKind, Side

# Every two of them are compared, over every row; the panel comes first.
MOST_COMPARED = 8

Said = Mapping[int, Mapping[int, JudgeSaid]]
Slicings = Sequence[tuple[str, Callable[[Row], str]]]


class Votes(NamedTuple):
    """What one judge did on a run. judged: of the `judgeable` trajectories; undetermined: by reason.

    Only a judge that checks answers is expected on capability cases; another that is there all the same is counted.
    """

    judge: JudgeName
    judged: int
    judgeable: int
    undetermined: dict[str, int]


class Compared(NamedTuple):
    """Two judges on one side of a run, as far as both judged it."""

    first: JudgeName
    second: JudgeName
    side: str
    counts: Disagreement


class Piling(NamedTuple):
    """A judge that could not say much more often in one slice than in all others. reasons: those of the slice."""

    judge: JudgeName
    slicing: str
    pile: Pile
    reasons: dict[str, int]


def judgeable(rows: Iterable[Row]) -> list[Row]:
    """What a judge could read: without output a rule decides, or nothing does."""
    return [row for row in rows if row.outcome not in NOT_JUDGED]


def votes_of(rows: Sequence[Row], judges: Sequence[JudgeName], said: Said) -> tuple[Votes, ...]:
    """Those of the panel that said nothing are in it too: a report prints who really voted."""
    votes = []
    for judge in judges:
        mine = said.get(judge.id, {})
        spoken = [mine[row.id] for row in rows if row.id in mine]
        expected = sum(row.id in mine or _is_for(judge, row) for row in rows)
        reasons = Counter(one.reason for one in spoken if one.reason)
        votes.append(Votes(judge, len(spoken), expected, dict(sorted(reasons.items()))))
    return tuple(votes)


def _is_for(judge: JudgeName, row: Row) -> bool:
    return (row.side == Side.CAPABILITY) is (judge.kind == JudgeKind.CHECK)


def compared(rows: Sequence[Row], judges: Sequence[JudgeName], said: Said) -> tuple[Compared, ...]:
    """Every two judges on each side on which both spoke, or their decisions exclude each other."""
    chosen = sorted((judge for judge in judges if judge.id in said), key=lambda judge: not judge.on_panel)
    found = []
    for side in Side:
        ids = [row.id for row in rows if row.side == side]
        spoke = {
            judge.id: {pk: mine[pk].spoke for pk in ids if pk in mine}
            for judge in chosen[:MOST_COMPARED]
            for mine in (said[judge.id],)
        }
        for first, second in combinations(chosen[:MOST_COMPARED], 2):
            counts = disagreement(spoke[first.id], spoke[second.id])
            if counts.compared or counts.exclusive:
                found.append(Compared(first, second, side, counts))
    return tuple(found)


def pilings(rows: Sequence[Row], judges: Sequence[JudgeName], said: Said, slicings: Slicings) -> tuple[Piling, ...]:
    """Every judge in every slice, the largest piles first."""
    found = [
        piling
        for judge in judges
        for title, name_of in slicings
        for piling in _piled(rows, judge, said.get(judge.id, {}), title, name_of)
    ]
    return tuple(sorted(found, key=lambda one: -one.pile.here.undetermined))


def _piled(
    rows: Sequence[Row], judge: JudgeName, mine: Mapping[int, JudgeSaid], title: str, name_of: Callable[[Row], str]
) -> list[Piling]:
    judged: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {}
    for row in rows:
        if (one := mine.get(row.id)) is None:
            continue
        name = name_of(row)
        judged[name] += 1
        if one.reason:
            reasons.setdefault(name, Counter())[one.reason] += 1
    shares = {name: Share(reasons[name].total() if name in reasons else 0, total) for name, total in judged.items()}
    return [Piling(judge, title, pile, dict(reasons[pile.name].most_common())) for pile in piles(shares)]
