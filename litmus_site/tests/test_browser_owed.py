"""A judge's page while judgments are owed: it renews itself, and leaves alone who is reading."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from labeling.models import Judge, JudgeCall, JudgeService, Project
from labeling.tests import make
from labeling.vocabulary import JudgeKind, Role

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project() -> Project:
    project = make.project("alpha")
    make.member(project, Role.VIEWER, "ada")
    return project


def owing(project: Project, calls: int) -> Judge:
    # More lines than are shown unfolded.
    settings = {"type": "rubric", **{f"line {number}": "a text" for number in range(20)}}
    judge = make.judge(project, "rubric-x", kind=JudgeKind.RUBRIC, settings=settings)
    JudgeService.objects.create(judge=judge)
    run = make.run(project)
    for _ in range(calls):
        JudgeCall.objects.create(judge=judge, trajectory=make.trajectory(run))
    return judge


def open_page(page: Page, judge: Judge) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A project")
    page.goto(reverse("judge", args=["alpha", judge.pk]))


def test_it_renews_itself_until_nothing_is_owed(browser_page: Page, project: Project) -> None:
    judge = owing(project, 2)
    open_page(browser_page, judge)
    expect(browser_page.get_by_text("It owes 2 judgments.")).to_be_visible()
    JudgeCall.objects.filter(judge=judge).order_by("pk")[:1].get().delete()
    expect(browser_page.get_by_text("It owes 1 judgment.")).to_be_visible()
    JudgeCall.objects.all().delete()
    expect(browser_page.get_by_text("It owes")).to_have_count(0)


def test_what_somebody_unfolded_stays_unfolded(browser_page: Page, project: Project) -> None:
    judge = owing(project, 1)
    open_page(browser_page, judge)
    browser_page.get_by_text("lines of settings").click()
    JudgeCall.objects.all().delete()
    # Twice as long as it waits between two looks.
    browser_page.wait_for_timeout(9000)
    expect(browser_page.get_by_text("It owes 1 judgment.")).to_be_visible()
    expect(browser_page.get_by_text("line 19")).to_be_visible()
