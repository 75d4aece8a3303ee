"""Holding an item, giving it back, and saying what one thinks of it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import Assignment, Decline, Verdict
from audit.selectors.places import NothingLeft
from audit.services import history, reviewing
from audit.services.reviewing import Submitted, VerdictInput
from audit.tests.make import (
    at_once,
    claimed,
    draft,
    drawn,
    historic,
    lapse,
    queue,
    reviewed,
    saw_opinions,
    submitted,
    user_of,
)
from labeling.errors import Conflict, DomainError, NotAllowed, NotFound
from labeling.models import AuditRequest, Membership, Trajectory
from labeling.tests import make
from labeling.vocabulary import (
    AssignmentState,
    LabelSource,
    RequestState,
    Role,
    Side,
    TrajectoryStatus,
    VerdictKind,
    VerdictSource,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_() -> AuditRequest:
    """One open request of one slot, on the harmful side, threshold 2."""
    (made,) = queue(make.run(), 1)
    return made


@pytest.fixture
def reviewer(request_: AuditRequest) -> Membership:
    return make.membership(request_.project, Role.REVIEWER)


@pytest.fixture
def colleague(request_: AuditRequest) -> Membership:
    return make.membership(request_.project, Role.REVIEWER)


def state_of(assignment: Assignment) -> str:
    return Assignment.objects.get(pk=assignment.pk).state


def submit(assignment: Assignment, draft: VerdictInput) -> Submitted:
    return reviewing.submit_verdict(token=assignment.token, reviewer=assignment.reviewer, draft=draft)


# --- the lease ---------------------------------------------------------------------------------------------------


def test_a_heartbeat_extends_the_lease(reviewer: Membership) -> None:
    held = claimed(reviewer)
    Assignment.objects.filter(pk=held.pk).update(leased_until=timezone.now() + timedelta(seconds=5))
    until = reviewing.renew(token=held.token, reviewer=held.reviewer)
    assert until > timezone.now() + timedelta(minutes=14)
    assert Assignment.objects.get(pk=held.pk).leased_until == until


def test_a_heartbeat_after_the_end_takes_the_item_up_again_if_nobody_took_it(reviewer: Membership) -> None:
    held = claimed(reviewer)
    lapse(held)
    reviewing.renew(token=held.token, reviewer=held.reviewer)
    assert claimed(reviewer).pk == held.pk


def test_a_heartbeat_takes_up_what_was_marked_expired_while_the_slot_is_free(
    reviewer: Membership, colleague: Membership
) -> None:
    held = claimed(reviewer)
    lapse(held)
    taken = claimed(colleague)
    reviewing.release(token=taken.token, reviewer=taken.reviewer)
    assert state_of(held) == AssignmentState.EXPIRED
    reviewing.renew(token=held.token, reviewer=held.reviewer)
    assert state_of(held) == AssignmentState.HELD


def test_a_heartbeat_for_an_item_someone_else_took_says_who_and_until_when(
    reviewer: Membership, colleague: Membership
) -> None:
    """B1.5, B1.11: the loser hears 409 with holder and expiry, not that the item was deleted."""
    held = claimed(reviewer)
    lapse(held)
    taken = claimed(colleague)
    with pytest.raises(Conflict) as raised:
        reviewing.renew(token=held.token, reviewer=held.reviewer)
    assert raised.value.details == {"holder": "someone else", "until": taken.leased_until.isoformat()}


def test_a_heartbeat_cannot_put_a_second_item_in_hand(request_: AuditRequest, reviewer: Membership) -> None:
    held = claimed(reviewer)
    lapse(held)
    queue(request_.trajectory.run, 1, priority=1)
    claimed(reviewer)
    with pytest.raises(Conflict, match="another item"):
        reviewing.renew(token=held.token, reviewer=held.reviewer)


def test_a_released_item_is_anybodys_at_once_and_releasing_twice_is_nothing(
    reviewer: Membership, colleague: Membership
) -> None:
    """B1.4."""
    held = claimed(reviewer)
    for _ in range(2):
        reviewing.release(token=held.token, reviewer=held.reviewer)
    assert state_of(held) == AssignmentState.RELEASED
    assert claimed(colleague).request_id == held.request_id


@pytest.mark.parametrize("token", ["", "nonsense"])
def test_a_token_that_names_nothing_is_not_found(reviewer: Membership, token: str) -> None:
    with pytest.raises(NotFound):
        reviewing.renew(token=token, reviewer=user_of(reviewer))


def test_somebody_elses_token_is_as_good_as_none(reviewer: Membership, colleague: Membership) -> None:
    held = claimed(reviewer)
    with pytest.raises(NotFound):
        reviewing.submit_verdict(token=held.token, reviewer=user_of(colleague), draft=draft())
    with pytest.raises(NotFound):
        reviewing.release(token=held.token, reviewer=user_of(colleague))
    assert state_of(held) == AssignmentState.HELD


# --- declining ---------------------------------------------------------------------------------------------------


def test_what_a_person_declined_goes_to_somebody_else_and_never_back(
    request_: AuditRequest, reviewer: Membership, colleague: Membership
) -> None:
    """B1.9: a decline is no review, and outlives the slot."""
    held = claimed(reviewer)
    for _ in range(2):
        reviewing.decline(token=held.token, reviewer=held.reviewer, reason="wellbeing")
    assert Decline.objects.get().reason == "wellbeing"
    assert state_of(held) == AssignmentState.DECLINED
    assert reviewing.claim(membership=reviewer) == NothingLeft("seen_all", None, 1)
    assert claimed(colleague).request_id == request_.pk


def test_a_decline_needs_one_of_the_reasons(reviewer: Membership) -> None:
    held = claimed(reviewer)
    with pytest.raises(DomainError, match="wellbeing, conflict_of_interest, language, unclear"):
        reviewing.decline(token=held.token, reviewer=held.reviewer, reason="lunch")
    assert state_of(held) == AssignmentState.HELD


def test_a_verdict_cannot_be_declined_away(reviewer: Membership) -> None:
    held = claimed(reviewer)
    submitted(held)
    with pytest.raises(Conflict):
        reviewing.decline(token=held.token, reviewer=held.reviewer, reason="unclear")
    assert not Decline.objects.exists()


def test_who_declined_cannot_submit_after_all(reviewer: Membership) -> None:
    held = claimed(reviewer)
    reviewing.decline(token=held.token, reviewer=held.reviewer, reason="unclear")
    with pytest.raises(Conflict, match="declined"):
        submit(held, draft())


# --- the verdict -------------------------------------------------------------------------------------------------


def test_the_only_verdict_of_a_one_slot_item_settles_it(request_: AuditRequest, reviewer: Membership) -> None:
    held = claimed(reviewer)
    Assignment.objects.filter(pk=held.pk).update(claimed_at=timezone.now() - timedelta(seconds=90))
    verdict = submitted(held, make.COMPLIED, 3, note="Step by step.", confidence=4)
    assert (verdict.kind, verdict.source, verdict.blind) == (VerdictKind.REVIEW, VerdictSource.BROWSER, True)
    assert (verdict.note, verdict.confidence) == ("Step by step.", 4)
    assert verdict.seconds_taken in (90, 91)
    assert state_of(held) == AssignmentState.SUBMITTED
    row = Trajectory.objects.get(pk=request_.trajectory_id)
    assert (row.status, row.label_source, row.label_error) == (TrajectoryStatus.SETTLED, LabelSource.HUMAN, True)
    assert row.has_truth
    assert AuditRequest.objects.get().state == RequestState.DONE


def test_the_same_verdict_sent_twice_is_stored_once(reviewer: Membership) -> None:
    """B2.1, B2.2: the second answer is the first."""
    held = claimed(reviewer)
    said = draft(make.COMPLIED, 3, note="\0 \ud83d", evidence=[{"score": float("nan")}])
    first = submit(held, said)
    again = submit(held, said)
    assert (first.created, again.created) == (True, False)
    assert again.verdict.pk == first.verdict.pk
    assert Verdict.objects.get().decision == make.COMPLIED


@pytest.mark.parametrize(
    "other",
    [
        draft(make.REFUSED, 0),
        draft(make.COMPLIED, 3, note="On second thought."),
        VerdictInput(decision=None, harm_grade=0),
    ],
    ids=["another decision", "another note", "half of one"],
)
def test_another_verdict_under_the_same_claim_is_refused_and_the_first_stands(
    reviewer: Membership, other: VerdictInput
) -> None:
    """B2.2: the token of the claim is the key; another body under it is a conflict, not a silent replay."""
    held = claimed(reviewer)
    first = submit(held, draft(make.COMPLIED, 3))
    with pytest.raises(Conflict, match="that one stands") as raised:
        submit(held, other)
    assert raised.value.details == {"verdict": first.verdict.pk}
    assert Verdict.objects.get().decision == make.COMPLIED


@pytest.mark.django_db(transaction=True)
def test_a_double_click_stores_one_verdict(reviewer: Membership) -> None:
    """B2.1: two requests in the same moment."""
    held = claimed(reviewer)
    answers = at_once(*(lambda: submit(held, draft()) for _ in range(4)))
    assert sorted(answer.created for answer in answers) == [False, False, False, True]
    assert len({answer.verdict.pk for answer in answers}) == 1


def test_an_incomplete_verdict_is_refused_and_names_what_is_missing(reviewer: Membership) -> None:
    """B2.4: the server refuses a blank draft, whichever way it came."""
    held = claimed(reviewer)
    with pytest.raises(DomainError, match="not complete") as raised:
        submit(held, VerdictInput(decision=make.REFUSED, harm_grade=None, explained=True))
    assert set(raised.value.details["missing"]) == {"harm_grade", "alternative_offered"}
    assert not Verdict.objects.exists()
    assert state_of(held) == AssignmentState.HELD


def test_parts_that_do_not_apply_are_not_kept(reviewer: Membership) -> None:
    verdict = submitted(claimed(reviewer), make.COMPLIED, 3, explained=True, withheld=True)
    assert (verdict.explained, verdict.alternative_offered, verdict.withheld) == (None, None, None)


@pytest.mark.parametrize("parts", [{"confidence": 6}, {"case_problem": "a\0b"}, {"note": "n" * 20_001}])
def test_what_cannot_be_kept_is_refused(reviewer: Membership, parts: dict[str, object]) -> None:
    with pytest.raises(DomainError):
        submit(claimed(reviewer), draft(make.COMPLIED, 3, **parts))


def test_a_note_comes_back_as_it_was_written(reviewer: Membership) -> None:
    """B2.11; NUL and lone surrogates too, for a note may quote what a model wrote."""
    verdict = submitted(claimed(reviewer), note="quote: \0 \ud83d שלום 👩‍👩‍👧")
    assert Verdict.objects.get(pk=verdict.pk).note == "quote: \0 \ud83d שלום 👩‍👩‍👧"


# --- too late ----------------------------------------------------------------------------------------------------


def test_a_late_verdict_is_accepted_when_nobody_else_took_the_item(reviewer: Membership) -> None:
    held = claimed(reviewer)
    lapse(held)
    assert submit(held, draft()).created


@pytest.mark.parametrize("ending", ["expired", "released"])
def test_a_late_verdict_is_accepted_when_the_slot_is_free_again(
    request_: AuditRequest, reviewer: Membership, colleague: Membership, ending: str
) -> None:
    held = claimed(reviewer)
    Assignment.objects.filter(pk=held.pk).update(state=ending, ended_at=timezone.now())
    lapse(claimed(colleague))
    assert submit(held, draft()).created
    assert state_of(held) == AssignmentState.SUBMITTED


def test_a_late_verdict_is_refused_when_someone_else_holds_it(reviewer: Membership, colleague: Membership) -> None:
    """B1.10, B1.11: 409 with holder and expiry; the other's claim is untouched."""
    held = claimed(reviewer)
    lapse(held)
    taken = claimed(colleague)
    with pytest.raises(Conflict) as raised:
        submit(held, draft())
    assert raised.value.details == {"holder": "someone else", "until": taken.leased_until.isoformat()}
    assert submit(taken, draft(make.REFUSED, 0)).created
    assert Verdict.objects.get().reviewer_id == colleague.user_id
    with pytest.raises(Conflict, match="finished"):
        submit(held, draft())


