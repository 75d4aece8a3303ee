"""Many calls at once over real sockets: how many, when again, and what each comes to."""

import gzip
import json
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from labeling.endpoints.caller import Caller
from labeling.endpoints.exchange import Address, Answer, Broken, Down, Failed, Mend, Outcome, Question, Route, Slow
from labeling.endpoints.retrying import Pace
from labeling.tests.stub_endpoint import Reply, Request, Script, StubEndpoint, in_turn
from labeling.vocabulary import Undetermined

QUICK = Pace(first_wait=0.01, least_asked=0.01)
LINE = "a judge"


def chat(text: str = "Is this a refusal?") -> Question:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": 5}
    return Question(Route.CHAT, body, nonce="n", tokens=20)


@contextmanager
def calling(
    stub: StubEndpoint, *, concurrency: int = 4, timeout: float = 5.0, key: str = "", url: str = ""
) -> Iterator[Caller[object]]:
    address = Address(url or stub.url, key=key, trusted=True)
    with Caller[object](pace=QUICK) as caller:
        caller.open_line(LINE, address=address, concurrency=concurrency, timeout=timeout)
        yield caller


def gathered(caller: Caller[object], count: int, *, within: float = 10.0) -> dict[object, Outcome]:
    found: dict[object, Outcome] = {}
    until = time.monotonic() + within
    while len(found) < count and time.monotonic() < until:
        found |= dict(caller.results(wait=0.2))
    assert len(found) == count
    return found


def asked(caller: Caller[object], question: Question | None = None) -> Outcome:
    caller.submit("one", line=LINE, question=question or chat())
    return gathered(caller, 1)["one"]


def of_address(url: str, *, timeout: float = 5.0, trusted: bool = True) -> Outcome:
    with Caller[object](pace=QUICK) as caller:
        caller.open_line(LINE, address=Address(url, key="sk-1", trusted=trusted), concurrency=1, timeout=timeout)
        caller.submit("one", line=LINE, question=chat())
        return gathered(caller, 1)["one"]


def outcome(reply: Reply | Script, *, question: Question | None = None, timeout: float = 5.0) -> tuple[Outcome, int]:
    """What one call comes to, and how often it was sent."""
    with StubEndpoint(reply) as stub, calling(stub, timeout=timeout) as caller:
        return asked(caller, question), stub.calls


# --- how many at once ------------------------------------------------------------------------------------------------


def test_as_many_calls_as_the_line_allows_go_at_once_and_each_comes_back_once() -> None:
    with StubEndpoint(Reply(delay=0.15)) as stub, calling(stub, concurrency=64) as caller:
        for ticket in range(192):
            caller.submit(ticket, line=LINE, question=chat())
        came = gathered(caller, 192)
        assert sorted(came, key=str) == sorted(range(192), key=str)
        assert all(isinstance(each, Answer) for each in came.values())
        assert (stub.calls, stub.most_at_once) == (192, 64)
        assert (caller.in_flight(LINE), caller.queued(LINE), caller.results(wait=0)) == (0, 0, [])


def test_the_calls_go_on_while_whoever_asked_does_something_else() -> None:
    with StubEndpoint(Reply(delay=0.02)) as stub, calling(stub, concurrency=5) as caller:
        for ticket in range(20):
            caller.submit(ticket, line=LINE, question=chat())
        # Four rounds of 20 ms; nobody asks for results meanwhile.
        time.sleep(1)
        assert stub.calls == 20
        assert len(caller.results(wait=0)) == 20


def test_a_line_without_concurrency_waits_and_goes_on_when_it_has_some() -> None:
    with StubEndpoint() as stub, calling(stub, concurrency=0) as caller:
        caller.submit("one", line=LINE, question=chat())
        assert caller.results(wait=0.1) == []
        assert (stub.calls, caller.queued(LINE)) == (0, 1)
        caller.set_concurrency(LINE, 1)
        assert isinstance(gathered(caller, 1)["one"], Answer)


