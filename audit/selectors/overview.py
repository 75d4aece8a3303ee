"""A project at a glance: its runs with their pairs, and what needs a person now."""

from collections import defaultdict
from datetime import datetime
from typing import NamedTuple

from django.core.paginator import Paginator
from django.db.models import Count, Q

from audit.measure.passing import Passes
from audit.measure.rates import Incomplete, RatePair
from audit.selectors.checked import passes_as_labeled
from audit.selectors.names import JudgeName, RunRef
from audit.selectors.observing import Row, pair_as_labeled, rows_of
from labeling.models import AuditRequest, PanelSeat, Project, Run, Trajectory
from labeling.selectors.progress import UNDETERMINED, worker_seen
from labeling.vocabulary import RequestState, RunStatus, TrajectoryStatus

PAGE_SIZE = 20


class RunRow(NamedTuple):
    run: RunRef
    pair: RatePair | Incomplete
    checks: Passes | None
    posted: int
    open_audits: int
    pending: int
    judged_by: tuple[JudgeName, ...]
    closed: bool
    created_at: datetime


class Overview(NamedTuple):
    """undetermined_unasked: settled without a determined label error, so that nobody is asked about them."""

    runs: tuple[RunRow, ...]
    page: int
    pages: int
    run_count: int
    queue_left: int
    adjudications: int
    undetermined_unasked: int
    pending: int
    worker_seen: datetime | None


def overview(*, project: Project, page: int = 1) -> Overview:
    """One page of runs, newest first, in a fixed number of queries. Voided runs are left out."""
    runs = (
        Run.objects.filter(project=project)
        .exclude(status=RunStatus.VOIDED)
        .select_related("suite", "configuration")
        .order_by("-created_at", "-pk")
    )
    paginator = Paginator(runs, PAGE_SIZE)
    shown = paginator.get_page(page)
    listed = list(shown)
    # A pair is its measurement's, and that may hold runs of another page.
    measured: dict[int, list[Row]] = defaultdict(list)
    by_run: dict[int, list[Row]] = defaultdict(list)
    in_measurements = Trajectory.objects.filter(run__measurement__in=[run.measurement_id for run in listed])
    for row in rows_of(in_measurements.exclude(run__status=RunStatus.VOIDED)):
        measured[row.measurement_id].append(row)
        by_run[row.run_id].append(row)
    panels: dict[int, list[JudgeName]] = defaultdict(list)
    for seat in PanelSeat.objects.filter(run__in=listed).select_related("judge").order_by("judge__name"):
        panels[seat.run_id].append(JudgeName.of(seat.judge, on_panel=True))
    counts = _counts(project)
    return Overview(
        runs=tuple(
            RunRow(
                run=RunRef.of(run),
                pair=pair_as_labeled(measured[run.measurement_id]),
                checks=passes_as_labeled(measured[run.measurement_id]),
                posted=len(by_run[run.pk]),
                open_audits=sum(row.status == TrajectoryStatus.NEEDS_AUDIT for row in by_run[run.pk]),
                pending=sum(row.status == TrajectoryStatus.PENDING for row in by_run[run.pk]),
                judged_by=tuple(panels[run.pk]),
                closed=run.status == RunStatus.CLOSED,
                created_at=run.created_at,
            )
            for run in listed
        ),
        page=shown.number,
        pages=paginator.num_pages,
        run_count=paginator.count,
        worker_seen=worker_seen(),
        **counts,
    )


def _counts(project: Project) -> dict[str, int]:
    """What needs somebody, from rows and not from counters."""
    requests = AuditRequest.objects.filter(project=project, state=RequestState.OPEN).aggregate(
        queue_left=Count("pk", filter=Q(for_lead=False)), adjudications=Count("pk", filter=Q(for_lead=True))
    )
    trajectories = Trajectory.objects.filter(run__project=project).exclude(run__status=RunStatus.VOIDED)
    states: dict[str, int] = trajectories.aggregate(
        pending=Count("pk", filter=Q(status=TrajectoryStatus.PENDING)),
        undetermined_unasked=Count("pk", filter=UNDETERMINED & Q(status=TrajectoryStatus.SETTLED)),
    )
    return {**requests, **states}
