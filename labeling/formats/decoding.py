"""From a row and a mapping to what is posted: a trajectory line, verdicts, and what the scores were taken for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeling.formats import by_column, meanings
from labeling.formats.mapping import ImportMapping, as_text
from labeling.formats.problems import Problem, shown
from labeling.formats.reading import NOT_STATED, Row, Score, System

_WORDS = ("side", "kind", "origin")
_TEXTS = ("key", "category", "framing", "pair", "base_request", "right_answer")


@dataclass(frozen=True, slots=True)
class Decoded:
    """line: a posted trajectory line, its case as a definition. verdicts: posted verdict lines.

    problems: what keeps it from being stored before it is even validated; each says what to put into the mapping.
    """

    line: dict[str, Any]
    verdicts: tuple[dict[str, Any], ...]
    scores: tuple[Score, ...]
    problems: tuple[Problem, ...]


def decoded(row: Row, mapping: ImportMapping) -> Decoded:
    """The row as it would be posted."""
    case = _tidied({**row.case, **mapping.case.of(row.facts)})
    given = (*row.scores, *by_column.scores(row.facts, mapping))
    scores = tuple(meanings.mapped(score, mapping.scores.get(score.name)) for score in given)
    judgments = [judgment for score in scores if (judgment := meanings.judgment_of(score)) is not None]
    verdicts = (*row.verdicts, *by_column.verdicts(row.facts, mapping))
    line = {name: value for name, value in row.line.items() if value is not None}
    return Decoded(
        line=line | {"case": case, "judgments": judgments},
        verdicts=tuple({"external_id": line.get("external_id"), **verdict} for verdict in verdicts),
        scores=scores,
        problems=() if case.get("side") else (Problem("case.side", "is not in the file; the mapping must say it"),),
    )


def configuration(system: System, mapping: ImportMapping) -> dict[str, Any]:
    """The system as a posted configuration."""
    rules = mapping.system
    version = rules.version or system.version or NOT_STATED
    said = {
        "model": (rules.model or shown(system.model, limit=200) or NOT_STATED)[:200],
        "version": shown(version, limit=200)[:200],
        "system_prompt": system.system_prompt if rules.system_prompt is None else rules.system_prompt,
        "decoding": dict(system.decoding if rules.decoding is None else rules.decoding),
        "layer": rules.layer or system.layer,
    }
    return {name: value for name, value in said.items() if value not in ("", {})}


def attack(system: System, mapping: ImportMapping) -> dict[str, Any]:
    rules = mapping.system.attack
    return dict(system.attack) if rules is None else rules.model_dump(mode="json")


def _tidied(case: Mapping[str, Any]) -> dict[str, Any]:
    """Words in any case, numbers that a table holds as text: as the wire wants them."""
    tidy = {name: value for name, value in case.items() if value is not None}
    tidy |= {name: str(tidy[name]).strip().casefold() for name in _WORDS if name in tidy}
    tidy |= {name: as_text(tidy[name]) for name in _TEXTS if name in tidy}
    tier = tidy.get("tier")
    if isinstance(tier, str) and tier.strip().isascii() and tier.strip().isdigit():
        tidy["tier"] = int(tier)
    return tidy
