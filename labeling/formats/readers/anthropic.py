"""Messages as Anthropic's API has them.

Read from JSON or JSONL: messages of the API (type `message`, model, content, stop_reason), pairs of request and
response, lines of a batch's results (custom_id, result), and transcripts with `messages` beside a top-level `system`.
Results of tools come in messages of the user and are shown as what they are. `stop_reason` `refusal` can come with no
content at all, and `stop_details` then says what of; a turn that was paused (`pause_turn`) is not finished, and its row
says so. Tried on the shapes of anthropic-sdk-python of August 2026 (009b0353) and of message batches.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from labeling.formats.files import documents
from labeling.formats.files.source import Sniff, Source
from labeling.formats.normal import Unreadable
from labeling.formats.reading import Format, Item
from labeling.formats.rows.exchanges import (
    Answer,
    Batch,
    Exchange,
    Exchanges,
    body_of,
    messages_of,
    model_of,
    response_of,
    transcript,
)
from labeling.formats.rows.values import as_list, as_object

_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}
_TAKEN_FROM_RESPONSE = ("type", "role", "content", "stop_reason", "error")
_TAKEN_FROM_PAIR = (*_TAKEN_FROM_RESPONSE, "request", "response", "params", "result")


def recognises(sniff: Sniff) -> bool:
    first = documents.first(sniff)
    if not isinstance(first, dict) or sniff.is_called_a_table:
        return False
    if _is_answer(first) or {"custom_id", "result"} <= first.keys():
        return True
    if isinstance(first.get("response"), dict):
        response = body_of(first["response"])
        return _is_answer(response) or response.get("type") == "error"
    return "messages" in first and "choices" not in first and ("system" in first or _has_blocks(first["messages"]))


def read(source: Source) -> Iterator[Item]:
    return Exchanges(source.mapping).read(documents.values(source), partial(_exchange, Batch(source, _model_in)))


def _exchange(batch: Batch, value: Any) -> Exchange:
    if not isinstance(value, dict):
        raise Unreadable("", "is no object")
    if _is_answer(value) or "response" in value or "result" in value:
        return _answered(batch, value)
    if "messages" not in value:
        raise Unreadable("", "has neither content nor messages; a request is read only together with its response")
    stop_reason = value.get("stop_reason")
    return transcript(
        value,
        tools=value.get("tools") or None,
        error=value.get("error") or _unfinished(stop_reason),
        answers=[Answer(stop_reason=stop_reason)],
    )


def _answered(batch: Batch, value: Mapping[str, Any]) -> Exchange:
    """A response, alone or beside its request."""
    response = _response(value)
    request = value if "messages" in value else body_of(value.get("request") or value.get("params"))
    rest = {name: given for name, given in value.items() if name not in _TAKEN_FROM_PAIR}
    rest |= {name: given for name, given in response.items() if name not in _TAKEN_FROM_RESPONSE}
    answer, error = Answer(rest=rest), _error(response)
    if _is_answer(response):
        stop_reason = response.get("stop_reason")
        answer = Answer({"role": "assistant", "content": response["content"]}, stop_reason, rest)
        error = error or _unfinished(stop_reason)
    return Exchange(
        model=model_of(response) or model_of(request) or batch.model,
        messages=messages_of(request),
        answers=[answer],
        request=request if request is not value else {},
        system=request.get("system"),
        tools=request.get("tools") or None,
        case=value.get("custom_id"),
        id=value.get("custom_id", value.get("id", response.get("id"))),
        error=error,
    )


def _response(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message or what came instead of it, out of whatever envelope."""
    if "result" in value:
        result = as_object(value["result"])
        return result["message"] if isinstance(result.get("message"), dict) else result
    return response_of(value) if "response" in value else value


def _error(response: Mapping[str, Any]) -> Any:
    """Why there is no message: an error, or a request of a batch that was canceled or has expired."""
    if error := response.get("error"):
        return error
    return None if _is_answer(response) else {"type": response.get("type") or "no message in the response"}


def _unfinished(stop_reason: Any) -> str | None:
    return "The turn was paused and not taken up again." if stop_reason == "pause_turn" else None


def _is_answer(value: Mapping[str, Any]) -> bool:
    return "content" in value and "stop_reason" in value


def _has_blocks(messages: Any) -> bool:
    contents = (as_object(each).get("content") for each in as_list(messages))
    return any(str(as_object(block).get("type")) in _BLOCKS for content in contents for block in as_list(content))


def _model_in(value: Any) -> str:
    return model_of(_response(value)) if isinstance(value, dict) else ""


FORMAT = Format(
    "anthropic",
    "Anthropic messages",
    "anthropic-sdk-python 009b0353, message batches",
    recognises,
    read,
)
