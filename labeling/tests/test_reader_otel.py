"""Traces: OpenTelemetry GenAI and OpenInference, whole exports and spans one a line."""

import codecs
import json
from typing import Any

import pytest

from labeling.formats.files import elements
from labeling.tests.imported import Imported, imported, jsonl

ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Open the vault."}]}]
ANSWERED = [{"role": "assistant", "parts": [{"type": "text", "content": "No."}], "finish_reason": "stop"}]


def chat(
    number: int = 1,
    attributes: Any = None,
    *,
    asked: Any = ASKED,
    answered: Any = ANSWERED,
    trace: str = "t1",
    parent: str = "",
) -> dict[str, Any]:
    """A call of a model as a flat span; content as a text of JSON, as exporters must write it."""
    content = {"gen_ai.input.messages": asked, "gen_ai.output.messages": answered}
    written = {name: json.dumps(value) for name, value in content.items() if value is not None}
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model-1"}
    return span(number, {**about, **written, **(attributes or {})}, trace=trace, parent=parent)


def span(
    number: int = 1, attributes: Any = None, *, trace: str = "t1", parent: str = "", events: Any = ()
) -> dict[str, Any]:
    return {
        "name": "chat model-1",
        "context": {"trace_id": trace, "span_id": f"s{number}"},
        "parent_id": parent or None,
        "start_time": f"2026-02-03T04:05:{number:02d}.5Z",
        "end_time": f"2026-02-03T04:06:{number:02d}.5Z",
        "status": {"status_code": "OK"},
        "attributes": attributes or {},
        "events": list(events),
    }


def typed(value: Any) -> dict[str, Any]:
    """A value as the export types it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": typed(each)} for key, each in value.items()]}}
    return {"stringValue": value}


def export(*spans: dict[str, Any], service: str = "shop") -> dict[str, Any]:
    exported = [
        {
            "traceId": each["context"]["trace_id"],
            "spanId": each["context"]["span_id"],
            "parentSpanId": each["parent_id"] or "",
            "name": each["name"],
            "startTimeUnixNano": f"177009150{number}000000000",
            "endTimeUnixNano": f"177009151{number}000000000",
            "attributes": [{"key": key, "value": typed(value)} for key, value in each["attributes"].items()],
            "events": [
                {
                    "name": event["name"],
                    "attributes": [{"key": k, "value": typed(v)} for k, v in event["attributes"].items()],
                }
                for event in each["events"]
            ],
            "status": {},
        }
        for number, each in enumerate(spans)
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": exported}]}]}


def read(content: Any, **mapping: Any) -> Imported:
    return imported(content, "otel", **{"case": {"side": "benign"}, **mapping})


def texts(found: Imported, row: int = 0) -> list[tuple[str, str]]:
    messages = found.parsed()[row].messages
    return [(m["role"], " ".join(part.get("text", part["type"]) for part in m["parts"])) for m in messages]


def test_a_call_is_a_trajectory() -> None:
    found = read(
        jsonl(chat(attributes={"gen_ai.conversation.id": "c1", "gen_ai.request.temperature": 0.5}), chat(2, trace="t2"))
    )
    assert texts(found) == [("user", "Open the vault."), ("assistant", "No.")]
    assert (found.systems[0].model, found.systems[0].decoding) == ("model-1", {"temperature": 0.5})
    assert [line["external_id"] for line in found.lines] == ["c1", "t2"]
    assert found.lines[0]["observed_at"] == "2026-02-03T04:05:01.5Z"
    assert found.lines[0]["stop_reason"] == "stop"
    # The same request again is another attempt on it.
    assert [line["attempt"] for line in found.lines] == [1, 2]


@pytest.mark.parametrize("indent", [None, 1])
def test_an_export_is_read_whole_or_by_batches(indent: int | None) -> None:
    whole = json.dumps(export(chat(), span(2, attributes={"http.method": "GET"})), indent=indent)
    found = read(whole)
    assert texts(found) == [("user", "Open the vault."), ("assistant", "No.")]
    assert found.lines[0]["observed_at"] == "2026-02-03T04:05:00.000000+00:00"
    assert found.systems[0].name == "shop/model-1"
    batches = read(jsonl(export(chat()), export(chat(2, trace="t2"))))
    assert len(batches.parsed()) == 2


def test_the_bytes_of_a_span_are_kept() -> None:
    content = jsonl(chat())
    assert read(content).rows[0].raw == content.strip().encode()
    (row,) = read(json.dumps(export(chat()))).rows
    assert json.loads(row.raw or b"")["spanId"] == "s1"


def test_a_long_export_on_one_line_is_read_span_by_span(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a whole that does not fit into memory, each span does."""
    spans = [chat(number, trace=f"t{number}", attributes={"padding": "x" * 400_000}) for number in range(9)]
    # What is read at once may hold a span and a half.
    monkeypatch.setattr(elements, "MAX_ELEMENT_BYTES", 2_000_000)
    whole = json.dumps(export(*spans))
    assert len(whole) > 3_000_000
    assert len(read(whole).parsed()) == 9


