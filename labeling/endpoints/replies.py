"""What an endpoint wrote, read: an answer, or why there is none. Of its own words only a short code is ever kept."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from labeling.endpoints.exchange import Answer, Route
from labeling.endpoints.faults import Fault, Status, Unreadable

_CODE = re.compile(r"[a-z0-9_]{1,40}")
# How endpoints say that their policy on content forbids a request.
_BLOCKED = frozenset(
    {
        "content_filter",
        "content_policy",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "moderation_blocked",
    }
)
# The time an endpoint may ask us to wait is held against a limit elsewhere; this only keeps dates within reason.
_MOST_SECONDS = 7 * 24 * 3600.0
# No call takes more tokens; what an endpoint says beyond it is no count, and would fit into no column.
_MOST_TOKENS = 10_000_000


def answer_of(route: Route, body: bytes, *, latency_ms: int) -> Answer | Fault:
    """The answer in a body that came with a good status."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return Unreadable("the answer is no JSON")
    if route == Route.PLAIN:
        return Answer("", document=document, latency_ms=latency_ms)
    choice = _first(document.get("choices")) if isinstance(document, dict) else None
    if choice is None:
        return _hidden(document) or Unreadable("the answer holds no choice")
    message = _mapping(choice.get("message")) if route == Route.CHAT else choice
    usage = _mapping(document.get("usage"))
    return Answer(
        text=_text(message.get("content" if route == Route.CHAT else "text")),
        refusal=_text(message.get("refusal")),
        finish_reason=_text(choice.get("finish_reason")),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        latency_ms=latency_ms,
    )


def fault_of(status: int, headers: Mapping[str, str], body: bytes) -> Status:
    """What a status other than 2xx says."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    error = _mapping(_mapping(document).get("error"))
    return _status(status, error, asked=_seconds(headers.get("Retry-After", "")))


def _hidden(document: Any) -> Status | None:
    """Some gateways answer 200 and put the status of the model behind them into the body."""
    error = _mapping(_mapping(document).get("error"))
    code = error.get("code")
    return _status(code, error) if isinstance(code, int) and 400 <= code < 600 else None


def _status(status: int, error: dict[str, Any], asked: float | None = None) -> Status:
    inner = _mapping(error.get("innererror"))
    codes = [_code(each) for each in (error.get("code"), error.get("type"), inner.get("code"))]
    flagged = "flagged_input" in _mapping(error.get("metadata"))
    blocked = 400 <= status < 500 and (flagged or not _BLOCKED.isdisjoint(codes))
    return Status(status, code=next(filter(None, codes), ""), asked=asked, blocked=blocked)


def _code(given: Any) -> str:
    """A short word of plain letters, so that nothing of a request can come back in it."""
    word = given.lower() if isinstance(given, str) else ""
    return word if _CODE.fullmatch(word) else ""


def _seconds(given: str) -> float | None:
    """Retry-After: seconds, or the date until which to wait."""
    try:
        seconds = float(given)
    except ValueError:
        try:
            until = parsedate_to_datetime(given)
        except (ValueError, OverflowError):
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(seconds, _MOST_SECONDS) if seconds > 0 else None


def _first(given: Any) -> dict[str, Any] | None:
    return given[0] if isinstance(given, list) and given and isinstance(given[0], dict) else None


def _mapping(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _text(given: Any) -> str:
    """A string, or the text parts of a list of them. Lists in lists are no text of anybody's."""
    if isinstance(given, list):
        texts = (part.get("text") for part in given if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return given if isinstance(given, str) else ""


def _count(given: Any) -> int | None:
    return given if type(given) is int and 0 <= given <= _MOST_TOKENS else None
