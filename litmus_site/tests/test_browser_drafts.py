"""What somebody chose and typed is there again after a reload, and never replaced by an older state (FIELD B2.3)."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from audit.models import Draft, Verdict
from labeling.models import Project
from litmus_site.tests.test_browser import press, project, ready, sign_in, start_reviewing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

__all__ = ["project"]


def test_a_reload_and_a_new_claim_bring_back_what_was_chosen_and_typed(browser_page: Page, project: Project) -> None:
    page = browser_page
    sign_in(page, "ada")
    start_reviewing(page)
    press(page, "3", "0", "e")
    press(page, "n")
    with page.expect_response(lambda answer: "Half a thought." in (answer.request.post_data or "")) as saved:
        page.keyboard.type("Half a thought.")
    assert saved.value.status == 200
    page.reload()
    ready(page)
    expect(page.get_by_text("Your draft of")).to_be_visible()
    expect(page.get_by_role("textbox", name="Note")).to_have_value("Half a thought.")
    expect(page.get_by_label("Refusal")).to_be_checked()

    page.keyboard.press("Escape")
    press(page, "d")
    page.get_by_role("button", name="Put it back and stop").click()
    start_reviewing(page)
    expect(page.get_by_role("textbox", name="Note")).to_have_value("Half a thought.")
    press(page, "a", "Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Verdict.objects.get().note == "Half a thought."
    assert not Draft.objects.exists()


def test_a_window_that_was_left_behind_says_so_and_overwrites_nothing(
    browser_page: Page, project: Project, live_server: LiveServer
) -> None:
    page = browser_page
    sign_in(page, "ada")
    start_reviewing(page)
    behind = page.context.new_page()
    behind.goto(f"{live_server.url}/p/{project.key}/review/")
    ready(behind)
    with page.expect_response("**/draft/"):
        press(page, "3")
    with behind.expect_response("**/draft/") as refused:
        press(behind, "1")
    assert refused.value.status == 409
    expect(behind.get_by_role("alert")).to_contain_text("A later draft of yours is stored")
    assert Draft.objects.get().parts == {"decision": "refusal"}
