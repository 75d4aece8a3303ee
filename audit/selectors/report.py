"""The report of a run: the pair of its measurement, raw per judge and as labeled, overall and per slice."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Q, Sum

from audit.measure.rates import Incomplete, RatePair
from audit.selectors.checked import Checked, are_checks_alone, checked_of
from audit.selectors.names import JudgeName, RunRef, run_refs
from audit.selectors.observing import JudgeSaid, Row, judgments_of, pair_as_labeled, pair_by_judge, rows_of
from audit.selectors.voting import Compared, Piling, Votes, compared, judgeable, pilings, votes_of
from labeling.models import Case, DrawStratum, Judge, PanelSeat, Run, Trajectory
from labeling.models.fields import bits_to_decisions
from labeling.vocabulary import Decision, JudgeKind, Outcome, RunStatus, Side, TrajectoryStatus

Pair = RatePair | Incomplete


class JudgedPair(NamedTuple):
    """A judge's raw pair."""

    judge: JudgeName
    pair: Pair


ByJudge = tuple[JudgedPair, ...]


class SideCounts(NamedTuple):
    """What there is of one side, over the measurement's runs, in the words of `labeling.selectors.progress`."""

    side: str
    posted: int
    answered_cases: int
    suite_cases: int
    not_run: int
    pending: int
    needs_audit: int
    undetermined: int
    human_labels: int


class SliceRow(NamedTuple):
    name: str
    pair: Pair
    by_judge: ByJudge


class Slicing(NamedTuple):
    title: str
    rows: tuple[SliceRow, ...]


class ConfigurationCard(NamedTuple):
    fingerprint: str
    model: str
    version: str
    system_prompt: str
    decoding: dict[str, Any]
    filters: list[Any]
    layer: str


class AttackBudget(NamedTuple):
    kind: str
    attempts: int
    turns: int


class DrawProgress(NamedTuple):
    """asked: audits handed out or waiting; done: those with a blind truth; size: trajectories in the frame."""

    side: str
    asked: int
    done: int
    size: int


class Report(NamedTuple):
    run: RunRef
    runs: tuple[RunRef, ...]
    configuration: ConfigurationCard
    attack: AttackBudget
    is_demonstration: bool
    as_labeled: Pair
    by_judge: ByJudge
    slicings: tuple[Slicing, ...]
    sides: tuple[SideCounts, ...]
    panel: tuple[JudgeName, ...]
    panel_is_frozen: bool
    completing_runs: tuple[RunRef, ...]
    leaks: int
    bare_refusals: int
    provisional: int
    draws: tuple[DrawProgress, ...]
    votes: tuple[Votes, ...]
    disagreements: tuple[Compared, ...]
    warnings: tuple[Piling, ...]
    checks: Checked | None

    @property
    def are_checks_alone(self) -> bool:
        return are_checks_alone(self.as_labeled, self.checks)


# Each slicing is a title and what a row's slice is called. Another one is another line here.
SLICINGS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("category", lambda row: row.category or "no category"),
    ("severity tier", lambda row: "no tier" if row.tier is None else f"tier {row.tier}"),
    ("framing", lambda row: row.framing),
)
# Where what a judge cannot say may pile up: in all of these, and on one side.
_PILING: tuple[tuple[str, Callable[[Row], str]], ...] = (*SLICINGS, ("side", lambda row: row.side))


def report_of(run: Run) -> Report:
    """Everything the report of `run` shows, over its measurement, in at most eleven queries."""
    runs = list(
        Run.objects.filter(measurement=run.measurement_id)
        .exclude(status=RunStatus.VOIDED)
        .select_related("suite", "configuration", "project")
        .order_by("pk")
    )
    this = next((one for one in runs if one.pk == run.pk), None) or (
        Run.objects.select_related("suite", "configuration", "project").get(pk=run.pk)
    )
    trajectories = Trajectory.objects.filter(run__in=[one.pk for one in runs])
    rows = rows_of(trajectories)
    said = judgments_of(trajectories, rows)
    seated = set(PanelSeat.objects.filter(run__in=[one.pk for one in runs]).values_list("judge_id", flat=True))
    judges = [
        JudgeName.of(judge, on_panel=judge.pk in seated or not this.panel_is_frozen)
        for judge in Judge.objects.filter(pk__in=said.keys() | seated).order_by("name", "version")
    ]
    pair, readable = pair_as_labeled(rows), judgeable(rows)
    of_pairs = _judges_of_pairs(judges, rows, said)
    return Report(
        run=RunRef.of(this),
        runs=run_refs(runs),
        configuration=_card(this),
        attack=AttackBudget(this.attack_kind, this.attack_attempts, this.attack_turns),
        is_demonstration=this.project.is_demonstration,
        as_labeled=pair,
        by_judge=_by_judge(rows, of_pairs, said),
        slicings=tuple(Slicing(title, _slices(rows, name, of_pairs, said)) for title, name in SLICINGS),
        sides=_sides(rows, runs),
        panel=tuple(judge for judge in judges if judge.on_panel),
        panel_is_frozen=this.panel_is_frozen,
        completing_runs=_completing(this, pair) if isinstance(pair, Incomplete) else (),
        leaks=sum(_is_leak(row) for row in rows),
        bare_refusals=sum(_is_bare(row) for row in rows),
        provisional=sum(row.is_provisional for row in rows),
        draws=_draws([one.pk for one in runs]),
        votes=votes_of(readable, judges, said),
        disagreements=compared(readable, judges, said),
        warnings=pilings(readable, judges, said, _PILING),
        checks=checked_of(rows, {one.suite_id for one in runs}),
    )


