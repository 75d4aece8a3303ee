"""Judging and routing from the row: idempotent, and never over people's heads."""

import pytest

from labeling import tasks
from labeling.judges.registry import BUILT_IN
from labeling.models import AuditRequest, Heartbeat, Judge, Judgment, PanelSeat, Trajectory
from labeling.services import judging
from labeling.services.settling import GRAVE, ORDINARY
from labeling.tests import make
from labeling.vocabulary import LabelSource, Outcome, RequestState, Side, TrajectoryStatus

pytestmark = pytest.mark.django_db

REFUSAL_TEXT = "I can't help with that."


def judge_all(*rows: Trajectory) -> None:
    ids = [row.pk for row in rows]
    tasks.judge_batch(ids)
    for row in rows:
        row.refresh_from_db()


def test_a_refusal_is_judged_and_settles() -> None:
    row = make.trajectory(make.run(), answer=REFUSAL_TEXT)
    judge_all(row)
    assert (row.status, row.label_source, row.label_error) == (TrajectoryStatus.SETTLED, LabelSource.MACHINE, False)
    assert Judgment.objects.get(trajectory=row).judge.name == "substring"


def test_what_no_judge_can_say_goes_to_a_person() -> None:
    row = make.trajectory(make.run(), answer="Here is a plain answer.")
    judge_all(row)
    assert row.status == TrajectoryStatus.NEEDS_AUDIT
    assert row.label_error is None
    assert AuditRequest.objects.get(trajectory=row).reasons == ["undetermined"]


def test_delivering_the_same_batch_five_times_makes_one_judgment() -> None:
    """FIELD B6.1."""
    row = make.trajectory(make.run(), answer=REFUSAL_TEXT)
    for _ in range(5):
        judge_all(row)
    assert Judgment.objects.count() == 1


def test_imported_judges_that_disagree_ask_a_person() -> None:
    run = make.run()
    row = make.trajectory(run, answer=REFUSAL_TEXT)
    make.judgment(row, make.judge(run.project), make.COMPLIED)
    judge_all(row)
    request = AuditRequest.objects.get(trajectory=row)
    assert request.reasons == ["disagreement"]
    assert request.priority == ORDINARY


def test_the_gravest_come_first() -> None:
    run = make.run()
    row = make.trajectory(run, answer="Sure.", tier=1)
    make.judgment(row, make.judge(run.project), make.COMPLIED)
    judge_all(row)
    assert AuditRequest.objects.get(trajectory=row).priority == GRAVE


def test_a_named_panel_makes_the_labels_and_others_only_opinions() -> None:
    run = make.run(panel_is_frozen=True)
    trusted, other = make.judge(run.project), make.judge(run.project)
    PanelSeat.objects.create(run=run, judge=trusted)
    row = make.trajectory(run, answer=REFUSAL_TEXT)
    make.judgment(row, trusted, make.REFUSED)
    make.judgment(row, other, make.COMPLIED)
    judge_all(row)
    assert (row.status, row.label_error) == (TrajectoryStatus.SETTLED, False)
    # The substring judge has no seat, so it is not even asked.
    assert Judgment.objects.filter(trajectory=row).count() == 2


def test_an_opinion_that_arrives_later_is_routed_too() -> None:
    run = make.run()
    row = make.trajectory(run, answer="Here is a plain answer.")
    judge_all(row)
    assert row.status == TrajectoryStatus.NEEDS_AUDIT
    make.judgment(row, make.judge(run.project), make.COMPLIED)
    Trajectory.objects.filter(pk=row.pk).update(status=TrajectoryStatus.PENDING)
    judge_all(row)
    assert (row.status, row.label_error) == (TrajectoryStatus.SETTLED, True)
    assert AuditRequest.objects.get(trajectory=row).state == RequestState.DONE


def test_a_later_judgment_never_replaces_a_human_label() -> None:
    run = make.run()
    row = make.trajectory(run, answer=REFUSAL_TEXT, label_source=LabelSource.HUMAN, label_error=True)
    make.judgment(row, make.judge(run.project), make.COMPLIED)
    judge_all(row)
    assert (row.status, row.label_source, row.label_error) == (TrajectoryStatus.SETTLED, LabelSource.HUMAN, True)
    assert not AuditRequest.objects.exists()


def test_what_was_not_run_is_judged_by_nobody() -> None:
    row = make.trajectory(make.run(), outcome=Outcome.NOT_RUN, transcript=[])
    judge_all(row)
    assert (row.status, row.label_source) == (TrajectoryStatus.SETTLED, LabelSource.NONE)
    assert not Judgment.objects.exists()


def test_an_empty_answer_is_undetermined_whatever_a_script_had_the_assistant_say() -> None:
    script = [*make.messages("First.", REFUSAL_TEXT), {"role": "user", "parts": [{"type": "text", "text": "Then?"}]}]
    row = make.trajectory(make.run(), side=Side.BENIGN, outcome=Outcome.EMPTY, transcript=script)
    judge_all(row)
    assert (row.status, row.label_error) == (TrajectoryStatus.NEEDS_AUDIT, None)
    assert not Judgment.objects.exists()


def test_a_systems_filter_stop_is_a_bare_refusal() -> None:
    project = make.project()
    run = make.run(project, configuration=make.configuration(project, layer="system"))
    row = make.trajectory(run, side=Side.BENIGN, outcome=Outcome.FILTERED, transcript=[])
    judge_all(row)
    assert (row.label_source, row.label_error, row.label_explained) == (LabelSource.RULE, True, False)


def test_a_batch_takes_the_same_queries_for_two_rows_and_for_forty(django_assert_num_queries: object) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for size in (2, 40):
        run = make.run()
        rows = [make.trajectory(run, answer=REFUSAL_TEXT) for _ in range(size)]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            judging.store_judgments(trajectory_ids=[row.pk for row in rows])
            judging.route_trajectories(trajectory_ids=[row.pk for row in rows])
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_sweep_rings_again_for_what_a_lost_message_left(
    django_capture_on_commit_callbacks: object, monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    """FIELD B6.2, B6.3: a row whose message was lost is found, one that was just rung for is left alone."""
    from datetime import timedelta

    from django.utils import timezone

    run = make.run()
    stale = make.trajectory(run, answer=REFUSAL_TEXT, rung_at=timezone.now() - timedelta(minutes=5))
    fresh = make.trajectory(run, answer=REFUSAL_TEXT)
    rung: list[list[int]] = []

    def ring(ids: list[int], again: bool) -> None:
        assert again
        rung.append(ids)

    monkeypatch.setattr(tasks.judge_batch, "delay", ring)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        tasks.sweep()
    assert rung == [[stale.pk]]
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        tasks.sweep(everything=True)
    assert sorted(rung[1]) == [stale.pk, fresh.pk]
    assert Heartbeat.objects.filter(name="worker").exists()


def test_a_broker_that_is_down_does_not_fail_the_request(
    django_capture_on_commit_callbacks: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_ids: list[int]) -> None:
        raise ConnectionError

    monkeypatch.setattr(tasks.judge_batch, "delay", refuse)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        tasks.request_judging([1])


def test_a_new_version_of_a_built_in_judge_comes_with_the_worker_and_retires_the_old_one() -> None:
    project = make.project()
    Judge.objects.filter(project=project, name="substring").update(version="older")
    tasks.sweep(everything=True)
    active = Judge.objects.filter(project=project, name="substring", active=True)
    assert [judge.version for judge in active] == [BUILT_IN["substring"].version]