def test_a_late_verdict_takes_another_free_slot_of_the_item(
    request_: AuditRequest, reviewer: Membership, colleague: Membership
) -> None:
    AuditRequest.objects.update(slots=2)
    held = claimed(reviewer)
    lapse(held)
    assert claimed(colleague).slot == 1
    assert submit(held, draft()).created
    assert Assignment.objects.get(pk=held.pk).slot == 2


def test_a_heartbeat_never_revives_what_was_given_back_or_given(reviewer: Membership) -> None:
    held = claimed(reviewer)
    reviewing.release(token=held.token, reviewer=held.reviewer)
    with pytest.raises(Conflict, match="claim again"):
        reviewing.renew(token=held.token, reviewer=held.reviewer)
    again = claimed(reviewer)
    assert reviewing.renew(token=held.token, reviewer=held.reviewer) > again.leased_until
    submitted(again)
    with pytest.raises(Conflict, match="it stands"):
        reviewing.renew(token=held.token, reviewer=held.reviewer)


def test_an_old_tab_submits_through_the_claim_made_since(reviewer: Membership, colleague: Membership) -> None:
    old = claimed(reviewer)
    lapse(old)
    between = claimed(colleague)
    reviewing.release(token=between.token, reviewer=between.reviewer)
    new = claimed(reviewer)
    assert new.pk != old.pk
    first = submit(old, draft())
    again = submit(new, draft())
    assert (first.created, again.created) == (True, False)
    assert Verdict.objects.get().assignment_id == new.pk


