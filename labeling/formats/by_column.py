"""What a mapping finds in the columns of a row: the runner's scores, and people's labels as verdicts."""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.mapping import ImportMapping, VerdictRules, as_number, as_text, at_path, found
from labeling.formats.reading import Score
from labeling.formats.rows.values import is_missing, truth_of
from labeling.formats.wire import Flags


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
            yield about | parts | ({} if is_missing(note) else {"note": as_text(note)})


def _parts(rules: VerdictRules, facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("decision", "harm_grade", *Flags.model_fields):
        value = found(getattr(rules, name), facts)
        if is_missing(value):
            continue
        if name == "harm_grade":
            number = as_number(value)
            value = int(number) if number is not None and number.is_integer() else value
        elif name in Flags.model_fields:
            truth = truth_of(value)
            value = value if truth is None else truth
        yield name, value
