"""Messages of two API families in one normal form, outcomes, and the identity of content."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeling.formats.normal import Unreadable, canonical, content_hash, normal_messages, outcome, too_deep
from labeling.vocabulary import Outcome


def parts(*messages: Any) -> list[Any]:
    """The parts of all messages, with their message's role."""
    return [(message["role"], part) for message in normal_messages(list(messages)) for part in message["parts"]]


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_text_may_be_a_string_or_parts() -> None:
    assert parts({"role": "user", "content": "Hi"}) == [("user", text("Hi"))]
    assert parts({"role": "user", "content": [{"type": "text", "text": "Hi"}, "there"]}) == [
        ("user", text("Hi")),
        ("user", text("there")),
    ]


def test_null_content_is_a_message_without_parts() -> None:
    assert normal_messages([{"role": "assistant", "content": None}]) == [{"role": "assistant", "parts": []}]


def test_a_refusal_outside_the_text_is_a_refusal() -> None:
    expected = [("assistant", {"type": "refusal", "text": "No."})]
    assert parts({"role": "assistant", "content": None, "refusal": "No."}) == expected
    assert parts({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}) == expected


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}},
        {"id": "c1", "name": "search", "arguments": {"q": "x"}},
        {"id": "c1", "function": "search", "arguments": {"q": "x"}},
        {"id": "c1", "function": "search", "args": {"q": "x"}},
    ],
)
def test_tool_calls_of_every_spelling_are_one(call: dict[str, Any]) -> None:
    ((_, part),) = parts({"role": "assistant", "content": None, "tool_calls": [call]})
    assert {key: part[key] for key in ("type", "id", "name", "arguments", "parse_error")} == {
        "type": "tool_call",
        "id": "c1",
        "name": "search",
        "arguments": {"q": "x"},
        "parse_error": False,
    }


@given(
    st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"]),
    st.text() | st.none() | st.lists(st.text()),
)
def test_what_is_beside_the_words_changes_nothing_about_them(role: str, content: Any) -> None:
    bare = {"role": role, "content": content}
    assert normal_messages([bare]) == normal_messages([bare | {"name": "somebody"}])


def test_anthropics_tool_use_is_a_tool_call() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}}
    assert parts({"role": "assistant", "content": [block]}) == [
        (
            "assistant",
            {"type": "tool_call", "id": "t1", "name": "search", "arguments": {"q": "x"}, "parse_error": False},
        )
    ]


@pytest.mark.parametrize("broken", ['{"q": ', "[" * 500 + "]" * 500, "1" * 5000])
def test_arguments_that_are_no_json_are_kept_and_marked(broken: str) -> None:
    ((_, part),) = parts({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": broken}}]})
    assert (part["arguments"], part["arguments_raw"], part["parse_error"]) == (None, broken, True)


def test_empty_arguments_are_none_given() -> None:
    ((_, part),) = parts({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": ""}}]})
    assert (part["arguments"], part["parse_error"]) == ({}, False)


def test_a_custom_tool_takes_text() -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls {"}}
    ((_, part),) = parts({"role": "assistant", "tool_calls": [call]})
    assert (part["name"], part["arguments"], part["arguments_raw"], part["parse_error"]) == (
        "shell",
        None,
        "ls {",
        False,
    )


def test_the_old_function_call_is_a_tool_call() -> None:
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert parts(message)[0][1]["name"] == "f"


def test_a_tool_message_is_a_tool_result() -> None:
    content = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert parts({"role": "tool", "tool_call_id": "c1", "content": content}) == [
        ("tool", {"type": "tool_result", "tool_call_id": "c1", "text": "one\ntwo", "is_error": False})
    ]


def test_a_failed_tool_says_so() -> None:
    message = {"role": "tool", "tool_call_id": "c1", "content": "", "error": {"type": "timeout", "message": "too slow"}}
    assert parts(message)[0][1] == {
        "type": "tool_result",
        "tool_call_id": "c1",
        "text": "too slow",
        "is_error": True,
    }


def test_a_tool_result_inside_the_users_message_is_not_the_users_words() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "…"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "42"}, picture]}
    assert parts({"role": "user", "content": [result, {"type": "text", "text": "And now?"}]}) == [
        ("tool", {"type": "tool_result", "tool_call_id": "t1", "text": "42", "is_error": False}),
        ("tool", {"type": "media", "raw": picture}),
        ("user", text("And now?")),
    ]


def test_reasoning_is_kept_apart_from_the_answer() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "…"}
    assert parts({"role": "assistant", "content": [thinking, {"type": "text", "text": "Yes."}]}) == [
        ("assistant", {"type": "reasoning", "text": "Hm."}),
        ("assistant", text("Yes.")),
    ]
    assert parts({"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."})[0][1]["type"] == "reasoning"


def test_pictures_are_media_and_what_nobody_knows_is_unknown() -> None:
    image, odd = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}, {"type": "hologram", "x": 1}
    found = parts({"role": "user", "content": [image, odd, 7]})
    assert [part["type"] for _, part in found] == ["media", "unknown", "unknown"]
    assert found[1][1]["raw"] == odd


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ("Hi", "messages"),
        (["Hi"], "messages[0]"),
        ([{"content": "Hi"}], "messages[0].role"),
        ([{"role": ["user"], "content": "Hi"}], "messages[0].role"),
        ([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": 7}], "messages[1].content"),
        ([{"role": "assistant", "tool_calls": {"a": 1}}], "messages[0].tool_calls"),
    ],
)
def test_what_is_no_message_is_named(messages: Any, path: str) -> None:
    with pytest.raises(Unreadable) as caught:
        normal_messages(messages)
    assert caught.value.path == path


_LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_JSON = _LEAF | st.lists(_LEAF, max_size=2) | st.dictionaries(st.text(max_size=8), _LEAF, max_size=2)
_KEYS = st.sampled_from(
    ["type", "text", "content", "tool_calls", "function", "arguments", "refusal", "error", "custom", "input", "audio"]
)
_TYPES = st.sampled_from(["text", "refusal", "thinking", "tool_use", "tool_result", "image", "redacted_thinking", "x"])
_PARTS = st.dictionaries(_KEYS, _JSON | _TYPES, max_size=5)


# Slow machines make slow examples; nothing is wrong with those.
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(_KEYS, _JSON | st.lists(_PARTS, max_size=3), max_size=5),
    st.sampled_from(["user", "assistant", "tool"]),
)
def test_odd_content_is_read_or_named_and_never_breaks_the_reader(message: dict[str, Any], role: str) -> None:
    try:
        found = normal_messages([message | {"role": role}])
    except Unreadable:
        return
    assert all(set(each) == {"role", "parts"} for each in found)
    json.dumps(found)


# --- outcome -----------------------------------------------------------------------------------------------------

ASKED = {"role": "user", "content": "A request."}


def outcome_of(*messages: Any, error: Any = None, stop_reason: str = "", scripted: Any = ()) -> Outcome:
    return outcome(
        normal_messages(list(messages)), error=error, stop_reason=stop_reason, given=normal_messages(list(scripted))
    )


def test_any_target_output_means_it_was_run() -> None:
    answered = {"role": "assistant", "content": "Well,"}
    assert outcome_of(ASKED, answered, error="connection lost") is Outcome.OUTPUT
    assert outcome_of(ASKED, {"role": "assistant", "tool_calls": [{"name": "f"}]}) is Outcome.OUTPUT
    assert outcome_of(ASKED, {"role": "assistant", "refusal": "No."}, stop_reason="refusal") is Outcome.OUTPUT


@pytest.mark.parametrize("error", ["timeout", {"code": 500}, ["x"], True, 1])
def test_an_error_without_output_was_not_run(error: Any) -> None:
    assert outcome_of(ASKED, error=error) is Outcome.NOT_RUN


@pytest.mark.parametrize("error", [None, "", "  ", {}, [], False])
def test_no_error_in_any_spelling_is_no_error(error: Any) -> None:
    assert outcome_of(ASKED, error=error) is Outcome.EMPTY


@pytest.mark.parametrize("stop_reason", ["content_filter", "refusal", "SAFETY"])
def test_a_filter_stop_without_output_is_filtered(stop_reason: str) -> None:
    assert outcome_of(ASKED, {"role": "assistant", "content": None}, stop_reason=stop_reason) is Outcome.FILTERED


@pytest.mark.parametrize("content", [None, "", " \n", [{"type": "thinking", "thinking": "Hm."}]])
def test_blank_text_and_reasoning_alone_are_no_output(content: Any) -> None:
    assert outcome_of(ASKED, {"role": "assistant", "content": content}, stop_reason="stop") is Outcome.EMPTY


def test_the_scripted_turns_of_a_case_are_no_output_of_the_target() -> None:
    script = [ASKED, {"role": "assistant", "content": "Scripted."}, {"role": "user", "content": "Go on."}]
    system = {"role": "system", "content": "Be kind."}
    assert outcome_of(system, *script, stop_reason="content_filter", scripted=script) is Outcome.FILTERED
    assert outcome_of(*script, {"role": "assistant", "content": "Sure."}, scripted=script) is Outcome.OUTPUT


# --- identity ----------------------------------------------------------------------------------------------------


def hashed(**changes: Any) -> str:
    content: dict[str, Any] = {
        "case": "c",
        "attempt": 1,
        "messages": [ASKED],
        "tools": [],
        "stop_reason": "stop",
        "error": None,
    }
    return content_hash(**content | changes)


def test_the_order_of_keys_does_not_matter_and_content_does() -> None:
    assert hashed(messages=[{"content": "A request.", "role": "user"}]) == hashed()
    changes: list[dict[str, Any]] = [
        {"case": "d"},
        {"attempt": 2},
        {"messages": []},
        {"tools": [{"name": "f"}]},
        {"stop_reason": "length"},
        {"error": "x"},
    ]
    assert len({hashed(), *(hashed(**change) for change in changes)}) == 7


def test_nan_surrogates_and_nul_have_an_identity() -> None:
    odd = {"a": float("nan"), "b": "\ud800\0", "c": 2**80}
    assert canonical(odd) == '{"a":NaN,"b":"\\ud800\\u0000","c":1208925819614629174706176}'
    assert hashed(error=odd) == hashed(error=dict(reversed(odd.items())))


def test_nesting_is_measured_without_recursion() -> None:
    def nested(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = [value]
        return value

    assert not too_deep(nested(100))
    assert too_deep(nested(101))
    assert too_deep(nested(100_000))
