"""What was said in the call of a model that a span records, in the shape of posted messages.

Five ways of recording it, the newest first: `gen_ai.input.messages` and `gen_ai.output.messages` (on the span, or on an
event), OpenInference's `llm.input_messages.N.message…`, an event for each message, `gen_ai.prompt.N…`, and plain
`input.value` with `output.value`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from labeling.formats.mapping import as_text
from labeling.formats.readers.otel_spans import Span, flattened
from labeling.formats.rows.values import as_list, as_object, parsed

Message = dict[str, Any]

_ROLES = {"model": "assistant", "ai": "assistant", "human": "user"}
_DETAILS = "gen_ai.client.inference.operation.details"
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"


class Choice(NamedTuple):
    """One answer of the model: mostly one message, and why it stopped there."""

    messages: list[Message]
    stop_reason: str = ""


class Said(NamedTuple):
    """asked: what the model was given, its instructions first. choices: what it answered, more than one at times."""

    asked: list[Message]
    choices: list[Choice]


def said(span: Span) -> Said | None:
    """`None` where the span records nothing of the content."""
    ways = (_from_parts, _from_openinference, _from_events, _from_prompts, _from_values)
    return next((found for way in ways if (found := way(span)).asked or found.choices), None)


# --- gen_ai.input.messages, gen_ai.output.messages ---------------------------------------------------------------


def _from_parts(span: Span) -> Said:
    given = {**span.attributes, **next((event.attributes for event in span.events if event.name == _DETAILS), {})}
    system = _parts_oras_text(parsed(given.get("gen_ai.system_instructions")))
    asked = [{"role": "system", "content": system}] if system else []
    for message in as_list(parsed(given.get("gen_ai.input.messages"))):
        asked += _messages(message)
    answers = as_list(parsed(given.get("gen_ai.output.messages")))
    choices = [Choice(list(_messages(each)), as_text(as_object(each).get("finish_reason"))) for each in answers]
    return Said(asked if asked[bool(system) :] or choices else [], choices)


def _parts_oras_text(given: Any) -> Any:
    return given if isinstance(given, str) else [_part(each) for each in as_list(given)]


def _messages(given: Any) -> Iterator[Message]:
    """The answers of tools are messages of their own, whoever brings them."""
    message = as_object(given)
    role = _role(message.get("role"))
    if not isinstance(message.get("parts"), list):
        yield {**message, "role": role}
        return
    content, calls = [], []
    for part in message["parts"]:
        kind = as_object(part).get("type")
        if kind in ("tool_call_response", "server_tool_call_response"):
            yield {"role": "tool", "tool_call_id": part.get("id"), "content": as_text(_response(part))}
        elif kind in ("tool_call", "server_tool_call"):
            arguments = part.get("arguments", part.get("server_tool_call"))
            calls.append(_call(part.get("id"), part.get("name"), arguments))
        else:
            content.append(_part(part))
    if content or calls or not message["parts"]:
        yield {"role": role, "content": content, **({"tool_calls": calls} if calls else {})}


def _part(given: Any) -> Any:
    part = as_object(given)
    return {"type": "file", "file": part} if part.get("type") in ("blob", "uri", "file") else given


def _response(part: Mapping[str, Any]) -> Any:
    return next((part[key] for key in ("response", "result", "server_tool_call_response") if key in part), None)


# --- OpenInference -----------------------------------------------------------------------------------------------


def _from_openinference(span: Span) -> Said:
    asked = [_as_message(each) for each in indexed(span.attributes, "llm.input_messages")]
    answered = [_as_message(each) for each in indexed(span.attributes, "llm.output_messages")]
    stop = as_text(span.attributes.get("llm.finish_reason"))
    return Said(asked, [Choice(answered, stop)] if answered else [])


def indexed(attributes: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The items of a list that is flattened to NAME.0.…, NAME.1.…, in the order of the numbers; or the list itself."""
    if isinstance(attributes.get(name), list):
        return [dict(flattened(as_object(each))) for each in attributes[name]]
    items: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(f"{name}."):
            number, _, rest = key.removeprefix(f"{name}.").partition(".")
            if number.isascii() and number.isdigit() and len(number) < 10:
                items.setdefault(int(number), {})[rest] = value
    return [items[number] for number in sorted(items)]


