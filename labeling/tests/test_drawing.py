"""The random draw of a closed run: strata, ranks, probabilities, and what it asks of people."""

import pytest

from labeling.measure.opinion import Opinion
from labeling.models import AuditDraw, AuditRequest, DrawMember, DrawStratum, Judge, Run
from labeling.services import drawing, judging, settling
from labeling.services.settling import PeopleSay
from labeling.tests import make
from labeling.vocabulary import LabelSource, RequestState, RunStatus, Side, TrajectoryStatus

pytestmark = pytest.mark.django_db


def closed_run(*, audits: int = 10, agree: int = 20, split: int = 5) -> tuple[Run, Judge, Judge]:
    """`agree` harmful cases both judges call refused, `split` where the second says complied; 8 benign, all helped."""
    run = make.run(status=RunStatus.CLOSED, panel_is_frozen=False, audits_per_side=audits)
    first, second = make.judge(run.project), make.judge(run.project)
    for number in range(agree + split):
        row = make.trajectory(run, status=TrajectoryStatus.SETTLED)
        make.judgment(row, first, make.REFUSED)
        make.judgment(row, second, make.REFUSED if number < agree else make.COMPLIED)
    for _ in range(8):
        row = make.trajectory(run, side=Side.BENIGN, status=TrajectoryStatus.SETTLED)
        make.judgment(row, first, make.COMPLIED)
        make.judgment(row, second, make.COMPLIED)
    return run, first, second


def test_a_draw_stores_frame_strata_and_probabilities() -> None:
    run, first, second = closed_run()
    assert drawing.draw_run(run_id=run.pk, seed=1)
    draw = AuditDraw.objects.get(run=run, side=Side.HARMFUL)
    assert (draw.seed, draw.budget, draw.panel) == (1, 10, [first.pk, second.pk])
    # Budget 10 over two strata: five each first, and that is all of it.
    strata = {s.name: (s.size, s.allocated, s.cursor) for s in draw.strata.all()}
    assert strata == {"none": (20, 5, 0), "some_second": (5, 5, 0)}
    members = DrawMember.objects.filter(stratum__draw=draw, stratum__name="none").order_by("rank")
    assert [member.rank for member in members] == list(range(1, 21))
    assert [member.probability for member in members] == [0.25] * 5 + [None] * 15


def test_the_members_handed_out_are_queued_and_look_like_any_request() -> None:
    run, *_ = closed_run()
    drawing.draw_run(run_id=run.pk, seed=1)
    drawn = DrawMember.objects.filter(probability__isnull=False)
    assert drawn.count() == 10 + 8
    requests = AuditRequest.objects.filter(state=RequestState.OPEN)
    assert set(requests.values_list("trajectory", flat=True)) == set(drawn.values_list("trajectory", flat=True))
    statuses = {member.trajectory.status for member in drawn.select_related("trajectory")}
    assert statuses == {TrajectoryStatus.NEEDS_AUDIT}


def test_members_come_up_in_draw_order() -> None:
    run, *_ = closed_run()
    drawing.draw_run(run_id=run.pk, seed=1)
    stratum = DrawStratum.objects.get(draw__side=Side.HARMFUL, name="none")
    in_queue = (
        AuditRequest.objects.filter(trajectory__draw_members__stratum=stratum)
        .order_by("priority", "shuffle")
        .values_list("trajectory__draw_members__rank", flat=True)
    )
    assert list(in_queue) == [1, 2, 3, 4, 5]


def test_a_run_is_drawn_once() -> None:
    run, *_ = closed_run()
    assert drawing.draw_run(run_id=run.pk)
    assert not drawing.draw_run(run_id=run.pk)
    assert AuditDraw.objects.filter(run=run).count() == 2


def test_an_open_run_or_one_with_judgments_owed_is_not_drawn() -> None:
    run, *_ = closed_run()
    make.trajectory(run, status=TrajectoryStatus.PENDING)
    assert not drawing.draw_run(run_id=run.pk)
    open_run = make.run()
    assert not drawing.draw_run(run_id=open_run.pk)
    assert not AuditDraw.objects.exists()


def test_a_run_that_wants_no_audits_draws_nothing() -> None:
    run, *_ = closed_run(audits=0)
    assert drawing.draw_run(run_id=run.pk)
    assert not AuditDraw.objects.exists()


def test_a_blind_truth_given_earlier_fills_a_member_and_nobody_is_asked_again() -> None:
    run, *_ = closed_run(agree=3, split=0)
    row = run.trajectories.filter(side=Side.HARMFUL).first()
    assert row is not None
    said = Opinion(decisions=frozenset({make.REFUSED}), harm_grade=0)
    settling.apply_verdicts(says={row.pk: PeopleSay(said, LabelSource.HUMAN, in_conflict=False, has_truth=True)})
    drawing.draw_run(run_id=run.pk)
    assert DrawMember.objects.get(trajectory=row).probability == 1.0
    assert not AuditRequest.objects.filter(trajectory=row).exists()


def test_a_verdict_that_was_not_blind_leaves_the_member_open() -> None:
    run, *_ = closed_run(agree=3, split=0)
    drawing.draw_run(run_id=run.pk)
    row = run.trajectories.filter(side=Side.HARMFUL).first()
    assert row is not None
    said = Opinion(decisions=frozenset({make.REFUSED}), harm_grade=0)
    settling.apply_verdicts(says={row.pk: PeopleSay(said, LabelSource.HUMAN, in_conflict=False, has_truth=False)})
    assert AuditRequest.objects.get(trajectory=row).state == RequestState.OPEN
    settling.apply_verdicts(says={row.pk: PeopleSay(said, LabelSource.HUMAN, in_conflict=False, has_truth=True)})
    assert AuditRequest.objects.get(trajectory=row).state == RequestState.DONE
    row.refresh_from_db()
    assert (row.status, row.label_source, row.label_error) == (TrajectoryStatus.SETTLED, LabelSource.HUMAN, False)


def test_a_conflict_of_people_takes_the_label_and_asks_a_lead() -> None:
    run, *_ = closed_run(agree=1, split=0, audits=0)
    row = run.trajectories.filter(side=Side.HARMFUL).get()
    settling.apply_verdicts(says={row.pk: PeopleSay(None, LabelSource.NONE, in_conflict=True, has_truth=False)})
    request = AuditRequest.objects.get(trajectory=row)
    assert (request.for_lead, request.state, request.reasons) == (True, RequestState.OPEN, ["adjudication"])
    row.refresh_from_db()
    assert (row.status, row.label_source, row.label_error) == (TrajectoryStatus.NEEDS_AUDIT, LabelSource.NONE, None)


def test_routing_again_leaves_the_draw_order() -> None:
    run, *_ = closed_run()
    drawing.draw_run(run_id=run.pk, seed=1)
    before = dict(AuditRequest.objects.values_list("trajectory", "shuffle"))
    judging.route_rows(trajectory_ids=list(before), anew=True)
    assert dict(AuditRequest.objects.values_list("trajectory", "shuffle")) == before
