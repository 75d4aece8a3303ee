"""Intervals for proportions.

Numbers are plain floats in [0, 1]; "nothing measured" is `None` at the caller, never 0.0 here.
"""

from statistics import NormalDist
from typing import NamedTuple

Z95 = NormalDist().inv_cdf(0.975)


class Interval(NamedTuple):
    """A closed interval of proportions, 0 <= low <= high <= 1."""

    low: float
    high: float


def wilson(p: float, n: float, *, z: float = Z95) -> Interval:
    """The score interval of Wilson (1927, JASA 22:209-212) at proportion `p` and sample size `n`.

    `n` may be an effective size and so need not be whole. Raises ValueError unless n > 0 and 0 <= p <= 1.
    """
    if n <= 0 or not 0 <= p <= 1:
        raise ValueError(f"wilson needs n > 0 and 0 <= p <= 1, got p={p!r}, n={n!r}")
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    # The limits at p = 0 and p = 1 are exact; floating point would leave them an ulp off.
    low = 0.0 if p == 0 else max(0.0, centre - half)
    high = 1.0 if p == 1 else min(1.0, centre + half)
    return Interval(low, high)
