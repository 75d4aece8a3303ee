"""Runs: created once, joined only with their like, closed with a fixed panel, voided with a reason."""

from typing import Any

import pytest

from labeling.errors import Conflict, DomainError, NotFound
from labeling.formats.wire import RunSpec, read
from labeling.models import AuditRequest, Configuration, Judge, Measurement, PanelSeat, Project, Run, Trajectory
from labeling.selectors.progress import run_progress, worker_seen
from labeling.services import runs
from labeling.tasks import judge_batch
from labeling.tests import make
from labeling.tests.posting import run_body
from labeling.tests.threads import at_once
from labeling.vocabulary import Outcome, Part, RequestState, Role, RunStatus, Side, TrajectoryStatus

pytestmark = pytest.mark.django_db


def post(project: Project, external_id: str = "run-1", **fields: Any) -> runs.Created:
    return runs.create_run(project=project, spec=read(RunSpec, run_body(external_id, **fields)))


def close(run: Run, expected: int | None = None, audits: int | None = None) -> Run:
    return runs.close_run(run=run, expected_count=expected, audits_per_side=audits)


def seats(run: Run) -> list[str]:
    return sorted(PanelSeat.objects.filter(run=run).values_list("judge__name", flat=True))


def settle(run: Run) -> None:
    Trajectory.objects.filter(run=run).update(status=TrajectoryStatus.SETTLED)


# --- creating ----------------------------------------------------------------------------------------------------


def test_the_same_run_again_is_the_same_run() -> None:
    project = make.project()
    make.suite(project, key="s")
    fields: dict[str, Any] = {
        "suite": "s@1",
        "attack": {"kind": "adaptive", "attempts": 5, "turns": 3},
        "panel": ["substring"],
    }
    first, again = post(project, **fields), post(project, **fields)
    assert (first.created, again.created) == (True, False)
    assert first.run.pk == again.run.pk
    assert (first.run.attack_kind, first.run.attack_attempts, first.run.attack_turns) == ("adaptive", 5, 3)
    assert [model.objects.count() for model in (Run, Measurement, Configuration)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"suite": "s@2"}, "suite"),
        ({"suite": None}, "suite"),
        ({"configuration": {"model": "halden", "version": "2"}}, "configuration"),
        ({"attack": {"attempts": 2}}, "attack"),
        ({"panel": []}, "panel"),
        ({"measurement": 0}, "measurement"),
    ],
)
def test_another_run_under_the_same_id_is_a_conflict_that_names_the_field(fields: dict[str, Any], field: str) -> None:
    project = make.project()
    for version in "12":
        make.suite(project, key="s", version=version)
    base: dict[str, Any] = {"suite": "s@1", "panel": ["substring"]}
    post(project, **base)
    with pytest.raises(Conflict) as caught:
        post(project, **base | fields)
    assert caught.value.details["field"] == field


def test_one_fingerprint_is_one_configuration() -> None:
    project = make.project()
    one = post(project, "a").run
    other = post(project, "b", configuration={"version": "1", "model": "halden", "layer": "model"}).run
    assert one.configuration == other.configuration
    assert one.measurement != other.measurement


def test_without_a_suite_a_run_has_a_draft_of_its_own() -> None:
    project = make.project()
    one, long = post(project, "a").run, post(project, "x" * 200).run
    assert str(one.suite) == "run:a@draft"
    assert long.suite.published_at is None
    assert not post(project, "x" * 200).created


def test_a_key_alone_means_the_version_published_last() -> None:
    project = make.project()
    make.suite(project, key="s", version="1", published_at="2026-01-01T00:00:00Z")
    make.suite(project, key="s", version="2", published_at="2026-02-01T00:00:00Z")
    make.suite(project, key="s", version="3")
    run = post(project, suite="s").run
    assert run.suite.version == "2"
    make.suite(project, key="s", version="4", published_at="2026-03-01T00:00:00Z")
    assert not post(project, suite="s").created
    assert post(project, "other", suite={"key": "s", "version": "3"}).run.suite.version == "3"


def test_a_suite_that_is_not_there_or_not_unique_is_said() -> None:
    project = make.project()
    for version in "12":
        make.suite(project, key="s", version=version)
    make.suite(make.project(), key="elsewhere")
    with pytest.raises(DomainError, match="several drafts"):
        post(project, suite="s")
    for suite in ("elsewhere", "s@3"):
        with pytest.raises(DomainError, match="There is no suite"):
            post(project, suite=suite)


@pytest.mark.django_db(transaction=True)
def test_a_run_created_several_times_at_once_is_one_run() -> None:
    project = make.project()
    declared = [{"name": "gpt-4", "version": "1", "measures": ["decision"]}]
    made = at_once([lambda: post(project, judges=declared, panel=["gpt-4"])] * 4)
    assert sorted(each.created for each in made) == [False, False, False, True]
    assert len({each.run.pk for each in made}) == 1
    assert [model.objects.count() for model in (Run, Measurement, PanelSeat)] == [1, 1, 1]


# --- judges and panels -------------------------------------------------------------------------------------------


