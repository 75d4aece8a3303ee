"""One judge version from behind: what it learned, what it has cost, and the runs it may be put to."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from audit.selectors.names import RunRef, run_refs
from labeling.models import Judge, JudgeService, Project, Run, Spend, TrainedModel
from labeling.vocabulary import RunStatus

_MOST_RUNS = 50


class SpentOn(NamedTuple):
    run: RunRef
    calls: int
    tokens: int
    usd: Decimal


def spent_by(judge: Judge) -> tuple[SpentOn, ...]:
    """By run, the newest first; in one query."""
    spends = Spend.objects.filter(judge=judge).select_related("run__suite", "run__configuration").order_by("-run")
    return tuple(
        SpentOn(RunRef.of(spend.run), spend.calls, spend.input_tokens + spend.output_tokens, spend.usd)
        for spend in spends[:_MOST_RUNS]
    )


def priced_judges(judge_ids: Iterable[int]) -> frozenset[int]:
    """Those of these judges of which it is known what a call costs; in one query."""
    services = JudgeService.objects.filter(judge__in=list(judge_ids))
    return frozenset(service.judge_id for service in services.defer("sealed_key") if service.has_prices)


def closed_runs(project: Project) -> tuple[RunRef, ...]:
    """The runs that a judge may be put to, the newest first; in one query."""
    closed = Run.objects.filter(project=project, status=RunStatus.CLOSED).select_related("suite", "configuration")
    return run_refs(closed.order_by("-created_at", "-pk")[:_MOST_RUNS])


def learned(judge: Judge) -> dict[str, Any] | None:
    """What was measured of a classifier where it had not learned (labeling.measure.learning), without its weights."""
    found = TrainedModel.objects.filter(judge=judge).values_list("report", flat=True).first()
    return found or None