def test_a_deactivated_member_submits_nothing(reviewer: Membership) -> None:
    held = claimed(reviewer)
    Membership.objects.filter(pk=reviewer.pk).update(active=False)
    with pytest.raises(NotFound):
        submit(held, draft())


def test_who_has_become_a_viewer_submits_nothing(reviewer: Membership) -> None:
    held = claimed(reviewer)
    Membership.objects.filter(pk=reviewer.pk).update(role=Role.VIEWER)
    with pytest.raises(NotAllowed):
        submit(held, draft())


# --- two people --------------------------------------------------------------------------------------------------


@pytest.fixture
def lead(request_: AuditRequest) -> Membership:
    return make.membership(request_.project, Role.LEAD)


@pytest.fixture
def double(request_: AuditRequest) -> Trajectory:
    """The trajectory of the one request, which now has two slots."""
    AuditRequest.objects.update(slots=2)
    trajectory: Trajectory = request_.trajectory
    return trajectory


def label(trajectory: Trajectory) -> tuple[str, str, bool | None]:
    row = Trajectory.objects.get(pk=trajectory.pk)
    return row.status, row.label_source, row.label_error


def test_the_first_of_two_finishes_nothing(double: Trajectory, reviewer: Membership) -> None:
    """B1.19, B2.10: the state follows from the required readings, not from whoever was first."""
    reviewed(reviewer)
    assert label(double) == (TrajectoryStatus.NEEDS_AUDIT, LabelSource.NONE, None)
    assert AuditRequest.objects.get().state == RequestState.OPEN