def test_a_panel_named_at_creation_is_fixed() -> None:
    project = make.project()
    declared = {"name": "gpt-4", "version": "1", "measures": ["decision", "harm_grade"]}
    run = post(project, judges=[declared], panel=["substring", {"name": "gpt-4", "version": "1"}]).run
    assert run.panel_is_frozen
    assert seats(run) == ["gpt-4", "substring"]
    assert Judge.objects.get(name="gpt-4").measures == ["decision", "harm_grade"]


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ("nobody", "there is no judge nobody; declare it"),
        ({"name": "gpt-4", "version": "9"}, "there is no judge gpt-4 9"),
        ("gpt-4", "several versions"),
        ({"name": "substring", "version": "old"}, "no longer runs here"),
    ],
)
def test_a_panel_of_unknown_judges_is_refused(choice: Any, sentence: str) -> None:
    project = make.project()
    for version in "12":
        make.judge(project, "gpt-4", version=version)
    make.judge(project, "substring", version="old", kind="substring", active=False)
    make.judge(make.project(), "nobody")
    with pytest.raises(DomainError, match=sentence):
        post(project, panel=[choice])
    assert not Run.objects.exists()


def test_a_declaration_stands() -> None:
    project = make.project()
    undeclared = make.judge(project, "gpt-4")
    post(project, "a", judges=[{"name": "gpt-4", "version": "1"}])
    post(project, "b", judges=[{"name": "gpt-4", "version": "1", "measures": ["decision"]}])
    undeclared.refresh_from_db()
    assert undeclared.measures == ["decision"]
    post(project, "c", judges=[{"name": "gpt-4", "version": "1", "measures": ["decision", "decision"]}])
    with pytest.raises(Conflict, match="another version"):
        post(project, "d", judges=[{"name": "gpt-4", "version": "1", "measures": ["harm_grade"]}])


@pytest.mark.parametrize("name", ["substring", "rubric"])
def test_nobody_declares_a_judge_under_the_name_of_one_that_runs_here(name: str) -> None:
    with pytest.raises(DomainError, match="runs here"):
        post(make.project(), judges=[{"name": name, "version": "1"}])


# --- closing -----------------------------------------------------------------------------------------------------


def test_closing_fixes_the_panel_from_who_has_judged() -> None:
    project = make.project()
    run = post(project).run
    first, _ = make.trajectory(run), make.trajectory(run)
    make.judgment(first, make.judge(project, "gpt-4"))
    make.judge(project, "silent")
    settle(run)
    closed = close(run, expected=2, audits=7)
    assert (closed.status, closed.audits_per_side, closed.panel_is_frozen) == (RunStatus.CLOSED, 7, True)
    assert seats(run) == ["gpt-4"]


def test_a_panel_does_not_depend_on_how_far_the_worker_is() -> None:
    run = post(make.project()).run
    make.trajectory(run)
    close(run)
    assert seats(run) == ["substring"]


def test_a_named_panel_stays() -> None:
    project = make.project()
    run = post(project, panel=[]).run
    make.judgment(make.trajectory(run), make.judge(project))
    close(run)
    assert seats(run) == []


def test_the_wrong_count_does_not_close() -> None:
    run = post(make.project(), expected_count=2).run
    make.trajectory(run)
    for expected in (None, 3):
        with pytest.raises(Conflict) as caught:
            close(run, expected=expected)
        assert caught.value.details == {"expected": expected or 2, "posted": 1}
    assert close(run, expected=1).status == RunStatus.CLOSED


def test_closing_twice_is_harmless() -> None:
    run = post(make.project()).run
    first = close(run, audits=5)
    again = close(run, audits=9)
    assert (again.closed_at, again.audits_per_side) == (first.closed_at, 5)


def test_a_voided_run_keeps_its_first_reason_and_is_not_closed() -> None:
    project = make.project()
    run, lead = post(project).run, make.member(project, Role.LEAD)
    with pytest.raises(DomainError, match="Say why"):
        runs.void_run(run=run, by=lead, reason=" ")
    voided = runs.void_run(run=run, by=lead, reason="Wrong model.")
    assert (voided.status, voided.voided_by) == (RunStatus.VOIDED, lead)
    assert runs.void_run(run=run, by=None, reason="Another.").void_reason == "Wrong model."
    with pytest.raises(Conflict, match="voided"):
        close(run)


# --- measurements ------------------------------------------------------------------------------------------------


def two_runs(project: Project, **fields: Any) -> tuple[Run, Run]:
    return post(project, "a").run, post(project, "b", **fields).run


def test_runs_that_differ_only_in_their_suite_join() -> None:
    one, other = two_runs(make.project())
    measurement = runs.join_measurement(run=one, other=other)
    assert set(measurement.runs.all()) == {one, other}
    one.refresh_from_db()
    assert runs.join_measurement(run=one, other=other) == measurement
    assert Measurement.objects.count() == 1


