"""A mapping as a form: what most files lack, in fields. What the fields cannot say stays in the mapping as it is."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.errors import DomainError
from labeling.formats.normal import canonical, digest
from labeling.formats.problems import shown as shown_text
from labeling.vocabulary import Meaning

Typed = Mapping[str, str]

CASE_FIELDS = ("side", "category", "tier", "framing", "pair")
COLUMN_FIELDS = ("prompt", "response", "system")
# A score's row in the form is numbered; a file can have more of them than a page should hold.
MOST_SCORES = 80

FILE, FIXED, COLUMN, KEPT = "", "fixed", "column", "kept"
_WILD = frozenset("*?[")


class RuleFields(NamedTuple):
    """How one field of a case is found. how: as the file says, fixed, from a column, or kept as the mapping has it.

    lookup: a line for each `value = what it becomes`; a value with * or ? is a pattern.
    """

    name: str
    how: str = FILE
    fixed: str = ""
    column: str = ""
    lookup: str = ""
    otherwise: str = ""


class ScoreFields(NamedTuple):
    """meaning: a word of the vocabulary, or empty: as the format says."""

    name: str
    meaning: str = ""
    at_least: str = ""


class Fields(NamedTuple):
    """The whole form, as it is shown and as it was typed.

    columns: where the parts of a trajectory are in a table. added: further columns of it to read as scores.
    """

    rules: tuple[RuleFields, ...]
    scores: tuple[ScoreFields, ...]
    model: str = ""
    version: str = ""
    columns: Mapping[str, str] = {}
    added: str = ""


def score_token(name: str) -> str:
    """What stands for a score in the form: its name may hold what no form gives back as it was."""
    return digest(name)[:16]


def shown(mapping: Mapping[str, Any], score_names: Sequence[str]) -> Fields:
    """What the mapping says, in fields."""
    case, scores, system, columns = (mapping.get(part) or {} for part in ("case", "scores", "system", "columns"))
    return Fields(
        rules=tuple(_rule_shown(name, case.get(name)) for name in CASE_FIELDS),
        scores=tuple(_score_shown(name, scores.get(name) or {}) for name in score_names[:MOST_SCORES]),
        model=system.get("model") or "",
        version=system.get("version") or "",
        columns={name: columns.get(name) or "" for name in COLUMN_FIELDS},
    )


def typed(post: Typed, score_names: Sequence[str]) -> Fields:
    """What somebody typed, whether it makes sense or not."""
    return Fields(
        rules=tuple(
            RuleFields(name, *(post.get(f"{name}-{part}", "").strip() for part in RuleFields._fields[1:]))
            for name in CASE_FIELDS
        ),
        scores=tuple(_scores_typed(post, score_names)),
        model=post.get("model", "").strip(),
        version=post.get("model_version", "").strip(),
        columns={name: post.get(f"column-{name}", "").strip() for name in COLUMN_FIELDS},
        added=post.get("added", "").strip(),
    )


def mapping_with(fields: Fields, mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping with what the form says instead of what it said before. Raises DomainError on what cannot be read."""
    parts = {part: dict(mapping.get(part) or {}) for part in ("case", "scores", "system", "columns")}
    parts["case"] |= {rule.name: _rule(rule) for rule in fields.rules if rule.how != KEPT}
    for column in filter(None, map(str.strip, fields.added.split(","))):
        parts["scores"].setdefault(column, {"column": column})
    for score in fields.scores:
        said = {"meaning": _meaning(score), "at_least": _number(score)}
        parts["scores"][score.name] = _given({**(parts["scores"].get(score.name) or {}), **said})
    parts["system"] |= {"model": fields.model, "version": fields.version}
    parts["columns"] |= fields.columns
    return _given({**mapping, **{name: _given(part) for name, part in parts.items()}})


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what says nothing; zero and false say something."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", {}, [])}