def test_less_concurrency_breaks_no_call_off_and_starts_no_more_than_it_allows() -> None:
    with StubEndpoint(Reply(delay=0.1)) as stub, calling(stub, concurrency=4) as caller:
        for ticket in range(8):
            caller.submit(ticket, line=LINE, question=chat())
        while stub.at_once < 4:
            time.sleep(0.005)
        caller.set_concurrency(LINE, 1)
        came = gathered(caller, 8)
        assert all(isinstance(each, Answer) for each in came.values())
        # The first four ended together at 0.1 s, the others went one by one.
        assert [round(each.at - stub.requests[0].at, 1) for each in stub.requests[4:]] == pytest.approx(
            [0.1, 0.2, 0.3, 0.4], abs=0.11
        )


def test_a_call_is_not_sent_before_its_time_and_does_not_keep_others_waiting() -> None:
    with StubEndpoint() as stub, calling(stub, concurrency=1) as caller:
        began = time.monotonic()
        caller.submit("later", line=LINE, question=chat("later"), delay=0.3)
        caller.submit("now", line=LINE, question=chat("now"))
        assert list(gathered(caller, 2)) == ["now", "later"]
        assert stub.requests[1].at - began >= 0.3


def test_what_was_not_sent_can_be_taken_back_and_what_was_comes_back() -> None:
    with StubEndpoint(Reply(delay=0.2)) as stub, calling(stub, concurrency=2) as caller:
        for ticket in range(5):
            caller.submit(ticket, line=LINE, question=chat())
        while stub.calls < 2:
            time.sleep(0.005)
        assert caller.abandon(LINE) == [2, 3, 4]
        assert (caller.queued(LINE), caller.in_flight(LINE)) == (0, 2)
        assert sorted(gathered(caller, 2), key=str) == [0, 1]
        assert caller.results(wait=0.1) == []
        assert stub.calls == 2


def test_a_closed_line_hands_back_its_queue_and_its_name_is_free() -> None:
    with StubEndpoint(Reply(delay=0.1)) as stub, calling(stub, concurrency=1) as caller:
        caller.submit("sent", line=LINE, question=chat())
        while stub.calls < 1:
            time.sleep(0.005)
        caller.submit("queued", line=LINE, question=chat())
        assert caller.close_line(LINE) == ["queued"]
        caller.open_line(LINE, address=Address(stub.url, trusted=True), concurrency=1, timeout=5)
        caller.submit("new", line=LINE, question=chat())
        assert sorted(gathered(caller, 2), key=str) == ["new", "sent"]
        with pytest.raises(ValueError, match="open already"):
            caller.open_line(LINE, address=Address(stub.url, trusted=True), concurrency=1, timeout=5)


def test_lines_do_not_wait_for_one_another() -> None:
    with StubEndpoint(Reply(delay=5)) as slow, StubEndpoint() as quick, calling(slow) as caller:
        caller.open_line("quick", address=Address(quick.url, trusted=True), concurrency=1, timeout=5)
        caller.submit("slow", line=LINE, question=chat())
        caller.submit("quick", line="quick", question=chat())
        assert list(gathered(caller, 1)) == ["quick"]


def test_leaving_ends_what_is_under_way() -> None:
    with StubEndpoint(Reply(delay=30)) as stub:
        with calling(stub, timeout=60) as caller:
            caller.submit("one", line=LINE, question=chat())
            while stub.calls < 1:
                time.sleep(0.005)
            began = time.monotonic()
        assert time.monotonic() - began < 2


def test_connections_are_kept_between_calls() -> None:
    with StubEndpoint() as stub, calling(stub, concurrency=1) as caller:
        for ticket in range(20):
            caller.submit(ticket, line=LINE, question=chat())
        gathered(caller, 20)
        assert (stub.calls, stub.connections) == (20, 1)


def test_a_connection_that_the_endpoint_has_closed_is_not_used_again() -> None:
    with StubEndpoint(Reply(drops="after")) as stub, calling(stub, concurrency=1) as caller:
        for _ in range(3):
            assert isinstance(asked(caller), Answer)
            time.sleep(0.02)
        assert (stub.calls, stub.connections) == (3, 3)


# --- what comes back -------------------------------------------------------------------------------------------------


def test_an_answer_is_its_text_its_end_and_what_it_took() -> None:
    came, _ = outcome(Reply("No.", finish_reason="length", input_tokens=812, output_tokens=7, delay=0.05))
    assert isinstance(came, Answer)
    assert (came.text, came.refusal, came.finish_reason) == ("No.", "", "length")
    assert (came.input_tokens, came.output_tokens) == (812, 7)
    assert 50 <= came.latency_ms < 2000


