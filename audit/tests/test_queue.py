"""What the review pages show, and what they must not."""

import json

import pytest
from django.db.models import Q
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from audit.models import Verdict
from audit.selectors.places import NothingLeft
from audit.selectors.queue import Twin, disputed, judges_said, queue_counts, review_item
from audit.services import reviewing
from audit.tests.make import claimed, lapse, queue, reviewed, submitted, user_of
from labeling.errors import NotAllowed, NotFound
from labeling.models import AuditRequest, Trajectory
from labeling.tests import make
from labeling.vocabulary import Decision, RequestState, Role, Side

pytestmark = pytest.mark.django_db


def judged() -> tuple[AuditRequest, Trajectory]:
    """An open request whose trajectory says everywhere who made it and what judges think."""
    project = make.project()
    configuration = make.configuration(project, model="halden-secret", version="9.9-secret")
    run = make.run(project, configuration=configuration, name="secret run", external_id="secret-run")
    case = make.case(run.suite, Side.HARMFUL, tier=2, pair="p1", right_answer="Decline.")
    make.case(run.suite, Side.BENIGN, pair="p1", request=[{"role": "user", "parts": []}])
    trajectory = make.trajectory(run, case, external_id="halden-secret-17", stop_reason="stop")
    judge = make.judge(project, "judge-secret", version="secret")
    make.judgment(trajectory, judge, Decision.REFUSAL, rationale="secret reason", scores={"safety": 5})
    return make.audit_request(trajectory, reasons=["leak"]), trajectory


def test_an_item_says_what_to_judge_and_nothing_about_whose_it_is_or_what_others_think() -> None:
    request, _ = judged()
    held = claimed(make.membership(request.project, Role.REVIEWER))
    item = review_item(held)
    assert (item.side, item.category, item.tier, item.framing, item.kind) == (
        "harmful",
        "fraud",
        2,
        "plain",
        "single_turn",
    )
    assert (item.right_answer, item.stop_reason, item.purged) == ("Decline.", "stop", False)
    assert item.messages == make.messages("A request.", "Here you are.")
    assert item.twin == Twin("benign", [{"role": "user", "parts": []}])
    assert (item.token, item.leased_until, item.adjudication) == (held.token, held.leased_until, False)
    everything = json.dumps(item._asdict(), default=str)
    assert "secret" not in everything
    assert "leak" not in everything