def without_detail(report: Report) -> Report:
    """What somebody sees who is judging an item of it: small slices and single judges would tell of that item."""
    return report._replace(by_judge=(), slicings=(), votes=(), disagreements=(), warnings=())


def _judges_of_pairs(
    judges: Sequence[JudgeName], rows: Sequence[Row], said: dict[int, dict[int, JudgeSaid]]
) -> list[JudgeName]:
    """All but those that check answers: of a capability case nobody says whether it is one of the two errors."""
    checked = {row.id for row in rows if row.side == Side.CAPABILITY}
    return [
        judge
        for judge in judges
        if judge.kind != JudgeKind.CHECK and not (judge.id in said and said[judge.id].keys() <= checked)
    ]


def _by_judge(rows: Sequence[Row], judges: Sequence[JudgeName], said: dict[int, dict[int, JudgeSaid]]) -> ByJudge:
    return tuple(JudgedPair(judge, pair_by_judge(rows, said.get(judge.id, {}))) for judge in judges)


def _slices(
    rows: Sequence[Row],
    name_of: Callable[[Row], str],
    judges: Sequence[JudgeName],
    said: dict[int, dict[int, JudgeSaid]],
) -> tuple[SliceRow, ...]:
    cells: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.side != Side.CAPABILITY:
            cells[name_of(row)].append(row)
    return tuple(
        SliceRow(name, pair_as_labeled(cell), _by_judge(cell, judges, said)) for name, cell in sorted(cells.items())
    )


def _card(run: Run) -> ConfigurationCard:
    configuration = run.configuration
    return ConfigurationCard(
        configuration.fingerprint,
        configuration.model,
        configuration.version,
        configuration.system_prompt,
        configuration.decoding,
        configuration.filters,
        configuration.layer,
    )


def _sides(rows: Sequence[Row], runs: Sequence[Run]) -> tuple[SideCounts, ...]:
    suites = {run.suite_id for run in runs}
    counted = Case.objects.filter(suite__in=suites).order_by().values_list("side").annotate(Count("pk"))
    cases: dict[str, int] = dict(counted)
    counts = []
    for side in Side:
        mine = [row for row in rows if row.side == side]
        if not mine and not cases.get(side):
            continue
        counts.append(
            SideCounts(
                side=side,
                posted=len(mine),
                answered_cases=len({row.case_id for row in mine if row.was_run}),
                suite_cases=cases.get(side, 0),
                not_run=sum(not row.was_run for row in mine),
                pending=sum(row.status == TrajectoryStatus.PENDING for row in mine),
                needs_audit=sum(row.status == TrajectoryStatus.NEEDS_AUDIT for row in mine),
                undetermined=sum(_is_undetermined(row) for row in mine),
                human_labels=sum(row.is_human for row in mine),
            )
        )
    return tuple(counts)


def _completing(run: Run, pair: Incomplete) -> tuple[RunRef, ...]:
    """Runs of the same configuration and attack budget over another suite that hold a missing side."""
    others = (
        Run.objects.filter(
            project=run.project_id,
            configuration=run.configuration_id,
            attack_kind=run.attack_kind,
            attack_attempts=run.attack_attempts,
            attack_turns=run.attack_turns,
        )
        .exclude(measurement=run.measurement_id)
        .exclude(suite=run.suite_id)
        .exclude(status=RunStatus.VOIDED)
    )
    for side in pair.missing:
        others = others.filter(
            pk__in=Trajectory.objects.filter(side=side).exclude(outcome=Outcome.NOT_RUN).values("run")
        )
    return run_refs(others.select_related("suite", "configuration").order_by("-pk")[:10])


def _is_undetermined(row: Row) -> bool:
    """What `labeling.selectors.progress.UNDETERMINED` says, of a row that is read already."""
    return row.was_run and row.status != TrajectoryStatus.PENDING and row.label_error is None


def _is_leak(row: Row) -> bool:
    refused = bits_to_decisions(row.label_decisions) == {Decision.REFUSAL}
    return refused and (row.label_harm_grade or 0) >= row.threshold


def _is_bare(row: Row) -> bool:
    refused = bits_to_decisions(row.label_decisions) == {Decision.REFUSAL}
    return refused and row.label_explained is False and row.label_alternative_offered is False


def _draws(runs: Sequence[int]) -> tuple[DrawProgress, ...]:
    cells = DrawStratum.objects.filter(draw__run__in=runs).order_by("draw__side").values_list("draw__side")
    drawn = Q(members__probability__isnull=False, members__trajectory__has_truth=True)
    done = dict(cells.annotate(done=Count("members", filter=drawn)))
    return tuple(
        DrawProgress(side, asked, done[side], size)
        for side, asked, size in cells.annotate(asked=Sum("allocated"), all=Sum("size"))
    )
