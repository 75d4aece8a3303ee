"""Who is shown labels and opinions, who is asked first, and what is recorded of it (RULES 7)."""

import pytest
from pytest_django import DjangoAssertNumQueries

from audit.models import ContentView
from audit.selectors.asking import Labels, held_by, labels_for, may_filter_by_labels
from audit.services import reviewing, viewing
from audit.tests.make import claimed, lapse, queue, reviewed, submitted, user_of
from labeling.models import Membership, Run
from labeling.tests import make
from labeling.vocabulary import Role, RunStatus

pytestmark = pytest.mark.django_db

NOTHING: frozenset[int] = frozenset()


@pytest.fixture
def run() -> Run:
    """Its draw is over, so that only open requests ask for anything."""
    return make.run(status=RunStatus.CLOSED, drawn_at="2026-11-29T09:00Z")


@pytest.fixture
def reviewer(run: Run) -> Membership:
    return make.membership(run.project, Role.REVIEWER)


def test_a_viewer_is_asked_nothing_and_shown_everything(run: Run) -> None:
    (asked,) = queue(run, 1)
    viewer = make.membership(run.project, Role.VIEWER)
    ids = {asked.trajectory_id}
    labels = labels_for(membership=viewer, trajectory_ids=ids, chose_to_see=False)
    assert labels == Labels(shown=frozenset(ids), hidden=NOTHING, held=NOTHING)
    assert may_filter_by_labels(viewer, chose_to_see=False)


def test_what_somebody_may_be_asked_is_hidden_until_they_choose_and_then_recorded(
    run: Run, reviewer: Membership, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    (asked,) = queue(run, 1)
    settled = make.trajectory(run)
    ids = [asked.trajectory_id, settled.pk]
    with django_assert_num_queries(2):
        before = labels_for(membership=reviewer, trajectory_ids=ids, chose_to_see=False)
    assert before == Labels(frozenset({settled.pk}), frozenset({asked.trajectory_id}), NOTHING)
    assert not may_filter_by_labels(reviewer, chose_to_see=False)
    chosen = labels_for(membership=reviewer, trajectory_ids=ids, chose_to_see=True)
    assert chosen == Labels(frozenset(ids), NOTHING, NOTHING)
    assert may_filter_by_labels(reviewer, chose_to_see=True)
    viewing.record_views(trajectory_ids=chosen.shown, user=user_of(reviewer), showed_opinions=True)
    assert labels_for(membership=reviewer, trajectory_ids=ids, chose_to_see=False).shown == set(ids)


def test_what_somebody_holds_stays_hidden_whatever_they_choose(run: Run, reviewer: Membership) -> None:
    queue(run, 2)
    held = claimed(reviewer).request.trajectory_id
    ids = list(run.trajectories.values_list("pk", flat=True))
    chosen = labels_for(membership=reviewer, trajectory_ids=ids, chose_to_see=True)
    assert chosen.hidden == chosen.held == {held}
    assert held not in chosen.shown
    assert held_by(reviewer.user_id) == {held}


def test_what_is_done_with_is_shown_without_being_asked_for(run: Run, reviewer: Membership) -> None:
    queue(run, 3, slots=3)
    judged = reviewed(reviewer).trajectory_id
    declined = claimed(reviewer)
    reviewing.decline(token=declined.token, reviewer=declined.reviewer, reason="unclear")
    ids = list(run.trajectories.values_list("pk", flat=True))
    labels = labels_for(membership=reviewer, trajectory_ids=ids, chose_to_see=False)
    assert labels.shown == {judged, declined.request.trajectory_id}
    assert len(labels.hidden) == 1


def test_opinions_on_what_somebody_holds_are_never_recorded_as_shown(run: Run, reviewer: Membership) -> None:
    queue(run, 2)
    held = claimed(reviewer).request.trajectory_id
    ids = frozenset(run.trajectories.values_list("pk", flat=True))
    user = user_of(reviewer)
    assert viewing.record_views(trajectory_ids=ids, user=user, showed_opinions=True) == ids - {held}
    assert not ContentView.objects.filter(trajectory=held, showed_opinions=True).exists()
    # The text itself is theirs to read.
    assert viewing.record_views(trajectory_ids=[held], user=user, showed_opinions=False) == {held}


def test_showing_is_recorded_once_and_a_lapsed_lease_does_not_hide_that_it_was(run: Run, reviewer: Membership) -> None:
    (asked,) = queue(run, 1)
    held = claimed(reviewer)
    lapse(held)
    for _ in range(2):
        viewing.record_views(trajectory_ids=[asked.trajectory_id], user=user_of(reviewer), showed_opinions=True)
    assert ContentView.objects.filter(showed_opinions=True).count() == 1
    assert not submitted(held).blind
