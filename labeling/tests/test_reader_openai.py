"""Chat completions: responses, pairs, batches and transcripts, and what lies outside the text."""

import json
from typing import Any

import pytest

from labeling.formats.files.source import Unread
from labeling.formats.normal import outcome
from labeling.tests.imported import Imported, imported, jsonl
from labeling.vocabulary import Outcome

HARMFUL = {"side": "harmful"}
REQUEST: dict[str, Any] = {"model": "halden", "temperature": 0, "messages": [{"role": "user", "content": "Ask."}]}


def choice(content: Any = "Answer.", index: int = 0, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "index": index,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content, "refusal": None, **message},
    }


def response(*choices: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "r-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "halden-2",
        "choices": list(choices or [choice()]),
        **fields,
    }


def pair(*choices: Any, **request: Any) -> dict[str, Any]:
    return {"request": {**REQUEST, **request}, "response": response(*choices)}


def read(*values: Any, **mapping: Any) -> Imported:
    found = imported(jsonl(*values), "openai", **{"case": HARMFUL, **mapping})
    found.parsed()
    return found


def outcomes(found: Imported) -> list[Outcome]:
    return [
        outcome(
            each.messages,
            error=each.line.error,
            stop_reason=each.line.stop_reason,
            given=[{"role": "user", "parts": []}],
        )
        for each in found.parsed()
    ]


# --- what is read ----------------------------------------------------------------------------------------------------


def test_a_response_alone_is_an_answer_to_what_it_is_named_by() -> None:
    found = read(response())
    assert found.systems[0].model == "halden-2"
    assert found.lines[0]["messages"] == [{"role": "assistant", "content": "Answer.", "refusal": None}]
    assert found.lines[0]["observed_at"] == "2023-11-14T22:13:20+00:00"
    assert (found.lines[0]["external_id"], found.cases[0]["key"], found.lines[0]["stop_reason"]) == (
        "r-1",
        "r-1",
        "stop",
    )


def test_a_pair_knows_its_request() -> None:
    found = read(pair())
    assert [message["role"] for message in found.lines[0]["messages"]] == ["user", "assistant"]
    assert found.cases[0]["request"] == REQUEST["messages"]
    assert found.cases[0]["key"].startswith("request/")
    assert found.systems[0].decoding == {"temperature": 0}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("several", [False, True])
def test_json_is_read_however_it_is_laid_out(indent: int | None, several: bool) -> None:
    values = [response(id="a"), response(id="b")]
    text = json.dumps(values if several else values[0], indent=indent)
    found = imported(text, "openai", case=HARMFUL)
    assert [line["external_id"] for line in found.lines] == (["a", "b"] if several else ["a"])
    assert all(json.loads(row.raw or b"") in values for row in found.rows)


def test_several_choices_are_several_attempts() -> None:
    found = read(pair(choice("One."), choice("Two.", index=1)))
    assert [(line["external_id"], line["attempt"]) for line in found.lines] == [("r-1/0", 1), ("r-1/1", 2)]
    assert len({case["key"] for case in found.cases}) == 1


def test_the_same_request_again_is_another_attempt_on_the_same_case() -> None:
    again = pair()
    again["response"]["id"] = "r-2"
    found = read(pair(), again)
    assert [line["attempt"] for line in found.lines] == [1, 2]
    assert len({case["key"] for case in found.cases}) == 1


def test_the_system_prompt_is_the_system_s_and_not_the_case_s() -> None:
    """So that the same cases under another prompt are the same cases; in one file they would be attempts on one."""
    prompts = [[{"role": "system", "content": prompt}, *REQUEST["messages"]] for prompt in ("Be safe.", "Be free.")]
    apart = [read(pair(messages=messages)).cases[0] for messages in prompts]
    assert apart[0] == apart[1]
    assert apart[0]["request"] == REQUEST["messages"]
    together = read(*(pair(messages=messages) for messages in prompts))
    assert len({case["key"] for case in together.cases}) == 2


def test_other_parameters_are_another_system() -> None:
    found = read(pair(), pair(temperature=1), pair())
    assert [dict(system.decoding) for system in found.systems] == [{"temperature": 0}, {"temperature": 1}]
    assert [line["attempt"] for line in found.lines] == [1, 1, 2]


