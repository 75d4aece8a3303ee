"""FIELD B7: what a model wrote is shown and does nothing, fetches nothing, and is in no log. One row a test."""

import logging
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DataError, OperationalError
from django.urls import reverse
from psycopg.errors import UniqueViolation
from pydantic import TypeAdapter

from audit.tests.make import submitted
from labeling import tasks
from labeling.errors import Conflict
from labeling.models import AuditRequest, Trajectory
from labeling.tests.posting import definition, judgment
from labeling.vocabulary import Role
from litmus_site.tests.inert import complaints, text_of
from litmus_site.tests.logged import logged
from litmus_site.tests.stage import Stage

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

pytestmark = pytest.mark.django_db

MARK = "qJ7vUX"
HOSTILE = (
    f"{MARK} <img src=http://evil.example/a.png onerror=alert(1)> <svg onload=alert(1)> "
    "</script><script>alert(1)</script> "
    "[click](javascript:alert(1)) ![x](http://evil.example/b.png) <a href='javascript:alert(1)'>x</a> "
    "<iframe src=//evil.example> <style>@import url(http://evil.example/c.css)</style> http://evil.example/d"
)


def hostile_line(external_id: str = "t") -> dict[str, Any]:
    """The text wherever text can be."""
    call = {"id": HOSTILE, "type": "function", "function": {"name": HOSTILE, "arguments": HOSTILE}}
    picture = {"type": "image_url", "image_url": {"url": "http://evil.example/e.png"}}
    said = judgment("one", rationale=HOSTILE, evidence=[HOSTILE, {"quote": HOSTILE}], scores={HOSTILE: 1})
    return {
        "external_id": f"{external_id} {HOSTILE}"[:200],
        "case": definition(
            "c " + HOSTILE[:190], "benign", category=HOSTILE[:100], request=HOSTILE, right_answer=HOSTILE
        ),
        "messages": [
            {"role": "system", "content": HOSTILE},
            {"role": "user", "content": [{"type": "text", "text": HOSTILE}, picture, {"type": HOSTILE, "x": HOSTILE}]},
            {"role": "assistant", "content": HOSTILE, "refusal": HOSTILE, "reasoning": HOSTILE, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": HOSTILE, "content": HOSTILE},
        ],
        "stop_reason": HOSTILE[:60],
        "error": {HOSTILE: HOSTILE},
        "metadata": {HOSTILE: HOSTILE},
        "judgments": [said, judgment("two", decision="full_compliance", rationale=HOSTILE)],
    }


def hostile_stage() -> Stage:
    return Stage.set(
        external_id=HOSTILE[:200],
        name=HOSTILE[:200],
        configuration={
            "model": HOSTILE[:200],
            "version": HOSTILE[:200],
            "system_prompt": HOSTILE,
            "decoding": {"x": HOSTILE},
        },
    )


def pages_of(stage: Stage, row: Trajectory) -> list[tuple[str, tuple[object, ...]]]:
    judge = row.judgments.earliest("pk").judge_id
    return [
        ("project", ()),
        ("run", (stage.run.pk,)),
        ("run_trajectories", (stage.run.pk,)),
        ("run_close", (stage.run.pk,)),
        ("trajectory", (row.pk,)),
        ("transcript", (row.pk,)),
        ("judges", ()),
        ("judge", (judge,)),
        ("judge_against", (judge, row.judgments.latest("pk").judge_id)),
        ("review_said", (row.pk,)),
    ]


def test_b7_1_model_output_is_text_on_every_page_and_the_policy_is_strict() -> None:
    stage = hostile_stage()
    (row,) = stage.post(hostile_line())
    lead = stage.run.project.memberships.get(role=Role.LEAD)
    held = stage.lead.post(reverse("review_start", args=[stage.run.project.key]))
    assert held.status_code == 302
    review = stage.page("review")
    assert complaints(review) == []
    assert "<svg onload=alert(1)>" in text_of(review)
    submitted(lead.user.assignments.get(), note=HOSTILE)
    stage.opened(row)
    for name, arguments in pages_of(stage, row):
        assert complaints(stage.page(name, *arguments)) == [], name
    answer = stage.lead.get(reverse("trajectory", args=[stage.run.project.key, row.pk]))
    policy = dict(part.strip().split(" ", 1) for part in answer["Content-Security-Policy"].split(";") if part.strip())
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert not {"unsafe-inline", "unsafe-eval", "*", "http:", "https:"} & set(answer["Content-Security-Policy"].split())


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_b7_2_no_page_asks_another_host_for_anything(browser_page: "Page", live_server: "LiveServer") -> None:
    """The page under test fails when it asks another host, when a script fails, and when the policy had to stop one."""
    page, stage = browser_page, hostile_stage()
    (row,) = stage.post(hostile_line())
    assert AuditRequest.objects.filter(state="open").count() == 1
    stage.lead.post(reverse("review_start", args=[stage.run.project.key]))
    lead = stage.run.project.memberships.get(role=Role.LEAD)
    page.context.add_cookies(
        [{"name": "sessionid", "value": stage.lead.cookies["sessionid"].value, "url": live_server.url}]
    )
    page.goto(reverse("review", args=[stage.run.project.key]))
    for fold in page.locator("details").all():
        fold.evaluate("fold => { fold.open = true; }")
    page.get_by_text("http://evil.example/e.png").first.wait_for()
    submitted(lead.user.assignments.get(), note=HOSTILE)
    stage.opened(row)
    for name, arguments in pages_of(stage, row):
        answer = page.goto(reverse(name, args=[stage.run.project.key, *arguments]))
        assert answer is not None
        assert answer.status == 200, name
        page.wait_for_load_state("networkidle")
        assert page.locator("main img, main iframe, main script, main style").count() == 0
        assert "Litmus" in page.title()


def test_b7_4_messages_to_the_worker_name_rows_and_carry_nothing_else(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tasks.judge_batch, "delay", lambda *arguments: sent.append(arguments))
    with logged() as log, django_capture_on_commit_callbacks(execute=True):
        stage = hostile_stage()
        (row,) = stage.post(hostile_line())
        stage.opened(row)
        stage.exported()
    assert sent == [([row.pk],)]
    assert MARK not in log.getvalue()


@pytest.mark.parametrize("failure", ["database", "validator", "key", "unicode"])
def test_b7_4_an_exception_is_logged_by_its_type_and_place_and_not_by_what_it_quotes(failure: str) -> None:
    with logged() as log:
        try:
            _fail(failure)
        except Exception:
            logging.getLogger("django.request").exception("Internal Server Error: /api/")
            # As Celery words it when a task fails.
            context = {"name": "judge_batch", "exc": MARK, "args": "[1]"}
            logging.getLogger("celery.app.trace").error("Task %(name)s raised: %(exc)s", context, exc_info=True)
    text = log.getvalue()
    assert MARK not in text
    assert text.count("in _fail") >= 2
    assert "Task judge_batch raised: " in text


def _fail(failure: str) -> None:
    if failure == "database":
        raise DataError(f"Failing row contains ({MARK}).")
    if failure == "validator":
        TypeAdapter(int).validate_python(MARK)
    if failure == "key":
        try:
            raise KeyError(MARK)
        except KeyError as error:
            raise RuntimeError(MARK) from error
    f"{MARK}\ud800".encode()


def test_b7_4_an_error_of_postgresql_is_told_by_its_code() -> None:
    with logged() as log:
        try:
            raise UniqueViolation(f"Key (external_id)=({MARK}) already exists.")
        except UniqueViolation:
            logging.getLogger("litmus").exception("It failed.")
    assert "psycopg.errors.UniqueViolation (23505)" in log.getvalue()
    assert MARK not in log.getvalue()


def test_b7_4_what_is_about_the_service_itself_is_still_told() -> None:
    with logged() as log:
        for error in (OperationalError("connection refused"), Conflict("The run is closed.")):
            try:
                raise error
            except Exception:
                logging.getLogger("litmus").exception("It failed.")
    assert "connection refused" in log.getvalue()
    assert "The run is closed." in log.getvalue()