def test_one_run_joins_others_that_are_together_whoever_is_asked() -> None:
    project = make.project()
    one, other = two_runs(project)
    runs.join_measurement(run=one, other=other)
    third = post(project, "c").run
    one.refresh_from_db()
    assert runs.join_measurement(run=one, other=third).runs.count() == 3
    others = [post(project, name).run for name in "de"]
    measurement = runs.join_measurement(run=others[0], other=others[1])
    others[0].refresh_from_db()
    with pytest.raises(Conflict, match="already computed together"):
        runs.join_measurement(run=others[0], other=one)
    assert measurement.runs.count() == 2


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"configuration": {"model": "halden", "version": "2"}}, "configuration"),
        ({"attack": {"turns": 2}}, "attack"),
        ({"panel": ["substring"]}, "panel"),
    ],
)
def test_runs_that_differ_elsewhere_do_not_join(fields: dict[str, Any], field: str) -> None:
    one, other = two_runs(make.project(), **fields)
    with pytest.raises(Conflict) as caught:
        runs.join_measurement(run=one, other=other)
    assert caught.value.details["field"] == field


def test_a_measurement_has_one_run_of_each_suite_and_none_that_is_voided() -> None:
    project = make.project()
    make.suite(project, key="s")
    one, other = post(project, "a", suite="s").run, post(project, "b", suite="s").run
    with pytest.raises(Conflict) as caught:
        runs.join_measurement(run=one, other=other)
    assert caught.value.details["field"] == "suite"
    voided = runs.void_run(run=post(project, "c").run, by=None, reason="x")
    with pytest.raises(Conflict) as caught:
        runs.join_measurement(run=one, other=voided)
    assert caught.value.details["field"] == "status"
    with pytest.raises(NotFound):
        runs.join_measurement(run=one, other=make.run())


def test_a_run_can_join_when_it_is_created() -> None:
    project = make.project()
    one = post(project, "a", panel=["substring"]).run
    other = post(project, "b", measurement=one.measurement_id).run
    assert other.measurement == one.measurement
    assert (other.panel_is_frozen, seats(other)) == (True, ["substring"])
    assert not post(project, "b", measurement=one.measurement_id).created
    with pytest.raises(Conflict) as caught:
        post(project, "c", measurement=one.measurement_id, panel=[])
    assert caught.value.details["field"] == "panel"
    with pytest.raises(DomainError, match="There is no measurement"):
        post(project, "d", measurement=make.run().measurement_id)


def test_a_run_replaces_a_voided_one_of_its_suite() -> None:
    project = make.project()
    make.suite(project, key="s")
    one = post(project, "a").run
    broken = post(project, "b", suite="s", measurement=one.measurement_id).run
    runs.void_run(run=broken, by=None, reason="x")
    assert post(project, "c", suite="s", measurement=one.measurement_id).created


def test_runs_computed_together_share_the_panel_that_the_first_close_fixes() -> None:
    project = make.project()
    one, other = two_runs(project)
    runs.join_measurement(run=one, other=other)
    for run, judge in ((one, "gpt-4"), (other, "claude")):
        make.judgment(make.trajectory(run), make.judge(project, judge))
        settle(run)
    close(one)
    assert seats(one) == seats(other) == ["claude", "gpt-4"]
    make.judgment(make.trajectory(other), make.judge(project, "late"))
    close(other)
    assert seats(other) == ["claude", "gpt-4"]


# --- progress ----------------------------------------------------------------------------------------------------


def test_progress_counts_each_side(django_assert_num_queries: Any) -> None:
    project = make.project()
    suite = make.suite(project)
    run = make.run(suite=suite)
    judge = make.judge(project, "gpt-4", [Part.DECISION])
    cases = [make.case(suite, side) for side in (Side.HARMFUL, Side.HARMFUL, Side.BENIGN)]
    make.judgment(make.trajectory(run, cases[0], status=TrajectoryStatus.SETTLED, label_error=True), judge)
    make.trajectory(run, cases[0], attempt=2, status=TrajectoryStatus.NEEDS_AUDIT)
    make.trajectory(run, cases[1], status=TrajectoryStatus.SETTLED, outcome=Outcome.NOT_RUN)
    make.trajectory(run, cases[2], outcome=Outcome.NOT_RUN)
    with django_assert_num_queries(4):
        progress = run_progress(run)
    harmful, benign = progress.sides
    assert harmful == (Side.HARMFUL, 3, 0, 1, 2, 1, 1, 1, 2)
    assert benign == (Side.BENIGN, 1, 1, 0, 0, 0, 1, 0, 1)
    assert progress[:6] == (4, 1, 1, 2, 1, 2)
    assert [judge.name for judge in progress.panel] == ["gpt-4"]
    assert worker_seen() is None


def test_a_voided_run_leaves_the_queue() -> None:
    row = make.trajectory(make.run(), answer="Here is a plain answer.")
    pending = make.trajectory(row.run, answer="Another plain answer.")
    judge_batch([row.pk])
    assert AuditRequest.objects.get(trajectory=row).state == RequestState.OPEN
    runs.void_run(run=row.run, by=None, reason="wrong prompt")
    judge_batch([pending.pk])
    assert set(AuditRequest.objects.values_list("state", flat=True)) == {RequestState.DONE}
    assert set(Trajectory.objects.values_list("status", flat=True)) == {TrajectoryStatus.SETTLED}
