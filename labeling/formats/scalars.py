"""The small types the wire models are made of, each with the sentence for what it refuses.

Two sorts of text: *storable* text goes into columns that are looked up by and holds neither NUL nor lone surrogates;
content is any JSON at all.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

LARGEST_INT = 2**31 - 1
LARGEST_SMALL_INT = 2**15 - 1
# Suites made for the cases of a single run live under this prefix.
OWN_SUITE = "run:"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

_OBJECT_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": True}
_MESSAGES_SCHEMA: dict[str, Any] = {"type": "array", "items": _OBJECT_SCHEMA}


def is_storable(text: str) -> bool:
    """Is it free of NUL and lone surrogates, which no column takes?"""
    return _UNSTORABLE.search(text) is None


def _storable(text: str) -> str:
    if not is_storable(text):
        raise PydanticCustomError("litmus_text", "must not hold NUL or lone surrogates")
    return text


def _suite_word(text: str) -> str:
    if "@" in text or text.startswith(OWN_SUITE):
        raise PydanticCustomError("litmus_suite", "must neither hold @ nor begin with run:")
    return text


def _time(text: str) -> str:
    try:
        datetime.fromisoformat(text or "2000-01-01")
    except ValueError:
        raise PydanticCustomError("litmus_time", "must be a time in ISO 8601, as in 2026-11-29T10:00:00Z") from None
    return text


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
        in_utc = moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        sentence = "must be a time in ISO 8601 with its zone, as in 2026-11-29T10:00:00Z"
        raise PydanticCustomError("litmus_moment", sentence) from None
    if moment.tzinfo is None:
        sentence = "gives no time zone: add Z or an offset, as in 2026-11-29T10:00:00+01:00"
        raise PydanticCustomError("litmus_zone", sentence)
    return in_utc


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise PydanticCustomError("litmus_object", "must be an object")
    return value


def _list(value: Any) -> Any:
    if not isinstance(value, list):
        raise PydanticCustomError("litmus_list", "must be a list")
    return value


def _blank_is_none(value: Any) -> Any:
    return None if value == "" else value


def _request(value: Any) -> Any:
    """A case's request: the user's words, or a scripted conversation; kept as messages in posted shape."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if not isinstance(value, list):
        raise PydanticCustomError("litmus_request", "must be text or a list of messages")
    return value


def _scores(value: Any) -> Any:
    for score in _object(value).values():
        if score is not None and not _is_number(score):
            raise PydanticCustomError("litmus_scores", "must be numbers by name")
    return value


def _cost(value: Any) -> Any:
    # The stored value has six places: what would round up to a million is too much already.
    if not _is_number(value) or not 0 <= value < 999_999.9999995:
        raise PydanticCustomError("litmus_cost", "must be dollars, from 0 to below a million")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_Storable = AfterValidator(_storable)
BLANK_IS_NONE = BeforeValidator(_blank_is_none)

Text = Annotated[str, _Storable]
Word60 = Annotated[str, Field(max_length=60), _Storable]
Word100 = Annotated[str, Field(max_length=100), _Storable]
Word200 = Annotated[str, Field(max_length=200), _Storable]
Name60 = Annotated[str, Field(min_length=1, max_length=60), _Storable]
Name100 = Annotated[str, Field(min_length=1, max_length=100), _Storable]
Name200 = Annotated[str, Field(min_length=1, max_length=200), _Storable]
SuiteKey = Annotated[str, Field(min_length=1, max_length=80), _Storable, AfterValidator(_suite_word)]
SuiteVersion = Annotated[str, Field(min_length=1, max_length=50), _Storable, AfterValidator(_suite_word)]
Time = Annotated[str, Field(max_length=40), _Storable, AfterValidator(_time)]
# A point in time, in UTC; without its zone it would be none.
Moment = Annotated[datetime, PlainValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
# Text that may quote what a model wrote. With no constraint on it pydantic keeps NUL and lone surrogates as they are.
Content = str
Count = Annotated[int, Field(ge=0, le=LARGEST_INT)]
FromOne = Annotated[int, Field(ge=1, le=LARGEST_INT)]
Tier = Annotated[int, Field(ge=1, le=LARGEST_SMALL_INT)]
Grade = Annotated[int, Field(ge=0, le=4)]
Cost = Annotated[Any, AfterValidator(_cost), WithJsonSchema({"type": "number", "minimum": 0})]

Json = Any
JsonObject = Annotated[Any, AfterValidator(_object), WithJsonSchema(_OBJECT_SCHEMA)]
JsonList = Annotated[Any, AfterValidator(_list), WithJsonSchema({"type": "array", "items": {}})]
Messages = Annotated[Any, AfterValidator(_list), WithJsonSchema(_MESSAGES_SCHEMA)]
Request = Annotated[Any, AfterValidator(_request), WithJsonSchema({"oneOf": [{"type": "string"}, _MESSAGES_SCHEMA]})]
Scores = Annotated[
    Any,
    AfterValidator(_scores),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["number", "null"]}}),
]