def _as_message(given: Mapping[str, Any]) -> Message:
    """`contents` is `content` in pieces; where both are there they say the same."""
    contents = [_content(each) for each in indexed(given, "message.contents")]
    calls = [
        _call(each.get("tool_call.id"), each.get("tool_call.function.name"), each.get("tool_call.function.arguments"))
        for each in indexed(given, "message.tool_calls")
    ]
    message = {
        "role": _role(given.get("message.role")),
        "content": contents or given.get("message.content"),
        "name": given.get("message.name"),
        "tool_call_id": given.get("message.tool_call_id"),
        "tool_calls": calls or None,
    }
    return {name: value for name, value in message.items() if value is not None or name == "content"}


def _content(given: Mapping[str, Any]) -> dict[str, Any]:
    text = given.get("message_content.text")
    kind = as_text(given.get("message_content.type")) or "text"
    if isinstance(text, str):
        return {"type": kind, "text": text}
    return {"type": kind, **{name.removeprefix("message_content."): value for name, value in given.items()}}


# --- an event for each message -----------------------------------------------------------------------------------


def _from_events(span: Span) -> Said:
    asked, choices = [], []
    for event in span.events:
        body = parsed(event.attributes.get("gen_ai.event.content"))
        given = {**event.attributes, **as_object(body)}
        if event.name in _EVENTS:
            asked.append(_from_body(given, _EVENTS[event.name]))
        elif event.name == _CHOICE:
            message = as_object(parsed(given.get("message"))) or given
            choices.append(Choice([_from_body(message, "assistant")], as_text(given.get("finish_reason"))))
    kept = [message for message in asked if _holds(message)]
    choices = [choice for choice in choices if any(map(_holds, choice.messages))]
    return Said(kept, choices)


def _from_body(given: Mapping[str, Any], role: str) -> Message:
    calls = as_list(parsed(given.get("tool_calls")))
    message: Message = {"role": _role(given.get("role") or role), "content": given.get("content")}
    if role == "tool":
        message["tool_call_id"] = given.get("id")
    return message | ({"tool_calls": calls} if calls else {})


def _holds(message: Message) -> bool:
    return message.get("content") not in (None, "") or "tool_calls" in message


# --- gen_ai.prompt.N ---------------------------------------------------------------------------------------------


def _from_prompts(span: Span) -> Said:
    asked = [_from_prompt(each, "user") for each in indexed(span.attributes, "gen_ai.prompt")]
    answered = indexed(span.attributes, "gen_ai.completion")
    choices = [Choice([_from_prompt(each, "assistant")], as_text(each.get("finish_reason"))) for each in answered]
    return Said(asked, choices)


def _from_prompt(given: Mapping[str, Any], role: str) -> Message:
    calls = [_call(each.get("id"), each.get("name"), each.get("arguments")) for each in indexed(given, "tool_calls")]
    message: Message = {"role": _role(given.get("role") or role), "content": given.get("content")}
    if "tool_call_id" in given:
        message["tool_call_id"] = given["tool_call_id"]
    return message | ({"tool_calls": calls} if calls else {})


# --- input.value, output.value -----------------------------------------------------------------------------------


def _from_values(span: Span) -> Said:
    given, answer = span.attributes.get("input.value"), span.attributes.get("output.value")
    messages = as_list(as_object(parsed(given)).get("messages"))
    asked = [each for each in messages if isinstance(each, dict) and "role" in each]
    if not asked and given not in (None, ""):
        asked = [{"role": "user", "content": as_text(given)}]
    answered = [] if answer in (None, "") else [Choice([{"role": "assistant", "content": as_text(answer)}])]
    return Said(asked, answered)


def _call(identifier: Any, name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": identifier, "function": {"name": name, "arguments": arguments}}


def _role(given: Any) -> Any:
    return _ROLES.get(given, given) if isinstance(given, str) else given
