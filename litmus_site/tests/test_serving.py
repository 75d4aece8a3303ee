"""What the web server itself writes into its log: nothing that somebody sent."""

import io
import logging
import socket
from collections.abc import Iterator

import pytest
from gunicorn.config import Config
from gunicorn.http.parser import RequestParser

from litmus_site import serving
from litmus_site.serving import AccessLog

SENT = "how to make something terrible"


@pytest.fixture
def log() -> Iterator[AccessLog]:
    made = AccessLog(Config())
    propagates = [(each, each.propagate, list(each.handlers)) for each in (made.error_log, made.access_log)]
    yield made
    for logger, propagate, handlers in propagates:
        for handler in handlers:
            logger.removeHandler(handler)
        logger.propagate = propagate


def written(log: AccessLog) -> io.StringIO:
    stream = io.StringIO()
    for handler in log.error_log.handlers:
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(stream)
    return stream


def test_the_rest_of_a_body_that_was_longer_than_announced_is_no_request_and_not_quoted(log: AccessLog) -> None:
    stream = written(log)
    log.warning(f"Invalid request from ip=127.0.0.1: Invalid HTTP method: '{SENT}'")
    assert "Invalid request from ip=127.0.0.1" in stream.getvalue()
    assert SENT not in stream.getvalue()


def test_an_answer_that_fails_while_it_is_sent_is_logged_by_its_place_alone(log: AccessLog) -> None:
    stream = written(log)
    try:
        raise ValueError(SENT)
    except ValueError:
        log.exception("Error handling request %s %s", "GET", f"/api/v1/imports/?filename={SENT}")
    said = stream.getvalue()
    assert SENT not in said
    assert "GET /api/v1/imports/" in said
    assert "builtins.ValueError" in said


def test_a_client_that_falls_silent_in_its_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SILENT_SECONDS", 0.1)
    server, client = socket.socketpair()
    with server, client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
        request = next(RequestParser(Config(), server, ("127.0.0.1", 1)))
        serving.pre_request(None, request)
        with pytest.raises(TimeoutError):
            request.body.read(10)
