"""The report, the overview and the calibration page's numbers, from rows and by hand."""

import pytest
from django.utils import timezone

from audit.measure.rates import Incomplete, RatePair
from audit.models import Verdict
from audit.selectors.calibration import judge_detail, judge_rows
from audit.selectors.overview import overview
from audit.selectors.report import report_of
from audit.selectors.trajectories import Filters, list_trajectories, trajectory_page
from labeling.errors import NotFound
from labeling.models import Judge, Measurement, Run, Trajectory
from labeling.selectors.progress import run_progress
from labeling.services import judging
from labeling.tests import make
from labeling.vocabulary import Decision, Outcome, Part, RunStatus, Side, TrajectoryStatus, VerdictSource

pytestmark = pytest.mark.django_db


def routed(run: Run) -> None:
    ids = list(run.trajectories.values_list("pk", flat=True))
    judging.route_rows(trajectory_ids=ids, anew=True)


def measured_run() -> tuple[Run, Judge]:
    """Harmful: 1 complied, 3 refused, 1 undetermined, 1 not run. Benign: 1 refused, 3 helped. One judge."""
    run = make.run()
    judge = make.judge(run.project, measures=[Part.DECISION])
    for decision in (make.COMPLIED, make.REFUSED, make.REFUSED, make.REFUSED, None):
        row = make.trajectory(run, category="fraud", tier=1)
        make.judgment(row, judge, *([decision] if decision else []))
    make.trajectory(run, category="fraud", tier=1, outcome=Outcome.NOT_RUN)
    for decision in (make.REFUSED, make.COMPLIED, make.COMPLIED, make.COMPLIED):
        row = make.trajectory(run, side=Side.BENIGN, category="weapons", tier=2)
        make.judgment(row, judge, decision)
    routed(run)
    return run, judge


def test_the_pair_has_counts_bounds_and_both_sides() -> None:
    run, _ = measured_run()
    pair = report_of(run).as_labeled
    assert isinstance(pair, RatePair)
    # The one that was not run is outside; the undetermined one stays in: 1/5 at best, 2/5 at worst.
    harmful = pair.harmful_compliance
    assert (harmful.errors, harmful.undetermined, harmful.cases) == (1, 1, 5)
    assert harmful.low == pytest.approx(0.2)
    assert harmful.high == pytest.approx(0.4)
    assert pair.over_refusal.value == pytest.approx(0.25)


def test_ungraded_labels_say_that_leaks_were_not_measured() -> None:
    run, _ = measured_run()
    pair = report_of(run).as_labeled
    assert isinstance(pair, RatePair)
    # Three refusals that nobody graded.
    assert pair.harmful_compliance.ungraded == 3


def test_counts_per_side_say_what_is_missing() -> None:
    run, _ = measured_run()
    harmful, benign = report_of(run).sides
    assert (harmful.side, harmful.posted, harmful.not_run, harmful.answered_cases, harmful.suite_cases) == (
        "harmful",
        6,
        1,
        5,
        6,
    )
    assert (harmful.undetermined, harmful.needs_audit) == (1, 2)  # the undetermined one, and the gravest tier's
    assert (benign.posted, benign.not_run, benign.undetermined) == (4, 0, 0)


def test_undetermined_is_counted_alike_everywhere_and_pending_apart() -> None:
    run, judge = measured_run()
    make.trajectory(run, status=TrajectoryStatus.PENDING)
    unasked = make.trajectory(run, status=TrajectoryStatus.SETTLED)
    make.judgment(unasked, judge)
    report, progress = report_of(run), run_progress(run)
    for side, counted in zip(report.sides, progress.sides, strict=True):
        for name in ("side", "posted", "answered_cases", "suite_cases", "not_run", "pending", "needs_audit"):
            assert getattr(side, name) == getattr(counted, name)
        assert side.undetermined == counted.undetermined
    # A person is asked about one; the other is settled and nobody is.
    assert (progress.pending, progress.undetermined) == (1, 2)
    assert list_trajectories(run=run, filters=Filters(label="undetermined")).total == 2
    seen = overview(project=run.project)
    assert (seen.pending, seen.undetermined_unasked) == (1, 1)
    # The rate stays on the safe side: what is pending may still turn out either way.
    assert isinstance(report.as_labeled, RatePair)
    assert report.as_labeled.harmful_compliance.undetermined == 3


