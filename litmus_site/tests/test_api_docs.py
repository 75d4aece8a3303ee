"""The API describes itself: a schema without warnings, and a page that needs nobody else's server."""

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema

from litmus_site.tests.test_errors import GUARDED

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def schema(db: None) -> Any:
    with GENERATOR_STATS.silence():
        response = Client().get("/api/v1/schema/")
    assert response.status_code == 200
    assert not GENERATOR_STATS._warn_cache
    return yaml.safe_load(response.content)


def test_the_schema_is_valid_and_complete(schema: Any) -> None:
    validate_schema(schema)  # type: ignore[no-untyped-call]
    described = {
        path.replace("{run_id}", "1")
        .replace("{judge_id}", "1")
        .replace("{assignment_id}", "1")
        .replace("{suite_id}", "1")
        .replace("{import_id}", "1")
        .replace("{name}", "x")
        for path in schema["paths"]
    }
    assert set(GUARDED) == described


def test_every_operation_says_what_it_takes_and_answers(schema: Any) -> None:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["description"], where
            assert "401" in operation["responses"], where
            success = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
            assert success, where
            assert {"runnerKey": []} in operation["security"] or {"cookieAuth": []} in operation["security"], where


def test_a_trajectory_line_is_described_to_the_last_flag(schema: Any) -> None:
    schemas = schema["components"]["schemas"]
    assert {"external_id", "case", "messages", "judgments"} <= set(schemas["TrajectoryLine"]["properties"])
    assert set(schemas["Flags"]["properties"]) == {"explained", "alternative_offered", "withheld"}
    assert schemas["ErrorBody"]["required"] == ["code", "message", "details"]


def test_the_page_holds_no_inline_script_or_style() -> None:
    page = Client().get("/api/v1/docs/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "<style" not in text
    assert "<script>" not in text
    assert "//" not in text.replace("<!DOCTYPE", "")
    script = Client().get("/api/v1/docs/?script=")
    assert script["Content-Type"].startswith("application/javascript")


@pytest.mark.browser
def test_the_page_works_under_the_content_security_policy(browser_page: "Page") -> None:
    browser_page.goto("/api/v1/docs/")
    browser_page.get_by_text("/api/v1/runs/{run_id}/trajectories/").first.wait_for()