def test_the_last_call_of_a_conversation_holds_all_of_it() -> None:
    """Each call repeats the history: the union would say everything twice."""
    history = [*ASKED, *ANSWERED, {"role": "user", "parts": [{"type": "text", "content": "Please."}]}]
    last = [{"role": "assistant", "parts": [{"type": "text", "content": "Still no."}], "finish_reason": "stop"}]
    calls = [
        chat(2, asked=history, answered=last, trace="t2", attributes={"session.id": "c"}),
        chat(1, attributes={"session.id": "c"}),
    ]
    found = read(jsonl(*calls))
    assert texts(found) == [
        ("user", "Open the vault."),
        ("assistant", "No."),
        ("user", "Please."),
        ("assistant", "Still no."),
    ]
    assert found.cases[0]["kind"] == "multi_turn"
    assert found.cases[0]["request"][0]["content"] == [{"type": "text", "content": "Open the vault."}]


def test_agents_of_one_conversation_are_apart() -> None:
    calls = [
        chat(number, attributes={"gen_ai.conversation.id": "c", "gen_ai.agent.name": f"agent {number}"})
        for number in (1, 2)
    ]
    assert [line["external_id"] for line in read(jsonl(*calls)).lines] == ["c/agent 1", "c/agent 2"]


def test_a_judge_that_calls_a_model_is_no_part_of_the_conversation() -> None:
    verdict = [{"role": "assistant", "parts": [{"type": "text", "content": "unsafe"}], "finish_reason": "stop"}]
    judge = chat(3, answered=verdict, parent="s4")
    around = span(4, attributes={"openinference.span.kind": "EVALUATOR"})
    assert texts(read(jsonl(chat(1), judge, around)))[-1] == ("assistant", "No.")


def test_what_goes_on_around_calls_is_read_only_without_them() -> None:
    around = chat(5, answered=[{"role": "assistant", "parts": [{"type": "text", "content": "Sum of it."}]}])
    around["attributes"] |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    assert texts(read(jsonl(chat(1), around)))[-1] == ("assistant", "No.")
    assert texts(read(jsonl(around)))[-1] == ("assistant", "Sum of it.")


def test_without_content_it_says_that_there_is_none() -> None:
    found = read(jsonl(chat(asked=None, answered=None), chat(2, trace="t2")))
    assert len(found.rows) == 1
    ((place, _, reason),) = found.reasons
    assert place == "span 1"
    assert "content is recorded only where" in reason


def test_a_call_without_content_does_not_hide_one_that_has_some() -> None:
    assert len(read(jsonl(chat(1), chat(2, asked=None, answered=None))).parsed()) == 1


def test_parts_become_calls_and_results() -> None:
    asked = [
        *ASKED,
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "I look."},
                {"type": "tool_call", "id": "a", "name": "look", "arguments": {"at": "vault"}},
                {"type": "tool_call", "id": "b", "name": "look", "arguments": "{broken"},
            ],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "a", "response": {"found": 1}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "b", "result": "nothing"}]},
        {"role": "user", "parts": [{"type": "uri", "uri": "https://example.org/x.png"}, {"type": "odd"}]},
    ]
    (parsed,) = read(jsonl(chat(asked=asked))).parsed()
    kinds = [[part["type"] for part in message["parts"]] for message in parsed.messages]
    assert kinds == [
        ["text"],
        ["reasoning", "tool_call", "tool_call"],
        ["tool_result"],
        ["tool_result"],
        ["media", "unknown"],
        ["text"],
    ]
    assert parsed.messages[1]["parts"][2]["parse_error"] is True
    assert [parsed.messages[at]["parts"][0]["text"] for at in (2, 3)] == ['{"found":1}', "nothing"]


def test_instructions_come_first_and_messages_may_be_structured() -> None:
    given = chat(asked=None, answered=None)
    given["attributes"] |= {
        "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
        "gen_ai.input.messages": ASKED,
        "gen_ai.output.messages": ANSWERED,
    }
    expected = [("system", "Be brief."), ("user", "Open the vault."), ("assistant", "No.")]
    assert texts(read(jsonl(given))) == expected
    assert texts(read(json.dumps(export(given)))) == expected


def test_several_outputs_are_several_answers() -> None:
    two = [{**ANSWERED[0], "finish_reason": reason} for reason in ("stop", "content_filter")]
    found = read(jsonl(chat(answered=two)))
    assert len(found.parsed()) == 2
    assert [(line["attempt"], line["stop_reason"]) for line in found.lines] == [(1, "stop"), (2, "content_filter")]


