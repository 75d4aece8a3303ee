"""A fraction with its interval on a fixed scale from 0 to 100 %: how often a judge and people say the same."""

from dataclasses import dataclass

from audit.charts.numbers import interval, percent
from audit.measure.calibration import Fraction

# A margin on both sides keeps a mark at the very end whole.
_MARGIN, _WIDTH = 3.0, 94.0


@dataclass(frozen=True, slots=True)
class Strip:
    """Places in percent of the width, and the words beside them. `None` of it exists over nothing."""

    value: str
    limits: str
    counts: str
    point: str
    line_from: str
    line_to: str
    sentence: str


def strip(fraction: Fraction) -> Strip | None:
    limits, value = fraction.interval, fraction.value
    if limits is None or value is None:
        return None
    return Strip(
        value=percent(value),
        limits=interval(limits),
        counts=f"{fraction.hits}/{fraction.total}",
        point=_place(value),
        line_from=_place(limits.low),
        line_to=_place(limits.high),
        sentence=f"{percent(value)}, 95 % interval {interval(limits)}, {fraction.hits} of {fraction.total}",
    )


def _place(value: float) -> str:
    return f"{_MARGIN + _WIDTH * value:.2f}%"