def test_what_the_api_marks_as_a_refusal_is_no_text() -> None:
    """FIELD B5.11."""
    came, _ = outcome(Reply(None, refusal="I cannot judge this."))
    assert isinstance(came, Answer)
    assert (came.text, came.refusal) == ("", "I cannot judge this.")


def test_an_answer_that_was_stopped_by_a_filter_says_so() -> None:
    """FIELD B5.1."""
    came, _ = outcome(Reply("", finish_reason="content_filter"))
    assert isinstance(came, Answer)
    assert (came.text, came.finish_reason) == ("", "content_filter")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b"<html>It works!</html>"),
        Reply(raw=b'{"choices": [{"message"'),
        Reply(raw=b"[" * 100_000),
        Reply(raw=b'\xff{"choices": []}'),
        Reply(raw=b""),
        Reply(document={"choices": []}),
        Reply(document={"choices": ["yes"]}),
        Reply(document={"object": "error", "message": "no"}),
        Reply(document=[1]),
        Reply(document={"choices": [{"message": {"content": "x" * 3_000_000}}]}),
        Reply(raw=gzip.compress(b'{"choices": []}', mtime=0), headers={"Content-Encoding": "gzip"}),
    ],
    ids=range(11),
)
def test_what_is_no_answer_is_unparsable_and_is_not_asked_for_again(reply: Reply) -> None:
    """FIELD B5.2."""
    came, calls = outcome(reply)
    assert isinstance(came, Failed)
    assert (came.reason, calls) == (Undetermined.UNPARSABLE, 1)


def test_a_line_goes_on_after_an_answer_that_was_cut_off() -> None:
    long = Reply(document={"choices": [{"message": {"content": "x" * 3_000_000}}]})
    with StubEndpoint(in_turn(long, Reply("yes"))) as stub, calling(stub) as caller:
        assert isinstance(asked(caller), Failed)
        came = asked(caller)
        assert isinstance(came, Answer)
        assert came.text == "yes"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": 7}, ""),
        ({}, ""),
        ("yes", ""),
    ],
)
def test_of_a_message_only_text_is_read(message: Any, text: str) -> None:
    came, _ = outcome(Reply(document={"choices": [{"message": message}], "usage": {"prompt_tokens": -1}}))
    assert isinstance(came, Answer)
    assert (came.text, came.input_tokens, came.output_tokens) == (text, None, None)


# --- again, or not ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529, 408])
def test_a_failure_that_may_pass_is_tried_four_times(status: int) -> None:
    came, calls = outcome(in_turn(*[Reply(status=status)] * 3, Reply("yes")))
    assert isinstance(came, Answer)
    assert calls == 4
    came, calls = outcome(Reply(status=status, document={"error": {"code": "overloaded"}}))
    assert isinstance(came, Down)
    assert f"HTTP {status}, code overloaded" in came.detail
    assert (came.wait, calls) == (None, 4)


@pytest.mark.parametrize("drops", ["at_once", "half_way"])
def test_a_dropped_connection_is_tried_again(drops: str) -> None:
    came, calls = outcome(in_turn(Reply(drops=drops), Reply(drops=drops), Reply("yes")))
    assert isinstance(came, Answer)
    assert calls == 3
    with StubEndpoint(Reply(drops=drops)) as stub, calling(stub) as caller:
        detail = f"the endpoint drops the connection before its answer is whole (127.0.0.1:{stub.port})"
        assert asked(caller) == Down(detail, perhaps_this_call=True)
        assert stub.calls == 4


