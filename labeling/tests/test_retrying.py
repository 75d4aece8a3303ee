"""When a call is sent again, and what an endpoint's refusal says: pure, in numbers."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from labeling.endpoints.exchange import Down, Failed, Slow
from labeling.endpoints.faults import Fault, Late, Loss, Lost, Status
from labeling.endpoints.replies import fault_of
from labeling.endpoints.retrying import Again, Tries, after
from labeling.vocabulary import Undetermined

DROPPED, NO_TLS = Lost(Loss.DROPPED, "judge:443"), Lost(Loss.TLS, "judge:443")


def test_the_waits_double_and_the_fourth_failure_is_the_last() -> None:
    tries = Tries()
    assert [after(DROPPED, tries) for _ in range(3)] == [Again(0.5), Again(1.0), Again(2.0)]
    assert isinstance(after(DROPPED, tries), Down)


@pytest.mark.parametrize("loss", [Loss.NAME, Loss.UNREACHED, Loss.TLS, Loss.CERTIFICATE])
def test_where_no_connection_comes_about_two_tries_are_enough(loss: Loss) -> None:
    tries = Tries()
    assert after(Lost(loss, "judge:443"), tries) == Again(0.5)
    assert after(Lost(loss, "judge:443"), tries) == Down(f"{loss} (judge:443)")


def test_of_one_late_answer_among_failures_nothing_is_said_that_is_not_so() -> None:
    tries = Tries()
    assert [after(DROPPED, tries) for _ in range(3)] == [Again(0.5), Again(1.0), Again(2.0)]
    assert after(Late(), tries) == Down(
        "the endpoint gives no answer in time, or no connection", perhaps_this_call=True
    )


@pytest.mark.parametrize("faults", [[Late(), Late()], [Late(), DROPPED, Late()], [DROPPED, NO_TLS, Late(), Late()]])
def test_two_times_without_an_answer_are_enough_whatever_came_between(faults: list[Fault]) -> None:
    tries = Tries()
    came = [after(fault, tries) for fault in faults]
    assert all(isinstance(each, Again) for each in came[:-1])
    assert came[-1] == Slow("no answer in time, asked 2 times")


def test_what_an_endpoint_asks_for_adds_up_to_a_minute_at_most() -> None:
    tries = Tries()
    asks = Status(429, asked=25.0)
    # 25 and 50 are within 60, 75 is not.
    assert [after(asks, tries) for _ in range(2)] == [Again(25.0, all_wait=True)] * 2
    assert after(asks, tries) == Down("the endpoint asks to be left alone for longer (HTTP 429)", wait=25.0)
    assert tries.sent == 0


def test_an_endpoint_that_asks_for_next_to_nothing_is_not_asked_in_a_loop() -> None:
    tries = Tries()
    # 120 times half a second are the minute.
    steps = [after(Status(429, asked=0.001), tries) for _ in range(121)]
    assert steps[:120] == [Again(0.5, all_wait=True)] * 120
    assert isinstance(steps[120], Down)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("20", 20.0), ("0.5", 0.5), ("0", None), ("-1", None), ("nan", None), ("inf", 604_800.0), ("", None)],
)
def test_seconds_to_wait_are_read(given: str, seconds: float | None) -> None:
    assert fault_of(429, {"Retry-After": given}, b"").asked == seconds


def test_a_date_to_wait_for_is_read() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    asked = fault_of(503, {"Retry-After": date}, b"").asked
    assert asked is not None
    assert 95 <= asked <= 100


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"error": {"code": "rate_limit_exceeded"}}', "rate_limit_exceeded"),
        (b'{"error": {"code": null, "type": "Overloaded"}}', "overloaded"),
        (b'{"error": {"code": "You wrote: kill"}}', ""),
        (b'{"error": {"code": "kill-me"}}', ""),
        (b'{"error": "kill"}', ""),
        (b'{"error": {"code": 7}}', ""),
        (b'["error"]', ""),
        (b"kill", ""),
    ],
)
def test_of_what_an_error_says_only_a_short_plain_word_is_kept(body: bytes, code: str) -> None:
    """FIELD B7.4."""
    assert fault_of(500, {}, body) == Status(500, code=code)


def test_a_policy_that_forbids_the_content_is_no_failure_of_the_endpoint() -> None:
    """FIELD B5.14."""
    blocked = after(fault_of(400, {}, b'{"error": {"code": "content_filter"}}'), Tries())
    assert blocked == Failed(
        Undetermined.BLOCKED, "the endpoint's policy forbids the content (HTTP 400, code content_filter)"
    )
    other = after(fault_of(422, {}, b'{"error": {"code": "invalid_value"}}'), Tries())
    assert isinstance(other, Failed)
    assert other.reason == Undetermined.OTHER
