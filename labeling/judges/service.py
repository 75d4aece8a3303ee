"""The part of a served judge's settings that says who answers."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError


def _web_address(text: str) -> str:
    if text and not text.startswith(("http://", "https://")):
        raise PydanticCustomError("litmus_address", "must begin with https:// or http://")
    if "@" in text.partition("://")[2].partition("/")[0] or "?" in text or "#" in text:
        sentence = "must hold no user name, query or fragment; a key has a field of its own"
        raise PydanticCustomError("litmus_address", sentence)
    return text.rstrip("/")


# More than this in an object is no setting, and every call would carry it.
_LONGEST_OBJECT = 20_000


def _sent_as_json(given: dict[str, Any]) -> dict[str, Any]:
    try:
        written = json.dumps(given, allow_nan=False)
    except (ValueError, RecursionError):
        raise PydanticCustomError("litmus_json", "must be JSON, without NaN or Infinity") from None
    if len(written) > _LONGEST_OBJECT:
        sentence = f"must have at most {_LONGEST_OBJECT:,} characters as JSON"
        raise PydanticCustomError("litmus_json_long", sentence)
    return given


JsonFields = Annotated[dict[str, Any], AfterValidator(_sent_as_json)]
WebAddress = Annotated[str, Field(max_length=500), AfterValidator(_web_address)]


class Settings(BaseModel):
    """Strict, for a setting that is dropped without a word would be a judge nobody meant."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Service(Settings):
    """Who answers. Either an address, or the name under which the operator keeps one with its key.

    model: as the endpoint calls it. extra: further fields of each request, as the endpoint knows them.
    """

    base_url: WebAddress = ""
    operator: Annotated[str, Field(max_length=60, pattern=r"^[A-Z0-9_]*$")] = ""
    model: Annotated[str, Field(max_length=200)] = ""
    max_tokens: Annotated[int, Field(ge=1, le=32_000)] = 1024
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    extra: JsonFields = Field(default_factory=dict)


def longest_answer(body: Mapping[str, Any]) -> int:
    """The tokens that a request lets its answer have, under whichever name its endpoint knows them; 0: it says none."""
    said = (body.get(name) for name in ("max_tokens", "max_completion_tokens"))
    return max((tokens for tokens in said if type(tokens) is int and tokens > 0), default=0)
