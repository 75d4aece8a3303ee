"""The errors of the domain: a sentence that says what to do, and a stable code.

Which HTTP status one becomes is known at the edges: `litmus_site.errors` for the API, `labeling.pages.edge` for pages.
"""

from pathlib import Path
from traceback import extract_tb
from typing import Any

_CODE = Path(__file__).resolve().parent.parent


class DomainError(Exception):
    """Something the caller can mend. The message is shown to people as it is."""

    code = "invalid"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class NotAllowed(DomainError):
    """The caller is known, and this is not theirs to do."""

    code = "not_allowed"


class Conflict(DomainError):
    """What is asked contradicts what is already there."""

    code = "conflict"


class TooLarge(DomainError):
    """The body is over a stated limit."""

    code = "too_large"


class Busy(DomainError):
    """More is waiting than the service wants to have waiting."""

    code = "busy"
    # Seconds until it is worth sending again.
    wait = 15


class NotFound(DomainError):
    """There is no such thing, or it is not the caller's to see."""

    code = "not_found"


class Unavailable(DomainError):
    """Something this service needs is missing for now; the caller can only try again."""

    code = "unavailable"


def told(error: BaseException) -> str:
    """An exception by its kind and the last place in our code: its message may quote what a model wrote."""
    frames = [frame for frame in extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(_CODE)]
    place = f" in {Path(frames[-1].filename).relative_to(_CODE)}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"[:300]
