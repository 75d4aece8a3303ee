"""The part of a served judge's settings that says who answers."""

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
    extra: dict[str, Any] = Field(default_factory=dict)
