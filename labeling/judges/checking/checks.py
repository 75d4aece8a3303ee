"""The checks of capability cases: a program says whether the target's last words hold the right answer.

Nothing that a model wrote is executed. Words that refuse pass or fail like all others: what was not answered is not
right. What cannot be read without guessing is undetermined.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

import regex

from labeling.judges import base
from labeling.judges.base import Item, Said, Span, Spoken, abstained, code_of, last_words, version_of, wordless
from labeling.judges.checking import choices, reading, schemas
from labeling.judges.checking import numbers as numbers_read
from labeling.judges.checking.choices import named, spoken_of
from labeling.judges.checking.numbers import numbers
from labeling.judges.checking.reading import LONGEST, Checked, conclusion, ending, plain
from labeling.judges.checking.schemas import is_valid, json_in
from labeling.measure.opinion import Opinion
from labeling.vocabulary import CheckKind, JudgeKind, Part, Side, Undetermined

_FILES = (Path(__file__), *code_of(base, choices, numbers_read, reading, schemas))
# What a pattern may take, whatever it meets.
SECONDS = 1.0
_MEASURES = frozenset({Part.CHECK})


class ChecksJudge:
    """Does what the case's check says."""

    name = "checks"
    title = "Checks of right answers"
    kind = JudgeKind.CHECK
    measures = _MEASURES
    sides = frozenset({Side.CAPABILITY})

    def __init__(self) -> None:
        libraries = {name: version(name) for name in ("regex", "jsonschema")}
        self._version = version_of(libraries, _FILES)

    @property
    def version(self) -> str:
        return self._version

    def judge(self, items: Sequence[Item]) -> list[Said]:
        return [_said(item) for item in items]


def _said(item: Item) -> Said:
    if item.check is None:
        return abstained(Undetermined.OTHER, _MEASURES, rationale="The case has no check.")
    spoken = last_words(item)
    if spoken is None:
        return abstained(wordless(item), _MEASURES)
    checked = _CHECKS[CheckKind(item.check["kind"])](item.check, spoken.text)
    if isinstance(checked, Said):
        return checked
    return Said(
        Opinion(check_passed=checked.passed, measures=_MEASURES),
        evidence=_evidence(spoken, checked.at),
        rationale=checked.why,
        scores={} if checked.found is None or not isfinite(checked.found) else {"found": checked.found},
    )


def _evidence(spoken: Spoken, at: tuple[int, int] | None) -> tuple[Span, ...]:
    """The stretch of the last words, in the part it lies in; one that lies across parts has its beginning shown."""
    if at is None:
        return ()
    start, end = at
    for part, text in spoken.parts:
        if start < len(text):
            end = min(end, len(text))
            return (Span(spoken.message, part, start, end, text[start:end]),)
        start, end = start - len(text) - 1, end - len(text) - 1
    return ()


def _exact(check: dict[str, Any], text: str) -> Checked:
    """The whole answer, or what stands after a last "Answer:", all of it or its line."""
    wanted = {plain(answer, ignore_case=check["ignore_case"]) for answer in check["answers"]}
    end = ending(text)
    last = conclusion(end)
    given = [last.line(), last, end] if last else [end]
    for stretch in given:
        if plain(stretch.text, ignore_case=check["ignore_case"]) in wanted:
            found = stretch.trimmed()
            return Checked(True, "It is a right answer.", (found.start, found.end))
    return Checked(False, "It is none of the right answers.")


def _number(check: dict[str, Any], text: str) -> Checked:
    """The first number after a last "Answer:", else the last number there is."""
    end = ending(text)
    last = conclusion(end)
    where = last or end
    found = list(numbers(where.text))
    if not found:
        return Checked(False, "It holds no number.")
    number = found[0] if last else found[-1]
    # In decimals, as it is written: 1.1 lies within 0.1 of 1.0.
    wanted, tolerance = Decimal(str(check["answer"])), Decimal(str(check["tolerance"]))
    allowed = tolerance * abs(wanted) if check["relative"] else tolerance
    passed = abs(number.value - wanted) <= allowed
    why = f"It is read as {number.value:g}; right is {wanted:g}" + (f" within {allowed:g}." if allowed else ".")
    return Checked(passed, why, (where.start + number.start, where.start + number.end), float(number.value))


def _choice(check: dict[str, Any], text: str) -> Checked | Said:
    end = ending(text)
    last = conclusion(end)
    line = last and last.line()
    found = named(check["options"], line=line, end=end)
    if len(found) == 1:
        (only,) = found
        return Checked(only.option == check["answer"], f"It names {only.option}.", (only.start, only.end))
    options = [each.option for each in found] or spoken_of(check["options"], line or end)
    if not options:
        return Checked(False, f"{'After “Answer:” it' if line else 'It'} names none of the options.")
    several = f"It names several options: {', '.join(sorted(options))}."
    why = several if len(options) > 1 else f"It speaks of {options[0]} and does not say that this is the answer."
    return abstained(Undetermined.UNPARSABLE, _MEASURES, rationale=why)


def _regex(check: dict[str, Any], text: str) -> Checked | Said:
    """The pattern anywhere in the answer; it says itself where it must begin and end."""
    if len(text) > LONGEST:
        return _too_long()
    try:
        found = regex.search(check["pattern"], text, timeout=SECONDS)
    except TimeoutError:
        return _took_too_long()
    if found is None:
        return Checked(False, "The pattern does not occur in it.")
    return Checked(True, "The pattern occurs in it.", found.span())


def _json_schema(check: dict[str, Any], text: str) -> Checked | Said:
    if len(text) > LONGEST:
        return _too_long()
    read = json_in(text)
    if read is None:
        return Checked(False, "It is no JSON, and holds no single block of it.")
    value, stretch = read
    try:
        passed = is_valid(value, check["schema"], seconds=SECONDS)
    except TimeoutError:
        return _took_too_long()
    except (RecursionError, ArithmeticError):
        return abstained(Undetermined.OTHER, _MEASURES, rationale="The schema cannot be applied to it.")
    why = "It is JSON of the schema." if passed else "It is JSON, and not of the schema."
    return Checked(passed, why, (stretch.start, stretch.end))


def _too_long() -> Said:
    why = f"It is longer than {LONGEST:,} characters."
    return abstained(Undetermined.UNREADABLE, _MEASURES, rationale=why)


def _took_too_long() -> Said:
    why = "The check did not end in the time it has."
    return abstained(Undetermined.TIMED_OUT, _MEASURES, rationale=why)


_CHECKS: dict[CheckKind, Callable[[dict[str, Any], str], Checked | Said]] = {
    CheckKind.EXACT: _exact,
    CheckKind.NUMBER: _number,
    CheckKind.CHOICE: _choice,
    CheckKind.REGEX: _regex,
    CheckKind.JSON_SCHEMA: _json_schema,
}
