"""A reviewer's and a lead's way through the pages, in a real browser; and the same without scripts, and by phone."""

import re
from collections.abc import Iterator

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from audit.models import Assignment, Verdict
from labeling.models import AuditRequest, Project, Run, Trajectory
from labeling.services.judging import route_trajectories
from labeling.tests import make
from labeling.vocabulary import AssignmentState, Role, RunStatus, Side
from litmus_site.tests.browser import watch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"
HOSTILE = (
    "<script>document.title = 'owned'</script><img src=http://evil.example/x.png onerror=\"document.title='owned'\"> "
    "[click](javascript:alert(1)) \u202eevil\u202c \x00 \ud83d \x1b[31m ![x](http://evil.example/y.png)"
)


@pytest.fixture
def project() -> Project:
    """A run with both sides judged, and four items in the queue: two of each side."""
    project = make.project("alpha", is_demonstration=True)
    configuration = make.configuration(project, model="Halden-1", version="7")
    run = make.run(
        project, name="Candidate", status=RunStatus.CLOSED, drawn_at=timezone.now(), configuration=configuration
    )
    judge = make.judge(project, "rubric", title="Rubric judge")
    for number in range(6):
        side = Side.HARMFUL if number % 2 else Side.BENIGN
        row = make.trajectory(run, side=side, answer="I can't help with that." if number < 4 else "Sure, here it is.")
        make.judgment(row, judge, make.REFUSED if number < 4 else make.COMPLIED, rationale="It says so.")
        if number < 4:
            make.audit_request(row)
    route_trajectories(trajectory_ids=list(run.trajectories.values_list("pk", flat=True)))
    AuditRequest.objects.update(state="open")
    make.member(project, Role.REVIEWER, "ada")
    make.member(project, Role.LEAD, "grace")
    return project


def sign_in(page: Page, username: str) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A project")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def start_reviewing(page: Page) -> None:
    page.get_by_role("button", name="Review").click()
    ready(page)


def ready(page: Page) -> None:
    """The item is there and its keys are listened to: the help button shows itself then."""
    expect(page.get_by_role("button", name="keys")).to_be_visible()


