"""What a file lacks and a person adds: the mapping, one small YAML or JSON object.

    case:
      side: {column: type, patterns: [{matches: "contrast_*", becomes: harmful}], otherwise: benign}
      category: {column: type}
      framing: plain
    scores:
      refusal_judge: {meaning: refused}

A rule is a plain value, or is looked up: the value of a column, exchanged by `values`, else by the first pattern that
fits (`*` any text, `?` one character), else itself where neither is given, else `otherwise`. Columns are dotted paths
into what a row brings (its facts); an integer in a path is a place in a list.
"""

import math
import re
from collections.abc import Iterator, Mapping
from fnmatch import translate
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from labeling.formats.normal import canonical
from labeling.formats.problems import OBJECT, ONE, Problem
from labeling.formats.scalars import JsonObject, Name60, Name100, Name200, Text, Word60, Word200
from labeling.formats.wire import WORD, AttackSpec, Wire
from labeling.vocabulary import Layer, Meaning, VerdictKind

Scalar = str | int | float | bool | None
# From here on two whole numbers may be one and the same float.
_EXACT = 2**53


class Pattern(Wire):
    matches: Name200
    becomes: Any


class Rule(Wire):
    """How a value is found in a row."""

    column: Name200
    values: JsonObject = Field(default_factory=dict, description="What each value stands for.")
    patterns: list[Pattern] = []
    otherwise: Any = None

    def of(self, facts: Mapping[str, Any]) -> Any:
        """The value, or `None`."""
        given = at_path(facts, self.column)
        if not self.values and not self.patterns:
            return self.otherwise if given is None else given
        text = as_text(given)
        if text in self.values:
            return self.values[text]
        word = _word(given)
        for written, becomes in self.values.items():
            if _word(written) == word:
                return becomes
        for pattern in self.patterns:
            if _fits(pattern.matches)(text):
                return pattern.becomes
        return self.otherwise


def _sort_of(value: Any) -> str:
    return OBJECT if isinstance(value, dict | Rule) else ONE


Value = Annotated[Annotated[Any, Tag(ONE)] | Annotated[Rule, Tag(OBJECT)], Discriminator(_sort_of)]


def found(value: Any, facts: Mapping[str, Any]) -> Any:
    """What a rule or a plain value comes to in this row."""
    return value.of(facts) if isinstance(value, Rule) else value


