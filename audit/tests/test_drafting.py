"""Drafts of verdicts: the latest wins, they outlive the lease, and end with the verdict (FIELD B2.3)."""

from typing import Any

import pytest
from django.urls import reverse

from audit.models import Assignment, Draft, Verdict
from audit.services import drafting, reviewing
from audit.services.reviewing import VerdictInput
from audit.tests.make import at_once, claimed, draft, lapse, queue, submitted, user_of
from audit.tests.test_api_review import Person
from labeling.errors import Conflict, DomainError, NotFound
from labeling.models import Membership, Run
from labeling.tests import make
from labeling.tests.posting import error
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    run = make.run()
    queue(run, 1)
    return run


@pytest.fixture
def reviewer(run: Run) -> Membership:
    return make.membership(run.project, Role.REVIEWER)


def saved(held: Assignment, revision: int, note: str = "") -> Draft:
    said = VerdictInput(decision=None, harm_grade=0, note=note)
    return drafting.save_draft(token=held.token, reviewer=held.reviewer, revision=revision, draft=said)


def test_a_later_draft_replaces_an_earlier_one_and_never_the_other_way(reviewer: Membership) -> None:
    """B2.3."""
    held = claimed(reviewer)
    saved(held, 1, "First.")
    saved(held, 5, "Fifth.")
    for revision, note in ((3, "Late to arrive."), (5, "The same number, another text.")):
        with pytest.raises(Conflict, match="later draft") as raised:
            saved(held, revision, note)
        assert raised.value.details == {"revision": 5, "draft": {"harm_grade": 0, "note": "Fifth."}}
    assert saved(held, 5, "Fifth.").parts["note"] == "Fifth."
    assert Draft.objects.count() == 1


def test_a_draft_keeps_what_a_model_wrote(reviewer: Membership) -> None:
    held = claimed(reviewer)
    for _ in range(2):
        said = draft(make.REFUSED, 0, note="\0 \ud83d", evidence=[{"p": float("nan")}])
        stored = drafting.save_draft(token=held.token, reviewer=held.reviewer, revision=1, draft=said)
    assert stored.parts["note"] == "\0 \ud83d"
    assert stored.parts["explained"] is False


def test_a_draft_outlives_the_lease_and_a_new_claim_finds_it(reviewer: Membership) -> None:
    held = claimed(reviewer)
    lapse(held)
    saved(held, 1, "Nearly done.")
    reviewing.release(token=held.token, reviewer=held.reviewer)
    again = claimed(reviewer)
    assert again.pk != held.pk
    stored = drafting.stored_draft(token=again.token, reviewer=again.reviewer)
    assert stored is not None
    assert stored.parts["note"] == "Nearly done."


def test_a_draft_ends_with_the_verdict_and_comes_too_late_after_it(reviewer: Membership) -> None:
    held = claimed(reviewer)
    saved(held, 1)
    submitted(held)
    assert not Draft.objects.exists()
    with pytest.raises(Conflict, match="it stands"):
        saved(held, 2)
    assert not Draft.objects.exists()


def test_declining_takes_the_draft_along(reviewer: Membership) -> None:
    held = claimed(reviewer)
    saved(held, 1)
    reviewing.decline(token=held.token, reviewer=held.reviewer, reason="unclear")
    assert not Draft.objects.exists()
    with pytest.raises(Conflict, match="declined"):
        saved(held, 2)


def test_a_draft_is_its_authors_alone(run: Run, reviewer: Membership) -> None:
    held = claimed(reviewer)
    saved(held, 1, "Mine.")
    colleague = make.membership(run.project, Role.REVIEWER)
    with pytest.raises(NotFound):
        drafting.stored_draft(token=held.token, reviewer=user_of(colleague))
    lapse(held)
    assert drafting.stored_draft(token=claimed(colleague).token, reviewer=user_of(colleague)) is None


def test_what_no_verdict_could_hold_no_draft_does(reviewer: Membership) -> None:
    with pytest.raises(DomainError, match="A note has up to"):
        saved(claimed(reviewer), 1, "n" * 20_001)


@pytest.mark.django_db(transaction=True)
def test_drafts_and_a_verdict_in_the_same_moment_leave_no_draft_behind(reviewer: Membership) -> None:
    held = claimed(reviewer)

    def save() -> Any:
        try:
            return saved(held, 1)
        except Conflict as refused:
            return refused

    at_once(save, save, lambda: submitted(held))
    assert Verdict.objects.count() == 1
    assert not Draft.objects.exists()


# --- over the API and on the page ------------------------------------------------------------------------------------


def put(person: Person, held: Assignment, **body: Any) -> Any:
    path = reverse("review_draft", args=[held.pk])
    return person.client.put(path, {"token": held.token, **body}, content_type="application/json")


def test_the_api_keeps_drafts_and_gives_them_back(reviewer: Membership) -> None:
    held, person = claimed(reviewer), Person(user_of(reviewer))
    path, header = reverse("review_draft", args=[held.pk]), {"X-Claim-Token": held.token}
    assert person.client.get(path, headers=header).json() == {"revision": 0, "parts": {}, "saved_at": None}
    first = put(person, held, revision=2, decision="refusal", note="So far.")
    assert (first.status_code, first.json()["revision"]) == (200, 2)
    older = put(person, held, revision=1, decision="safe_completion")
    assert (older.status_code, error(older)["details"]["draft"]["note"]) == (409, "So far.")
    assert person.client.get(path, headers=header).json()["parts"] == {"decision": "refusal", "note": "So far."}
    for nonsense in ({}, {"revision": 0}, {"revision": 2**31}, {"revision": 3, "decision": "no"}):
        assert put(person, held, **nonsense).status_code == 400


def test_the_page_shows_the_draft_and_what_was_typed_last_goes_before_it(reviewer: Membership) -> None:
    held, person = claimed(reviewer), Person(user_of(reviewer))
    said = draft(make.REFUSED, 4, note="<b>From yesterday</b>", explained=True)
    drafting.save_draft(token=held.token, reviewer=held.reviewer, revision=7, draft=said)
    page = person.client.get(reverse("review", args=[reviewer.project.key])).content.decode()
    assert 'data-revision="7"' in page
    assert "Your draft of" in page
    assert "&lt;b&gt;From yesterday&lt;/b&gt;</textarea>" in page
    for checked in ('value="refusal" checked', 'value="4" checked', 'name="explained" value="yes" checked'):
        assert checked in page
    sent = {"token": held.token, "decision": "refusal", "note": "From today"}
    complaint = person.client.post(reverse("review_submit", args=[reviewer.project.key]), sent).content.decode()
    assert "From today</textarea>" in complaint
    assert "From yesterday" not in complaint