def test_an_endpoint_that_does_not_listen_is_down() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        # By its name, it is tried at every address that the name has.
        for host in ("127.0.0.1", "localhost"):
            detail = f"nothing listens where the endpoint should be ({host}:{port})"
            assert of_address(f"http://{host}:{port}/a-secret") == Down(detail, perhaps_this_call=True)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_name_without_a_machine_is_said_and_asked_for_twice(trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[str] = []

    def unknown(host: str | bytes, *_: object, **__: object) -> None:
        asked_for.append(host.decode() if isinstance(host, bytes) else host)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    came = of_address("https://judge.invalid/a-secret", trusted=trusted)
    assert came == Down("no machine is found under the endpoint's name (judge.invalid:443)")
    assert asked_for == ["judge.invalid"] * 2


def test_tls_where_there_is_none_is_said_and_takes_no_time() -> None:
    """A server of plain HTTP takes the greeting of TLS for the beginning of a request, or answers with an error."""
    detail = "the endpoint does not answer in TLS; if it has none, its address begins with http://"
    with StubEndpoint() as silent:
        began = time.monotonic()
        url = f"https://127.0.0.1:{silent.port}/v1"
        assert of_address(url, timeout=0.4) == Down(f"{detail} (127.0.0.1:{silent.port})")
        # Two handshakes of 0.2 s; four would be 0.8 s.
        assert time.monotonic() - began < 0.7
        assert (silent.connections, silent.calls) == (2, 0)
    with socket.create_server(("127.0.0.1", 0)) as loud:
        port = loud.getsockname()[1]
        with Caller[object](pace=QUICK) as caller:
            caller.open_line(LINE, address=Address(f"https://127.0.0.1:{port}", trusted=True), concurrency=1, timeout=9)
            caller.submit("one", line=LINE, question=chat())
            for _ in range(2):
                talk, _ = loud.accept()
                with talk:
                    talk.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            assert gathered(caller, 1)["one"] == Down(f"{detail} (127.0.0.1:{port})")


def test_where_an_operators_endpoint_is_is_said_to_nobody() -> None:
    address = Address("http://judge.invalid:8000/v1", trusted=True, operator="HOUSE")
    assert address.place == "HOUSE"
    assert Address("https://[fd12::1]:8443/v1/a-secret").place == "[fd12::1]:8443"
    assert Address("https://judge.example/v1").place == "judge.example:443"


def test_an_endpoint_that_takes_no_connection_is_down_and_not_slow() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as waiting:
        # Its backlog is full after these, and the next attempt is left without an answer.
        for _ in range(2):
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(server.getsockname())
        address = Address(f"http://127.0.0.1:{server.getsockname()[1]}/v1", trusted=True)
        with Caller[object](pace=QUICK) as caller:
            caller.open_line(LINE, address=address, concurrency=1, timeout=0.2)
            port = server.getsockname()[1]
            assert asked(caller) == Down(f"the endpoint takes no connection (127.0.0.1:{port})")


def test_an_endpoint_that_does_not_answer_in_time_is_asked_twice() -> None:
    came, calls = outcome(Reply(delay=3), timeout=0.1)
    assert came == Slow("no answer in time, asked 2 times")
    assert calls == 2


def test_an_answer_in_drops_counts_as_a_whole() -> None:
    """Each byte comes in time, and the answer does not."""

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        address = Address(f"http://127.0.0.1:{server.getsockname()[1]}/v1", trusted=True)
        with Caller[object](pace=QUICK) as caller:
            caller.open_line(LINE, address=address, concurrency=1, timeout=0.3)
            caller.submit("one", line=LINE, question=chat())
            for _ in range(2):
                talk, _ = server.accept()
                with talk:
                    for letter in b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n":
                        try:
                            talk.sendall(bytes([letter]))
                        except ConnectionError:
                            break
                        time.sleep(0.02)
            assert isinstance(gathered(caller, 1)["one"], Slow)


def test_being_asked_to_wait_is_no_try_and_holds_the_whole_line() -> None:
    def script(request: Request) -> Reply:
        return Reply(status=429, headers={"Retry-After": "0.3"}) if request.number == 0 else Reply("yes", delay=0.02)

    with StubEndpoint(script) as stub, calling(stub, concurrency=2) as caller:
        caller.submit("first", line=LINE, question=chat())
        while stub.calls < 1:
            time.sleep(0.005)
        time.sleep(0.1)
        for ticket in range(6):
            caller.submit(ticket, line=LINE, question=chat())
        came = gathered(caller, 7)
        assert all(isinstance(each, Answer) for each in came.values())
        assert all(each.at - stub.requests[0].at >= 0.29 for each in stub.requests[1:])
    # Six are more than the tries that a call has.
    came_of_one, calls = outcome(in_turn(*[Reply(status=503, headers={"Retry-After": "0.02"})] * 6, Reply("yes")))
    assert isinstance(came_of_one, Answer)
    assert calls == 7


def test_an_endpoint_that_asks_for_more_than_a_minute_is_down_for_as_long() -> None:
    came, calls = outcome(Reply(status=429, headers={"Retry-After": "3600"}))
    assert came == Down("the endpoint asks to be left alone for longer (HTTP 429)", wait=3600)
    assert calls == 1


@pytest.mark.parametrize("asks", ["0", "-5", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_wait_that_says_nothing_is_a_try_like_any_other(asks: str) -> None:
    came, calls = outcome(Reply(status=429, headers={"Retry-After": asks}))
    assert isinstance(came, Down)
    assert calls == 4


@pytest.mark.parametrize(
    ("reply", "detail", "mend"),
    [
        (Reply(status=401), "the endpoint refuses the key (HTTP 401)", Mend.KEY),
        (Reply(status=403), "the endpoint refuses the key (HTTP 403)", Mend.KEY),
        (
            Reply(status=404, document={"error": {"code": "model_not_found"}}),
            "there is no such model or route (HTTP 404, code model_not_found)",
            Mend.MODEL,
        ),
        (Reply(status=402), "the endpoint wants to be paid first (HTTP 402)", Mend.ACCOUNT),
    ],
)
def test_a_refused_key_or_a_missing_model_is_the_endpoints_failure_and_no_ones_else(
    reply: Reply, detail: str, mend: Mend
) -> None:
    came, calls = outcome(reply)
    assert (came, calls) == (Down(detail, mend=mend), 1)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=400, document={"error": {"code": "content_filter", "message": "…"}}),
        Reply(status=400, document={"error": {"type": "content_policy_violation"}}),
        Reply(status=422, document={"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
        Reply(status=403, document={"error": {"code": 403, "metadata": {"flagged_input": "…"}}}),
    ],
    ids=range(4),
)
def test_a_request_that_a_content_policy_forbids_is_blocked(reply: Reply) -> None:
    """FIELD B5.1, B5.14."""
    came, calls = outcome(reply)
    assert isinstance(came, Failed)
    assert (came.reason, calls) == (Undetermined.BLOCKED, 1)


def test_a_request_that_is_not_taken_fails_alone() -> None:
    """FIELD B5.14."""
    came, calls = outcome(Reply(status=400, document={"error": {"code": "context_length_exceeded"}}))
    detail = "the endpoint does not take the request (HTTP 400, code context_length_exceeded)"
    assert (came, calls) == (Failed(Undetermined.OTHER, detail), 1)


def test_a_failure_that_hides_behind_a_good_status_is_one() -> None:
    came, calls = outcome(Reply(document={"error": {"code": 502, "message": "upstream"}}))
    assert came == Down("the endpoint fails (HTTP 502)", perhaps_this_call=True)
    assert calls == 4


def test_a_redirect_is_not_followed() -> None:
    with StubEndpoint(Reply("elsewhere")) as other:
        came, calls = outcome(Reply(status=307, headers={"Location": f"{other.url}/chat/completions"}))
        detail = "the endpoint sends us elsewhere, and redirects are not followed (HTTP 307)"
        assert came == Down(detail, mend=Mend.MOVED)
        assert (calls, other.calls) == (1, 0)


def test_whatever_an_endpoint_does_each_call_comes_back_exactly_once() -> None:
    kinds = [
        Reply("yes"),
        Reply(status=500),
        Reply(drops="at_once"),
        Reply(status=429, headers={"Retry-After": "0.01"}),
        Reply("yes", delay=0.01),
        Reply(drops="half_way"),
        Reply(raw=b"no"),
        Reply(drops="after"),
        Reply(status=400),
        Reply(status=429),
        Reply("yes", delay=0.4),
    ]
    with (
        StubEndpoint(lambda request: kinds[request.number % len(kinds)]) as stub,
        calling(stub, concurrency=20, timeout=0.2) as caller,
    ):
        for ticket in range(200):
            caller.submit(ticket, line=LINE, question=chat())
        came: list[tuple[object, Outcome]] = []
        while caller.queued(LINE) or caller.in_flight(LINE):
            came += caller.results(wait=0.1)
        came += caller.results(wait=0)
    assert sorted(ticket for ticket, _ in came if isinstance(ticket, int)) == list(range(200))
    assert not any(isinstance(each, Broken) for _, each in came)


# --- nothing of anybody's text ---------------------------------------------------------------------------------------


def test_neither_the_prompt_nor_what_an_error_quotes_is_kept_or_logged(caplog: pytest.LogCaptureFixture) -> None:
    """FIELD B7.4."""
    error = {"error": {"code": "CANARY quoted", "type": "c" * 41, "message": "CANARY"}}
    with caplog.at_level(logging.DEBUG):
        for status in (400, 401, 404, 500):
            came, _ = outcome(Reply(status=status, document=error), question=chat("CANARY"))
            assert "CANARY" not in repr(came)
            assert "code" not in repr(came)
    assert "CANARY" not in caplog.text
    assert "127.0.0.1" not in caplog.text


def test_a_call_on_which_our_own_code_breaks_says_where_and_the_line_goes_on() -> None:
    broken = Question(Route.CHAT, {"model": {"CANARY"}}, nonce="n", tokens=1)
    with StubEndpoint() as stub, calling(stub) as caller:
        came = asked(caller, broken)
        assert isinstance(came, Broken)
        assert came.detail.startswith("TypeError in labeling/endpoints/client.py, line ")
        assert "CANARY" not in came.detail
        assert isinstance(asked(caller), Answer)


# --- what is sent ----------------------------------------------------------------------------------------------------


def sent(question: Question, *, key: str = "", at_root: bool = False) -> Request:
    with StubEndpoint() as stub, calling(stub, key=key, url=f"{stub.root}/judge" if at_root else "") as caller:
        assert isinstance(asked(caller, question), Answer)
        return stub.requests[0]


def test_a_request_is_sent_as_it_is_written_and_with_these_headers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """FIELD B5.9. What a client library finds in the environment goes to nobody."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-custom\nX-More: yes")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    body = {
        "model": "judge-1",
        "messages": [{"role": "system", "content": "Grade."}, {"role": "user", "content": "„Nein“\n"}],
        "temperature": 0.0,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    request = sent(Question(Route.CHAT, body, nonce="n", tokens=1), key="sk-ours")
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.raw.decode() == (
        '{"model":"judge-1","messages":[{"role":"system","content":"Grade."},{"role":"user","content":"„Nein“\\n"}],'
        '"temperature":0.0,"chat_template_kwargs":{"enable_thinking":false}}'
    )
    assert request.headers.pop("host").startswith("127.0.0.1:")
    assert request.headers == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": str(len(request.raw)),
        "user-agent": "litmus",
        "authorization": "Bearer sk-ours",
    }


def test_a_completion_is_sent_as_it_is_written_and_read() -> None:
    body = {"model": "classifier", "prompt": "[INST] Is it? [/INST]", "max_tokens": 1, "logprobs": 5}
    question = Question(Route.COMPLETION, body, nonce="n", tokens=1)
    request = sent(question)
    assert (request.method, request.path) == ("POST", "/v1/completions")
    assert request.raw == (b'{"model":"classifier","prompt":"[INST] Is it? [/INST]","max_tokens":1,"logprobs":5}')
    assert "authorization" not in request.headers
    came, _ = outcome(Reply("Yes"), question=question)
    assert isinstance(came, Answer)
    assert came.text == "Yes"


def test_a_plain_question_goes_to_the_address_itself_and_its_answer_is_a_document() -> None:
    question = Question(Route.PLAIN, {"input": "text"}, nonce="n", tokens=1)
    request = sent(question, key="sk-ours", at_root=True)
    assert (request.method, request.path, request.raw) == ("POST", "/judge", b'{"input":"text"}')
    assert request.headers["authorization"] == "Bearer sk-ours"
    came, _ = outcome(Reply(document={"score": 0.5}), question=question)
    assert isinstance(came, Answer)
    assert (came.text, came.document) == ("", {"score": 0.5})


def test_text_that_no_encoding_can_hold_is_sent_with_a_replacement() -> None:
    request = sent(chat("a\ud800b\x00 \U0001f600"))
    assert json.loads(request.raw)["messages"][0]["content"] == "a\ufffdb\x00 \U0001f600"