def test_a_slice_with_one_side_is_incomplete_and_shows_no_rate() -> None:
    run, _ = measured_run()
    category, tier, framing = report_of(run).slicings
    assert [row.name for row in category.rows] == ["fraud", "weapons"]
    assert all(isinstance(row.pair, Incomplete) for row in category.rows)
    assert [row.name for row in tier.rows] == ["tier 1", "tier 2"]
    assert [row.name for row in framing.rows] == ["plain"]
    assert isinstance(framing.rows[0].pair, RatePair)


def test_a_judge_that_said_nothing_of_a_trajectory_leaves_it_undetermined() -> None:
    run, judge = measured_run()
    late = make.judge(run.project, measures=[Part.DECISION])
    first = run.trajectories.filter(side=Side.HARMFUL).first()
    assert first is not None
    make.judgment(first, late, make.REFUSED)
    by_judge = {name.id: pair for name, pair in report_of(run).by_judge}
    pair = by_judge[late.pk]
    assert isinstance(pair, RatePair)
    assert pair.harmful_compliance.undetermined == 4
    assert pair.over_refusal.undetermined == 4
    assert isinstance(by_judge[judge.pk], RatePair)


def test_a_persons_verdict_does_not_move_a_judges_raw_rate() -> None:
    project = make.project()
    run = make.run(project, configuration=make.configuration(project, layer="system"))
    judge = make.judge(project)
    filtered = make.trajectory(run, side=Side.BENIGN, outcome=Outcome.FILTERED, transcript=[])
    make.judgment(make.trajectory(run, side=Side.BENIGN), judge, make.REFUSED)
    make.judgment(make.trajectory(run), judge, make.REFUSED)
    routed(run)

    def raw() -> tuple[float, float]:
        ((_, pair),) = report_of(run).by_judge
        assert isinstance(pair, RatePair)
        return pair.over_refusal.low, pair.over_refusal.high

    before = raw()
    assert before == (1.0, 1.0)
    verdict(filtered, make.REFUSED)
    Trajectory.objects.filter(pk=filtered.pk).update(label_source="human")
    assert raw() == before


def test_a_one_sided_run_offers_the_runs_that_complete_it() -> None:
    project = make.project()
    configuration = make.configuration(project)
    harmful, benign = (make.run(project, configuration=configuration) for _ in range(2))
    other = make.run(project)
    make.trajectory(harmful)
    make.trajectory(benign, side=Side.BENIGN)
    make.trajectory(other, side=Side.BENIGN)
    report = report_of(harmful)
    assert isinstance(report.as_labeled, Incomplete)
    assert [ref.id for ref in report.completing_runs] == [benign.pk]


def test_the_pair_is_the_measurements_and_voided_runs_leave_it() -> None:
    project = make.project()
    configuration = make.configuration(project)
    measurement = Measurement.objects.create(project=project)
    runs = [make.run(project, configuration=configuration, measurement=measurement) for _ in range(2)]
    make.trajectory(runs[0], label_error=True, label_source="human")
    make.trajectory(runs[1], side=Side.BENIGN, label_error=False, label_source="human")
    assert isinstance(report_of(runs[0]).as_labeled, RatePair)
    Run.objects.filter(pk=runs[1].pk).update(status=RunStatus.VOIDED, void_reason="wrong prompt")
    assert isinstance(report_of(runs[0]).as_labeled, Incomplete)


def test_leaks_and_bare_refusals_are_counted() -> None:
    run = make.run()
    judge = make.judge(run.project)
    make.judgment(make.trajectory(run), judge, make.REFUSED, harm_grade=3, explained=True, alternative_offered=False)
    make.judgment(make.trajectory(run), judge, make.REFUSED, harm_grade=0, explained=False, alternative_offered=False)
    routed(run)
    report = report_of(run)
    assert (report.leaks, report.bare_refusals) == (1, 1)


@pytest.mark.parametrize("size", [2, 30])
def test_a_report_reads_in_a_fixed_number_of_queries(size: int, django_assert_num_queries: object) -> None:
    run = make.run()
    judges = [make.judge(run.project) for _ in range(2)]
    for number in range(size):
        row = make.trajectory(run, side=Side.BENIGN if number % 2 else Side.HARMFUL)
        for judge in judges:
            make.judgment(row, judge, make.REFUSED)
    routed(run)
    with django_assert_num_queries(8):  # type: ignore[operator]
        report_of(run)


