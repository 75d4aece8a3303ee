"""Messages as Inspect writes them, and as Scout and Docent do after it, in a shape that is understood here."""

from collections.abc import Iterator
from typing import Any

# What tells two copies of one message apart, and is no part of what was asked.
_OF_THE_COPY = {"id", "source", "model", "metadata"}


def messages(given: Any) -> Any:
    """Inspect's messages in a shape that is understood; what is no list of them is left for the wire to refuse."""
    return [_message(each) for each in given] if isinstance(given, list) else given


def asked(given: Any) -> str | list[Any]:
    """The request, without what differs between two copies of it."""
    if not isinstance(given, list):
        return given if isinstance(given, str) else []
    copies = [each for each in messages(given) if isinstance(each, dict)]
    return [{name: value for name, value in each.items() if name not in _OF_THE_COPY} for each in copies]


def _message(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    message = dict(given)
    if isinstance(given.get("content"), list):
        message["content"] = [part for each in given["content"] for part in _parts(each)]
    # Logs of 2024 have a tool's error as text.
    if message.get("tool_error") and not message.get("error"):
        message["error"] = {"message": message["tool_error"]}
    return message


def _parts(given: Any) -> Iterator[Any]:
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == "reasoning" and given.get("redacted"):
        # What was thought is sealed; there may be a summary of it.
        summary = given.get("summary")
        yield {"type": "reasoning", "reasoning": summary} if summary else {"type": "redacted_thinking"}
    elif kind == "tool_use":
        # A tool that ran where the model runs: the call and what came of it in one part.
        yield {name: value for name, value in given.items() if name not in ("result", "error")}
        yield {
            "type": "tool_result",
            "tool_use_id": given.get("id"),
            "content": given.get("error") or given.get("result"),
            "is_error": bool(given.get("error")),
        }
    else:
        yield given
