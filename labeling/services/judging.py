"""Judging and routing trajectories: from rows that are owed judgments to labels, or requests for a person.

Both steps are safe to repeat and to run twice at once: a judgment is unique per judge version, and routing writes what
the judgments say, whoever made them. Local judges speak here; what is owed to served ones is written down as calls.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction

from labeling.judges import registry
from labeling.judges.base import Item, LocalJudge, RunningJudge, Said
from labeling.measure.opinion import Opinion
from labeling.measure.routing import NeedsAudit, Settled, route
from labeling.models import Judge, JudgeCall, Judgment, PanelSeat, Run, Trajectory, TrajectoryContent
from labeling.models.fields import decisions_to_bits
from labeling.selectors.items import items_of
from labeling.selectors.opinions import panel_opinions
from labeling.selectors.stored import chunked
from labeling.services import settling
from labeling.vocabulary import NOT_JUDGED, JudgeKind, Layer, Outcome, RunStatus, Side, TrajectoryStatus

# As many transcripts are in a judge's hands at once.
_AT_ONCE = 20


class Judged(NamedTuple):
    """made: judgments of local judges. asked: calls that are owed. ready: rows on which no judgment is owed."""

    made: int
    asked: int
    ready: list[int]


class Owing(NamedTuple):
    """A version that still owes something, with the code behind it."""

    judge: Judge
    code: RunningJudge


class PutTo(NamedTuple):
    """made: judgments of local judges. asked: the rows on which calls are owed."""

    made: int
    asked: set[int]


def store_judgments(*, trajectory_ids: Sequence[int]) -> Judged:
    """Make the judgments that are owed on these rows, or write down that they are. Rows already judged are not read."""
    made, asked = put_to(_owed(trajectory_ids))
    return Judged(made, len(asked), [pk for pk in trajectory_ids if pk not in asked])


def put_to(owed: Mapping[int, Sequence[Owing]]) -> PutTo:
    """Put rows to judges: local ones speak, and what served ones owe is written down.

    Judges think outside any transaction; what they said goes in by one statement.
    """
    local = {pk: [each for each in owing if isinstance(each.code, LocalJudge)] for pk, owing in owed.items()}
    made = _judge_locally({pk: owing for pk, owing in local.items() if owing})
    served = {pk: [each.judge for each in owing if not isinstance(each.code, LocalJudge)] for pk, owing in owed.items()}
    return PutTo(made, _ask_for({pk: judges for pk, judges in served.items() if judges}))


def _judge_locally(owing: Mapping[int, Sequence[Owing]]) -> int:
    """The judgments of local judges on these rows, stored; how many were made."""
    made: list[Judgment] = []
    for items in chunked(items_of(list(owing)), _AT_ONCE):
        by_judge: dict[int, tuple[Owing, list[tuple[int, Item]]]] = {}
        for pk, item in items:
            for each in owing[pk]:
                by_judge.setdefault(each.judge.pk, (each, []))[1].append((pk, item))
        for (judge, code), theirs in by_judge.values():
            assert isinstance(code, LocalJudge)
            said = code.judge([item for _, item in theirs])
            made += [judgment_row(pk, judge, one) for (pk, _), one in zip(theirs, said, strict=True)]
    # Another worker may have been faster: its judgment stands.
    Judgment.objects.bulk_create(made, ignore_conflicts=True)
    return len(made)


def _ask_for(owing: Mapping[int, Sequence[Judge]]) -> set[int]:
    """Write down the calls that are owed on these rows; the rows on which any is. What was purged cannot be asked."""
    contents = TrajectoryContent.objects.filter(trajectory__in=list(owing))
    purged = set(contents.exclude(purged_at=None).values_list("pk", flat=True))
    JudgeCall.objects.bulk_create(
        (JudgeCall(trajectory_id=pk, judge=judge) for pk in owing if pk not in purged for judge in owing[pk]),
        ignore_conflicts=True,
    )
    return owing.keys() - purged


def nothing_owed(trajectory_ids: Sequence[int]) -> list[int]:
    """Those of these rows on which no judge owes anything any more. The sweep rings for the others."""
    owing = _owed(trajectory_ids)
    return [pk for pk in trajectory_ids if pk not in owing]


def owing_on(judge: Judge) -> list[Owing]:
    """This one version, where it runs here."""
    code = registry.running(judge)
    return [] if code is None else [Owing(judge, code)]


def _owed(trajectory_ids: Sequence[int]) -> dict[int, list[Owing]]:
    """The judges that each of these rows is still to be put to."""
    rows = list(
        Trajectory.objects.filter(pk__in=trajectory_ids)
        .exclude(outcome__in=NOT_JUDGED)
        .exclude(run__status=RunStatus.VOIDED)
        .select_related("run")
        .order_by("pk")
    )
    judges = _panels({row.run_id: row.run for row in rows})
    done = set(
        Judgment.objects.filter(
            trajectory__in=rows, judge__in={each.judge.pk for panel in judges.values() for each in panel}
        )
        .order_by()
        .values_list("trajectory_id", "judge_id")
    )
    owed = {
        row.pk: [
            each for each in judges[row.run_id] if row.side in each.code.sides and (row.pk, each.judge.pk) not in done
        ]
        for row in rows
    }
    return {pk: owing for pk, owing in owed.items() if owing}


def _panels(runs: Mapping[int, Run]) -> dict[int, list[Owing]]:
    """The judges each run's trajectories are put to: its panel's, else all active ones of the project."""
    seats: dict[int, list[Judge]] = defaultdict(list)
    for seat in PanelSeat.objects.filter(run__in=runs).select_related("judge"):
        seats[seat.run_id].append(seat.judge)
    projects = {run.project_id for run in runs.values()}
    active: dict[int, list[Judge]] = defaultdict(list)
    for judge in Judge.objects.filter(project__in=projects, active=True).exclude(kind=JudgeKind.IMPORTED):
        active[judge.project_id].append(judge)
    return {pk: _running(seats[pk] if run.panel_is_frozen else active[run.project_id]) for pk, run in runs.items()}


def _running(judges: Iterable[Judge]) -> list[Owing]:
    return [each for judge in judges for each in owing_on(judge)]


def judgment_row(trajectory_id: int, judge: Judge, said: Said, **beside: object) -> Judgment:
    """What a judge said as a row, not stored. beside: columns for what the call took."""
    return Judgment(trajectory_id=trajectory_id, judge=judge, **columns_of(said), **beside)


def columns_of(said: Said) -> dict[str, Any]:
    """What was said, as a judgment keeps it."""
    opinion = said.opinion
    return {
        "decisions": decisions_to_bits(opinion.decisions),
        "harm_grade": opinion.harm_grade,
        "explained": opinion.explained,
        "alternative_offered": opinion.alternative_offered,
        "withheld": opinion.withheld,
        "check_passed": opinion.check_passed,
        "measures": sorted(opinion.measures),
        "undetermined": opinion.undetermined or "",
        "scores": said.scores,
        "evidence": [span._asdict() for span in said.evidence],
        "rationale": said.rationale,
        "raw_output": said.raw,
    }


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
