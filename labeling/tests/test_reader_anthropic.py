"""Anthropic's messages: results of tools inside the user's, refusals without content, turns that are not finished."""

import json
from typing import Any

import pytest

from labeling.formats.normal import outcome
from labeling.tests.imported import Imported, imported, jsonl
from labeling.vocabulary import Outcome

REQUEST = {
    "model": "halden",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be safe."}],
    "messages": [{"role": "user", "content": "Ask."}],
}


def message(*blocks: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "halden-2",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_details": None,
        "usage": {"output_tokens": 3},
        **fields,
    }


def text(words: str = "Answer.") -> dict[str, str]:
    return {"type": "text", "text": words}


def read(*values: Any) -> Imported:
    found = imported(jsonl(*values), "anthropic", case={"side": "harmful"})
    found.parsed()
    return found


def outcomes(found: Imported) -> list[Outcome]:
    return [outcome(each.messages, error=each.line.error, stop_reason=each.line.stop_reason) for each in found.parsed()]


def test_a_message_of_the_api_is_an_answer() -> None:
    found = read(message(text()))
    assert found.systems[0].model == "halden-2"
    assert found.lines[0]["messages"] == [{"role": "assistant", "content": [text()]}]
    assert (found.lines[0]["external_id"], found.cases[0]["key"]) == ("msg_1", "msg_1")
    assert found.lines[0]["metadata"]["usage"] == {"output_tokens": 3}


def test_a_pair_knows_its_request_and_the_system_prompt_above_it() -> None:
    found = read({"request": REQUEST, "response": message(text())})
    assert found.lines[0]["system"] == REQUEST["system"]
    assert found.cases[0]["request"] == REQUEST["messages"]
    assert [each["role"] for each in found.parsed()[0].messages] == ["system", "user", "assistant"]
    assert found.systems[0].decoding == {"max_tokens": 100}


@pytest.mark.parametrize("indent", [None, 1])
def test_json_is_read_however_it_is_laid_out(indent: int | None) -> None:
    text_of = json.dumps([message(text(), id="a"), message(text(), id="b")], indent=indent)
    assert [line["external_id"] for line in imported(text_of, "anthropic").lines] == ["a", "b"]
    alone = imported(json.dumps(message(text()), indent=indent), "anthropic")
    assert len(alone.rows) == 1


def test_a_refusal_may_come_without_content() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "No."}
    found = read(message(stop_reason="refusal", stop_details=details))
    assert outcomes(found) == [Outcome.FILTERED]
    assert found.lines[0]["stop_reason"] == "refusal"
    assert found.lines[0]["metadata"]["stop_details"] == details
    # With words in it, what it is remains to be judged.
    assert outcomes(read(message(text(), stop_reason="refusal"))) == [Outcome.OUTPUT]


def test_a_paused_turn_is_said_not_to_be_finished() -> None:
    found = read(message({"type": "thinking", "thinking": "Hm.", "signature": "s"}, stop_reason="pause_turn"))
    assert found.lines[0]["error"] == "The turn was paused and not taken up again."
    assert outcomes(found) == [Outcome.NOT_RUN]


def test_results_of_tools_are_not_the_user_s_words() -> None:
    transcript = {
        "model": "halden",
        "system": "Be safe.",
        "messages": [
            {"role": "user", "content": "Ask."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {"q": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True}]},
            {"role": "assistant", "content": [text()]},
        ],
        "stop_reason": "end_turn",
    }
    other = json.loads(json.dumps(transcript))
    other["messages"][2]["content"][0]["content"] = "Found."
    found = read(transcript, other)
    assert [each["role"] for each in found.parsed()[0].messages] == ["system", "user", "assistant", "tool", "assistant"]
    # What a tool answered is no part of what was asked.
    assert [line["attempt"] for line in found.lines] == [1, 2]
    assert found.cases[0]["kind"] == "single_turn"
    assert found.cases[0]["request"] == [{"role": "user", "content": "Ask."}]
    assert found.lines[0]["stop_reason"] == "end_turn"


def test_lines_of_a_batch_say_what_became_of_each_request() -> None:
    def line(name: str, **result: Any) -> dict[str, Any]:
        return {"custom_id": name, "result": result}

    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Later."}}
    found = read(
        line("late", type="expired"),
        line("good", type="succeeded", message=message(text())),
        line("bad", type="errored", error=error),
    )
    assert [line["external_id"] for line in found.lines] == ["late", "good", "bad"]
    assert [case["key"] for case in found.cases] == ["late", "good", "bad"]
    assert [line.get("error") for line in found.lines] == [{"type": "expired"}, None, error]
    assert outcomes(found) == [Outcome.NOT_RUN, Outcome.OUTPUT, Outcome.NOT_RUN]
    assert [system.model for system in found.systems] == ["halden-2"]


def test_an_error_of_the_api_is_no_answer() -> None:
    found = read({"request": REQUEST, "response": {"type": "error", "error": {"type": "overloaded_error"}}})
    assert found.lines[0]["error"] == {"type": "overloaded_error"}
    assert outcomes(found) == [Outcome.NOT_RUN]


def test_transcripts_with_blocks_of_anthropic_are_told_from_those_of_openai() -> None:
    blocks = [{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, text()]}]
    assert len(read({"messages": [{"role": "user", "content": "Ask."}, *blocks]}).rows) == 1


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (7, "is no object"),
        ({"custom_id": "a", "params": REQUEST}, "has neither content nor messages"),
        ({"messages": "words", "system": ""}, "has messages that are no list"),
        ({"request": REQUEST, "response": "words"}, "has a response that is no object"),
    ],
)
def test_what_is_no_exchange_costs_only_itself(value: Any, reason: str) -> None:
    found = read(message(text(), id="a"), value, message(text(), id="b"))
    assert [line["external_id"] for line in found.lines] == ["a", "b"]
    assert found.unread[0].reason.startswith(reason)
    assert json.loads(found.unread[0].raw) == value


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_hostile_text_is_kept_in_any_encoding(encoding: str) -> None:
    """FIELD B3.1, B3.4, B3.5."""
    words = "a\0b\ud83d 𝒳"
    found = imported(
        json.dumps(message(text(words), usage=float("nan"))).encode(encoding),
        "anthropic",
        case={"side": "benign"},
    )
    assert found.parsed()[0].messages[0]["parts"] == [{"type": "text", "text": words}]


def test_a_block_of_no_known_kind_does_not_keep_a_file_from_being_told() -> None:
    talk = [{"role": "user", "content": [{"type": {}}, {"type": "tool_result", "tool_use_id": "t", "content": "x"}]}]
    assert len(read({"model": "m", "messages": talk}).rows) == 1