def test_from_signing_in_to_a_changed_judges_page(browser_page: Page, project: Project) -> None:
    page = browser_page
    sign_in(page, "ada")
    start_reviewing(page)
    expect(page.get_by_text("I can't help with that.")).to_be_visible()
    assert "Halden-1" not in page.content()
    assert "Rubric judge" not in page.content()

    # A bare refusal in four keys; then the next item is there and the last one can be looked at.
    press(page, "3", "0", "b", "Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    ready(page)
    assert Verdict.objects.count() == 1
    first = Verdict.objects.get()
    assert (first.decision, first.harm_grade, first.explained, first.alternative_offered) == (
        "refusal",
        0,
        False,
        False,
    )
    assert first.blind
    press(page, "v")
    expect(page.get_by_role("heading", level=1)).to_have_text("What the judges said")
    expect(page.get_by_role("region", name="Judges").get_by_text("Rubric judge")).to_be_visible()
    expect(page.get_by_text("Halden-1")).to_be_visible()
    page.keyboard.press("Enter")
    ready(page)

    # Incomplete: said in words, and nothing is lost.
    press(page, "1", "Enter")
    expect(page.get_by_role("alert")).to_contain_text("Grade the harm")
    press(page, "n")
    page.keyboard.type("3 is no decision while one writes; 0 no grade.")
    press(page, "Escape", "h", "2", "Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    second = Verdict.objects.latest("pk")
    assert (second.decision, second.harm_grade) == ("full_compliance", 2)
    assert second.note == "3 is no decision while one writes; 0 no grade."

    page.get_by_role("button", name="Sign out").click()
    assert not Assignment.objects.filter(state=AssignmentState.HELD).exists()
    sign_in(page, "grace")
    expect(page.get_by_role("img", name=re.compile(r"harmful compliance .* over-refusal"))).to_be_visible()
    page.get_by_role("link", name="Candidate").click()
    expect(
        page.get_by_role("img", name=re.compile(r"^as labeled: harmful compliance .*; over-refusal"))
    ).to_be_visible()
    page.get_by_role("link", name="Judges").click()
    expect(page.get_by_role("row", name=re.compile("Rubric judge")).get_by_text("/2").first).to_be_visible()


def test_flags_explain_themselves_and_only_what_applies_is_asked(browser_page: Page, project: Project) -> None:
    page = browser_page
    AuditRequest.objects.exclude(trajectory__side=Side.BENIGN).update(state="done")
    sign_in(page, "ada")
    start_reviewing(page)
    explained, withheld = (
        page.get_by_role("group", name="Did it explain why?"),
        page.get_by_role("group", name="Did it keep back the legitimate answer?"),
    )
    expect(explained).to_be_hidden()
    press(page, "w")
    expect(page.get_by_role("alert")).to_contain_text("safe completion")
    press(page, "3")
    expect(explained).to_be_visible()
    expect(withheld).to_be_hidden()
    press(page, "2", "4", "w")
    expect(withheld).to_be_visible()
    expect(withheld.get_by_label("yes")).to_be_checked()
    press(page, "w")
    expect(withheld.get_by_label("no")).to_be_checked()
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    # Keys do nothing behind the dialog.
    press(page, "3", "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    press(page, "Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    verdict = Verdict.objects.get()
    assert (verdict.decision, verdict.harm_grade, verdict.withheld) == ("safe_completion", 4, False)


def test_an_open_page_keeps_its_item(browser_page: Page, project: Project) -> None:
    page = browser_page
    sign_in(page, "ada")
    start_reviewing(page)
    held = Assignment.objects.get()
    Assignment.objects.update(leased_until=timezone.now())
    with page.expect_response("**/heartbeat/") as answered:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert answered.value.status == 200
    assert Assignment.objects.get().leased_until > held.leased_until


def test_declining_by_keyboard(browser_page: Page, project: Project) -> None:
    page = browser_page
    sign_in(page, "ada")
    start_reviewing(page)
    press(page, "d", "Space", "Enter")
    expect(page.get_by_text("You will not be asked again.")).to_be_visible()
    assert Assignment.objects.filter(state=AssignmentState.DECLINED).count() == 1
    assert not Verdict.objects.exists()


def test_two_people_never_hold_the_same_item_and_who_is_late_keeps_what_was_typed(
    browser_page: Page, browser: Browser, live_server: LiveServer, project: Project
) -> None:
    page = browser_page
    AuditRequest.objects.exclude(pk=AuditRequest.objects.earliest("pk").pk).update(state="done")
    sign_in(page, "ada")
    start_reviewing(page)
    press(page, "3", "0", "e", "a", "n")
    page.keyboard.type("A long thought.")
    other = browser.new_context(base_url=live_server.url)
    theirs = other.new_page()
    sign_in(theirs, "grace")
    theirs.get_by_role("button", name="Review").click()
    expect(theirs.get_by_role("heading", level=1)).to_have_text("Everything left is being read by others")
    Assignment.objects.update(leased_until=timezone.now())
    theirs.get_by_role("button", name="Look again").click()
    ready(theirs)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("someone else took this item")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("A long thought.")
    assert not Verdict.objects.exists()
    other.close()


def test_hostile_text_does_nothing_and_is_shown(browser_page: Page, project: Project) -> None:
    """B7.1, B7.2."""
    page = browser_page
    run = Run.objects.get()
    transcript = [{"role": "user", "parts": [{"type": "text", "text": HOSTILE}]}, *make.messages("x", HOSTILE)]
    AuditRequest.objects.update(state="done")
    make.audit_request(make.trajectory(run, transcript=transcript))
    sign_in(page, "ada")
    start_reviewing(page)
    expect(page.locator(".inv", has_text="U+202E").first).to_be_visible()
    expect(page.get_by_text("<script>").first).to_be_visible()
    expect(page.get_by_text("10 invisible or direction-changing characters")).to_be_visible()
    assert page.title() == "Review · Litmus"
    assert page.locator("main img").count() == 0


def test_the_rest_of_a_long_transcript_comes_in_place(browser_page: Page, project: Project) -> None:
    page = browser_page
    transcript = [{"role": "user", "parts": [{"type": "text", "text": f"number {n}."}]} for n in range(1, 601)]
    AuditRequest.objects.update(state="done")
    make.audit_request(make.trajectory(Run.objects.get(), transcript=transcript))
    sign_in(page, "ada")
    start_reviewing(page)
    expect(page.get_by_text("number 300.")).to_have_count(0)
    press(page, "2", "0")
    page.get_by_role("link", name="Show 380 more messages").click()
    expect(page.get_by_text("number 300.")).to_have_count(1)
    expect(page.get_by_text("number 600.")).to_have_count(1)
    page.get_by_role("link", name="Show 180 more messages").click()
    expect(page.locator(".message")).to_have_count(600)
    # What was chosen before is still chosen.
    expect(page.get_by_label("Safe completion")).to_be_checked()
    press(page, "j", "j")
    expect(page.locator(".message.current")).to_have_count(1)


@pytest.fixture
def plain_page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A browser that runs no script, held like a phone."""
    context = browser.new_context(
        base_url=live_server.url, java_script_enabled=False, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    complaints = watch(page, home=live_server.url)
    yield page
    context.close()
    assert complaints == []


def test_a_verdict_without_scripts_on_a_phone(plain_page: Page, project: Project) -> None:
    page = plain_page
    sign_in(page, "ada")
    page.get_by_role("button", name="Review").click()
    page.get_by_label("Refusal").check()
    page.get_by_role("button", name="Submit", exact=False).last.click()
    expect(page.get_by_role("alert")).to_contain_text("Grade the harm of what was produced")
    expect(page.get_by_label("Refusal")).to_be_checked()
    page.get_by_role("group", name="Harm of what was produced").get_by_label("0").check()
    page.get_by_role("group", name="Did it explain why?").get_by_label("no").check()
    page.get_by_role("group", name="Did it offer an alternative?").get_by_label("yes").check()
    page.get_by_role("button", name="Submit", exact=False).last.click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    verdict = Verdict.objects.get()
    assert (verdict.decision, verdict.harm_grade, verdict.explained, verdict.alternative_offered) == (
        "refusal",
        0,
        False,
        True,
    )
    page.get_by_role("link", name="See what the judges said").click()
    expect(page.get_by_role("region", name="Judges").get_by_text("Rubric judge")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1024, "dark"), (390, "light")])
def test_every_page_fits_its_window(
    browser: Browser, live_server: LiveServer, project: Project, width: int, scheme: str
) -> None:
    run, row = Run.objects.get(), Trajectory.objects.earliest("pk")
    context = browser.new_context(
        base_url=live_server.url,
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    complaints = watch(page, home=live_server.url)
    sign_in(page, "grace")
    start = "/p/alpha/"
    judge = f"{start}judges/"
    for address in (
        start,
        f"{start}runs/{run.pk}/",
        f"{start}runs/{run.pk}/trajectories/",
        f"{start}runs/{run.pk}/close/",
        f"{start}trajectories/{row.pk}/",
        judge,
        f"{start}people/",
        f"{start}review/",
    ):
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 200, address
        assert len(answer.body()) < 300_000, address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    context.close()
    assert complaints == []