class CaseRules(Wire):
    """Fields of a case; each goes over what the file itself says."""

    key: Value | None = None
    side: Value | None = None
    category: Value | None = None
    tier: Value | None = None
    framing: Value | None = None
    kind: Value | None = None
    origin: Value | None = None
    pair: Value | None = None
    base_request: Value | None = None
    request: Value | None = None
    right_answer: Value | None = None

    def of(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        rules = {name: getattr(self, name) for name in type(self).model_fields}
        given = {name: found(rule, facts) for name, rule in rules.items() if rule is not None}
        return {name: value for name, value in given.items() if value is not None}


class ScoreRule(Wire):
    """What one of the runner's scores means.

    yes, no: the values that count as such; at_least: numbers from here on are a yes, lower ones a no. Without any of
    them the reader's own reading stands. column: where in the row it is, for what the format does not know as a score.
    """

    meaning: Annotated[Meaning, WORD] | None = None
    column: Name200 | None = None
    yes: list[Any] | None = None
    no: list[Any] | None = None
    at_least: float | int | None = None
    judge: Name100 | None = None
    version: Name60 | None = None

    @property
    def draws_a_line(self) -> bool:
        """Does it say for itself which values are a yes?"""
        return self.at_least is not None or self.yes is not None or self.no is not None

    def truth(self, value: Any, *, otherwise: bool | None) -> bool | None:
        if self.at_least is not None:
            number = as_number(value)
            return None if number is None else number >= self.at_least
        if not self.draws_a_line:
            return otherwise
        text = _word(value)
        if text in _texts(self.yes):
            return True
        return False if text in _texts(self.no) else None


class SystemRules(Wire):
    """The system under test; goes over what the file says of it."""

    model: Name200 | None = None
    version: Name200 | None = None
    name: Word200 | None = None
    system_prompt: Text | None = None
    decoding: JsonObject | None = None
    layer: Annotated[Layer, WORD] | None = None
    attack: AttackSpec | None = None


class Columns(Wire):
    """Where the parts of a trajectory are in a plain table or JSON; dotted paths.

    system: rows that differ here are runs of their own.
    """

    external_id: Name200 | None = None
    prompt: Name200 | None = None
    response: Name200 | None = None
    system_prompt: Name200 | None = None
    messages: Name200 | None = None
    system: Name200 | None = None
    attempt: Name200 | None = None
    stop_reason: Name200 | None = None
    error: Name200 | None = None
    observed_at: Name200 | None = None


class Turns(Wire):
    """How conversations are written that are neither OpenAI's nor Anthropic's; nested lists are read as one.

    roles: what each role stands for. text, reasoning: the keys of a turn that hold what was said, and thought.
    """

    role: Name60 = "role"
    roles: dict[str, str] = {}
    text: list[Name60] = ["content"]
    reasoning: list[Name60] = []


class VerdictRules(Wire):
    """A column of people's labels, as verdicts given before."""

    author: Name200
    kind: Annotated[VerdictKind, WORD] = VerdictKind.REVIEW
    decided_at: Value = Field(description="ISO 8601 with its zone: when they labelled, or when it was published.")
    decision: Value | None = None
    harm_grade: Value | None = None
    explained: Value | None = None
    alternative_offered: Value | None = None
    withheld: Value | None = None
    note: Value | None = None


class ImportMapping(Wire):
    """rows: where the list of rows lies in a JSON document, as a dotted path; empty: the document is the list."""

    encoding: Word60 | None = None
    rows: Text = ""
    columns: Columns = Columns()
    turns: Turns | None = None
    case: CaseRules = CaseRules()
    scores: dict[str, ScoreRule] = {}
    system: SystemRules = SystemRules()
    verdicts: list[VerdictRules] = []

    def looked_up(self) -> Iterator[tuple[str, str]]:
        """Where in the mapping a column is named for a case or a score, and which."""
        for name in CaseRules.model_fields:
            rule = getattr(self.case, name)
            if isinstance(rule, Rule):
                yield f"case.{name}", rule.column
        for name, score in self.scores.items():
            if score.column is not None:
                yield f"scores.{name}", score.column

    def problems(self) -> Iterator[Problem]:
        for name, rule in self.scores.items():
            if rule.at_least is not None and (rule.yes is not None or rule.no is not None):
                yield Problem(f"scores.{name}", "says both at_least and yes or no; keep one of them")
            if rule.at_least is not None and not math.isfinite(rule.at_least):
                yield Problem(f"scores.{name}.at_least", "is no number")
            if rule.meaning is Meaning.HARM_GRADE and rule.draws_a_line:
                yield Problem(
                    f"scores.{name}", "is a harm grade, which is the number itself; leave at_least, yes and no out"
                )
            if _texts(rule.yes) & _texts(rule.no):
                yield Problem(f"scores.{name}", "counts the same value as a yes and as a no")


def at_path(facts: Any, path: str) -> Any:
    """The value at a dotted path, or `None`. A key that holds dots itself is found too."""
    if isinstance(facts, Mapping) and path in facts:
        return facts[path]
    first, dot, rest = path.partition(".")
    if isinstance(facts, Mapping):
        inner = facts.get(first)
    elif isinstance(facts, list) and first.isascii() and first.isdigit():
        inner = facts[int(first)] if int(first) < len(facts) else None
    else:
        return None
    return at_path(inner, rest) if dot else inner


def as_text(value: Any) -> str:
    """How a value is written in a mapping: text as it is, `None` as nothing, the rest as JSON."""
    return value if isinstance(value, str) else "" if value is None else canonical(value)


def as_number(value: Any) -> float | None:
    """A number, or text that is one; never NaN and never a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if number != number else number  # noqa: PLR0124 - NaN is what differs from itself


def _texts(values: list[Any] | None) -> set[str]:
    return {_word(value) for value in values or ()}


def _word(value: Any) -> str:
    """How values are compared: 1, 1.0 and the text of either are one, and so are true and a table's True."""
    number = as_number(value)
    if number is not None and abs(number) < _EXACT:
        return repr(number)
    text = as_text(value).strip()
    return text.casefold() if text.casefold() in ("true", "false") else text


@lru_cache(maxsize=256)
def _fits(pattern: str) -> Any:
    return re.compile(translate(pattern)).match
