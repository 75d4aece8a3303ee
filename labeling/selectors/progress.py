"""How far a run has come, and whether anybody is at work: counts, no rates."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Q
from django.utils import timezone

from labeling.models import Heartbeat, Run, Trajectory
from labeling.selectors.judges import JudgeName, speaking_judges
from labeling.selectors.traits import panel_of
from labeling.vocabulary import Outcome, Side, TrajectoryStatus

WORKER = "worker"


class SideProgress(NamedTuple):
    """Trajectories of one side. Every one is pending, needs_audit or settled.

    undetermined: were run, judged or not, and no label error is determined; what is pending is counted there.
    not_run: errors of the runner. answered_cases: cases of the suite with at least one trajectory that was run.
    """

    side: Side
    posted: int
    pending: int
    needs_audit: int
    settled: int
    undetermined: int
    not_run: int
    answered_cases: int
    suite_cases: int


class RunProgress(NamedTuple):
    """The sum of the sides, each side that the suite or the run has, and the judges whose opinions count.

    panel: fixed, or while it is not, the judges that would be in it if the run were closed now.
    """

    posted: int
    pending: int
    needs_audit: int
    settled: int
    undetermined: int
    not_run: int
    sides: tuple[SideProgress, ...]
    panel: tuple[JudgeName, ...]
    panel_is_frozen: bool


_RAN = ~Q(outcome=Outcome.NOT_RUN)
# The one definition of the count beside the sides. A rate keeps what is pending in, as a bound.
UNDETERMINED = _RAN & ~Q(status=TrajectoryStatus.PENDING) & Q(label_error=None)
_COUNTS = {
    "posted": Count("pk"),
    "pending": Count("pk", filter=Q(status=TrajectoryStatus.PENDING)),
    "needs_audit": Count("pk", filter=Q(status=TrajectoryStatus.NEEDS_AUDIT)),
    "settled": Count("pk", filter=Q(status=TrajectoryStatus.SETTLED)),
    "undetermined": Count("pk", filter=UNDETERMINED),
    "not_run": Count("pk", filter=Q(outcome=Outcome.NOT_RUN)),
    "answered_cases": Count("case", filter=_RAN, distinct=True),
}


def run_progress(run: Run) -> RunProgress:
    """In four queries."""
    posted = {
        row["side"]: row for row in Trajectory.objects.filter(run=run).order_by().values("side").annotate(**_COUNTS)
    }
    asked = dict(run.suite.cases.order_by().values_list("side").annotate(Count("pk")))
    sides = tuple(
        SideProgress(
            side=side,
            suite_cases=asked.get(side, 0),
            **{name: posted[side][name] if side in posted else 0 for name in _COUNTS},
        )
        for side in Side
        if side in posted or side in asked
    )
    fixed = panel_of(run)
    panel = speaking_judges([run]) if fixed is None else fixed
    return RunProgress(
        posted=_total(sides, "posted"),
        pending=_total(sides, "pending"),
        needs_audit=_total(sides, "needs_audit"),
        settled=_total(sides, "settled"),
        undetermined=_total(sides, "undetermined"),
        not_run=_total(sides, "not_run"),
        sides=sides,
        panel=tuple(JudgeName(judge.pk, judge.name, judge.version) for judge in panel),
        panel_is_frozen=run.panel_is_frozen,
    )


def _total(sides: Sequence[SideProgress], name: str) -> int:
    return sum(getattr(side, name) for side in sides)


def worker_seen() -> datetime | None:
    """When a worker last swept; `None` if never. Older than a minute or two means that nobody is at work."""
    return Heartbeat.objects.filter(name=WORKER).values_list("beat_at", flat=True).first()


def is_missing(seen: datetime | None) -> bool:
    """A worker last seen at this time has missed several sweeps: nobody is at work."""
    return seen is None or timezone.now() - seen > timedelta(seconds=4 * settings.SWEEP_SECONDS + 30)