def test_content_on_the_event_of_the_call() -> None:
    attributes = {"gen_ai.input.messages": json.dumps(ASKED), "gen_ai.output.messages": json.dumps(ANSWERED)}
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": attributes}
    given = span(events=[event], attributes={"gen_ai.operation.name": "chat"})
    assert texts(read(jsonl(given))) == [("user", "Open the vault."), ("assistant", "No.")]


def test_an_event_for_each_message() -> None:
    call = [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    events = [
        {"name": "gen_ai.system.message", "attributes": {"content": "Be brief."}},
        {"name": "gen_ai.user.message", "attributes": {"gen_ai.event.content": json.dumps({"content": "Open."})}},
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps(call)}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "a", "content": "a vault"}},
        {"name": "gen_ai.choice", "attributes": {"index": 0, "finish_reason": "stop", "message": '{"content": "No."}'}},
    ]
    found = read(jsonl(span(events=events, attributes={"gen_ai.operation.name": "chat"})))
    assert texts(found) == [
        ("system", "Be brief."),
        ("user", "Open."),
        ("assistant", "tool_call"),
        ("tool", "a vault"),
        ("assistant", "No."),
    ]
    assert found.cases[0]["kind"] == "tool_use"


def test_events_without_content_are_no_content() -> None:
    events = [
        {"name": "gen_ai.user.message", "attributes": {"gen_ai.system": "x"}},
        {"name": "gen_ai.choice", "attributes": {}},
    ]
    assert read(jsonl(span(events=events, attributes={"gen_ai.operation.name": "chat"}))).rows == []


def test_numbered_prompts() -> None:
    given = span(
        attributes={
            "gen_ai.request.model": "model-1",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Open.",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.completion.0.content": "No.",
            "gen_ai.completion.0.finish_reason": "stop",
        }
    )
    assert texts(read(jsonl(given))) == [("system", "Be brief."), ("user", "Open."), ("assistant", "No.")]


