"""Messages of a chat: who said what, and which of it was asked of the target rather than said by it."""

from typing import Any

_PREAMBLE = ("system", "developer")


def is_messages(value: Any) -> bool:
    """A list of messages, as any chat API takes them."""
    return isinstance(value, list) and bool(value) and all(role_of(message) is not None for message in value)


def role_of(message: Any) -> str | None:
    """The role of a message; `None` of what is none, such as a whole answer of an API, which has a role as well."""
    if not isinstance(message, dict) or "stop_reason" in message:
        return None
    if "content" not in message and "tool_calls" not in message:
        return None
    role = message.get("role")
    return role if isinstance(role, str) else None


def opening(messages: list[Any]) -> list[Any]:
    """What was said before the target first answered."""
    roles = [role_of(message) for message in messages]
    return messages[: roles.index("assistant")] if "assistant" in roles else messages


def beyond_preamble(messages: list[Any]) -> list[Any]:
    """Without the prompts of the system, which belong to the system under test and not to the case."""
    return [message for message in messages if role_of(message) not in _PREAMBLE]


def said_by_others(messages: list[Any]) -> list[Any]:
    """The turns of a transcript that no answer of the target changed: its preamble and the user's words."""
    return [message for message in messages if role_of(message) in (*_PREAMBLE, "user") and not _is_result(message)]


def _is_result(message: Any) -> bool:
    """Anthropic puts the results of tools into messages of the user."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and str(block.get("type")).endswith("tool_result") for block in blocks)
