"""Every route of the API answers its errors in the one shape."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.exceptions import Throttled

from labeling.errors import DomainError
from labeling.models import Run
from labeling.selectors import progress
from labeling.tests import make
from labeling.tests.posting import Runner, error
from litmus_site import errors

pytestmark = pytest.mark.django_db

METHODS = ("get", "post", "put", "patch", "delete")


def routes(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            yield prefix + str(pattern.pattern)


OPEN = {"/api/v1/schema/", "/api/v1/docs/"}
ROUTES = sorted(
    "/" + re.sub(r"<int:\w+>", "1", re.sub(r"<str:\w+>", "x", route))
    for route in routes(get_resolver().url_patterns)
    if route.startswith("api/")
)
GUARDED = [route for route in ROUTES if route not in OPEN]


def test_the_routes_are_found() -> None:
    assert set(ROUTES) > OPEN
    assert "/api/v1/runs/1/trajectories/" in ROUTES
    assert "/api/v1/review/claim/" in ROUTES


@pytest.mark.parametrize("path", GUARDED)
def test_every_route_asks_who_it_is(path: str) -> None:
    for method in METHODS:
        response = getattr(Client(), method)(path)
        assert response.status_code == 401
        assert error(response)["code"] == "not_authenticated"
        assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ROUTES)
def test_every_route_refuses_other_methods_in_the_one_shape(path: str) -> None:
    headers = {"authorization": f"Bearer {Runner(make.project()).secret}"}
    response = Client().delete(path, headers=headers)
    assert (response.status_code, error(response)["code"]) == (405, "method_not_allowed")
    assert "GET" in response["Allow"] or "POST" in response["Allow"]


@pytest.mark.parametrize("path", ROUTES)
def test_every_route_refuses_a_wrong_key_in_the_one_shape(path: str) -> None:
    response = Client().get(path, headers={"authorization": "Bearer wrong"})
    if response.status_code != 200:
        assert (response.status_code, error(response)["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize("path", ["/api/", "/api/v1/", "/api/v1/nothing/", "/api/v2/runs/", "/api/v1/runs/x/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_unknown_address_is_404(path: str, method: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)(path)
    assert (response.status_code, error(response)["code"]) == (404, "not_found")


@pytest.mark.parametrize("debug", [True, False])
def test_a_missing_slash_is_said_and_not_redirected(settings: Any, debug: bool) -> None:
    settings.DEBUG = debug
    response = Client().post("/api/v1/runs", "{}", content_type="application/json")
    assert response.status_code == 404
    assert error(response)["message"].endswith("Write /api/v1/runs/ with a slash at the end.")


def test_a_bug_is_500_in_the_one_shape_and_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_run: Run) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr(progress, "run_progress", broken)
    project = make.project()
    response = Runner(project).get(f"/api/v1/runs/{make.run(project).pk}/")
    assert (response.status_code, error(response)["code"]) == (500, "server_error")
    assert b"secret" not in response.content


def test_a_database_that_does_not_answer_is_503(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        response = errors.answer(OperationalError("database is locked"), {})
    assert response is not None
    assert (response.status_code, error(response)["code"]) == (503, "unavailable")


def test_a_host_that_is_not_ours_is_400_in_the_one_shape() -> None:
    response = Client(raise_request_exception=False).get("/api/v1/runs/", headers={"host": "evil.example"})
    assert (response.status_code, error(response)["code"]) == (400, "invalid")


def test_what_an_error_answers_is_plain_text() -> None:
    response = errors.shaped("invalid", "a\ud800<script>.", {"x": "\ud800"})
    assert b"\\ud800" in response.content


def test_waiting_times_are_passed_on() -> None:
    response = errors.answer(Throttled(wait=30), {})
    assert response is not None
    assert (response.status_code, response["Retry-After"]) == (429, "30")


def test_an_unknown_code_of_the_domain_is_the_callers_to_mend() -> None:
    response = errors.answer(DomainError("Do it otherwise."), {})
    assert response is not None
    assert response.status_code == 400


def test_pages_keep_their_own_errors() -> None:
    request: HttpRequest = RequestFactory().get("/p/nothing/")
    answers = [
        errors.bad_request(request, Exception()),
        errors.permission_denied(request, Exception()),
        errors.page_not_found(request, Exception()),
        errors.server_error(request),
    ]
    assert [response.status_code for response in answers] == [400, 403, 404, 500]
    assert all(response["Content-Type"].startswith("text/html") for response in answers)


def test_every_code_is_documented_with_its_status() -> None:
    text = (Path(django_settings.BASE_DIR) / "docs/reference/errors.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", text, flags=re.MULTILINE))
    assert documented == {code: str(status) for code, status in errors.STATUS.items()}


def test_nul_in_an_address_is_a_bad_request_not_a_broken_database() -> None:
    client = Client()
    assert client.get("/api/v1/runs/?project=a%00b").json()["error"]["code"] == "invalid"
    assert client.get("/sign-in/?next=%00").status_code == 400


@pytest.mark.django_db
def test_nul_in_a_form_is_a_bad_request_too() -> None:
    assert Client().post("/sign-in/", {"username": "a\0b", "password": "x"}).status_code == 400
