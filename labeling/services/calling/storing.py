"""What came of calls: judgments, what they cost, and the labels of rows on which nothing is owed any more."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F

from labeling.endpoints.exchange import Answer, Failed, Slow
from labeling.judges.base import Said
from labeling.models import Judge, JudgeCall, JudgeService, Judgment, Spend
from labeling.services import judging

_MILLION = Decimal(1_000_000)
_CENT_OF_A_CENT = Decimal("0.000001")
# What a judgment's column can hold.
_MOST_USD = Decimal("999999.999999")


class Prices(NamedTuple):
    """US dollars a million tokens; `None` where nobody said."""

    input_usd: Decimal | None
    output_usd: Decimal | None

    @classmethod
    def of(cls, service: JudgeService) -> "Prices":
        return cls(service.input_usd, service.output_usd)

    def cost(self, input_tokens: int | None, output_tokens: int | None) -> Decimal | None:
        """What a call took; `None` where prices or tokens are not known."""
        if None in (self.input_usd, self.output_usd, input_tokens, output_tokens):
            return None
        assert self.input_usd is not None
        assert self.output_usd is not None
        return _stored(self.input_usd * (input_tokens or 0) + self.output_usd * (output_tokens or 0))

    def at_most(self, tokens: int) -> Decimal:
        """What so many tokens of either sort can cost; 0 where nobody said."""
        return _stored(max(self.input_usd or Decimal(0), self.output_usd or Decimal(0)) * tokens)


def _stored(millionths: Decimal) -> Decimal:
    """US dollars, as a judgment's column can hold them."""
    return min((millionths / _MILLION).quantize(_CENT_OF_A_CENT), _MOST_USD)


@dataclass(frozen=True, slots=True)
class Result:
    """What one call came to. outcome: what the endpoint gave, or None where it was not asked.

    most: what it can have cost, which counts where the endpoint does not say how many tokens it took.
    """

    call: JudgeCall
    judge: Judge
    said: Said
    outcome: Answer | Failed | Slow | None
    prices: Prices
    most: Decimal = Decimal(0)

    def row(self) -> Judgment:
        return judging.judgment_row(self.call.trajectory_id, self.judge, self.said, **self._took())

    def _took(self) -> dict[str, Any]:
        if self.outcome is None:
            return {}
        # What was never answered took no time that anybody measured.
        took: dict[str, Any] = {"latency_ms": self.outcome.latency_ms or None}
        if isinstance(self.outcome, Answer):
            took |= {"input_tokens": self.outcome.input_tokens, "output_tokens": self.outcome.output_tokens}
            cost = self.prices.cost(self.outcome.input_tokens, self.outcome.output_tokens)
            took["cost_usd"] = cost if cost is not None or None in self.prices else self.most
        return took


def store(results: Sequence[Result]) -> None:
    """Store what came, and route the rows on which it was the last thing owed."""
    _store(results)
    ids = list(dict.fromkeys(result.call.trajectory_id for result in results))
    if ready := judging.nothing_owed(ids):
        judging.route_trajectories(trajectory_ids=ready)


@transaction.atomic(durable=True)
def _store(results: Sequence[Result]) -> None:
    """What was paid for is stored even where the claim was lost meanwhile; the first judgment stands."""
    rows = [result.row() for result in results]
    Judgment.objects.bulk_create(rows, ignore_conflicts=True)
    spent: dict[tuple[int, int], list[Judgment]] = defaultdict(list)
    for result, row in zip(results, rows, strict=True):
        if isinstance(result.outcome, Answer):
            spent[result.call.trajectory.run_id, result.judge.pk].append(row)
    # In one order, for two workers may add to the same two counters.
    for (run_id, judge_id), judged in sorted(spent.items()):
        _add(run_id, judge_id, judged)
    JudgeCall.objects.filter(pk__in=[result.call.pk for result in results]).delete()


def _add(run_id: int, judge_id: int, judged: Sequence[Judgment]) -> None:
    Spend.objects.get_or_create(run_id=run_id, judge_id=judge_id)
    Spend.objects.filter(run=run_id, judge=judge_id).update(
        calls=F("calls") + len(judged),
        input_tokens=F("input_tokens") + sum(row.input_tokens or 0 for row in judged),
        output_tokens=F("output_tokens") + sum(row.output_tokens or 0 for row in judged),
        usd=F("usd") + sum((row.cost_usd or Decimal(0) for row in judged), Decimal(0)),
    )
