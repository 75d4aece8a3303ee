"""A lead's way from a runner's file to its run, in a real browser, and the same without scripts by phone."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import ImportJob, Project, Trajectory
from labeling.services.importing import committing, previewing
from labeling.tests import make
from labeling.vocabulary import ImportStatus, Role, Side
from litmus_site.tests.browser import watch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"
HOSTILE = "<script>document.title = 'owned'</script><img src=http://evil.example/x.png> \u202eevil\u202c \x00 \ud83d"


@pytest.fixture
def project() -> Project:
    project = make.project("alpha")
    make.member(project, Role.LEAD, "grace")
    return project


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """What a runner might write: no side, and a score that could mean anything."""
    path = tmp_path / "answers.jsonl"
    with path.open("w") as file:
        for number in range(12):
            refuses = number % 3 == 0
            row = {
                "id": f"q{number}",
                "prompt": f"How do I kill process {number}? {'Please be thorough. ' * 30 * (number % 2)}",
                "response": HOSTILE if number == 1 else "I can't help with that." if refuses else "Use kill.",
                "type": "contrast_homonyms" if number % 2 else "homonyms",
                "score": int(refuses),
            }
            file.write(f"{json.dumps(row)}\n")
    return path


def sign_in(page: Page) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Username").fill("grace")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A project")


def work(page: Page) -> None:
    """What a worker would do now. The page says that it waits for one, and sees by itself when the work is done."""
    expect(page.get_by_text("No worker has been seen")).to_be_visible()
    job = ImportJob.objects.get()
    if job.status == ImportStatus.COMMITTING:
        committing.commit_file(job_id=job.pk, ring=lambda _ids: None)
    else:
        previewing.read_file(job_id=job.pk)


def test_from_a_file_to_its_run(browser_page: Page, project: Project, answers: Path) -> None:
    page = browser_page
    sign_in(page)
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_label("Result files").set_input_files(answers)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("answers.jsonl")
    work(page)
    expect(page.get_by_text("Nothing says what it means")).to_be_visible()
    expect(page.get_by_text("Nothing can be committed yet.")).to_be_visible()
    expect(page.locator(".inv", has_text="U+202E").first).to_be_visible()
    assert page.title() == "answers.jsonl · Litmus"
    assert page.locator("main img").count() == 0

    # Only what a choice needs is asked.
    side = page.get_by_role("group", name="Side")
    expect(side.get_by_label("Column")).to_be_hidden()
    side.get_by_label("How the side is found").select_option("from a column")
    side.get_by_label("Column").fill("type")
    side.get_by_label("What its values become").fill("contrast_* = harmful")
    page.get_by_label("What score means").select_option("yes = refused")
    page.get_by_role("button", name="Look again", exact=True).click()
    work(page)
    expect(page.get_by_text("1 means a refusal", exact=True)).to_be_visible()
    expect(page.get_by_text("6 rows have no side and will stay out")).to_be_visible()
    side.get_by_label("Anything else becomes").fill("benign")
    page.get_by_label("Save the mapping as").fill("by type")
    page.get_by_role("button", name="Look again with these").click()
    work(page)

    page.get_by_role("button", name="Commit 12 rows").click()
    expect(page.get_by_text("Storing")).to_be_visible()
    assert not Trajectory.objects.exists()
    work(page)
    expect(page.get_by_text("12 stored")).to_be_visible()
    assert Trajectory.objects.filter(side=Side.HARMFUL).count() == 6
    page.get_by_role("link", name="answers.jsonl-").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("answers.jsonl-")
    expect(page.get_by_role("link", name="Trajectories")).to_be_visible()


def test_a_file_that_is_too_large_is_said_before_it_is_sent(
    browser_page: Page, project: Project, answers: Path, settings: object
) -> None:
    settings.MAX_UPLOAD_BYTES = 1024  # type: ignore[attr-defined]
    page = browser_page
    sign_in(page)
    page.goto("/p/alpha/imports/")
    page.get_by_label("Result files").set_input_files(answers)
    expect(page.get_by_role("alert")).to_contain_text("Use the command line")
    page.get_by_role("button", name="Upload and look").click()
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize("window", [(1440, "light"), (1024, "dark"), (390, "light")])
def test_without_scripts_every_state_fits_its_window(
    browser: Browser, live_server: LiveServer, answers: Path, project: Project, window: tuple[int, str]
) -> None:
    width, scheme = window
    context = browser.new_context(
        base_url=live_server.url,
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=False,
    )
    page = context.new_page()
    complaints = watch(page, home=live_server.url)
    sign_in(page)
    page.goto("/p/alpha/imports/")
    page.get_by_label("Result files").set_input_files(answers)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_text("It waits for a worker")).to_be_visible()
    address = page.url
    work(page)
    for status in ImportStatus:
        ImportJob.objects.update(status=status)
        for shown in (address, "/p/alpha/imports/"):
            answer = page.goto(shown)
            assert answer is not None
            assert answer.status == 200
            assert page.locator("body").evaluate("body => body.ownerDocument.documentElement.scrollWidth") <= width
    context.close()
    assert complaints == []
