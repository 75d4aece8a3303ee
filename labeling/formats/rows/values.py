"""Values of a runner's file, of which any may be of another kind than expected, made into what a posted line takes."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from labeling.formats.files import elements
from labeling.formats.files.elements import Broken
from labeling.formats.mapping import as_text
from labeling.formats.normal import canonical, too_deep
from labeling.formats.problems import shown
from labeling.formats.scalars import is_storable

_YES = {"true", "yes", "1"}
_NO = {"false", "no", "0"}
# What is longer than this has its place in the raw bytes alone.
_MAX_METADATA = 1000


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_word(value: Any, limit: int) -> str:
    """For names and slices: short, on one line, storable."""
    return shown(as_text(value), limit=limit)[:limit]


def as_storable(value: Any) -> str:
    """Text of any length; what cannot be stored as it is, is written as JSON."""
    text = as_text(value)
    return text if is_storable(text) else canonical(text)


def as_time(value: Any) -> str:
    """A time in ISO 8601 as it is; "" for anything else. One without a zone is not given one."""
    try:
        return value if datetime.fromisoformat(value) and len(value) <= 40 else ""
    except (TypeError, ValueError):
        return ""


def as_moment(seconds: Any) -> str | None:
    """Seconds since 1970 in ISO 8601, in UTC; `None` for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def as_attempt(given: Any, *, counted_from: int) -> int:
    """Which attempt it is, counted from 1; the first, where the file does not say."""
    attempt = given - counted_from + 1 if isinstance(given, int) and not isinstance(given, bool) else 1
    return attempt if 1 <= attempt < 2**31 else 1


def parsed(value: Any) -> Any:
    """What a text holds as JSON, an object or a list; any other value stays what it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        found = elements.loads(value.encode("utf-8", "surrogatepass"))
    except Broken:
        return value
    return value if too_deep(found) else found


def truth_of(value: Any) -> bool | None:
    """A value that is a yes or a no by itself; `None` for any other."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    word = value.strip().casefold() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def is_missing(value: Any) -> bool:
    """Tables write nothing where there is nothing: an empty cell, null, NaN."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def small(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is short enough to go along as metadata."""
    return {
        name: value
        for name, value in given.items()
        if not is_missing(value) and len(value if isinstance(value, str) else canonical(value)) <= _MAX_METADATA
    }