def _scores_typed(post: Typed, names: Sequence[str]) -> Iterator[ScoreFields]:
    """Of the scores that were on the page; one that is not leaves the mapping as it is."""
    for name in names[:MOST_SCORES]:
        token = score_token(name)
        if f"meaning-{token}" in post:
            yield ScoreFields(name, post[f"meaning-{token}"].strip(), post.get(f"at_least-{token}", "").strip())


def _score_shown(name: str, rule: Mapping[str, Any]) -> ScoreFields:
    at_least = rule.get("at_least")
    return ScoreFields(name, rule.get("meaning") or "", "" if at_least is None else canonical(at_least))


def _meaning(score: ScoreFields) -> str | None:
    if score.meaning not in ("", *Meaning):
        raise DomainError(f"Choose what the score means: one of {', '.join(Meaning)}.")
    return score.meaning or None


def _number(score: ScoreFields) -> int | float | None:
    raw = score.at_least.replace(",", ".")
    if not raw:
        return None
    try:
        number = float(raw)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DomainError("“Yes from” takes a number, as in 0.5; leave it empty if the score says yes or no itself.")
    return int(number) if number.is_integer() and "." not in raw else number


def _rule_shown(name: str, value: Any) -> RuleFields:
    """In fields; kept as it is where the fields would come to something else."""
    if value is None or value == "":
        return RuleFields(name)
    fields = _in_column(name, value) if isinstance(value, dict) else RuleFields(name, FIXED, fixed=_text(value))
    try:
        is_same = canonical(_rule(fields)) == canonical(_given(value) if isinstance(value, dict) else value)
    except DomainError:
        is_same = False
    return fields if is_same else RuleFields(name, KEPT)


def _in_column(name: str, rule: Mapping[str, Any]) -> RuleFields:
    pairs = [*(rule.get("values") or {}).items()]
    pairs += [(pattern.get("matches", ""), pattern.get("becomes")) for pattern in rule.get("patterns") or []]
    return RuleFields(
        name,
        COLUMN,
        column=str(rule.get("column") or ""),
        lookup="\n".join(f"{given} = {_text(becomes)}" for given, becomes in pairs),
        otherwise="" if rule.get("otherwise") is None else _text(rule["otherwise"]),
    )


def _rule(fields: RuleFields) -> Any:
    """The rule of a mapping; `None` where the file's own word stands."""
    if fields.how == FILE:
        return None
    if fields.how == FIXED:
        if not fields.fixed:
            raise DomainError(f"Say which {fields.name} every row has, or choose another way to find it.")
        return _value(fields.name, fields.fixed)
    if fields.how != COLUMN:
        raise DomainError(f"Choose how the {fields.name} is found.")
    if not fields.column:
        raise DomainError(f"Name the column that tells the {fields.name}, or choose another way to find it.")
    pairs = [_pair(fields.name, number, line) for number, line in _lines(fields.lookup)]
    for place, (given, _) in enumerate(pairs):
        if given in dict(pairs[:place]):
            raise DomainError(f"{shown_text(given)} is said twice for the {fields.name}; keep one of the two lines.")
    return _given(
        {
            "column": fields.column,
            "values": {given: becomes for given, becomes in pairs if not _WILD & set(given)},
            "patterns": [{"matches": given, "becomes": becomes} for given, becomes in pairs if _WILD & set(given)],
            "otherwise": _value(fields.name, fields.otherwise) if fields.otherwise else None,
        }
    )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _pair(name: str, number: int, line: str) -> tuple[str, Any]:
    given, separator, becomes = line.rpartition("=")
    if not separator or not becomes.strip():
        raise DomainError(f"Line {number} for the {name} must be written `value = what it becomes`.")
    return given.strip(), _value(name, becomes.strip())


def _value(name: str, text: str) -> Any:
    """A tier is a number, the rest are words."""
    return int(text) if name == "tier" and text.isascii() and text.isdigit() and len(text) < 10 else text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)
