"""What a judge's settings are called on its form, field by field: where each stands in them, and how it is typed."""

import json
import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Never

from labeling.errors import DomainError
from labeling.formats.problems import shown as shown_text

_JUST_NUMBERS = "0123456789.-"
# A deeper object is nobody's setting.
_MOST_BRACKETS = 100


class Typing(StrEnum):
    """How a field is typed."""

    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"
    # An object of JSON; and lines of `word = what it means`.
    JSON = "json"
    PAIRS = "pairs"


class Choice(NamedTuple):
    value: str
    words: str


class Field(NamedTuple):
    """path: where it stands in the settings, as service.model. A field left empty is left out of them.

    required: it cannot be left empty.
    """

    path: str
    label: str
    typing: Typing = Typing.LINE
    hint: str = ""
    choices: tuple[Choice, ...] = ()
    rows: int = 4
    required: bool = False


class Section(NamedTuple):
    """Fields under one heading. folded: rarely changed."""

    title: str
    fields: tuple[Field, ...]
    folded: bool = False


def lf(text: str) -> str:
    """A form gives every line end as two characters; a version must not differ by that."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def typed(fields: Iterable[Field], post: Mapping[str, str]) -> dict[str, str]:
    """What somebody typed, whether it makes sense or not."""
    return {field.path: _kept(field, post.get(field.path, "")) for field in fields}


def _kept(field: Field, text: str) -> str:
    return lf(text) if field.typing in (Typing.TEXT, Typing.JSON, Typing.PAIRS) else text.strip()


def shown(fields: Iterable[Field], settings: Mapping[str, Any]) -> dict[str, str]:
    """The settings as somebody would have typed them."""
    return {field.path: _written(field, _found(settings, field.path)) for field in fields}


def _found(settings: Mapping[str, Any], path: str) -> Any:
    value: Any = settings
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _written(field: Field, value: Any) -> str:
    if value in (None, "", {}, []):
        return ""
    match field.typing:
        case Typing.PAIRS:
            return "\n".join(f"{word} = {meaning}" for word, meaning in value.items())
        case Typing.JSON:
            return json.dumps(value, indent=2, ensure_ascii=False)
        case _:
            return str(value)


def settings_of(fields: Iterable[Field], texts: Mapping[str, str]) -> dict[str, Any]:
    """The settings that were typed. Raises DomainError on what cannot be read."""
    settings: dict[str, Any] = {}
    for field in fields:
        if (value := _value(field, texts.get(field.path, ""))) is not None:
            *above, last = field.path.split(".")
            into = settings
            for step in above:
                into = into.setdefault(step, {})
            into[last] = value
    return settings


def _value(field: Field, text: str) -> Any:
    if not text.strip():
        if field.required:
            raise DomainError(f"{field.label}: fill this in.", field=field.path)
        return None
    match field.typing:
        case Typing.NUMBER:
            return _number(field, text)
        case Typing.JSON:
            return _json(field, text)
        case Typing.PAIRS:
            return _pairs(field, text)
        case _:
            return text


def _number(field: Field, text: str) -> int | float:
    if "," in text:
        sentence = f"{field.label}: write it without a comma; decimals come after a point."
        raise DomainError(sentence, field=field.path)
    if len(text) > 20 or set(text) - set(_JUST_NUMBERS):
        raise DomainError(f"{field.label}: give a number.", field=field.path)
    try:
        number = float(text)
    except ValueError:
        raise DomainError(f"{field.label}: give a number.", field=field.path) from None
    return int(number) if number.is_integer() and "." not in text else number


def _json(field: Field, text: str) -> Any:
    try:
        if sum(map(text.count, "[{")) > _MOST_BRACKETS:
            raise ValueError
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise DomainError(f'{field.label}: write an object of JSON, as in {{"top_p": 1}}.', field=field.path)
    return value


def _no_number(_word: str) -> Never:
    """NaN is no JSON, though Python writes and reads it."""
    raise ValueError


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _pairs(field: Field, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            word, meaning = _pair(field, number, line)
            if word in pairs:
                raise DomainError(f"{field.label}: {shown_text(word)} is said twice; keep one line.", field=field.path)
            pairs[word] = meaning
    return pairs


def _pair(field: Field, number: int, line: str) -> tuple[str, str]:
    word, separator, meaning = line.rpartition("=")
    if not separator or not word.strip() or not meaning.strip():
        raise DomainError(f"{field.label}: line {number} must be written `word = what it means`.", field=field.path)
    return word.strip(), meaning.strip()


def label_of(path: str, fields: Iterable[Field]) -> str:
    """What a place in the settings is called on the form; else the place itself."""
    under = [field for field in fields if path == field.path or path.startswith((f"{field.path}.", f"{field.path}["))]
    return max(under, key=lambda field: len(field.path)).label if under else shown_text(path)