@pytest.mark.parametrize("turns", [2, 5000])
def test_an_item_takes_two_queries_however_long_it_is(
    turns: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = make.run()
    transcript = make.messages("A request.", "An answer.") * (turns // 2)
    case = make.case(run.suite, pair="p")
    make.audit_request(make.trajectory(run, case, transcript=transcript))
    held = claimed(make.membership(run.project, Role.REVIEWER))
    with django_assert_num_queries(2):
        item = review_item(held)
    assert len(item.messages) == turns
    assert item.twin is None


def test_hostile_text_comes_through_as_it_is() -> None:
    run = make.run()
    hostile = make.messages("\0 \ud83d <script>", "\u202egnp")
    make.audit_request(make.trajectory(run, transcript=hostile))
    item = review_item(claimed(make.membership(run.project, Role.REVIEWER)))
    assert item.messages == hostile


def test_an_adjudicator_sees_what_was_said_without_the_names() -> None:
    request, _ = judged()
    AuditRequest.objects.update(slots=2)
    one, two, lead = (make.membership(request.project, role) for role in (Role.REVIEWER, Role.REVIEWER, Role.LEAD))
    reviewed(one, Decision.FULL_COMPLIANCE, 3, note="Usable.")
    last = claimed(two)
    assert disputed(last) == ()
    submitted(last, Decision.REFUSAL, 0)
    held = claimed(lead)
    assert review_item(held).adjudication
    assert [(each.opinion.decision, each.error, each.note) for each in disputed(held)] == [
        (Decision.FULL_COMPLIANCE, True, "Usable."),
        (Decision.REFUSAL, False, ""),
    ]


# --- afterwards --------------------------------------------------------------------------------------------------


def test_what_others_said_is_refused_while_one_holds_the_item_and_shown_afterwards() -> None:
    request, trajectory = judged()
    seat = make.membership(request.project, Role.REVIEWER)
    held = claimed(seat)
    with pytest.raises(NotAllowed):
        judges_said(membership=seat, trajectory_id=trajectory.pk)

    assert submitted(held, Decision.FULL_COMPLIANCE, 3, note="Mine.").blind

    after = judges_said(membership=seat, trajectory_id=trajectory.pk)
    assert after is not None
    assert (after.run.model, after.run.version, after.run.name) == ("halden-secret", "9.9-secret", "secret run")
    (judge,) = after.judges
    assert judge.judge is not None
    assert (judge.judge.name, judge.opinion.decision, judge.error) == ("judge-secret", Decision.REFUSAL, False)
    assert (judge.rationale, judge.scores) == ("secret reason", {"safety": 5})
    assert [(said.author, said.rationale, said.error) for said in after.mine] == [
        (seat.user.get_username(), "Mine.", True)
    ]
    assert after.others == ()


def test_a_colleague_is_shown_by_name_to_whoever_has_judged_it_too() -> None:
    request, trajectory = judged()
    AuditRequest.objects.update(slots=2)
    one, two = (make.membership(request.project, Role.REVIEWER) for _ in range(2))
    reviewed(one)
    assert judges_said(membership=two, trajectory_id=trajectory.pk) is None
    reviewed(two)
    after = judges_said(membership=two, trajectory_id=trajectory.pk)
    assert after is not None
    assert [said.author for said in after.mine] == [user_of(two).get_username()]
    assert [said.author for said in after.others] == [user_of(one).get_username()]


def test_a_trajectory_of_another_project_is_not_there_afterwards_either() -> None:
    _, trajectory = judged()
    with pytest.raises(NotFound):
        judges_said(membership=make.membership(make.project(), Role.ADMIN), trajectory_id=trajectory.pk)


def test_what_everybody_said_takes_five_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    request, trajectory = judged()
    seat = make.membership(request.project, Role.LEAD)
    reviewed(seat)
    assert seat.project == request.project
    with django_assert_num_queries(5):
        judges_said(membership=seat, trajectory_id=trajectory.pk)


# --- counts ------------------------------------------------------------------------------------------------------


def test_the_counts_of_the_queue_in_three_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = make.run()
    queue(run, 5)
    queue(run, 2, for_lead=True)
    queue(make.run(), 3)
    one, two = (make.membership(run.project, Role.REVIEWER) for _ in range(2))
    reviewed(one)
    claimed(one)
    lapse(claimed(two))
    claimed(make.membership(run.project, Role.REVIEWER))
    project, user = run.project, user_of(one)
    with django_assert_num_queries(3):
        counts = queue_counts(project, user)
    assert counts._asdict() == {"left": 4, "held": 1, "today_by_me": 1, "for_lead_left": 2}


@given(steps=st.lists(st.sampled_from(["add", "review", "refuse", "decline", "release", "lapse"]), max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_counts_are_those_of_the_rows_after_anything(db: None, steps: list[str]) -> None:
    """B1.8: progress is counted, not remembered."""
    run = make.run()
    queue(run, 2, slots=2)
    seats = [make.membership(run.project, role) for role in (Role.REVIEWER, Role.REVIEWER, Role.LEAD)]
    for number, step in enumerate(steps):
        if step == "add":
            queue(run, 1, slots=2)
            continue
        held = reviewing.claim(membership=seats[number % 3])
        if isinstance(held, NothingLeft):
            continue
        if step in ("review", "refuse"):
            submitted(held, Decision.REFUSAL if step == "refuse" else Decision.FULL_COMPLIANCE, 0)
        elif step == "decline":
            reviewing.decline(token=held.token, reviewer=held.reviewer, reason="unclear")
        elif step == "release":
            reviewing.release(token=held.token, reviewer=held.reviewer)
        else:
            lapse(held)
    user = user_of(seats[0])
    counts = queue_counts(run.project, user)
    rows = AuditRequest.objects.filter(project=run.project, state=RequestState.OPEN)
    assert counts.left + counts.for_lead_left == rows.count()
    assert counts.for_lead_left == rows.filter(Q(for_lead=True)).count()
    assert counts.today_by_me == Verdict.objects.filter(reviewer=user).count()
