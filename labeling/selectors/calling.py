"""How judges are doing: what they owe, what waits for a person, what they have cost. Counts, no rates."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from labeling.judges import registry
from labeling.models import Judge, JudgeCall, JudgeService, Project, Rejudging, Run, Spend, Training, Trouble
from labeling.vocabulary import JudgeKind, WorkStatus


class Calls(NamedTuple):
    """Calls that are owed. owed: all that are not parked; in_hand: those of them that a worker has; parked: broke."""

    owed: int = 0
    in_hand: int = 0
    parked: int = 0


class Spent(NamedTuple):
    calls: int = 0
    usd: Decimal = Decimal(0)


class InTrouble(NamedTuple):
    """A judge whose endpoint did not answer when it was last asked. owed: the calls that wait for it.

    parked_until: no call is made before; None: it is asked now.
    """

    id: int
    name: str
    version: str
    title: str
    reason: str
    parked_until: datetime | None
    owed: int


class RejudgingState(NamedTuple):
    """How far a judge was put to a run (run_id None: to all that people audited)."""

    run_id: int | None
    status: WorkStatus
    handed_on: int
    total: int


class JudgeState(NamedTuple):
    """How one judge version is doing.

    on_panel: new trajectories are put to it. runs_here: this service has the code of that very version; of one that
    learned here that is taken for granted, for its library is large, and pages have no other need of it.
    owed, in_hand, parked_calls: as `Calls` has them. parked_until: no call is made before; None where it is not parked.
    parked_reason: its last trouble, which is there until it answers again. has_prices: what its calls cost is known.
    rejudging: the last one that was asked for, None if there was none.
    """

    on_panel: bool
    runs_here: bool
    owed: int
    in_hand: int
    parked_calls: int
    parked_until: datetime | None
    parked_reason: str
    has_prices: bool
    calls_made: int
    spent_usd: Decimal
    ceiling_usd: Decimal | None
    rejudging: RejudgingState | None


def judge_state(project: Project) -> dict[int, JudgeState]:
    """Every judge version of a project by its id, in five queries."""
    return _states(Judge.objects.filter(project=project))


def state_of(judge: Judge) -> JudgeState:
    """One judge version, in five queries."""
    return _states(Judge.objects.filter(pk=judge.pk))[judge.pk]


def _states(judges: QuerySet[Judge]) -> dict[int, JudgeState]:
    services = {service.judge_id: service for service in JudgeService.objects.filter(judge__in=judges)}
    calls = _calls(JudgeCall.objects.filter(judge__in=judges))
    spent = _spent(Spend.objects.filter(judge__in=judges))
    rejudgings = _last_rejudgings(judges)
    return {
        judge.pk: _state(
            judge,
            services.get(judge.pk, JudgeService()),
            calls.get(judge.pk, Calls()),
            spent.get(judge.pk, Spent()),
            rejudgings.get(judge.pk),
        )
        for judge in judges
    }


def _state(
    judge: Judge, service: JudgeService, calls: Calls, spent: Spent, rejudging: RejudgingState | None
) -> JudgeState:
    return JudgeState(
        on_panel=judge.active and judge.kind != JudgeKind.IMPORTED,
        runs_here=judge.settings.get("type") == registry.LOCAL or registry.running(judge) is not None,
        owed=calls.owed,
        in_hand=calls.in_hand,
        parked_calls=calls.parked,
        parked_until=service.parked_until if service.is_parked else None,
        parked_reason=service.parked_reason,
        has_prices=service.has_prices,
        calls_made=spent.calls,
        spent_usd=spent.usd,
        ceiling_usd=service.ceiling_usd,
        rejudging=rejudging,
    )


def _calls(calls: QuerySet[JudgeCall]) -> dict[int, Calls]:
    # Of a worker that is taken for dead nothing is in hand.
    in_hand = Q(parked_at=None, claim__isnull=False, ready_at__gt=timezone.now())
    counts = {
        "owed": Count("pk", filter=Q(parked_at=None)),
        "in_hand": Count("pk", filter=in_hand),
        "parked": Count("pk", filter=Q(parked_at__isnull=False)),
    }
    return {row.pop("judge"): Calls(**row) for row in calls.order_by().values("judge").annotate(**counts)}


def _last_rejudgings(judges: QuerySet[Judge]) -> dict[int, RejudgingState]:
    rows = Rejudging.objects.filter(judge__in=judges).order_by("pk")
    return {row.judge_id: RejudgingState(row.run_id, WorkStatus(row.status), row.handed_on, row.total) for row in rows}


def last_training(project: Project) -> Training | None:
    """The last time a judge was to learn from this project's verdicts, in one query."""
    return Training.objects.filter(project=project).order_by("-pk").first()


def calls_on(run: Run) -> dict[int, Calls]:
    """What each judge owes on one run, by the judge's id, in one query; judges that owe nothing are not in it."""
    return _calls(JudgeCall.objects.filter(trajectory__run=run))


def in_trouble(project: Project) -> list[InTrouble]:
    """The judges of a project that owe something and did not answer when they were last asked, in one query."""
    services = JudgeService.objects.filter(judge__project=project).exclude(parked_reason="").select_related("judge")
    owed = Count("judge__calls", filter=Q(judge__calls__parked_at=None))
    return [
        InTrouble(
            service.judge_id,
            service.judge.name,
            service.judge.version,
            service.judge.title,
            service.parked_reason,
            service.parked_until if service.is_parked else None,
            service.owed,
        )
        for service in services.annotate(owed=owed).filter(owed__gt=0).order_by("judge__name", "judge_id")
    ]


def spent_on(run_ids: Collection[int]) -> dict[int, Spent]:
    """What each judge has cost on these runs, by the judge's id, in one query."""
    return _spent(Spend.objects.filter(run__in=run_ids))


def _spent(spends: QuerySet[Spend]) -> dict[int, Spent]:
    sums = spends.order_by().values_list("judge").annotate(Sum("calls"), Sum("usd"))
    return {judge: Spent(calls, usd) for judge, calls, usd in sums}


def parked_on(run: Run) -> dict[str, int]:
    """The trajectories of a run that are parked because they broke the work on them: reasons with their counts."""
    parked = Trouble.objects.filter(trajectory__run=run, parked_at__isnull=False).order_by("reason")
    return dict(parked.values_list("reason").annotate(Count("pk")))
