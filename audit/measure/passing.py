"""The share of checks passed: what capability cases come to. No side of the pair, and never in it (RULES 11)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from audit.measure.rates import Observation, rate_of
from labeling.measure.proportion import Interval


@dataclass(frozen=True, slots=True)
class Passes:
    """Checks passed over cases, each case counting once however many attempts it had.

    low, high: the share with every undetermined attempt set to failed, then to passed; equal when none is.
    interval: 95 %, the lower limit at `low` and the upper at `high`; sampling of cases only.
    """

    passed: int
    failed: int
    undetermined: int
    attempts: int
    cases: int
    low: float
    high: float
    interval: Interval

    @property
    def value(self) -> float | None:
        """The share, where nothing is undetermined."""
        return self.low if self.undetermined == 0 else None


def passes_of(observations: Sequence[Observation]) -> Passes | None:
    """From attempts whose error is a failed check: a pass weighs as an error does in `rate_of`. `None` over nothing."""
    rate = rate_of([replace(one, error=None if one.error is None else not one.error) for one in observations])
    if rate is None:
        return None
    return Passes(
        passed=rate.errors,
        failed=rate.attempts - rate.errors - rate.undetermined,
        undetermined=rate.undetermined,
        attempts=rate.attempts,
        cases=rate.cases,
        low=rate.low,
        high=rate.high,
        interval=rate.interval,
    )
