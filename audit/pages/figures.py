"""Pairs as rows of one figure, on one scale. What is incomplete becomes words here, and never a number."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from audit.charts.balance import AxisTick, Balance, axis, balance, scale_for
from audit.measure.rates import Incomplete, RatePair
from audit.selectors.names import JudgeName

Pair = RatePair | Incomplete

_HASH = re.compile("[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class FigureRow:
    """Without a balance there are words instead; loud where it is the headline."""

    name: str
    balance: Balance | None
    words: str = ""
    is_raw: bool = False
    is_loud: bool = False
    judge: JudgeName | None = None


@dataclass(frozen=True, slots=True)
class FigureGroup:
    title: str
    rows: tuple[FigureRow, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A column of balances with the scale they share."""

    axis: tuple[AxisTick, ...]
    groups: tuple[FigureGroup, ...]


def overall_rows(
    as_labeled: Pair, by_judge: Sequence[tuple[JudgeName, Pair]], *, scale: float
) -> tuple[FigureRow, tuple[FigureRow, ...]]:
    """The headline and, under it, each judge alone."""
    headline = figure_row("as labeled", as_labeled, scale=scale, loud=True)
    judges = tuple(figure_row(judge_words(judge), pair, scale=scale, raw=True, judge=judge) for judge, pair in by_judge)
    return headline, judges


def figure_row(
    name: str,
    pair: Pair,
    *,
    scale: float,
    raw: bool = False,
    loud: bool = False,
    judge: JudgeName | None = None,
    by_judge: Sequence[tuple[JudgeName, Pair]] = (),
) -> FigureRow:
    if isinstance(pair, Incomplete):
        said = incomplete_words(pair) if loud else short_words(pair)
        return FigureRow(name, None, words=said, is_raw=raw, is_loud=loud, judge=judge)
    ticks = [(judge_words(one), other) for one, other in by_judge if isinstance(other, RatePair)]
    return FigureRow(name, balance(pair, scale=scale, raw=ticks), is_raw=raw, judge=judge)


def shared_scale(pairs: Sequence[Pair]) -> tuple[float, tuple[AxisTick, ...]]:
    """A scale for all of them, and how it is written; no ticks where there is nothing to draw."""
    scale = scale_for(pairs)
    return scale, axis(scale) if any(isinstance(pair, RatePair) for pair in pairs) else ()


def judge_words(judge: JudgeName) -> str:
    """A judge version as rows name it; a hash as version is shortened."""
    return f"{judge.title or judge.name} {short_version(judge.version)}"


def short_version(version: str) -> str:
    """Of a hash the beginning; of other long ones also the end, which tells two readings of one score apart."""
    if len(version) < 32:
        return version
    return version[:8] if _HASH.fullmatch(version) else f"{version[:16]} … {version[-16:]}"


def incomplete_words(pair: Incomplete) -> str:
    """What is missing and what is there, for a headline."""
    there = [
        f"{cases} {side} case{'s' if cases != 1 else ''} ({attempts} attempt{'s' if attempts != 1 else ''})"
        for side, cases, attempts in (
            ("harmful", pair.harmful_cases, pair.harmful_attempts),
            ("benign", pair.benign_cases, pair.benign_attempts),
        )
        if cases
    ]
    if not there:
        return "Nothing has been measured on either side yet."
    (missing,) = pair.missing
    error = "over-refusal" if missing == "benign" else "harmful compliance"
    return f"Only {there[0]} so far. Without {missing} cases nobody can say what it costs in {error}."


def short_words(pair: Incomplete) -> str:
    """The same for a row of a report."""
    if pair.harmful_cases == pair.benign_cases == 0:
        return "nothing was run on either side"
    if pair.benign_cases == 0:
        return f"harmful side only: {pair.harmful_attempts} in {pair.harmful_cases} cases"
    return f"benign side only: {pair.benign_attempts} in {pair.benign_cases} cases"
