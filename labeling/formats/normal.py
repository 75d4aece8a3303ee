"""Messages of OpenAI or Anthropic shape in one normal form; whether anything came back; the content's identity.

A normal message is `{"role", "parts"}`, a part one of text, refusal, reasoning, tool_call, tool_result, media, unknown.
What has no place in it is in the raw bytes. Nothing here raises on odd content, only on what is no message at all.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from labeling.vocabulary import Outcome

Message = dict[str, Any]
Part = dict[str, Any]

ROLES = ("system", "developer", "user", "assistant", "tool")
# Deeper JSON than this is nobody's transcript, and would break readers further on.
MAX_DEPTH = 100
# Stop reasons with which a filter, not the model, ended the answer (OpenAI, Anthropic, Bedrock, Gemini).
FILTER_STOPS = {"content_filter", "content_filtered", "refusal", "safety", "prohibited_content", "guardrail_intervened"}

_NESTING = (dict, list)
_TEXT = {"text", "input_text", "output_text"}
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use"}
_MEDIA = {"image", "image_url", "input_image", "input_audio", "audio", "video", "file", "input_file", "document"}


class Unreadable(Exception):
    """This cannot be read as messages: where, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def normal_messages(posted: Any, *, path: str = "messages") -> list[Message]:
    """The normal form of a list of posted messages. Raises Unreadable with the path of what is no message."""
    if not isinstance(posted, list):
        raise Unreadable(path, "must be a list of messages")
    return [message for index, each in enumerate(posted) for message in _normal_message(each, path=f"{path}[{index}]")]


def _normal_message(posted: Any, *, path: str) -> Iterator[Message]:
    if not isinstance(posted, dict):
        raise Unreadable(path, "must be an object with role and content")
    role = "tool" if posted.get("role") == "function" else posted.get("role")
    if role not in ROLES:
        raise Unreadable(f"{path}.role", f"must be one of {', '.join(ROLES)}")
    if role != "tool" and len(posted) == 2 and isinstance(posted.get("content"), str):
        # Most messages are words and nothing beside them, for which what follows comes to the same.
        yield {"role": role, "parts": [_text(posted["content"])] if posted["content"] else []}
        return
    blocks = list(_content(posted.get("content"), path=f"{path}.content"))
    if role == "tool":
        parts = _flat(blocks)
        answered = any(part["type"] == "tool_result" for part in parts)
        yield {"role": role, "parts": parts if answered else _result(posted, parts)}
        return
    beside = _said_beside(posted, path=path)
    blocks = [[part] for part in _reasoning_beside(posted)] + blocks + [[part] for part in beside]
    if not blocks:
        yield {"role": role, "parts": []}
    # Anthropic puts the results of tools into the user's message; nobody shall read them as the user's words.
    for is_result, group in groupby(blocks, key=lambda block: block[0]["type"] == "tool_result"):
        yield {"role": "tool" if is_result else role, "parts": _flat(group)}


def _flat(blocks: Iterable[list[Part]]) -> list[Part]:
    return [part for block in blocks for part in block]


def _content(posted: Any, *, path: str) -> Iterator[list[Part]]:
    """One block for each posted part; the result of a tool brings its pictures along in its own."""
    if isinstance(posted, list):
        yield from (_block(each) for each in posted)
    elif isinstance(posted, str):
        # An empty string beside tool calls is no text.
        if posted:
            yield [_text(posted)]
    elif isinstance(posted, dict):
        yield _block(posted)
    elif posted is not None:
        raise Unreadable(path, "must be text, a list of parts, or null")


def _block(posted: Any) -> list[Part]:
    if isinstance(posted, dict) and str(posted.get("type")).endswith("tool_result"):
        return _result(posted, _inside_result(posted))
    return [_part(posted)]


def _part(posted: Any) -> Part:
    if isinstance(posted, str):
        return _text(posted)
    if not isinstance(posted, dict):
        return {"type": "unknown", "raw": posted}
    kind = str(posted.get("type"))
    if kind in _CALLS:
        return _tool_call(posted)
    if kind in _MEDIA:
        return {"type": "media", "raw": posted}
    if kind == "redacted_thinking":
        return {"type": "reasoning", "text": "", "redacted": True}
    return _worded_part(kind, posted) or {"type": "unknown", "raw": posted}


def _worded_part(kind: str, posted: Part) -> Part | None:
    """A part that is text of some sort; its key differs from one API to the next."""
    if kind in _TEXT and (text := _first_text(posted, "text", "content")) is not None:
        return {"type": "refusal" if posted.get("refusal") is True else "text", "text": text}
    if kind == "refusal" and (text := _first_text(posted, "refusal", "text")) is not None:
        return {"type": "refusal", "text": text}
    if kind in ("thinking", "reasoning"):
        text = _first_text(posted, "thinking", "reasoning", "text", "content")
        return None if text is None else {"type": "reasoning", "text": text}
    return None


def _first_text(posted: Part, *keys: str) -> str | None:
    return next((posted[key] for key in keys if isinstance(posted.get(key), str)), None)


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _reasoning_beside(posted: Part) -> Iterator[Part]:
    if text := _first_text(posted, "reasoning_content", "reasoning"):
        yield {"type": "reasoning", "text": text}


