"""How a program checks the answer to a capability case, as clients send it.

What could take a worker's time away is refused here: a pattern that does not compile, a schema that refers elsewhere.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Self

import regex
from jsonschema import Draft202012Validator, SchemaError
from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from labeling.formats.normal import canonical
from labeling.formats.problems import CHECKS
from labeling.formats.strict import Strict
from labeling.vocabulary import CheckKind

_LONGEST_PATTERN = 1000
_LONGEST_SCHEMA = 20_000
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
# Keywords whose values are schemas by name, and those whose values are no schemas at all.
_BY_NAME = {"properties", "$defs", "definitions", "dependentSchemas"}
_NO_SCHEMA = {"enum", "const", "default", "examples"}
# Keywords that lead out of the schema, or whose work nothing bounds.
_NOT_TAKEN = {"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "patternProperties"}
_NOT_TAKEN |= {"unevaluatedItems", "unevaluatedProperties"}


def _said(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("litmus_blank", "must not be empty")
    return text


def _letter(text: str) -> str:
    if not (text.isascii() and text.isalnum() and len(text) <= 3):
        raise PydanticCustomError("litmus_letter", "must be one to three letters or digits")
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise PydanticCustomError("litmus_number", "must be a number")
    return value


def _tolerance(value: Any) -> Any:
    if _finite(value) < 0:
        raise PydanticCustomError("litmus_tolerance", "must be at least 0")
    return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _pattern(text: str) -> str:
    try:
        regex.compile(_said(text))
    except regex.error:
        raise PydanticCustomError("litmus_pattern", "must be a regular expression") from None
    return text


def _schema(value: Any) -> Any:
    if not isinstance(value, dict):
        raise PydanticCustomError("litmus_object", "must be an object")
    try:
        long = len(canonical(value)) > _LONGEST_SCHEMA
        Draft202012Validator.check_schema(value)
        _refuse_what_is_not_taken(value)
    except (SchemaError, RecursionError):
        sentence = "must be a JSON schema (draft 2020-12)"
        raise PydanticCustomError("litmus_schema", sentence) from None
    if long:
        sentence = f"must have at most {_LONGEST_SCHEMA} characters"
        raise PydanticCustomError("litmus_schema_long", sentence)
    return value


def _refuse_what_is_not_taken(whole: dict[str, Any]) -> None:
    for schema in _schemas(whole):
        if taken := sorted(_NOT_TAKEN & schema.keys()):
            raise PydanticCustomError("litmus_keyword", "must do without {keyword}", {"keyword": taken[0]})
        if schema.get("$schema", _DRAFT) not in (_DRAFT, _DRAFT + "#"):
            raise PydanticCustomError("litmus_draft", "must be of draft 2020-12 of JSON schema")
        if "$ref" in schema and not _is_inside(whole, schema["$ref"]):
            raise PydanticCustomError("litmus_reference", "must refer to nothing but its own parts, as in #/$defs/name")
        if "pattern" in schema:
            _pattern(schema["pattern"])


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    """A schema with all schemas in it."""
    if isinstance(value, list):
        for each in value:
            yield from _schemas(each)
    if not isinstance(value, dict):
        return
    yield value
    for keyword, inside in value.items():
        if keyword in _BY_NAME and isinstance(inside, dict):
            for each in inside.values():
                yield from _schemas(each)
        elif keyword not in _NO_SCHEMA:
            yield from _schemas(inside)


def _is_inside(whole: dict[str, Any], reference: str) -> bool:
    """Does the reference lead to a schema in this one?"""
    if reference == "#":
        return True
    start, *steps = reference.split("/")
    place: Any = whole
    for step in steps:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(place, dict) or name not in place:
            return False
        place = place[name]
    return start == "#" and isinstance(place, dict | bool)


_Said = Annotated[str, Field(max_length=2000), AfterValidator(_said)]
_Number = Annotated[Any, AfterValidator(_finite), WithJsonSchema({"type": "number"})]
_Tolerance = Annotated[Any, AfterValidator(_tolerance), WithJsonSchema({"type": "number", "minimum": 0})]
_Letter = Annotated[str, AfterValidator(_letter)]


class CheckOf(Strict):
    """A check, of one kind or another."""

    def stored(self) -> dict[str, Any]:
        """As judges are given it."""
        return self.model_dump(by_alias=True)


class ExactCheck(CheckOf):
    """The answer is one of these, but for white space, quotation marks and a final full stop."""

    kind: Literal["exact"]
    answers: Annotated[list[_Said], Field(min_length=1, max_length=100)]
    ignore_case: bool = True


class NumberCheck(CheckOf):
    """The last number in the answer, or the one after a last `Answer:`."""

    kind: Literal["number"]
    answer: _Number
    tolerance: _Tolerance = 0
    relative: bool = Field(False, description="The tolerance is a share of the answer.")


class ChoiceCheck(CheckOf):
    """The letter of one option."""

    kind: Literal["choice"]
    answer: _Letter
    options: Annotated[list[_Letter], Field(min_length=2, max_length=50)] = ["A", "B", "C", "D"]

    @model_validator(mode="after")
    def _is_an_option(self) -> Self:
        if self.answer not in self.options:
            raise PydanticCustomError("litmus_option", "must have its answer among its options")
        if len({option.upper() for option in self.options}) < len(self.options):
            raise PydanticCustomError("litmus_options", "must have no option twice")
        return self


class RegexCheck(CheckOf):
    """The pattern occurs in the answer."""

    kind: Literal["regex"]
    pattern: Annotated[str, Field(max_length=_LONGEST_PATTERN), AfterValidator(_pattern)]


class SchemaCheck(CheckOf):
    """The answer is JSON of this schema, alone or as the one fenced block in it."""

    kind: Literal["json_schema"]
    schema_: Annotated[Any, AfterValidator(_schema), WithJsonSchema({"type": "object"})] = Field(alias="schema")


def _kind(value: Any) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return CHECKS.get(kind) if isinstance(kind, str) else None


def _listed(words: Iterable[str]) -> str:
    *first, last = (f"'{word}'" for word in words)
    return f"{', '.join(first)} or {last}"


Check = Annotated[
    Annotated[ExactCheck, Tag(CHECKS["exact"])]
    | Annotated[NumberCheck, Tag(CHECKS["number"])]
    | Annotated[ChoiceCheck, Tag(CHECKS["choice"])]
    | Annotated[RegexCheck, Tag(CHECKS["regex"])]
    | Annotated[SchemaCheck, Tag(CHECKS["json_schema"])],
    Discriminator(
        _kind,
        custom_error_type="litmus_check",
        custom_error_message=f"must be an object whose kind is {_listed(CheckKind)}",
    ),
]
