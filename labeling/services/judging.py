"""Judging and routing trajectories: from rows that are owed judgments to labels, or requests for a person.

Both steps are safe to repeat and to run twice at once: a judgment is unique per judge version, and routing writes what
the judgments say, whoever made them.
"""

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction

from labeling.judges import registry
from labeling.judges.base import Said
from labeling.measure.opinion import Opinion
from labeling.measure.routing import NeedsAudit, Settled, route
from labeling.models import Judge, Judgment, PanelSeat, Run, Trajectory, TrajectoryContent
from labeling.models.fields import decisions_to_bits
from labeling.selectors.opinions import panel_opinions
from labeling.services import settling
from labeling.vocabulary import NOT_JUDGED, Layer, Outcome, RunStatus, Side, TrajectoryStatus


def store_judgments(*, trajectory_ids: Sequence[int]) -> int:
    """Make the judgments that are owed on these rows; how many were made. Rows already judged are not read.

    Judges think outside any transaction; what they said goes in by one statement.
    """
    rows = list(
        Trajectory.objects.filter(pk__in=trajectory_ids)
        .exclude(outcome__in=NOT_JUDGED)
        .select_related("run")
        .order_by("pk")
    )
    judges = _judges_owed({row.run_id: row.run for row in rows})
    done = set(
        Judgment.objects.filter(trajectory__in=rows, judge__in={j.pk for owed in judges.values() for j in owed})
        .order_by()
        .values_list("trajectory_id", "judge_id")
    )
    owed = {row.pk: [judge for judge in judges[row.run_id] if (row.pk, judge.pk) not in done] for row in rows}
    contents = TrajectoryContent.objects.filter(trajectory__in=[pk for pk, owing in owed.items() if owing])
    made = [
        _judgment(content.trajectory_id, judge, code.judge(content.messages))
        for content in contents.filter(purged_at=None).only("messages").iterator(chunk_size=20)
        for judge in owed[content.trajectory_id]
        if (code := registry.running(judge)) is not None
    ]
    # Another worker may have been faster: its judgment stands.
    Judgment.objects.bulk_create(made, ignore_conflicts=True)
    return len(made)


def _judges_owed(runs: dict[int, Run]) -> dict[int, list[Judge]]:
    """The judges each run's trajectories are put to: its panel's, else all active ones of the project."""
    seats: dict[int, list[Judge]] = defaultdict(list)
    for seat in PanelSeat.objects.filter(run__in=runs).select_related("judge"):
        seats[seat.run_id].append(seat.judge)
    projects = {run.project_id for run in runs.values()}
    active: dict[int, list[Judge]] = defaultdict(list)
    for judge in Judge.objects.filter(project__in=projects, active=True, name__in=registry.BUILT_IN):
        active[judge.project_id].append(judge)
    return {pk: seats[pk] if run.panel_is_frozen else active[run.project_id] for pk, run in runs.items()}


def _judgment(trajectory_id: int, judge: Judge, said: Said) -> Judgment:
    opinion = said.opinion
    return Judgment(
        trajectory_id=trajectory_id,
        judge=judge,
        decisions=decisions_to_bits(opinion.decisions),
        harm_grade=opinion.harm_grade,
        explained=opinion.explained,
        alternative_offered=opinion.alternative_offered,
        withheld=opinion.withheld,
        check_passed=opinion.check_passed,
        measures=sorted(opinion.measures),
        undetermined=opinion.undetermined or "",
        evidence=list(said.evidence),
        rationale=said.rationale,
    )


@transaction.atomic(durable=True)
def route_trajectories(*, trajectory_ids: Sequence[int]) -> int:
    """Route those of these rows that are pending by what their panels say; how many were routed."""
    return route_rows(trajectory_ids=trajectory_ids)


def route_rows(*, trajectory_ids: Sequence[int], anew: bool = False) -> int:
    """The same inside the caller's transaction.

    anew: rows that are not pending too, over people's labels, which the caller must then apply again.
    """
    rows = (
        Trajectory.objects.filter(pk__in=trajectory_ids)
        .exclude(run__status=RunStatus.VOIDED)
        .select_related("run__suite", "run__configuration")
    )
    if not anew:
        rows = rows.filter(status=TrajectoryStatus.PENDING)
    # Locked in one order, so that two workers on overlapping batches wait instead of deadlocking; the weaker lock lets
    # a claim insert rows that refer to these.
    locked = list(rows.order_by("pk").select_for_update(of=("self",), no_key=True))
    opinions = panel_opinions(locked)
    routes = {row.pk: _route(row, list(opinions[row.pk].values())) for row in locked}
    settling.write_routes(routes, rows=locked, anew=anew)
    return len(locked)


def _route(row: Trajectory, opinions: Sequence[Opinion]) -> Settled | NeedsAudit:
    return route(
        opinions,
        side=Side(row.side),
        tier=row.tier,
        threshold=row.run.suite.harm_threshold,
        gravest_tier=row.run.suite.gravest_tier,
        outcome=Outcome(row.outcome),
        layer=Layer(row.run.configuration.layer),
    )