def test_two_who_agree_settle_at_the_higher_of_two_close_grades(
    double: Trajectory, reviewer: Membership, colleague: Membership
) -> None:
    reviewed(reviewer, make.COMPLIED, 2)
    reviewed(colleague, make.COMPLIED, 3)
    assert label(double) == (TrajectoryStatus.SETTLED, LabelSource.HUMAN, True)
    assert Trajectory.objects.get(pk=double.pk).label_harm_grade == 3


def test_two_who_disagree_go_to_a_lead_who_settles_it(
    double: Trajectory, reviewer: Membership, colleague: Membership, lead: Membership
) -> None:
    reviewed(reviewer, make.COMPLIED, 3)
    reviewed(colleague, make.REFUSED, 0)
    assert label(double) == (TrajectoryStatus.NEEDS_AUDIT, LabelSource.NONE, None)
    assert AuditRequest.objects.get().for_lead
    assert isinstance(reviewing.claim(membership=make.membership(double.run.project, Role.REVIEWER)), NothingLeft)

    verdict = reviewed(lead, make.REFUSED, 1)

    assert (verdict.kind, verdict.blind) == (VerdictKind.ADJUDICATION, True)
    assert label(double) == (TrajectoryStatus.SETTLED, LabelSource.ADJUDICATION, False)
    assert AuditRequest.objects.get().state == RequestState.DONE
    assert Verdict.objects.count() == 3


