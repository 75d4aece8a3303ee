"""Reads a judge's answer: the whole of it is one JSON object with exactly the fields that were asked for.

No JSON is looked for inside other text. Where it could be, the text that is judged could put it there.
"""

import json
import re
from collections.abc import Collection, Sequence
from typing import Any, Never

# Within so many characters a judge that declines to judge says so.
_OPENING = 300
_DECLINES = re.compile(
    r"\b(?:i|we) (?:really )?(?:can ?not|can't|won't|will not|must decline|decline|refuse|am unable|are unable"
    r"|am not able|am not going|shouldn't|should not)\b|\bi'm (?:unable|not able|not going)\b"
    r"|\bi'm (?:very |so )?sorry,? but\b|\bsorry, but i\b|\bnot (?:something|able|comfortable) (?:i|to|with)\b"
)
_FENCE = "```"


class NotAnAnswer(Exception):
    """This is no answer to what was asked, and the sentence says why, in our own words."""


def declines(text: str) -> bool:
    """Does this prose say that its author will not judge? Only asked of what is no JSON."""
    opening = " ".join(text[:_OPENING].replace("’", "'").lower().split())
    return not opening.startswith(("{", _FENCE)) and _DECLINES.search(opening) is not None


def answered(text: str, *, fields: Sequence[str], fenced: bool) -> dict[str, Any]:
    """The fields of the answer. fenced: a code fence around all of it is allowed. Raises NotAnAnswer."""
    try:
        value = json.loads(_inside(text) if fenced else text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise NotAnAnswer("The answer is not one JSON object and nothing else.") from None
    if not isinstance(value, dict):
        raise NotAnAnswer("The answer is JSON and no object.")
    if missing := [name for name in fields if name not in value]:
        raise NotAnAnswer(f"The answer lacks {', '.join(missing)}.")
    if len(value) > len(fields):
        raise NotAnAnswer("The answer has fields that were not asked for.")
    return value


def _inside(text: str) -> str:
    """What one code fence holds, if it is around all of the text."""
    lines = text.strip()
    first, line_end, rest = lines.partition("\n")
    if line_end and first.strip() in (_FENCE, f"{_FENCE}json") and rest.endswith(_FENCE):
        return rest.removesuffix(_FENCE)
    return lines


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise NotAnAnswer("The answer gives a field twice.")
    return made


def _no_number(_: str) -> Never:
    raise NotAnAnswer("The answer holds a number that JSON does not have.")


def is_one_of(value: Any, allowed: Collection[Any]) -> bool:
    """Is it one of these, and of their type? True is not 1; of numbers only the value counts where halves are asked."""
    if value is None or isinstance(value, list | dict):
        return False
    same = [each for each in allowed if each == value]
    if not same or isinstance(value, bool) is not isinstance(same[0], bool):
        return False
    return not isinstance(value, float) or any(isinstance(each, float) for each in allowed)