def _said_beside(posted: Part, *, path: str) -> Iterator[Part]:
    """What OpenAI keeps outside the content: the refusal, spoken audio, and calls of tools."""
    if refusal := _first_text(posted, "refusal"):
        yield {"type": "refusal", "text": refusal}
    if isinstance(posted.get("audio"), dict):
        yield {"type": "media", "raw": posted["audio"]}
    if isinstance(posted.get("function_call"), dict):
        yield _tool_call({"function": posted["function_call"]})
    calls = posted.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise Unreadable(f"{path}.tool_calls", "must be a list of objects")
    yield from (_tool_call(call) for call in calls)


def _tool_call(posted: Part) -> Part:
    function, custom = posted.get("function"), posted.get("custom")
    if isinstance(function, dict):
        name, given = function.get("name"), function.get("arguments")
    elif isinstance(custom, dict):
        name, given = custom.get("name"), None
    else:
        name = function if isinstance(function, str) else posted.get("name")
        given = next((posted[key] for key in ("arguments", "input", "args") if key in posted), None)
    return {
        "type": "tool_call",
        "id": _identifier(posted.get("id")),
        "name": name if isinstance(name, str) else "",
        "arguments": given,
        "parse_error": bool(posted.get("parse_error")),
        # A custom tool takes free text, which is no JSON and no parse error either.
        **({"arguments_raw": _first_text(custom, "input") or ""} if isinstance(custom, dict) else {}),
        **(_parsed(given) if isinstance(given, str) else {}),
    }


def _parsed(text: str) -> Part:
    """Arguments given as a string: it should be JSON, and a model does not always manage."""
    try:
        arguments = json.loads(text) if text.strip() else {}
        broken = too_deep(arguments)
    except (ValueError, RecursionError):
        arguments, broken = None, True
    return {"arguments": None if broken else arguments, "arguments_raw": text, "parse_error": broken}


def _inside_result(posted: Part) -> list[Part]:
    try:
        return _flat(_content(posted.get("content"), path=""))
    except Unreadable:
        return [{"type": "unknown", "raw": posted["content"]}]


def _result(posted: Part, parts: Sequence[Part]) -> list[Part]:
    """What a tool answered: its text as one, then what is no text."""
    texts = [part["text"] for part in parts if part["type"] in ("text", "refusal")]
    error = posted.get("error")
    if error and not any(texts):
        texts = [_first_text(error, "message") or canonical(error) if isinstance(error, dict) else str(error)]
    result: Part = {
        "type": "tool_result",
        "tool_call_id": _identifier(posted.get("tool_call_id", posted.get("tool_use_id"))),
        "text": "\n".join(texts),
        "is_error": bool(posted.get("is_error") or error),
    }
    return [result, *(part for part in parts if part["type"] not in ("text", "refusal"))]


def _identifier(given: Any) -> str | None:
    return None if given is None else given if isinstance(given, str) else canonical(given)


# --- what came back ----------------------------------------------------------------------------------------------


def outcome(messages: Sequence[Message], *, error: Any, stop_reason: str, given: Sequence[Message] = ()) -> Outcome:
    """What came back from the target at all (RULES 10).

    given: the case's scripted conversation; the assistant's turns in it are no output of the target.
    """
    own = (message for message in messages[begins(messages, given) :] if message["role"] == "assistant")
    if any(_is_output(part) for message in own for part in message["parts"]):
        return Outcome.OUTPUT
    if is_set(error):
        return Outcome.NOT_RUN
    return Outcome.FILTERED if stop_reason.casefold() in FILTER_STOPS else Outcome.EMPTY


def is_set(error: Any) -> bool:
    """Runners write null, "", false, {} or [] where there was no error."""
    return bool(error.strip()) if isinstance(error, str) else bool(error)


def begins(messages: Sequence[Message], given: Sequence[Message]) -> int:
    """The index of the first message that may be the target's own.

    given: the case's scripted conversation. Where the transcript repeats it, what the assistant says in it is the
    script's.
    """
    if not any(message["role"] == "assistant" for message in given):
        return 0
    asked = [message for message in given if not _is_preamble(message)]
    said = [index for index, message in enumerate(messages) if not _is_preamble(message)]
    if [messages[index] for index in said[: len(asked)]] != asked:
        return 0
    return said[len(asked)] if len(said) > len(asked) else len(messages)


def _is_preamble(message: Message) -> bool:
    return message["role"] in ("system", "developer")


def _is_output(part: Part) -> bool:
    """Reasoning alone is no answer, nor is blank text. An unknown part may be one, so it counts as one."""
    if part["type"] == "text":
        return bool(part["text"].strip())
    return part["type"] not in ("reasoning", "tool_result")


# --- identity ----------------------------------------------------------------------------------------------------


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def canonical(value: Any) -> str:
    """One text for one JSON value: keys sorted, no spaces, ASCII; NaN and lone surrogates are kept."""
    return _CANONICAL.encode(value)


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def content_hash(*, case: str, attempt: int, messages: Any, tools: Any, stop_reason: str, error: Any) -> str:
    """The identity of a trajectory's content (RULES 12).

    Over the messages as posted, not their normal form: a later version of this reader must not turn a repeat of
    something already stored into a conflict.
    """
    return digest([case, attempt, messages, tools, stop_reason, error])


def too_deep(value: Any) -> bool:
    """Is there anything nested more than MAX_DEPTH deep? Without recursion, for it guards against that."""
    level = [value] if isinstance(value, _NESTING) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [child for children in inside for child in children if isinstance(child, _NESTING)]
    return bool(level)
