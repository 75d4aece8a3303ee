"""Chat completions as OpenAI and the many servers that speak like it have them.

Read from JSON or JSONL: responses alone (id, model, created, choices); pairs of request and response; lines of the
output of a batch (custom_id, response with status_code and body, error); lists of messages; and objects with
`messages`, as they are used for fine-tuning. Several choices are several attempts. A refusal may lie outside the text,
in the message or in a part of it; `finish_reason` `content_filter` means that a filter, not the model, ended the
answer. Tried on the shapes of openai-python of August 2026 (e43b4224) and of the batch API.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from labeling.formats.files import documents
from labeling.formats.files.documents import Layout
from labeling.formats.files.source import Sniff, Source
from labeling.formats.normal import Unreadable
from labeling.formats.reading import Format, Item
from labeling.formats.rows.conversations import is_messages
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

# Of a choice: what has a place of its own, and what is large; the raw bytes keep it.
_TAKEN_FROM_CHOICE = ("message", "text", "finish_reason", "logprobs")
_TAKEN_FROM_RESPONSE = ("choices", "error")
_TAKEN_FROM_PAIR = ("request", "response", "body", "error", "choices")


def recognises(sniff: Sniff) -> bool:
    if sniff.is_called_a_table:
        return False
    first = documents.first(sniff)
    if is_messages(first) or is_messages([first]):
        return True
    if not isinstance(first, dict):
        return False
    if "choices" in first or {"custom_id", "response"} <= first.keys():
        return True
    if isinstance(first.get("response"), dict):
        return "choices" in body_of(first["response"]) or "messages" in body_of(first.get("request"))
    # Of an object that is longer than the beginning of the file only the keys are known.
    return "messages" in first and (first["messages"] is None or is_messages(first["messages"]))


def read(source: Source) -> Iterator[Item]:
    sniff = Sniff(source)
    one_list = documents.layout(sniff.head) is Layout.ARRAY and is_messages([documents.first(sniff)])
    values = documents.whole(source) if one_list else documents.values(source)
    return Exchanges(source.mapping).read(values, partial(_exchange, Batch(source, _model_in)))


def _exchange(batch: Batch, value: Any) -> Exchange:
    if is_messages(value):
        return Exchange(model="", messages=value, is_transcript=True)
    if not isinstance(value, dict):
        raise Unreadable("", "is neither an object nor a list of messages")
    if "choices" in value or "response" in value:
        return _answered(batch, value)
    if "messages" not in value:
        raise Unreadable("", "has neither choices nor messages; a request is read only together with its response")
    return transcript(value, tools=_tools(value), error=value.get("error") or None)


def _answered(batch: Batch, value: Mapping[str, Any]) -> Exchange:
    """A response, alone or beside its request."""
    response = value if "choices" in value else response_of(value)
    request = value if "messages" in value else body_of(value.get("request") or value)
    error = response.get("error") or value.get("error") or None
    answers = list(_answers(response))
    if _is_filtered(error):
        answers, error = [Answer(stop_reason="content_filter", rest={"error": error})], None
    elif not answers and error is None:
        error = "The response has no choices."
    rest = {name: given for name, given in value.items() if name not in _TAKEN_FROM_PAIR}
    return Exchange(
        model=model_of(response) or model_of(request) or batch.model,
        messages=messages_of(request),
        answers=answers or [Answer()],
        request=request if request is not value else {},
        tools=_tools(request),
        case=value.get("custom_id"),
        id=value.get("custom_id", value.get("id", response.get("id"))),
        error=error,
        created=response.get("created"),
        rest=rest | {name: given for name, given in response.items() if name not in _TAKEN_FROM_RESPONSE},
    )


def _answers(response: Mapping[str, Any]) -> Iterator[Answer]:
    choices = response.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise Unreadable("", "has choices that are no list of objects")
    for choice in choices:
        # Completions, the older form, have text alone.
        message = choice.get("message", {"content": choice.get("text")})
        if not isinstance(message, dict):
            raise Unreadable("", "has a choice without a message; parts of a streamed answer are not read")
        rest = {name: given for name, given in choice.items() if name not in _TAKEN_FROM_CHOICE}
        yield Answer({"role": "assistant", **message}, choice.get("finish_reason"), rest)


def _is_filtered(error: Any) -> bool:
    """Some servers answer a request that their filter stopped with an error; yet the target did not fail to run."""
    return isinstance(error, dict) and error.get("code") == "content_filter"


def _tools(request: Mapping[str, Any]) -> Any:
    return request.get("tools") or request.get("functions") or None


def _model_in(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return model_of(value if "choices" in value else body_of(value.get("response")))


FORMAT = Format(
    "openai", "OpenAI chat completions and message lists", "openai-python e43b4224, batch API", recognises, read
)
