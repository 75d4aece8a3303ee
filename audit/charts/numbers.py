"""How proportions are written: a percentage never stands for more than it is, and never without its interval near."""

from labeling.measure.proportion import Interval

NBSP = "\u00a0"


def figure(value: float) -> str:
    """A proportion as a percentage without its sign: one decimal, and neither 0 nor 100 unless it is exactly that."""
    if 0 < value < 0.0005:
        return "<0.1"
    if 0.9995 <= value < 1:
        return ">99.9"
    return f"{value * 100:.1f}"


def percent(value: float) -> str:
    return f"{figure(value)}{NBSP}%"


def percent_range(low: float, high: float) -> str:
    """One percentage, or both bounds where something is undetermined."""
    return percent(low) if low == high else f"{figure(low)}–{figure(high)}{NBSP}%"


def interval(limits: Interval) -> str:
    return f"{figure(limits.low)}–{figure(limits.high)}"