def test_a_batch_is_known_by_its_custom_ids() -> None:
    def line(name: str, body: Any, status: int = 200, error: Any = None) -> dict[str, Any]:
        return {
            "id": f"batch_req_{name}",
            "custom_id": name,
            "response": None if body is None else {"status_code": status, "request_id": "q", "body": body},
            "error": error,
        }

    found = read(
        line("expired", None, error={"code": "batch_expired", "message": "Too late."}),
        line("good", response()),
        line("failed", {"error": {"code": "server_error", "message": "Oh."}}, status=500),
    )
    assert [line["external_id"] for line in found.lines] == ["expired", "good", "failed"]
    assert [case["key"] for case in found.cases] == ["expired", "good", "failed"]
    # Lines that failed name no model, and are no system of their own.
    assert [system.model for system in found.systems] == ["halden-2"]
    assert [line.get("error", {}).get("code") for line in found.lines] == ["batch_expired", None, "server_error"]
    assert outcomes(found) == [Outcome.NOT_RUN, Outcome.OUTPUT, Outcome.NOT_RUN]


def test_a_request_that_a_filter_stopped_was_filtered_and_did_not_fail() -> None:
    found = read(
        {"request": REQUEST, "response": {"error": {"code": "content_filter", "status": 400}}},
        {"request": REQUEST, "response": response(choice(None, finish="content_filter"))},
    )
    assert outcomes(found) == [Outcome.FILTERED, Outcome.FILTERED]
    assert found.lines[0]["metadata"]["error"]["status"] == 400


def test_a_transcript_is_known_by_what_others_said_in_it() -> None:
    turns = [
        {"role": "system", "content": "Be safe."},
        {"role": "user", "content": "First."},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Second."},
        {"role": "assistant", "content": "Two."},
    ]
    other = [*turns[:2], {"role": "assistant", "content": "Else."}, *turns[3:]]
    found = read({"messages": turns, "model": "halden"}, {"messages": other, "model": "halden"})
    assert [line["attempt"] for line in found.lines] == [1, 2]
    assert found.cases[0]["request"] == [turns[1]]
    assert found.cases[0]["kind"] == "multi_turn"
    assert found.systems[0].model == "halden"


def test_lists_of_messages_are_transcripts() -> None:
    turns = [{"role": "user", "content": "Ask."}, {"role": "assistant", "content": "Answer."}]
    alone = imported(json.dumps(turns, indent=1), "openai", case=HARMFUL)
    assert [line["messages"] for line in alone.lines] == [turns]
    on_one_line = imported(json.dumps(turns), "openai", case=HARMFUL)
    assert [line["messages"] for line in on_one_line.lines] == [turns]
    assert [line["messages"] for line in read(turns, turns).lines] == [turns, turns]
    assert [line["external_id"] for line in read(turns, turns).lines] == ["1", "2"]


def test_one_document_may_be_longer_than_what_is_looked_at_to_tell_its_format() -> None:
    long = {"messages": [{"role": "user", "content": "x" * 300_000}, {"role": "assistant", "content": "No."}]}
    assert len(imported(json.dumps(long, indent=1), "openai", case=HARMFUL).parsed()) == 1


# --- what lies outside the text --------------------------------------------------------------------------------------


def test_a_refusal_outside_the_text_is_one() -> None:
    found = read(
        pair(choice(None, refusal="I will not.")),
        pair(choice([{"type": "refusal", "refusal": "I will not."}])),
    )
    assert [each.messages[-1]["parts"] for each in found.parsed()] == [[{"type": "refusal", "text": "I will not."}]] * 2


def test_calls_of_tools_are_kept_also_where_they_are_no_json() -> None:
    """FIELD B4.6, B4.8."""
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": '}},
        {"id": "c2", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
    ]
    found = read(
        pair(
            choice("", finish="tool_calls", tool_calls=calls),
            tools=[{"type": "function", "function": {"name": "search"}}],
        ),
        pair(choice(None, function_call={"name": "old", "arguments": "{}"}), functions=[{"name": "old"}]),
    )
    broken, custom = found.parsed()[0].messages[-1]["parts"]
    assert (broken["parse_error"], broken["arguments_raw"]) == (True, '{"q": ')
    assert (custom["name"], custom["arguments_raw"]) == ("shell", "ls")
    assert [part["name"] for part in found.parsed()[1].messages[-1]["parts"]] == ["old"]
    assert [case["kind"] for case in found.cases] == ["tool_use", "tool_use"]
    assert [line["tools"] for line in found.lines][1] == [{"name": "old"}]


