"""Handing out items: one holder a slot, whoever asks and however many ask at once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from audit.models import Assignment, ContentView
from audit.selectors.places import FIRST_ADJUDICATING_SLOT, NothingLeft
from audit.services import history, reviewing
from audit.tests.make import at_once, claimed, drawn, historic, lapse, queue, reviewed, submitted
from labeling.errors import NotAllowed
from labeling.models import AuditDraw, AuditRequest, DrawStratum, Membership
from labeling.tests import make
from labeling.vocabulary import AssignmentState, RequestState, Role

transactional = pytest.mark.django_db(transaction=True)


def claiming(membership: Membership) -> Callable[[], Assignment | NothingLeft]:
    return lambda: reviewing.claim(membership=membership)


# --- many at once ------------------------------------------------------------------------------------------------


@transactional
@pytest.mark.parametrize("people", [8, 18, 20])
def test_people_claiming_at_once_never_share_an_item(people: int) -> None:
    """B1.1, B1.14, B1.18: ten items give ten distinct claims; the others hear that all are held."""
    run = make.run()
    queue(run, 10)
    seats = [make.membership(run.project, Role.REVIEWER) for _ in range(people)]

    answers = at_once(*(claiming(seat) for seat in seats))

    handed = [answer.request_id for answer in answers if isinstance(answer, Assignment)]
    others = [answer for answer in answers if isinstance(answer, NothingLeft)]
    assert len(handed) == len(set(handed)) == min(people, 10)
    assert len(others) == max(people - 10, 0)
    assert all(answer.kind == "all_held" and answer.until and answer.left == 10 for answer in others)
    assert Assignment.objects.filter(state=AssignmentState.HELD).count() == len(handed)


@transactional
def test_the_slots_of_one_item_are_never_oversubscribed() -> None:
    """B1.18: eight people, one item of three slots: three hold it, in slots one to three."""
    run = make.run()
    queue(run, 1, slots=3)
    seats = [make.membership(run.project, Role.REVIEWER) for _ in range(8)]

    answers = at_once(*(claiming(seat) for seat in seats))

    assert sum(isinstance(answer, Assignment) for answer in answers) == 3
    assert sorted(Assignment.objects.values_list("slot", flat=True)) == [1, 2, 3]


@transactional
def test_one_person_pressing_the_button_in_four_tabs_holds_one_item() -> None:
    run = make.run()
    queue(run, 10)
    seat = make.membership(run.project, Role.REVIEWER)

    answers = at_once(*(claiming(seat) for _ in range(4)))

    assert len({answer.pk for answer in answers if isinstance(answer, Assignment)}) == 1
    assert Assignment.objects.count() == 1


@transactional
def test_a_queue_worked_off_by_eight_at_once_loses_and_doubles_nothing() -> None:
    """B1.16: every item gets exactly one verdict."""
    run = make.run()
    queue(run, 40)
    seats = [make.membership(run.project, Role.REVIEWER) for _ in range(8)]

    def work(seat: Membership) -> int:
        done = 0
        while isinstance(answer := reviewing.claim(membership=seat), Assignment):
            submitted(answer)
            done += 1
        return done

    done = at_once(*((lambda seat=seat: work(seat)) for seat in seats))

    # Somebody may leave while the last items are in others' hands; nobody leaves one behind.
    assert sum(done) == 40
    assert not AuditRequest.objects.filter(state=RequestState.OPEN).exists()
    assert not Assignment.objects.exclude(state=AssignmentState.SUBMITTED).exists()


# --- which item --------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_items_come_in_the_order_of_the_queue() -> None:
    run = make.run()
    late, early = queue(run, 2, priority=5)
    (grave,) = queue(run, 1, priority=1)
    AuditRequest.objects.filter(pk=late.pk).update(shuffle=7)
    AuditRequest.objects.filter(pk=early.pk).update(shuffle=3)
    seat = make.membership(run.project, Role.REVIEWER)
    assert [reviewed(seat).trajectory_id for _ in range(3)] == [
        request.trajectory_id for request in (grave, early, late)
    ]


@pytest.mark.django_db
def test_claiming_again_gives_the_same_item_and_a_new_lease() -> None:
    """B2.15: a reload shows the item one holds."""
    run = make.run()
    queue(run, 2)
    seat = make.membership(run.project, Role.REVIEWER)
    first = claimed(seat)
    Assignment.objects.filter(pk=first.pk).update(leased_until=timezone.now() + timedelta(seconds=5))
    again = claimed(seat)
    assert (again.pk, again.token) == (first.pk, first.token)
    assert again.leased_until > timezone.now() + timedelta(minutes=14)


@pytest.mark.django_db
def test_an_abandoned_item_is_handed_to_the_next_person_without_any_job() -> None:
    """B1.3: nothing has to run for a lease to end."""
    run = make.run()
    (request,) = queue(run, 1)
    gone = claimed(make.membership(run.project, Role.REVIEWER))
    lapse(gone)
    assert claimed(make.membership(run.project, Role.REVIEWER)).request_id == request.pk
    gone.refresh_from_db()
    assert gone.state == AssignmentState.EXPIRED
    assert gone.ended_at is not None


@pytest.mark.django_db
def test_an_item_of_two_slots_is_read_by_two_people_and_by_nobody_twice() -> None:
    """B1.9, B1.12: reviews of one item need no other product, only a slot each."""
    run = make.run()
    queue(run, 1, slots=2)
    one, two, three = (make.membership(run.project, Role.REVIEWER) for _ in range(3))
    assert [claimed(one).slot, claimed(two).slot] == [1, 2]
    submitted(claimed(one))
    assert reviewing.claim(membership=one) == NothingLeft("seen_all", None, 1)
    assert isinstance(reviewing.claim(membership=three), NothingLeft)
    submitted(claimed(two))
    assert reviewing.claim(membership=one) == NothingLeft("empty", None, 0)


@pytest.mark.django_db
def test_raising_the_slots_adds_a_slot_and_nothing_else() -> None:
    """B1.9: what was said and what is held stay as they are."""
    run = make.run()
    (request,) = queue(run, 1, slots=2)
    one, two, three = (make.membership(run.project, Role.REVIEWER) for _ in range(3))
    reviewed(one)
    held = claimed(two)
    AuditRequest.objects.filter(pk=request.pk).update(slots=3)
    assert claimed(three).slot == 3
    held.refresh_from_db()
    assert (held.slot, held.state) == (2, AssignmentState.HELD)
    assert isinstance(reviewing.claim(membership=one), NothingLeft)


@pytest.mark.django_db
def test_a_historic_verdict_fills_a_slot() -> None:
    run = make.run()
    (request,) = queue(run, 1, slots=2)
    history.store_verdicts(run=run, lines=[historic(request.trajectory)], blind=True)
    one, two = (make.membership(run.project, Role.REVIEWER) for _ in range(2))
    claimed(one)
    answer = reviewing.claim(membership=two)
    assert isinstance(answer, NothingLeft)
    assert answer.kind == "all_held"


@pytest.mark.django_db
def test_a_request_settled_by_historic_verdicts_is_never_handed_out() -> None:
    run = make.run()
    (request,) = queue(run, 1)
    history.store_verdicts(run=run, lines=[historic(request.trajectory)], blind=False)
    seat = make.membership(run.project, Role.REVIEWER)
    assert reviewing.claim(membership=seat) == NothingLeft("empty", None, 0)


@pytest.mark.django_db
def test_disputes_are_handed_to_leads_only_and_in_the_same_order() -> None:
    run = make.run()
    ordinary, dispute, later = queue(run, 3)
    AuditRequest.objects.filter(pk=dispute.pk).update(for_lead=True, slots=3)
    reviewer, lead = make.membership(run.project, Role.REVIEWER), make.membership(run.project, Role.LEAD)
    assert claimed(lead).request_id == ordinary.pk
    submitted(claimed(lead))
    assert claimed(lead).request_id == dispute.pk
    assert claimed(lead).slot == FIRST_ADJUDICATING_SLOT
    assert claimed(reviewer).request_id == later.pk
    submitted(claimed(reviewer))
    assert reviewing.claim(membership=reviewer) == NothingLeft("seen_all", None, 1)


@pytest.mark.django_db
def test_who_is_no_lead_any_more_loses_the_dispute_they_held() -> None:
    run = make.run()
    queue(run, 1, for_lead=True)
    lead = make.membership(run.project, Role.LEAD)
    held = claimed(lead)
    Membership.objects.filter(pk=lead.pk).update(role=Role.REVIEWER)
    assert isinstance(reviewing.claim(membership=lead), NothingLeft)
    held.refresh_from_db()
    assert held.state == AssignmentState.EXPIRED


@pytest.mark.django_db
def test_nobody_is_handed_an_item_of_another_project() -> None:
    queue(make.run(), 3)
    outsider = make.membership(make.project(), Role.ADMIN)
    assert reviewing.claim(membership=outsider) == NothingLeft("empty", None, 0)


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "active"), [(Role.VIEWER, True), (Role.LEAD, False)])
def test_viewers_and_deactivated_members_are_handed_nothing(role: Role, active: bool) -> None:
    run = make.run()
    queue(run, 1)
    seat = make.membership(run.project, role)
    Membership.objects.filter(pk=seat.pk).update(active=active)
    with pytest.raises(NotAllowed):
        reviewing.claim(membership=seat)


# --- why nothing -------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_empty_held_and_seen_are_three_different_answers() -> None:
    """B1.2, B1.8: "nothing left" is never said of items that others hold, and says until when."""
    run = make.run()
    one, two = (make.membership(run.project, Role.REVIEWER) for _ in range(2))
    assert reviewing.claim(membership=one) == NothingLeft("empty", None, 0)
    queue(run, 2)
    first, second = claimed(one), claimed(make.membership(run.project, Role.REVIEWER))
    Assignment.objects.filter(pk=first.pk).update(leased_until=second.leased_until - timedelta(minutes=3))
    assert reviewing.claim(membership=two) == NothingLeft("all_held", second.leased_until - timedelta(minutes=3), 2)
    reviewing.decline(token=first.token, reviewer=first.reviewer, reason="wellbeing")
    submitted(second)
    assert reviewing.claim(membership=one) == NothingLeft("seen_all", None, 1)
    assert claimed(two).request_id == first.request_id


@pytest.mark.django_db
def test_an_item_that_others_hold_and_this_person_declined_is_nothing_to_wait_for() -> None:
    run = make.run()
    queue(run, 1)
    one, two = (make.membership(run.project, Role.REVIEWER) for _ in range(2))
    declined = claimed(one)
    reviewing.decline(token=declined.token, reviewer=declined.reviewer, reason="language")
    claimed(two)
    assert reviewing.claim(membership=one) == NothingLeft("seen_all", None, 1)


# --- what a claim leaves behind ----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_who_opened_which_content_is_recorded_once() -> None:
    run = make.run()
    (request,) = queue(run, 1)
    seat = make.membership(run.project, Role.REVIEWER)
    held = claimed(seat)
    reviewing.release(token=held.token, reviewer=held.reviewer)
    claimed(seat)
    view = ContentView.objects.get()
    assert (view.trajectory_id, view.user_id, view.showed_opinions) == (request.trajectory_id, seat.user_id, False)


@pytest.mark.django_db
def test_handing_out_a_member_of_a_draw_raises_the_cursor_which_never_moves_back() -> None:
    """RULES 15."""
    run = make.run()
    requests = queue(run, 4)
    second, fourth, first, third = (request.trajectory for request in requests)
    stratum = drawn(first, second, third, fourth, allocated=3)
    seat = make.membership(run.project, Role.REVIEWER)
    cursors = []
    for _ in range(4):
        reviewed(seat)
        cursors.append(DrawStratum.objects.get(pk=stratum.pk).cursor)
    # Handed out: rank 2, rank 4 (not asked for by the draw), rank 1, rank 3.
    assert cursors == [2, 2, 2, 3]


@pytest.mark.django_db
def test_a_stopped_draw_hands_out_no_rank() -> None:
    run = make.run()
    (request,) = queue(run, 1)
    stratum = drawn(request.trajectory)
    AuditDraw.objects.update(stopped_at=timezone.now())
    claimed(make.membership(run.project, Role.REVIEWER))
    assert DrawStratum.objects.get(pk=stratum.pk).cursor == 0


@pytest.mark.django_db
@pytest.mark.parametrize("size", [3, 60])
def test_a_claim_costs_the_same_however_long_the_queue_is(
    size: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = make.run()
    queue(run, size)
    claimed(make.membership(run.project, Role.REVIEWER))
    seat = make.membership(run.project, Role.REVIEWER)
    with django_assert_num_queries(10):
        claimed(seat)
