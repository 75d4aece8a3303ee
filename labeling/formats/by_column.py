"""What a mapping finds in the columns of a row: the runner's scores, and people's labels as verdicts."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.mapping import ImportMapping, VerdictRules, as_number, at_path, found
from labeling.formats.normal import canonical
from labeling.formats.reading import Score

_YES = {"true", "yes", "1"}
_NO = {"false", "no", "0"}
_FLAGS = ("explained", "alternative_offered", "withheld")
# What is longer than this has its place in the raw bytes alone.
_MAX_METADATA = 1000


def scores(facts: Mapping[str, Any], mapping: ImportMapping) -> Iterator[Score]:
    """A score for each rule that names a column; what it means is the rule's to say."""
    for name, rule in mapping.scores.items():
        if rule.column is not None:
            yield score(name, at_path(facts, rule.column))


def score(name: str, value: Any) -> Score:
    return Score(name[:100], judge=name[:100], version="", value=value, truth=truth_of(value))


def verdicts(facts: Mapping[str, Any], mapping: ImportMapping) -> Iterator[dict[str, Any]]:
    """A verdict for each rule that finds anything in this row; a person who said nothing gave none."""
    for rules in mapping.verdicts:
        parts = dict(_parts(rules, facts))
        if parts:
            note = found(rules.note, facts)
            about = {"author": rules.author, "kind": rules.kind.value, "decided_at": found(rules.decided_at, facts)}
            yield (
                about
                | parts
                | ({} if is_missing(note) else {"note": note if isinstance(note, str) else canonical(note)})
            )


def _parts(rules: VerdictRules, facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("decision", "harm_grade", *_FLAGS):
        value = found(getattr(rules, name), facts)
        if is_missing(value):
            continue
        if name == "harm_grade":
            number = as_number(value)
            value = int(number) if number is not None and number.is_integer() else value
        elif name in _FLAGS:
            truth = truth_of(value)
            value = value if truth is None else truth
        yield name, value


def truth_of(value: Any) -> bool | None:
    """A value that is a yes or a no by itself; `None` for any other."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    word = value.strip().casefold() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def is_missing(value: Any) -> bool:
    """Tables write nothing where there is nothing: an empty cell, null, NaN."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def small(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is short enough to go along as metadata."""
    return {
        name: value
        for name, value in given.items()
        if not is_missing(value) and len(value if isinstance(value, str) else canonical(value)) <= _MAX_METADATA
    }