def test_what_the_api_says_beside_goes_along() -> None:
    found = read({**response(moderation={"flagged": True}, usage={"total_tokens": 3}), "metadata": {"set": "a"}})
    assert found.lines[0]["metadata"]["moderation"] == {"flagged": True}
    assert found.lines[0]["metadata"]["usage"] == {"total_tokens": 3}
    assert found.rows[0].facts["metadata"] == {"set": "a"}


def test_a_mapping_reads_what_lies_beside() -> None:
    """FIELD B3.7 holds for labels as for text: what is said of an answer is found by path and kept as it is."""
    line = {
        **pair(),
        "metadata": {"task": "t-1", "topic": "fraud"},
        "grades": {"refused": 1, "annotator": "1_full_compliance"},
    }
    found = read(
        line,
        line,
        case={"side": "harmful", "key": {"column": "metadata.task"}, "category": {"column": "metadata.topic"}},
        scores={"refused": {"column": "grades.refused", "meaning": "refused"}},
        verdicts=[
            {
                "author": "A",
                "decided_at": "2025-01-01T00:00:00Z",
                "decision": {"column": "grades.annotator", "values": {"1_full_compliance": "full_compliance"}},
            }
        ],
    )
    assert [(case["key"], case["category"]) for case in found.cases] == [("t-1", "fraud")] * 2
    # Attempts are counted on the key that the mapping gives.
    assert [line["attempt"] for line in found.lines] == [1, 2]
    assert [judgment["decision"] for judgment in found.judgments] == ["refusal", "refusal"]
    assert found.decoded[0].verdicts[0]["decision"] == "full_compliance"


# --- what cannot be read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("words", "is neither an object nor a list of messages"),
        ({"body": REQUEST, "custom_id": "a"}, "has neither choices nor messages; a request is read only together"),
        ({"choices": [{"delta": {"content": "x"}, "message": None}]}, "has a choice without a message"),
        ({"choices": [1]}, "has choices that are no list of objects"),
        ({"messages": "words", "choices": []}, "has messages that are no list"),
        ({"messages": [], "response": "words"}, "has a response that is no object"),
    ],
)
def test_what_is_no_exchange_costs_only_itself(value: Any, reason: str) -> None:
    found = read(response(id="a"), value, response(id="b"))
    assert [line["external_id"] for line in found.lines] == ["a", "b"]
    assert found.unread[0].place == "line 2"
    assert found.unread[0].reason.startswith(reason)
    assert json.loads(found.unread[0].raw) == value


def test_a_response_without_choices_did_not_run() -> None:
    assert outcomes(read(response(choices=[]))) == [Outcome.NOT_RUN]


def test_a_broken_line_costs_only_itself_and_a_broken_array_keeps_what_came() -> None:
    found = imported(f'{{"choices": [tru\n{jsonl(response())}', "openai", case=HARMFUL)
    assert (len(found.rows), found.unread[0].place) == (1, "line 1")
    cut = imported(json.dumps([response(id="a"), response(id="b")])[:-9], "openai", case=HARMFUL)
    assert [row.line["external_id"] for row in cut.rows] == ["a"]
    assert [each.place for each in cut.unread] == ["after row 1"]
    assert "breaks off" in cut.unread[0].reason


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_hostile_text_is_kept_in_any_encoding(encoding: str) -> None:
    """FIELD B3.1, B3.4, B3.5."""
    text = "a\0b\ud83d 👩‍👩‍👧 𝒳 \\u0000"
    raw = json.dumps({**response(choice(text)), "usage": float("nan"), "n": 2**70}).encode(encoding)
    found = imported(raw, "openai", case=HARMFUL)
    assert found.lines[0]["messages"][0]["content"] == text
    assert found.lines[0]["metadata"]["n"] == 2**70
    assert len(found.parsed()) == 1


def test_names_that_cannot_be_stored_are_hashed() -> None:
    found = read(response(id="a\0"), response(id="x" * 300), response(id="a\0"))
    names = [line["external_id"] for line in found.lines]
    assert len(set(names)) == 3
    assert all(len(name) <= 200 and "\0" not in name for name in names)


def test_nothing_in_the_file_is_said_too() -> None:
    assert [type(item) for item in imported(jsonl(response()) + "\n\n", "openai", case=HARMFUL).unread] == []
    assert isinstance(read(response(), 1).unread[0], Unread)