def test_a_lead_who_gave_one_of_the_disputed_verdicts_does_not_decide_the_dispute(
    double: Trajectory, reviewer: Membership, lead: Membership
) -> None:
    reviewed(reviewer, make.COMPLIED, 3)
    reviewed(lead, make.REFUSED, 0)
    assert reviewing.claim(membership=lead) == NothingLeft("seen_all", None, 1)
    assert reviewed(make.membership(double.run.project, Role.ADMIN)).kind == VerdictKind.ADJUDICATION


def test_a_third_reading_begun_before_the_dispute_is_no_adjudication(
    double: Trajectory, reviewer: Membership, colleague: Membership, lead: Membership
) -> None:
    AuditRequest.objects.update(slots=3)
    third = claimed(make.membership(double.run.project, Role.REVIEWER))
    reviewed(reviewer, make.COMPLIED, 3)
    reviewed(colleague, make.REFUSED, 0)
    decides = claimed(lead)
    assert submitted(third, make.COMPLIED, 3).kind == VerdictKind.REVIEW
    assert label(double) == (TrajectoryStatus.NEEDS_AUDIT, LabelSource.NONE, None)
    assert submitted(decides, make.COMPLIED, 4).kind == VerdictKind.ADJUDICATION
    assert label(double) == (TrajectoryStatus.SETTLED, LabelSource.ADJUDICATION, True)


def test_a_late_reading_of_a_disputed_item_takes_a_readers_slot_and_never_the_leads(
    double: Trajectory, reviewer: Membership, colleague: Membership
) -> None:
    AuditRequest.objects.update(slots=3)
    late, later = (claimed(make.membership(double.run.project, Role.REVIEWER)) for _ in range(2))
    for held in (late, later):
        Assignment.objects.filter(pk=held.pk).update(state=AssignmentState.EXPIRED)
    reviewed(reviewer, make.COMPLIED, 3)
    reviewed(colleague, make.REFUSED, 0)
    assert submitted(late).kind == VerdictKind.REVIEW
    with pytest.raises(Conflict):
        submit(later, draft())


def test_a_late_adjudication_is_accepted_while_no_other_lead_decides(
    double: Trajectory, reviewer: Membership, colleague: Membership, lead: Membership
) -> None:
    reviewed(reviewer, make.COMPLIED, 3)
    reviewed(colleague, make.REFUSED, 0)
    held = claimed(lead)
    lapse(held)
    other = claimed(make.membership(double.run.project, Role.LEAD))
    with pytest.raises(Conflict):
        submit(held, draft())
    reviewing.release(token=other.token, reviewer=other.reviewer)
    assert submitted(held).kind == VerdictKind.ADJUDICATION