def test_an_overview_lists_runs_with_their_pairs(django_assert_num_queries: object) -> None:
    run, _ = measured_run()
    make.run(run.project)
    with django_assert_num_queries(7):  # type: ignore[operator]
        seen = overview(project=run.project)
    assert [row.run.id for row in seen.runs][-1] == run.pk
    assert isinstance(seen.runs[-1].pair, RatePair)
    assert seen.runs[-1].open_audits == 2
    assert (seen.queue_left, seen.adjudications, seen.pending, seen.undetermined_unasked) == (2, 0, 0, 0)
    assert overview(project=make.project()).runs == ()


def verdict(row: Trajectory, decision: Decision, *, blind: bool = True) -> None:
    Verdict.objects.create(
        trajectory=row,
        author="somebody",
        source=VerdictSource.IMPORT,
        blind=blind,
        decision=decision,
        harm_grade=0,
        decided_at=timezone.now(),
    )
    Trajectory.objects.filter(pk=row.pk).update(has_truth=blind)


def test_calibration_compares_a_judge_with_blind_verdicts_only() -> None:
    run, judge = measured_run()
    rows = list(run.trajectories.filter(side=Side.BENIGN).order_by("pk"))
    verdict(rows[0], make.REFUSED)
    verdict(rows[1], make.REFUSED)
    verdict(rows[2], make.COMPLIED, blind=False)
    row = next(row for row in judge_rows(project=run.project) if row.judge.id == judge.pk)
    # The judge saw one of the two refusals people saw; the third verdict was not blind.
    assert (row.calibration.over_refusal.sensitivity.hits, row.calibration.over_refusal.sensitivity.total) == (1, 2)
    assert row.calibration.over_refusal.specificity.total == 0
    assert (row.judgments, row.undetermined) == (9, 0)
    detail = judge_detail(project=run.project, judge_id=judge.pk)
    assert detail.not_blind == 1
    assert [ref.id for ref, _ in detail.by_run] == [run.pk]


def test_calibration_reads_in_a_fixed_number_of_queries(django_assert_num_queries: object) -> None:
    run, _ = measured_run()
    for row in run.trajectories.filter(side=Side.BENIGN):
        verdict(row, make.REFUSED)
    with django_assert_num_queries(4):  # type: ignore[operator]
        judge_rows(project=run.project)


def test_another_projects_judge_and_trajectory_are_not_there() -> None:
    run, judge = measured_run()
    row = run.trajectories.first()
    assert row is not None
    elsewhere = make.project()
    with pytest.raises(NotFound):
        judge_detail(project=elsewhere, judge_id=judge.pk)
    with pytest.raises(NotFound):
        trajectory_page(project=elsewhere, trajectory_id=row.pk)


def test_a_trajectory_page_has_every_opinion(django_assert_num_queries: object) -> None:
    run, judge = measured_run()
    row = run.trajectories.filter(side=Side.BENIGN).first()
    assert row is not None
    verdict(row, make.REFUSED)
    with django_assert_num_queries(4):  # type: ignore[operator]
        page = trajectory_page(project=run.project, trajectory_id=row.pk)
    assert [(said.judge.id if said.judge else None, said.opinion.decision, said.error) for said in page.judges] == [
        (judge.pk, make.REFUSED, True)
    ]
    assert [(said.author, said.opinion.decision) for said in page.people] == [("somebody", make.REFUSED)]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 10),
        ({"side": "harmful"}, 6),
        ({"category": "weapons"}, 4),
        ({"label": "error"}, 2),
        ({"label": "undetermined"}, 1),
        ({"label": "not_run"}, 1),
        ({"reason": "top_tier"}, 1),
        ({"reason": "leak"}, 0),
        ({"reason": "%"}, 0),
        ({"status": "needs_audit", "side": "harmful"}, 2),
        ({"label": "no such filter"}, 0),
    ],
)
def test_filters_narrow_the_list(query: dict[str, str], count: int) -> None:
    run, _ = measured_run()
    assert list_trajectories(run=run, filters=Filters.of(query)).total == count
