"""The random audit draw: strata, allocation and ranks (RULES 13, 14)."""

import hashlib
from collections.abc import Mapping, Sequence

from labeling.vocabulary import Stratum

# Shares of the budget in per cent, in stratum order. They need not sum to a hundred: only strata with room compete.
# Whole numbers, so that ties are ties.
SHARES: dict[Stratum, int] = {
    Stratum.NONE: 60,
    Stratum.SOME: 20,
    Stratum.SOME_FIRST: 10,
    Stratum.SOME_SECOND: 10,
    Stratum.ALL: 20,
    Stratum.UNDETERMINED: 10,
    Stratum.EVERYTHING: 100,
}
MINIMUM_PER_STRATUM = 10


def strata(errors: Sequence[Sequence[bool | None]]) -> list[Stratum]:
    """The stratum of each trajectory of one run and side, from its judges' errors (one column per judge).

    With exactly two judges that ever speak, *some* splits by which of them says error. No judges: one stratum.
    """
    width = len(errors[0]) if errors else 0
    if width == 0:
        return [Stratum.EVERYTHING] * len(errors)
    speaking = [column for column in range(width) if any(row[column] is not None for row in errors)]
    return [_stratum(row, speaking) for row in errors]


def _stratum(row: Sequence[bool | None], speaking: Sequence[int]) -> Stratum:
    said = [row[column] for column in speaking if row[column] is not None]
    if not said:
        return Stratum.UNDETERMINED
    if not any(said):
        return Stratum.NONE
    if all(said):
        return Stratum.ALL
    if len(speaking) == 2:
        return Stratum.SOME_FIRST if row[speaking[0]] else Stratum.SOME_SECOND
    return Stratum.SOME


def allocate(budget: int, sizes: Mapping[Stratum, int]) -> dict[Stratum, int]:
    """How many of each stratum to audit; the sum is min(budget, population).

    Every non-empty stratum gets up to ten first; then one audit at a time goes to the stratum with room that is
    furthest behind its share of the budget. Ties go in stratum order.
    """
    order = [stratum for stratum in SHARES if sizes.get(stratum, 0) > 0]
    if not order or budget <= 0:
        return dict.fromkeys(order, 0)
    minimum = min(MINIMUM_PER_STRATUM, budget // len(order))
    audits = {stratum: min(minimum, sizes[stratum]) for stratum in order}
    for _ in range(budget - sum(audits.values())):
        room = [stratum for stratum in order if audits[stratum] < sizes[stratum]]
        if not room:
            break
        total = sum(SHARES[stratum] for stratum in room)
        behind = max(room, key=lambda s: (budget * SHARES[s] - total * audits[s], -order.index(s)))
        audits[behind] += 1
    return audits


def ranks(seed: int, members: Sequence[str]) -> list[int]:
    """The rank (1-based) of each member in a random order that the seed alone decides.

    Ordering by a keyed hash gives the same order on every machine and in any row order.
    """
    keys = [hashlib.sha256(f"{seed}\x1f{member}".encode()).digest() for member in members]
    order = sorted(range(len(members)), key=lambda index: (keys[index], members[index]))
    result = [0] * len(members)
    for rank, index in enumerate(order, start=1):
        result[index] = rank
    return result
