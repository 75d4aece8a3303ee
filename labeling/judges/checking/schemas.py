"""JSON in an answer held against a schema, with bounded work."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import regex
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from labeling.judges.checking.reading import Stretch

# Keywords applied to values; a schema that repeats itself in every branch would otherwise take for ever.
_MOST_STEPS = 50_000
_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def json_in(text: str) -> tuple[Any, Stretch] | None:
    """The JSON that the answer is, or that its only fenced block holds."""
    for stretch in (Stretch(0, text).trimmed(), *_fenced(text)):
        try:
            return json.loads(stretch.text, parse_constant=_refuse), stretch
        except (ValueError, RecursionError):
            continue
    return None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON.")


def _fenced(text: str) -> list[Stretch]:
    """The one fenced block; nothing where there are several, or none."""
    blocks: list[Stretch] = []
    opened: int | None = None
    place = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            if opened is None:
                opened = place + len(line)
            else:
                blocks.append(Stretch(opened, text[opened:place]).trimmed())
                opened = None
        place += len(line)
    return blocks if len(blocks) == 1 and opened is None else []


def is_valid(value: Any, schema: dict[str, Any], *, seconds: float) -> bool:
    """Raises TimeoutError where it takes too many steps or a pattern too long, RecursionError where it does not end."""
    bounded = _Bounded(seconds)
    keywords = {name: bounded.counted(keyword) for name, keyword in Draft202012Validator.VALIDATORS.items()}
    keywords |= {"pattern": bounded.pattern, "uniqueItems": bounded.unique_items}
    return bool(extend(Draft202012Validator, keywords)(schema).is_valid(value))  # type: ignore[no-untyped-call]


class _Bounded:
    """The keywords of one validation, which share a number of steps and the time that patterns may take."""

    def __init__(self, seconds: float) -> None:
        self.steps = _MOST_STEPS
        self.until = time.monotonic() + seconds

    def take(self, steps: int = 1) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise TimeoutError

    def counted(self, keyword: _Keyword) -> _Keyword:
        def applied(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
            self.take()
            return keyword(validator, value, instance, schema)

        return applied

    def pattern(self, _validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
        self.take()
        left = self.until - time.monotonic()
        if not isinstance(instance, str):
            return
        if left <= 0:
            raise TimeoutError
        if regex.search(value, instance, timeout=left) is None:
            yield ValidationError("does not match")

    def unique_items(self, _validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
        if not value or not isinstance(instance, list):
            return
        self.take(len(instance))
        texts = {json.dumps(_comparable(each), sort_keys=True) for each in instance}
        if len(texts) < len(instance):
            yield ValidationError("repeats itself")


def _comparable(value: Any) -> Any:
    """1 and 1.0 are one value in JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _comparable(each) for key, each in value.items()}
    return [_comparable(each) for each in value] if isinstance(value, list) else value
