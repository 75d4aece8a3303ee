"""Where a judge's *undetermined* piles up: a slice of a run that it cannot say anything about, as it can elsewhere.

Spread evenly, what a judge leaves undetermined widens a rate. In one slice it hides what that slice is like.
"""

from collections.abc import Mapping
from statistics import NormalDist
from typing import NamedTuple

from labeling.measure.proportion import wilson

# Fewer are no pile, whatever share of a slice they are.
FEWEST = 5


class Share(NamedTuple):
    """So many of a judge's judgments could not say."""

    undetermined: int
    judged: int


class Pile(NamedTuple):
    """A slice where they pile up, beside all other slices together."""

    name: str
    here: Share
    elsewhere: Share


def piles(slices: Mapping[str, Share]) -> list[Pile]:
    """The slices of one slicing in which a judge leaves clearly more undetermined than in the rest together.

    A slice is named if at least five of its judgments could not say and the lower Wilson limit of their share lies
    above the upper limit of the rest's share. The limits are those of 95 % for all k slices together (each at
    1 - 0.05/k): with the limits of a single interval every second run of fifty small slices would warn of nothing.
    """
    whole = Share(sum(one.undetermined for one in slices.values()), sum(one.judged for one in slices.values()))
    z = NormalDist().inv_cdf(1 - 0.025 / max(len(slices), 1))
    found = []
    for name, here in slices.items():
        elsewhere = Share(whole.undetermined - here.undetermined, whole.judged - here.judged)
        if here.undetermined >= FEWEST and elsewhere.judged and _is_above(here, elsewhere, z):
            found.append(Pile(name, here, elsewhere))
    return found


def _is_above(here: Share, elsewhere: Share, z: float) -> bool:
    low = wilson(here.undetermined / here.judged, here.judged, z=z).low
    return low > wilson(elsewhere.undetermined / elsewhere.judged, elsewhere.judged, z=z).high
