"""What a rubric judge is made from: the words of its rubric, who answers, and how. All of it is its identity."""

import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from labeling.judges.rubrics.scales import Scale
from labeling.judges.service import Service, Settings

_READY = Path(__file__).parent
# An end of line within a paragraph: neither an empty line nor an item of a list or a heading follows.
_WRAPPED = re.compile(r"(?<=\S)\n[ ]*(?=[^\s\-#])")
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")
_TIER = re.compile("[1-9][0-9]{0,4}")
# Litmus says these itself; a `null` among the others takes a field out of the request.
# What a form can hold: it shows every category, and one that it left out would be lost in the next version.
MOST_CATEGORIES, _MOST_TIERS, _LONGEST_RUBRIC = 100, 20, 400_000
_OURS = ("model", "messages", "stream", "n")


class Structured(StrEnum):
    """What the endpoint can hold a model to: a schema, any JSON object, or nothing."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


def _sendable(text: str) -> str:
    if _UNSENDABLE.search(text):
        raise PydanticCustomError("litmus_text", "must not hold NUL or lone surrogates")
    return text


def _said(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("litmus_empty", "must not be empty; the ready rubrics are a beginning")
    return text


def _tiers(tiers: dict[str, str]) -> dict[str, str]:
    if not all(_TIER.fullmatch(tier) for tier in tiers):
        raise PydanticCustomError("litmus_tier", 'must have severity tiers for keys: "1" is the gravest')
    if len(tiers) > _MOST_TIERS:
        raise PydanticCustomError("litmus_tiers", f"must have at most {_MOST_TIERS} tiers")
    return tiers


def _few(categories: dict[str, Any]) -> dict[str, Any]:
    if len(categories) > MOST_CATEGORIES:
        raise PydanticCustomError("litmus_categories", f"must be at most {MOST_CATEGORIES}")
    return categories


_Words = Annotated[str, Field(max_length=40_000), AfterValidator(_sendable)]
_Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_sendable), AfterValidator(_said)]


class CategoryText(Settings):
    """What is added for cases of one category, and for each of its severity tiers."""

    text: _Words = ""
    tiers: Annotated[dict[str, _Words], AfterValidator(_tiers)] = Field(default_factory=dict)


class RubricText(Settings):
    """A rubric in words.

    sides: what is added for cases of one side. Only the boundary scale has two questions, so only there may a judge
    learn which side a case is on.
    """

    scale: Scale
    title: Annotated[str, Field(max_length=200), AfterValidator(_sendable), AfterValidator(_said)]
    instructions: Annotated[_Words, AfterValidator(_said)]
    sides: dict[Literal["harmful", "benign"], _Words] = Field(default_factory=dict)
    categories: Annotated[dict[_Name, CategoryText], AfterValidator(_few)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _sides_of_boundary(self) -> Self:
        if self.sides and self.scale is not Scale.BOUNDARY:
            sentence = "holds words for one side: only the boundary scale tells a judge the side of a case"
            raise PydanticCustomError("litmus_sides", sentence)
        return self

    @model_validator(mode="after")
    def _not_too_long(self) -> Self:
        of_categories = (text for each in self.categories.values() for text in (each.text, *each.tiers.values()))
        if sum(map(len, (self.instructions, *self.sides.values(), *of_categories))) > _LONGEST_RUBRIC:
            sentence = f"must have at most {_LONGEST_RUBRIC:,} characters of rubric in all"
            raise PydanticCustomError("litmus_long", sentence)
        return self


class RubricSettings(RubricText):
    """Everything that makes a version of a rubric judge. transcript_characters: more than so many are cut, by rule."""

    type: Literal["rubric"] = "rubric"
    service: Service
    transcript_characters: Annotated[int, Field(ge=1_000, le=2_000_000)] = 60_000
    structured: Structured = Structured.JSON_SCHEMA

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if not self.service.model.strip():
            raise PydanticCustomError("litmus_model", "must name the model that answers, in service.model")
        if bool(self.service.base_url) == bool(self.service.operator):
            sentence = "must say in service who answers: an address, or the name under which the operator keeps one"
            raise PydanticCustomError("litmus_service", sentence)
        if any(name in self.service.extra for name in _OURS):
            sentence = f"must not hold {', '.join(_OURS)} in service.extra: Litmus says these itself"
            raise PydanticCustomError("litmus_extra", sentence)
        return self


@cache
def ready_rubrics() -> dict[str, RubricText]:
    """The rubrics that come with Litmus, by key; the default one first."""
    files = sorted(_READY.glob("*.yaml"), key=lambda file: (file.stem != Scale.THREE_LABEL, file.stem))
    return {file.stem: RubricText.model_validate(_unwrapped(yaml.safe_load(file.read_text("utf-8")))) for file in files}


def _unwrapped(value: Any) -> Any:
    """A paragraph a line: the files are wrapped for who reads them as files, and a form wraps by itself."""
    if isinstance(value, dict):
        return {key: _unwrapped(each) for key, each in value.items()}
    return _WRAPPED.sub(" ", value) if isinstance(value, str) else value