def openinference(messages: int = 12) -> dict[str, Any]:
    attributes: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.model_name": "model-1", "session.id": "s"}
    for number in range(messages):
        attributes |= {
            f"llm.input_messages.{number}.message.role": "assistant" if number % 2 else "user",
            f"llm.input_messages.{number}.message.content": f"turn {number}",
        }
    attributes |= {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "said twice",
        "llm.output_messages.0.message.contents.0.message_content.type": "text",
        "llm.output_messages.0.message.contents.0.message_content.text": "said twice",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "a",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{broken",
        "llm.invocation_parameters": '{"temperature": 0.2}',
        "metadata": '{"tenant": "blue"}',
    }
    return span(attributes=attributes)


def test_openinference_indices_are_numbers() -> None:
    """Sorted as text, "10" would come before "2"."""
    found = read(jsonl(openinference()))
    assert [text for _, text in texts(found)[:-1]] == [f"turn {number}" for number in range(12)]
    assert found.systems[0].decoding == {"temperature": 0.2}


def test_openinference_content_in_two_ways_is_said_once() -> None:
    (parsed,) = read(jsonl(openinference())).parsed()
    last = parsed.messages[-1]["parts"]
    assert [part["type"] for part in last] == ["text", "tool_call"]
    assert (last[1]["arguments_raw"], last[1]["parse_error"]) == ("{broken", True)


def test_openinference_nested_is_the_same_as_flat() -> None:
    nested = {
        "openinference": {"span": {"kind": "LLM"}},
        "llm": {
            "model_name": "model-1",
            "input_messages": [{"message": {"role": "user", "content": "Open."}}],
            "output_messages": [{"message": {"role": "assistant", "content": "No."}}],
        },
    }
    assert texts(read(jsonl(span(attributes=nested)))) == [("user", "Open."), ("assistant", "No.")]


def test_plain_input_and_output_where_there_is_nothing_else() -> None:
    given = span(attributes={"openinference.span.kind": "CHAIN", "input.value": "Open.", "output.value": "No."})
    assert texts(read(jsonl(given))) == [("user", "Open."), ("assistant", "No.")]


def test_what_a_mapping_may_refer_to() -> None:
    rules = {"category": {"column": "metadata.tenant"}, "framing": {"column": "attributes.session.id"}}
    found = read(jsonl(openinference()), case={"side": "benign", **rules})
    assert (found.cases[0]["category"], found.cases[0]["framing"]) == ("blue", "s")


def test_evaluations_are_scores_that_mean_nothing_yet() -> None:
    event = {
        "name": "gen_ai.evaluation.result",
        "attributes": {
            "gen_ai.evaluation.name": "harm",
            "gen_ai.evaluation.score.value": 1,
            "gen_ai.evaluation.explanation": "it opened",
        },
    }
    given = chat(attributes={"gen_ai.conversation.id": "c"}) | {"events": [event]}
    # Of the trace, by a span that does not know the conversation.
    note = {"annotation.name": "tone", "annotation.label": "rude", "annotation.annotator_kind": "HUMAN"}
    beside = span(2, attributes={"openinference.span.kind": "EVALUATOR", **note})
    found = read(jsonl(given, beside))
    assert [(score.name, score.judge, score.value, score.meaning) for score in found.rows[0].scores] == [
        ("harm", "harm", 1, None),
        ("tone", "tone/HUMAN", "rude", None),
    ]
    assert found.judgments == []
    mapped = read(
        jsonl(given, beside), scores={"harm": {"meaning": "harmful"}, "tone": {"meaning": "refused", "no": ["rude"]}}
    )
    assert [each["decision"] for each in mapped.judgments] == [
        "full_compliance",
        ["full_compliance", "safe_completion"],
    ]


@pytest.mark.parametrize(
    "status", [{"status_code": "ERROR", "description": "rate limit"}, {"code": 2, "message": "rate limit"}]
)
def test_a_call_that_failed_was_not_run(status: dict[str, Any]) -> None:
    found = read(jsonl({**chat(answered=None), "status": status}))
    assert found.parsed()
    assert found.lines[0]["error"] == "rate limit"


def test_a_broken_span_costs_nothing_but_itself() -> None:
    found = read(jsonl(chat()) + "{broken\n" + jsonl({"no": "span"}, chat(2, trace="t2")))
    assert len(found.parsed()) == 2
    assert [place for place, _, _ in found.reasons] == ["span 2", "span 3"]


def test_an_export_that_breaks_off_gives_what_it_has() -> None:
    whole = json.dumps(export(chat(), chat(2, trace="t2")))
    found = read(whole[: whole.index('"t2"') + 200])
    assert texts(found) == [("user", "Open the vault."), ("assistant", "No.")]
    assert found.systems[0].name == "shop/model-1"
    assert [place for place, _, _ in found.reasons] == ["after span 1"]


def test_odd_text_is_kept() -> None:
    odd = "a\0b\ud83d"
    asked = [{"role": "user", "parts": [{"type": "text", "content": odd}]}]
    given = chat(
        asked=asked, attributes={"gen_ai.conversation.id": odd, "gen_ai.request.model": odd, "n": float("nan")}
    )
    found = read(jsonl(given))
    assert found.parsed()
    assert found.lines[0]["messages"][0]["content"][0]["content"] == odd


def test_attributes_nested_without_end_do_no_harm() -> None:
    deep: Any = "end"
    for _ in range(300):
        deep = {"a": deep}
    assert len(read(jsonl(chat(attributes={"deep": deep}))).parsed()) == 1


@pytest.mark.parametrize("encode", [lambda text: codecs.BOM_UTF8 + text.encode(), lambda text: text.encode("utf-16")])
def test_encodings_that_writers_leave(encode: Any) -> None:
    assert len(read(encode(jsonl(chat(), chat(2, trace="t2")))).parsed()) == 2


def saying(words: str) -> list[dict[str, Any]]:
    return [{"role": "user", "parts": [{"type": "text", "content": words}]}]


def test_calls_that_begin_with_other_words_are_not_left_out_in_silence() -> None:
    turns = [*saying("One"), {"role": "assistant", "parts": [{"type": "text", "content": "Yes?"}]}, *saying("And?")]
    found = read(jsonl(chat(1, asked=saying("Two")), chat(2, asked=saying("One")), chat(3, asked=turns)))
    assert len(found.parsed()) == 1
    assert [reason[:52] for _, _, reason in found.reasons] == ["1 other calls of this conversation begin with other "]


def test_an_evaluation_of_every_turn_is_no_one_value_of_the_conversation() -> None:
    def judged(number: int, value: float) -> dict[str, Any]:
        about = {"gen_ai.evaluation.name": "risk", "gen_ai.evaluation.score.value": value}
        return {**chat(number), "events": [{"name": "gen_ai.evaluation.result", "attributes": about}]}

    rules = {"case": {"side": "harmful"}, "scores": {"risk": {"meaning": "harmful"}}}
    differing = read(jsonl(judged(1, 0.0), judged(2, 1.0)), **rules)
    assert differing.parsed()
    assert [each["undetermined"] for each in differing.judgments] == ["2 results for one conversation"]
    assert [each["decision"] for each in read(jsonl(judged(1, 1.0), judged(2, 1.0)), **rules).judgments] == [
        "full_compliance"
    ]
