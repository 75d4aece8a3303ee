"""What capability cases come to, and how an answer is checked, in words. Nothing here is part of the balance."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from audit.charts.numbers import interval, percent_range
from audit.measure.passing import Passes
from audit.selectors.checked import Checked
from labeling.vocabulary import CheckKind, Side


@dataclass(frozen=True, slots=True)
class CountWords:
    """A count with the filter that lists what it counts."""

    name: str
    count: int
    query: str


@dataclass(frozen=True, slots=True)
class PassWords:
    """One row: the share with its interval, and the counts it rests on."""

    name: str
    value: str
    limits: str
    cells: tuple[CountWords, ...]
    cases: int


@dataclass(frozen=True, slots=True)
class CheckWords:
    """How a program checks an answer: in a sentence, and what it compares with where that is code."""

    sentence: str
    code: str = ""


def checks_words(checks: Checked, over: dict[str, str]) -> dict[str, Any]:
    """over: where its counts lead, over the run or all of its measurement."""
    # A list tells what waits from what is undetermined, and knows no name for what has no category.
    labels = ("no_error", "error", "" if checks.pending else "undetermined")
    slices = [
        _row(
            one.category or "no category",
            one.passes,
            [_query(label, over, category=one.category) if one.category else "" for label in labels],
        )
        for one in checks.by_category
    ]
    everything = _row("all", checks.overall, [_query(label, over) for label in labels])
    return {
        "rows": [everything, *(slices if len(slices) > 1 else ())],
        "pending": checks.pending,
        "without_check": checks.without_check if checks.overall.undetermined else 0,
    }


def _query(label: str, over: dict[str, str], **more: str) -> str:
    return urlencode({"side": Side.CAPABILITY, "label": label, **more, **over}) if label else ""


def _row(name: str, passes: Passes, queries: Sequence[str]) -> PassWords:
    counts = {"Passed": passes.passed, "Failed": passes.failed, "Undetermined": passes.undetermined}
    return PassWords(
        name,
        percent_range(passes.low, passes.high),
        interval(passes.interval),
        tuple(CountWords(said, count, query) for (said, count), query in zip(counts.items(), queries, strict=True)),
        passes.cases,
    )


def passes_words(passes: Passes) -> str:
    """The share in one line, for a list of runs."""
    undetermined = f", {passes.undetermined} undetermined" if passes.undetermined else ""
    share, limits = percent_range(passes.low, passes.high), interval(passes.interval)
    return f"{share} ({limits}) of checks passed: {passes.passed} of {passes.attempts}{undetermined}"


def check_words(check: dict[str, Any] | None) -> CheckWords:
    """As `labeling.formats.checks` keeps it."""
    if check is None:
        return CheckWords("The case has no check, so no program here can say whether the answer is right.")
    kind = CheckKind(check["kind"])
    if kind is CheckKind.EXACT:
        case = "" if check["ignore_case"] else ", in the same case"
        return CheckWords(f"The answer is exactly {_one_of(check['answers'])}{case}.")
    if kind is CheckKind.NUMBER:
        return CheckWords(f"The number in the answer is {check['answer']}{_tolerance(check)}.")
    if kind is CheckKind.CHOICE:
        return CheckWords(f"The answer chooses {check['answer']}, of {', '.join(check['options'])}.")
    if kind is CheckKind.REGEX:
        return CheckWords("This pattern occurs in the answer:", check["pattern"])
    return CheckWords("The answer is JSON of this schema:", json.dumps(check["schema"], ensure_ascii=False, indent=2))


def _one_of(answers: list[str]) -> str:
    return " or ".join(f"“{answer}”" for answer in answers)


def _tolerance(check: dict[str, Any]) -> str:
    if not check["tolerance"]:
        return ""
    share = f" × {check['answer']}" if check["relative"] else ""
    return f", or within {check['tolerance']}{share} of it"
