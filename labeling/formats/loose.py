"""Values of a runner's file, of which any may be of another kind than expected, made into what a posted line takes."""

from datetime import datetime
from typing import Any

from labeling.formats.mapping import as_text
from labeling.formats.normal import canonical
from labeling.formats.problems import shown


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
    spoiled = any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
    return canonical(text) if spoiled else text


def as_time(value: Any) -> str:
    """A time in ISO 8601 as it is; "" for anything else. One without a zone is not given one."""
    try:
        return value if datetime.fromisoformat(value) and len(value) <= 40 else ""
    except (TypeError, ValueError):
        return ""


def as_attempt(counted_from_0: Any) -> int:
    is_count = isinstance(counted_from_0, int) and not isinstance(counted_from_0, bool)
    return counted_from_0 + 1 if is_count and 0 <= counted_from_0 < 2**31 - 1 else 1
