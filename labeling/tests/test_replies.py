"""What a hostile endpoint writes comes to an answer or to a reason, and never breaks the call that was paid."""

import json

import pytest

from labeling.endpoints.exchange import Answer, Route
from labeling.endpoints.replies import answer_of, fault_of


def answered(**document: object) -> Answer:
    body = json.dumps({"choices": [{"message": {"content": "yes"}}], **document}).encode()
    came = answer_of(Route.CHAT, body, latency_ms=1)
    assert isinstance(came, Answer)
    return came


@pytest.mark.parametrize("count", [10_000_001, 2**31, 10**20, -1, 1.5, True, "7", None])
def test_a_count_of_tokens_that_no_call_takes_is_none(count: object) -> None:
    """Stored, it broke the column; the call was then made, and paid, three times."""
    came = answered(usage={"prompt_tokens": count, "completion_tokens": 7})
    assert (came.input_tokens, came.output_tokens) == (None, 7)


def test_text_in_lists_in_lists_is_no_text() -> None:
    depth = 450
    nested = '[{"text":' * depth + '"yes"' + "}]" * depth
    body = f'{{"choices":[{{"message":{{"content":{nested}}}}}]}}'.encode()
    came = answer_of(Route.CHAT, body, latency_ms=1)
    assert isinstance(came, Answer)
    assert came.text == ""


@pytest.mark.parametrize(
    "asks", ["1 Jan 99999999999999999999 00:00 GMT", "Mon, 01 Jan 2024 00:00:00 +9999", "nan", "9" * 5000 + "x", "\x00"]
)
def test_a_wait_that_no_clock_knows_is_none(asks: str) -> None:
    assert fault_of(429, {"Retry-After": asks}, b"").asked is None