def test_a_verdict_that_contradicts_a_historic_one_goes_to_a_lead(
    request_: AuditRequest, reviewer: Membership, lead: Membership
) -> None:
    held = claimed(reviewer)
    history.store_verdicts(run=request_.trajectory.run, lines=[historic(request_.trajectory)], blind=True)
    submitted(held, make.REFUSED, 0)
    assert AuditRequest.objects.get().for_lead
    assert reviewed(lead).kind == VerdictKind.ADJUDICATION


# --- blindness ---------------------------------------------------------------------------------------------------


def test_a_verdict_after_seeing_opinions_is_not_blind(request_: AuditRequest, reviewer: Membership) -> None:
    """RULES 7: it labels the trajectory, and is no truth."""
    saw_opinions(reviewer, request_.trajectory)
    assert not reviewed(reviewer).blind
    row = Trajectory.objects.get(pk=request_.trajectory_id)
    assert (row.label_source, row.has_truth) == (LabelSource.HUMAN, False)


def test_what_others_saw_or_what_was_seen_elsewhere_leaves_a_verdict_blind(
    request_: AuditRequest, reviewer: Membership, colleague: Membership
) -> None:
    saw_opinions(colleague, request_.trajectory)
    saw_opinions(reviewer, make.trajectory(request_.trajectory.run))
    assert reviewed(reviewer).blind


def test_a_drawn_item_stays_open_to_another_person_after_a_verdict_that_is_not_blind(
    request_: AuditRequest, reviewer: Membership, colleague: Membership
) -> None:
    """RULES 13."""
    drawn(request_.trajectory)
    saw_opinions(reviewer, request_.trajectory)
    reviewed(reviewer)
    assert reviewing.claim(membership=reviewer) == NothingLeft("seen_all", None, 1)
    assert reviewed(colleague).blind
    assert AuditRequest.objects.get().state == RequestState.DONE
    assert Trajectory.objects.get(pk=request_.trajectory_id).has_truth


def test_a_draw_wants_a_blind_reading_where_a_lead_who_had_seen_the_judges_decided(
    double: Trajectory, reviewer: Membership, colleague: Membership, lead: Membership
) -> None:
    drawn(double)
    reviewed(reviewer, make.COMPLIED, 3)
    reviewed(colleague, make.REFUSED, 0)
    saw_opinions(lead, double)
    assert not reviewed(lead).blind
    assert label(double)[1] == LabelSource.ADJUDICATION
    assert reviewed(make.membership(double.run.project, Role.LEAD)).blind
    assert label(double)[0] == TrajectoryStatus.SETTLED


# --- always ------------------------------------------------------------------------------------------------------


def test_whatever_needs_audit_can_be_claimed_by_somebody() -> None:
    """B1.20: one actionable state for each item, whatever has happened to it."""
    run = make.run()
    requests = queue(run, 4, slots=2) + queue(run, 2, side=Side.BENIGN)
    drawn(*(request.trajectory for request in requests[:4]))
    one, two = (make.membership(run.project, Role.REVIEWER) for _ in range(2))
    saw_opinions(one, requests[0].trajectory)
    reviewed(one)
    reviewed(two, make.REFUSED, 0)
    reviewed(one, make.COMPLIED, 2)
    lapse(claimed(two))
    history.store_verdicts(run=run, lines=[historic(requests[4].trajectory)], blind=False)
    waiting = Trajectory.objects.filter(status=TrajectoryStatus.NEEDS_AUDIT).count()
    assert waiting == AuditRequest.objects.filter(state=RequestState.OPEN).count() > 0

    for number in range(30):
        seat = make.membership(run.project, Role.LEAD if number % 2 else Role.REVIEWER)
        while isinstance(answer := reviewing.claim(membership=seat), Assignment):
            submitted(answer, make.COMPLIED, 3)
        if not Trajectory.objects.filter(status=TrajectoryStatus.NEEDS_AUDIT).exists():
            break
    assert not Trajectory.objects.filter(status=TrajectoryStatus.NEEDS_AUDIT).exists()
    assert not AuditRequest.objects.filter(state=RequestState.OPEN).exists()
