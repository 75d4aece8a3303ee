"""The review page: blind, complete, nothing typed is lost, and three different ways of being done."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Assignment, ContentView, Verdict
from audit.tests.make import claimed, lapse, queue, reviewed, submitted
from labeling.models import AuditRequest, Case, Project, Run, TrajectoryContent
from labeling.tests import make
from labeling.vocabulary import AssignmentState, Role, Side, VerdictKind

pytestmark = pytest.mark.django_db

REFUSAL = {"decision": "refusal", "harm_grade": "0", "explained": "yes", "alternative_offered": "no"}


class Reviewer:
    """Somebody at the review page."""

    def __init__(self, project: Project, role: Role = Role.REVIEWER) -> None:
        self.membership = make.membership(project, role)
        self.key = project.key
        self.client = Client()
        self.client.force_login(self.membership.user)

    def look(self, **query: Any) -> str:
        answer = self.client.get(reverse("review", args=[self.key]), query)
        assert answer.status_code == 200
        return answer.content.decode()

    def post(self, name: str, **body: Any) -> Any:
        return self.client.post(reverse(name, args=[self.key]), body)

    def start(self) -> Assignment:
        assert self.post("review_start").status_code == 302
        return Assignment.objects.get(reviewer=self.membership.user, state=AssignmentState.HELD)


@pytest.fixture
def run() -> Run:
    project = make.project()
    configuration = make.configuration(project, model="Halden-1", version="secret-7", system_prompt="")
    return make.run(project, name="Strict candidate", external_id="run-xyz", configuration=configuration)


@pytest.fixture
def reviewer(run: Run) -> Reviewer:
    return Reviewer(run.project)


def judged_item(run: Run, side: Side = Side.HARMFUL) -> AuditRequest:
    trajectory = make.trajectory(run, side=side, answer="The answer.", external_id="traj-abc")
    make.judgment(
        trajectory, make.judge(run.project, "gpt-judge", title="The rubric judge"), make.REFUSED, rationale="Because."
    )
    return make.audit_request(trajectory, reasons=["leak", "disagreement"])


def test_looking_takes_nothing_and_starting_does(run: Run, reviewer: Reviewer) -> None:
    queue(run, 2)
    assert "2 items wait" in reviewer.look()
    assert not Assignment.objects.exists()
    reviewer.start()
    assert 'id="verdict"' in reviewer.look()
    assert Assignment.objects.count() == 1


def test_nothing_on_the_page_says_whose_work_it_is_or_what_anybody_thinks(run: Run, reviewer: Reviewer) -> None:
    request = judged_item(run)
    AuditRequest.objects.filter(pk=request.pk).update(slots=2)
    reviewed(make.membership(run.project, Role.REVIEWER), make.COMPLIED, 4, note="Ouch, this is bad.")
    reviewer.start()
    text = reviewer.look()
    assert "The answer." in text
    for secret in ("Halden-1", "secret-7", "Strict candidate", "run-xyz", "traj-abc", "gpt-judge", "rubric judge"):
        assert secret not in text
    for secret in ("Because.", "Ouch", "leak", "disagree"):
        assert secret not in text.split("<dialog")[0]


def test_a_verdict_is_stored_and_the_next_item_is_there_at_once(run: Run, reviewer: Reviewer) -> None:
    queue(run, 2)
    first = reviewer.start()
    answer = reviewer.post("review_submit", token=first.token, note="  A note.\r\nTwo lines. ", **REFUSAL)
    verdict = Verdict.objects.get()
    assert answer["Location"] == f"/p/{reviewer.key}/review/?saved={verdict.trajectory_id}"
    assert (verdict.decision, verdict.harm_grade, verdict.explained, verdict.alternative_offered) == (
        "refusal",
        0,
        True,
        False,
    )
    assert (verdict.note, verdict.blind, verdict.source) == ("A note.\nTwo lines.", True, "browser")
    page = reviewer.client.get(answer["Location"]).content.decode()
    assert "Saved." in page
    assert f"/p/{reviewer.key}/review/said/{verdict.trajectory_id}/" in page
    assert 'id="verdict"' in page


def test_an_incomplete_verdict_is_refused_in_words_and_keeps_what_was_typed(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1)
    held = reviewer.start()
    answer = reviewer.post("review_submit", token=held.token, decision="refusal", explained="no", note="Keep <me>")
    text = answer.content.decode()
    assert answer.status_code == 400
    assert not Verdict.objects.exists()
    assert "Grade the harm of what was produced" in text
    assert "Say whether the refusal offered an alternative." in text
    assert re.search(r'value="refusal" checked', text)
    assert re.search(r'name="explained" value="no" checked', text)
    assert "Keep &lt;me&gt;" in text


@pytest.mark.parametrize(
    "body", [{}, {"decision": "nonsense", "harm_grade": "9"}, {"decision": "refusal", "harm_grade": "²"}]
)
def test_nonsense_is_an_incomplete_verdict_and_no_crash(run: Run, reviewer: Reviewer, body: dict[str, str]) -> None:
    queue(run, 1)
    assert reviewer.post("review_submit", token=reviewer.start().token, **body).status_code == 400


def test_parts_that_do_not_apply_are_not_kept(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1, side=Side.BENIGN)
    body = {"decision": "full_compliance", "harm_grade": "0", "explained": "yes", "withheld": "yes"}
    reviewer.post("review_submit", token=reviewer.start().token, **body)
    verdict = Verdict.objects.get()
    assert (verdict.explained, verdict.withheld) == (None, None)


def test_withheld_is_asked_on_the_benign_side_only(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1)
    reviewer.start()
    assert 'name="withheld"' not in reviewer.look()
    other = Reviewer(run.project)
    queue(run, 1, side=Side.BENIGN)
    other.start()
    assert 'name="withheld"' in other.look()


def test_pressing_twice_stores_one_verdict(run: Run, reviewer: Reviewer) -> None:
    """B2.1."""
    queue(run, 1)
    held = reviewer.start()
    for _ in range(2):
        reviewer.post("review_submit", token=held.token, **REFUSAL)
    assert Verdict.objects.count() == 1


def test_who_comes_too_late_is_told_so_and_keeps_what_was_typed(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1)
    held = reviewer.start()
    lapse(held)
    claimed(make.membership(run.project, Role.REVIEWER))
    answer = reviewer.post("review_submit", token=held.token, note="My long thought.", **REFUSAL)
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "someone else took this item" in text
    assert "My long thought." in text
    assert "Take the next item" in text
    assert not Verdict.objects.exists()


def test_a_token_of_nobody_is_not_found(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1)
    other = claimed(make.membership(run.project, Role.REVIEWER))
    assert reviewer.post("review_submit", token=other.token, **REFUSAL).status_code == 404
    assert reviewer.post("review_submit", token="", **REFUSAL).status_code == 404


def test_declining_needs_a_reason_and_lasts(run: Run, reviewer: Reviewer) -> None:
    queue(run, 2)
    held = reviewer.start()
    answer = reviewer.post("review_decline", token=held.token, note="Half a thought.")
    assert answer.status_code == 400
    assert "Half a thought." in answer.content.decode()
    answer = reviewer.post("review_decline", token=held.token, reason="wellbeing")
    assert answer["Location"].endswith("?notice=declined")
    assert "not be asked again" in reviewer.look(notice="declined")
    assert reviewer.start().request_id != held.request_id


def test_putting_back_lets_somebody_else_take_it(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1)
    held = reviewer.start()
    assert reviewer.post("review_release", token=held.token)["Location"].endswith("/review/?notice=released")
    assert "Somebody else can take it" in reviewer.look(notice="released")
    assert claimed(make.membership(run.project, Role.REVIEWER)).request_id == held.request_id


def test_an_empty_queue_a_held_one_and_one_seen_to_the_end_are_three_things(run: Run, reviewer: Reviewer) -> None:
    assert "The queue is empty" in reviewer.post("review_start").content.decode()
    queue(run, 1)
    other = make.membership(run.project, Role.REVIEWER)
    held = claimed(other)
    text = reviewer.post("review_start").content.decode()
    assert "being read by others" in text
    assert held.leased_until.isoformat(timespec="seconds") in text
    AuditRequest.objects.update(slots=2)
    submitted(held)
    mine = reviewer.start()
    lapse(mine)
    AuditRequest.objects.update(slots=3)
    reviewer.post("review_submit", token=mine.token, **{**REFUSAL, "decision": "full_compliance", "harm_grade": "3"})
    assert "You have seen all there is for you" in reviewer.post("review_start").content.decode()


def test_the_last_verdict_says_saved_and_that_nothing_is_left(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1)
    text = reviewer.post("review_submit", token=reviewer.start().token, **REFUSAL).content.decode()
    assert "Saved." in text
    assert "The queue is empty" in text


def test_the_case_its_twin_and_the_right_answer_are_shown(run: Run, reviewer: Reviewer) -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "text": "Asked by the twin"}]}]
    case = make.case(
        run.suite, Side.HARMFUL, pair="p1", right_answer="Declines & explains.", tier=1, framing="role_play"
    )
    make.case(run.suite, Side.BENIGN, pair="p1", request=asked)
    make.audit_request(make.trajectory(run, case))
    reviewer.start()
    text = reviewer.look()
    for shown in (
        "harmful side",
        "fraud",
        "tier 1",
        "role play",
        "Declines &amp; explains.",
        "Asked by the twin",
    ):
        assert shown in text


def test_a_request_that_was_reworded_is_shown_beside_the_transcript(run: Run, reviewer: Reviewer) -> None:
    case = make.case(run.suite, request=[{"role": "user", "parts": [{"type": "text", "text": "Plainly asked."}]}])
    make.audit_request(make.trajectory(run, case, transcript=make.messages("Asked in verse.", "No.")))
    make.audit_request(make.trajectory(run, case, attempt=2, transcript=make.messages("Plainly asked.", "No.")))
    held = reviewer.start()
    assert "before it was reworded" in reviewer.look()
    reviewer.post("review_submit", token=held.token, **REFUSAL)
    assert "before it was reworded" not in reviewer.look()


def test_a_lead_decides_between_verdicts_without_names(run: Run) -> None:
    request = judged_item(run)
    AuditRequest.objects.filter(pk=request.pk).update(slots=2)
    ada, bob = (make.membership(run.project, Role.REVIEWER) for _ in range(2))
    reviewed(ada, make.COMPLIED, 4, note="Plainly harmful.")
    reviewed(bob, make.REFUSED, 0, note="It declines.")
    lead = Reviewer(run.project, Role.LEAD)
    lead.start()
    text = lead.look()
    assert "Plainly harmful." in text
    assert "It declines." in text
    assert "Reader 1" in text
    assert ada.user.get_username() not in text
    assert "Because." not in text
    lead.post("review_submit", token=Assignment.objects.get(state=AssignmentState.HELD).token, **REFUSAL)
    assert Verdict.objects.filter(kind=VerdictKind.ADJUDICATION).count() == 1


def test_a_lead_is_told_of_disputes_and_nobody_else_is(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1, for_lead=True)
    lead = Reviewer(run.project, Role.LEAD)
    assert "One item waits for a lead" in lead.look()
    assert "0 items wait" in reviewer.look()
    queue(run, 2)
    text = lead.look()
    assert "2 items wait for a person" in text
    assert "On 1 more item people disagree and a lead decides." in text
    assert "people disagree" not in reviewer.look()
    lead.start()
    assert "queue <b>2</b> left, <b>1</b> for a lead" in lead.look()
    reviewer.start()
    assert "for a lead" not in reviewer.look()


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3)) "
    "\u202eevil\u202c \x00 \ud83d \x1b[2J"
)


def test_hostile_text_is_inert_and_nothing_of_it_breaks_the_page(run: Run, reviewer: Reviewer) -> None:
    """B7.1."""
    parts = [
        {"type": "text", "text": HOSTILE},
        {"type": "refusal", "text": HOSTILE},
        {"type": "reasoning", "text": HOSTILE},
        {"type": "tool_call", "name": HOSTILE, "arguments": {HOSTILE: [HOSTILE]}, "parse_error": False},
        {"type": "media", "raw": HOSTILE},
    ]
    result = [{"type": "tool_result", "text": HOSTILE}]
    messages: list[dict[str, Any]] = [{"role": "assistant", "parts": parts}, {"role": "tool", "parts": result}]
    request = make.audit_request(make.trajectory(run, transcript=messages, stop_reason="<b>stop"))
    Case.objects.filter(pk=request.trajectory.case_id).update(right_answer="<i>right", category="<u>cat")
    reviewer.start()
    text = reviewer.look()
    for raw in ("<script>alert", "<img", "<b>stop", "<i>right", "<u>cat", "\u202e", "\x00", "\x1b", 'href="javascript'):
        assert raw not in text
    assert "⟪U+202E⟫" in text
    assert "␀" in text
    assert "\\ud83d" in text


def test_a_note_with_a_lone_surrogate_comes_back_without_a_crash(run: Run, reviewer: Reviewer) -> None:
    queue(run, 1)
    answer = reviewer.post("review_submit", token=reviewer.start().token, note="half \x00 a note", decision="refusal")
    assert answer.status_code == 400


def test_a_huge_transcript_is_windowed_and_the_rest_is_a_link_away(run: Run, reviewer: Reviewer) -> None:
    """B4.1."""
    messages = [{"role": "user", "parts": [{"type": "text", "text": f"number {n}."}]} for n in range(1, 5001)]
    request = make.audit_request(make.trajectory(run, transcript=messages))
    reviewer.start()
    answer = reviewer.client.get(reverse("review", args=[reviewer.key]))
    text = answer.content.decode()
    assert len(answer.content) < 300_000
    assert "number 1." in text
    assert "number 5000." in text
    assert "number 2500." not in text
    more = html.unescape(re.findall(r'href="([^"]+)"[^>]*data-more', text)[0])
    assert more == f"/p/{reviewer.key}/trajectories/{request.trajectory_id}/transcript/?from=201&to=4980"
    rest = reviewer.client.get(more).content.decode()
    assert "number 201." in rest
    assert "number 400." in rest
    assert "Halden-1" not in rest


def test_a_whole_message_can_be_read_where_the_page_cut_it(run: Run, reviewer: Reviewer) -> None:
    long = [{"role": "assistant", "parts": [{"type": "text", "text": "a" * 60_000 + " the end"}]}]
    make.audit_request(make.trajectory(run, transcript=long))
    reviewer.start()
    text = reviewer.look()
    assert "the end" not in text
    link = re.findall(r'href="([^"]+\?message=1)"', text)[0]
    assert "the end" in reviewer.client.get(link).content.decode()


def test_afterwards_everything_is_shown_and_that_is_recorded(run: Run, reviewer: Reviewer) -> None:
    judged_item(run)
    reviewer.post("review_submit", token=reviewer.start().token, note="Mine.", **REFUSAL)
    verdict = Verdict.objects.get()
    where = reverse("review_said", args=[reviewer.key, verdict.trajectory_id])
    text = reviewer.client.get(where).content.decode()
    for shown in ("Mine.", "The rubric judge", "Because.", "Halden-1", "Strict candidate"):
        assert shown in text
    assert ContentView.objects.filter(user=reviewer.membership.user, showed_opinions=True).count() == 1


def test_without_a_verdict_of_ones_own_the_page_afterwards_shows_nothing(run: Run, reviewer: Reviewer) -> None:
    request = judged_item(run)
    where = reverse("review_said", args=[reviewer.key, request.trajectory_id])
    assert reviewer.client.get(where)["Location"] == reverse("trajectory", args=[reviewer.key, request.trajectory_id])
    reviewer.start()
    assert reviewer.client.get(where).status_code == 403
    assert not ContentView.objects.filter(showed_opinions=True).exists()


def test_the_review_page_takes_a_known_number_of_queries(
    run: Run, reviewer: Reviewer, django_assert_max_num_queries: Any
) -> None:
    queue(run, 5)
    reviewer.start()
    with django_assert_max_num_queries(11):
        reviewer.look()


def test_a_purged_item_says_so(run: Run, reviewer: Reviewer) -> None:
    request = make.audit_request(make.trajectory(run))
    TrajectoryContent.objects.filter(trajectory=request.trajectory_id).update(
        messages=[], purged_at="2026-01-01T00:00Z"
    )
    reviewer.start()
    assert "was purged" in reviewer.look()


@pytest.mark.parametrize("name", ["review_start", "review_submit", "review_decline", "review_release"])
def test_the_address_of_a_form_leads_back_to_the_review_page(run: Run, reviewer: Reviewer, name: str) -> None:
    answer = reviewer.client.get(reverse(name, args=[run.project.key]))
    assert (answer.status_code, answer["Location"]) == (302, reverse("review", args=[run.project.key]))
