"""One request: tried again where that is worth it, and its errors as sentences."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from litmus_client.api import Api
from litmus_client.errors import Busy, Conflict, LitmusError, NotFound, ServiceError, TooLarge, Unreachable
from litmus_client.patience import Patience, retry_after
from tests.conftest import QUICK
from tests.serving import Answer, Asked, error, serving

Made = Callable[..., tuple[Api, list[Asked]]]
FINE = Answer(200, {"fine": True})


@pytest.fixture
def answered() -> Iterator[Made]:
    """An API whose answers are these, the last one for ever; and what was asked of it."""
    with ExitStack() as stack:

        def make(*answers: Answer, patience: Patience | None = None) -> tuple[Api, list[Asked]]:
            asked: list[Asked] = []

            def answer(request: Asked) -> Answer:
                asked.append(request)
                return answers[min(len(asked), len(answers)) - 1]

            url = stack.enter_context(serving(answer))
            return stack.enter_context(closing(Api(url, "key", patience=patience or QUICK()))), asked

        yield make


@pytest.mark.parametrize(
    "trouble",
    [[error(503, "unavailable")], [Answer(hang_up=True)], [Answer(500, b"<h1>Oops</h1>"), error(429, "busy")]],
)
def test_what_may_pass_is_tried_again(answered: Made, trouble: Sequence[Answer]) -> None:
    api, asked = answered(FINE, *trouble, FINE)
    api.get("runs/")
    assert api.get("runs/") == {"fine": True}
    assert len(asked) == 2 + len(trouble)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(404, "not_found"), NotFound),
        (error(409, "conflict", received=7), Conflict),
        (error(413, "too_large"), TooLarge),
        (error(400, "invalid"), ServiceError),
    ],
)
def test_what_will_not_pass_is_an_error_of_its_own_at_once(
    answered: Made, answer: Answer, kind: type[ServiceError]
) -> None:
    api, asked = answered(answer)
    with pytest.raises(kind, match="Do it otherwise") as caught:
        api.post("runs/", {})
    assert (caught.value.status, caught.value.details) == (answer.status, answer.value["error"]["details"])
    assert len(asked) == 1


def test_it_waits_as_long_as_it_is_asked_to(answered: Made) -> None:
    api, asked = answered(Answer(429, {}, {"Retry-After": "0.3"}), FINE)
    began = time.monotonic()
    api.get("runs/")
    assert time.monotonic() - began >= 0.3
    assert len(asked) == 2


def test_a_busy_service_is_waited_for_by_the_clock_and_not_by_tries(answered: Made) -> None:
    busy = Answer(429, {"error": {"code": "busy", "message": "Later."}}, {"Retry-After": "0.01"})
    api, asked = answered(busy, patience=Patience(tries=2, busy_seconds=0.2))
    with pytest.raises(Busy):
        api.get("runs/")
    assert 15 <= len(asked) <= 21


def test_a_service_that_stays_broken_is_given_up(answered: Made) -> None:
    api, asked = answered(error(500, "server_error", "Something is broken."), patience=QUICK(tries=4))
    with pytest.raises(ServiceError, match="Something is broken"):
        api.get("runs/")
    assert len(asked) == 4


def test_nobody_at_the_address_is_said_soon() -> None:
    with serving(lambda _: FINE) as url:
        pass
    with closing(Api(url, "key", patience=QUICK())) as api, pytest.raises(Unreachable, match="is the service running"):
        api.get("runs/")


@pytest.mark.parametrize(
    "answer", [Answer(404, b"<h1>Not here</h1>"), Answer(200, b"<h1>Hello</h1>"), Answer(403, {"error": "no"})]
)
def test_somebody_else_at_the_address_is_said(answered: Made, answer: Answer) -> None:
    api, _ = answered(answer)
    with pytest.raises(ServiceError, match="is --url right"):
        api.get("runs/")


def test_a_redirect_is_not_followed_but_said(answered: Made) -> None:
    api, _ = answered(Answer(301, b"", {"Location": "https://litmus.example/"}))
    with pytest.raises(ServiceError, match=r"points to https://litmus\.example/"):
        api.post("runs/", {})


def test_the_key_and_the_project_go_along(answered: Made) -> None:
    api, asked = answered(FINE)
    with closing(Api(api.url, "secret", "safety")) as mine:
        mine.get("runs/", {"external_id": "a b", "status": None})
    assert asked[0].headers["Authorization"] == "Bearer secret"
    assert (asked[0].path, asked[0].query) == ("/api/v1/runs/", {"project": "safety", "external_id": "a b"})


@pytest.mark.parametrize(("url", "key"), [("http://127.0.0.1", None), ("127.0.0.1:8000", "key"), ("http://[", "key")])
def test_what_cannot_be_asked_is_said(url: str, key: str | None) -> None:
    with pytest.raises(LitmusError), closing(Api(url, key)) as api:
        api.get("runs/")


def test_odd_text_arrives_as_it_is(answered: Made) -> None:
    api, asked = answered(FINE)
    odd = {"text": "\0\ud800é", "big": 2**70}
    api.post("runs/", odd)
    assert asked[0].json == odd


def test_retry_after_is_seconds_or_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < (retry_after({"Retry-After": soon}) or 0) <= 30
    assert retry_after({"Retry-After": "7"}) == 7
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({}) is None


def test_pauses_grow_to_a_limit_and_differ() -> None:
    patience = Patience(first_pause=1, longest_pause=8)
    assert all(0.5 <= patience.pause(1) <= 1 for _ in range(50))
    assert all(4 <= patience.pause(40) <= 8 for _ in range(50))
    assert len({patience.pause(3) for _ in range(20)}) > 1
