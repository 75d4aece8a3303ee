"""The balance: the one figure a rate pair is drawn as. Geometry and words here, `_rate_pair.html` draws them.

Zero stands in the middle; harmful compliance grows to the left, over-refusal to the right, both on one scale. All
places are percentages of the figure's width, so that the drawing needs no script and no inline style to be fluid.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from audit.charts.numbers import figure, interval, percent, percent_range
from audit.measure.rates import Incomplete, Rate, RatePair

# The ends a scale may have. All rows of one report share one.
NICE_MAXIMA = (0.05, 0.10, 0.20, 0.40, 0.60, 1.00)
MIDDLE = 50.0
# Each wing leaves a margin, so that a mark at the very end of the scale is not cut.
REACH = 47.0

LEFT, RIGHT = -1, 1
# The wings stand this many pixels off the middle, so that two marks at zero do not cover each other.
GUTTER = 7


@dataclass(frozen=True, slots=True)
class Tick:
    """A judge's raw rate: hollow, and a dotted line where it left some undetermined."""

    at: str
    bar_from: str
    bar_to: str
    is_bar: bool
    title: str


@dataclass(frozen=True, slots=True)
class Wing:
    """One of the two rates, drawn and written."""

    side: str
    words: str
    value: str
    limits: str
    counts: str
    undetermined: int
    point: str
    line_from: str
    line_to: str
    band_from: str
    band_width: str
    has_band: bool
    # How many pixels this wing stands off the middle, where its scale ends, and whether the interval runs out of it.
    shift: int
    end: str
    runs_out: bool
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Balance:
    """One row of the figure. `sentence` says all of it to those who cannot see it."""

    left: Wing
    right: Wing
    sentence: str
    notes: tuple[str, ...]

    @property
    def wings(self) -> tuple[Wing, Wing]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class AxisTick:
    at: str
    label: str
    anchor: str
    shift: int


def scale_for(pairs: Iterable[RatePair | Incomplete]) -> float:
    """The smallest nice maximum that holds every rate, and the whole interval of the first pair.

    Small slices have intervals over half the figure; they may run out of it, and are drawn so.
    """
    reach = 0.0
    first = True
    for pair in pairs:
        if isinstance(pair, Incomplete):
            continue
        for rate in (pair.harmful_compliance, pair.over_refusal):
            reach = max(reach, rate.interval.high if first else rate.high)
        first = False
    return next((end for end in NICE_MAXIMA if reach <= end), 1.0)


def axis(scale: float) -> tuple[AxisTick, ...]:
    """Where the scale is written: its end, its half and zero, to both sides."""
    ends = [(LEFT, scale, "start"), (LEFT, scale / 2, "middle"), (RIGHT, scale / 2, "middle"), (RIGHT, scale, "end")]
    ticks = [AxisTick(_place(value, side, scale), _label(value), anchor, side * GUTTER) for side, value, anchor in ends]
    return (*ticks[:2], AxisTick(_percent(MIDDLE), "0", "middle", 0), *ticks[2:])


def balance(pair: RatePair, *, scale: float, raw: Sequence[tuple[str, RatePair]] = ()) -> Balance:
    """The figure of a pair, with each judge's raw pair as hollow ticks."""
    left = _wing(pair.harmful_compliance, LEFT, scale, [(name, other.harmful_compliance) for name, other in raw])
    right = _wing(pair.over_refusal, RIGHT, scale, [(name, other.over_refusal) for name, other in raw])
    return Balance(
        left=left,
        right=right,
        sentence=f"{_sentence(left, pair.harmful_compliance)}; {_sentence(right, pair.over_refusal)}.",
        notes=_notes(pair),
    )


def _wing(rate: Rate, side: int, scale: float, raw: Sequence[tuple[str, Rate]]) -> Wing:
    limits = rate.interval
    line = sorted((_at(limits.low, side, scale), _at(limits.high, side, scale)))
    band = sorted((_at(rate.low, side, scale), _at(rate.high, side, scale)))
    return Wing(
        side="harmful" if side == LEFT else "benign",
        words="harmful compliance" if side == LEFT else "over-refusal",
        value=percent_range(rate.low, rate.high),
        limits=interval(limits),
        counts=_counts(rate),
        undetermined=rate.undetermined,
        point="" if rate.value is None else _place(rate.value, side, scale),
        line_from=_percent(line[0]),
        line_to=_percent(line[1]),
        band_from=_percent(band[0]),
        band_width=_percent(band[1] - band[0]),
        has_band=rate.undetermined > 0,
        shift=side * GUTTER,
        end=_place(scale, side, scale),
        runs_out=limits.high > scale,
        ticks=tuple(_tick(name, other, side, scale) for name, other in raw),
    )


def _tick(name: str, rate: Rate, side: int, scale: float) -> Tick:
    ends = sorted((_at(rate.low, side, scale), _at(rate.high, side, scale)))
    return Tick(
        at=_place(rate.low, side, scale),
        bar_from=_percent(ends[0]),
        bar_to=_percent(ends[1]),
        is_bar=rate.low != rate.high,
        title=f"{name}: {percent_range(rate.low, rate.high)}",
    )


def _counts(rate: Rate) -> str:
    """Errors over attempts; the cases too where some were attempted more than once."""
    counts = f"{rate.errors}/{rate.attempts}"
    return counts if rate.cases == rate.attempts else f"{counts} in {rate.cases} cases"


def _sentence(wing: Wing, rate: Rate) -> str:
    said = f"{wing.words} {wing.value}, 95 % interval {figure(rate.interval.low)} to {percent(rate.interval.high)}, "
    said += f"{rate.errors} of {rate.attempts}"
    return f"{said}, {rate.undetermined} undetermined" if rate.undetermined else said


def _notes(pair: RatePair) -> tuple[str, ...]:
    ungraded = pair.harmful_compliance.ungraded
    return (f"leaks not measured ({ungraded} ungraded)",) if ungraded else ()


def _label(value: float) -> str:
    return f"{value * 100:g}"


def _at(value: float, side: int, scale: float) -> float:
    return MIDDLE + side * REACH * min(value, scale) / scale


def _place(value: float, side: int, scale: float) -> str:
    return _percent(_at(value, side, scale))


def _percent(place: float) -> str:
    return f"{place:.2f}%"
