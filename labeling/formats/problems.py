"""What is wrong with something sent: a path and a sentence, never the value itself."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from labeling.errors import DomainError
from labeling.vocabulary import CheckKind

# Tags of unions in wire.py and checks.py; they are no part of a path.
ONE, SEVERAL, KEY, OBJECT = "‹one›", "‹several›", "‹key›", "‹object›"
CHECKS: dict[str, str] = {kind: f"‹{kind}›" for kind in CheckKind}
TAGS = frozenset({ONE, SEVERAL, KEY, OBJECT, *CHECKS.values()})


class Problem(NamedTuple):
    """`path` is the field's, as one would write it in a program: judgments[0].flags.explained."""

    path: str
    reason: str

    def under(self, path: str) -> "Problem":
        return Problem(".".join(filter(None, (path, self.path))), self.reason)


class Malformed(DomainError):
    """The body as a whole cannot be read."""

    code = "malformed"


class BrokenOff(Malformed):
    """The body ended before its end. What came of it is good."""


_SENTENCES = {
    "missing": "is required",
    "extra_forbidden": "is not a field here{hint}",
    "invalid_key": "is not a field here{hint}",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_unicode": "must not hold NUL or lone surrogates",
    "int_type": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "too_short": "must have at least {min_length} of them",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "enum": "must be {expected}",
    "too_long": "must have at most {max_length} of them",
}


def problems_of(error: ValidationError, *, has_metadata: bool) -> list[Problem]:
    """pydantic's errors in our words. Its own messages are used only where they are ours (see scalars.py)."""
    hint = "; data of your own goes into metadata" if has_metadata else ""
    return [
        Problem(path_of(each["loc"]), _sentence(each["type"], each["msg"], {"hint": hint, **each.get("ctx", {})}))
        for each in error.errors(include_url=False, include_input=False)
    ]


def _sentence(kind: str, message: str, context: dict[str, Any]) -> str:
    if kind.startswith("litmus_"):
        return message
    return _SENTENCES.get(kind, "is not valid").format(**context)


def path_of(location: Iterable[int | str]) -> str:
    path = ""
    for step in location:
        if step in TAGS:
            continue
        path += f"[{step}]" if isinstance(step, int) else f".{shown(step)}" if path else shown(step)
    return path


def shown(text: str, *, limit: int = 80) -> str:
    """Somebody else's text inside a sentence of ours: on one line, printable, short."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)


def refusal(problems: Sequence[Problem]) -> DomainError:
    """The problems, of which there is at least one, as one error to raise."""
    first = f"{problems[0].path or 'The body'} {problems[0].reason}"
    more = f" ({len(problems) - 1} more in details)" if len(problems) > 1 else ""
    return DomainError(f"{first}{more}.", problems=[problem._asdict() for problem in problems[:50]])
