"""One judge while a worker calls it: what it has in hand, what it may do, and how it has answered so far."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.conf import settings

from labeling.endpoints.caller import Caller
from labeling.endpoints.exchange import Question
from labeling.errors import told
from labeling.judges.base import Item, Said, ServedJudge, abstained
from labeling.limits import Limits
from labeling.models import Judge, JudgeCall, JudgeService, Spend
from labeling.selectors.items import items_of
from labeling.services.calling import claims
from labeling.services.calling.storing import Prices, Result
from labeling.vocabulary import Undetermined

# The judge and the call.
Ticket = tuple[int, int]

# A call that cannot be sent within the limits, or the ceiling, for now is looked at again after so many seconds.
_WAIT = 2.0
_BROKE_WAIT = 5.0
# For an endpoint so quick that each slot is used several times while a worker stores.
_MOST_SPARE = 8


@dataclass(frozen=True, slots=True)
class InHand:
    """A call that was handed to the caller. most: what it can cost."""

    call: JudgeCall
    item: Item
    question: Question
    most: Decimal


@dataclass(slots=True)
class Line:
    """slots: calls at once that the limits allow this worker. answered_at: when it last did, on this worker's clock.

    came: results at the last look. wait_until: the limits let nothing through before. lone: the last call that was made
    with no other beside it.
    """

    judge: Judge
    code: ServedJudge
    service: JudgeService
    claim: UUID
    slots: int = 0
    hold_until: float = 0.0
    came: int = 0
    wait_until: float = 0.0
    answered_at: float | None = None
    lone: int | None = None
    is_down: bool = False
    in_hand: dict[int, InHand] = field(default_factory=dict)
    spent: dict[int, Decimal] = field(default_factory=dict)

    @property
    def prices(self) -> Prices:
        return Prices.of(self.service)

    @property
    def key(self) -> str:
        return f"judge:{self.judge.pk}"

    @property
    def has_lone(self) -> bool:
        return self.lone in self.in_hand

    def is_lively(self, seconds: float) -> bool:
        """Has it answered within so many seconds?"""
        return self.answered_at is not None and time.monotonic() - self.answered_at < seconds

    def hold(self, limits: Limits, caller: Caller[Ticket]) -> None:
        """Keep, or get, this worker's share of the calls that may be made at once.

        Where it shrinks, another worker has the rest, and shall have the calls too.
        """
        now = time.monotonic()
        if now < self.hold_until:
            return
        most = self.service.concurrency
        granted = limits.hold(self.key, str(self.claim), want=most, limit=most, seconds=settings.CLAIM_SECONDS)
        self.hold_until = now + settings.CLAIM_SECONDS / 4
        if granted < self.slots:
            self.put_back_queued(caller)
        if granted != self.slots:
            self.slots = granted
            caller.set_concurrency(self.judge.pk, granted)

    def let_go(self, limits: Limits) -> None:
        limits.let_go(self.key, str(self.claim))

    def take(self, *, may_be_alone: bool) -> list[JudgeCall]:
        """As many calls as keep every slot busy while others are stored: as many again, or twice what came last.

        may_be_alone: where there is nothing else to do, one that workers have ended with.
        """
        spare = min(max(self.slots, 2 * self.came), _MOST_SPARE * self.slots)
        room = self.slots + spare - len(self.in_hand)
        if room <= 0 or self.has_lone or time.monotonic() < self.wait_until:
            return []
        calls = claims.take(judge_id=self.judge.pk, count=room, claim=self.claim, alone=False)
        if not calls and not self.in_hand and may_be_alone:
            calls = claims.take(judge_id=self.judge.pk, count=1, claim=self.claim, alone=True)
            self.lone = calls[0].pk if calls else None
        return claims.still_owed(calls) if calls else []

    def send(
        self, calls: Sequence[JudgeCall], limits: Limits, caller: Caller[Ticket], *, alive: Callable[[], None]
    ) -> list[Result]:
        """Hand on what can be; what needs no call, or has no budget, is a result at once.

        alive: asked between two questions, for a long transcript takes seconds and the claims must not lapse.
        """
        results: list[Result] = []
        asked: list[InHand] = []
        by_row = {call.trajectory_id: call for call in calls}
        for pk, item in items_of(list(by_row)):
            alive()
            call = by_row.pop(pk)
            said = self._ask(call, item)
            if isinstance(said, Question):
                asked.append(InHand(call, item, said, self.prices.at_most(said.tokens)))
            elif said is not None:
                results.append(self._without_call(call, said))
        # Their text was purged: there is nothing to ask about any more.
        gone = abstained(Undetermined.OTHER, self.code.measures, rationale="The text was purged before it was judged.")
        results += [self._without_call(call, gone) for call in by_row.values()]
        within, over = self._within_ceiling(asked)
        self._submit(within, limits, caller)
        return results + over

    def _ask(self, call: JudgeCall, item: Item) -> Question | Said | None:
        try:
            return self.code.ask(item, secrets.token_hex(8))
        except Exception as error:
            self.broke(call, told(error))
            return None

    def _submit(self, asked: Sequence[InHand], limits: Limits, caller: Caller[Ticket]) -> None:
        delays = self._delays(asked, limits)
        for each, delay in zip(asked, delays, strict=False):
            self.in_hand[each.call.pk] = each
            caller.submit((self.judge.pk, each.call.pk), line=self.judge.pk, question=each.question, delay=delay)
        if len(delays) < len(asked):
            self.wait_until = time.monotonic() + _WAIT
            claims.put_back([each.call for each in asked[len(delays) :]], claim=self.claim)

    def _delays(self, asked: Sequence[InHand], limits: Limits) -> list[float]:
        """How long each is to wait for the limits; those without a number are not to be sent yet."""
        if not asked:
            return []
        per_minute = self.service.requests_per_minute
        if not per_minute:
            return self._token_delays(asked, [0.0] * len(asked), limits)
        booked = limits.reserve(f"{self.key}:requests", per_minute=per_minute, count=len(asked))
        delays = self._token_delays(asked, booked, limits)
        if unused := len(booked) - len(delays):
            limits.give_back(f"{self.key}:requests", per_minute=per_minute, count=unused)
        return delays

    def _token_delays(self, asked: Sequence[InHand], delays: list[float], limits: Limits) -> list[float]:
        """The same with the limit on tokens, which is booked call by call, for they differ in size."""
        per_minute = self.service.tokens_per_minute
        if not per_minute:
            return delays
        longer: list[float] = []
        for each, delay in zip(asked, delays, strict=False):
            booked = limits.reserve(f"{self.key}:tokens", per_minute=per_minute, amount=each.question.tokens)
            if not booked:
                break
            longer.append(max(delay, booked[0]))
        return longer

    # --- the ceiling ---------------------------------------------------------------------------------------------

    def _within_ceiling(self, asked: Sequence[InHand]) -> tuple[list[InHand], list[Result]]:
        """What may be sent, and what is over its run's ceiling. What is only over together with others waits."""
        ceiling = self.service.ceiling_usd
        if ceiling is None:
            return list(asked), []
        within, over, later = [], [], []
        reserved = {run: self._reserved(run) for run in {each.call.trajectory.run_id for each in asked}}
        for each in asked:
            run = each.call.trajectory.run_id
            if self._spent(run) + each.most > ceiling:
                over.append(self._without_call(each.call, self._over_budget(ceiling)))
            elif self._spent(run) + reserved[run] + each.most > ceiling:
                later.append(each.call)
            else:
                reserved[run] += each.most
                within.append(each)
        if later:
            claims.put_back(later, claim=self.claim, wait=_WAIT)
        return within, over

    def _spent(self, run_id: int) -> Decimal:
        if run_id not in self.spent:
            found = Spend.objects.filter(run=run_id, judge=self.judge).values_list("usd", flat=True).first()
            self.spent[run_id] = found or Decimal(0)
        return self.spent[run_id]

    def _reserved(self, run_id: int) -> Decimal:
        return sum((each.most for each in self.in_hand.values() if each.call.trajectory.run_id == run_id), Decimal(0))

    def _over_budget(self, ceiling: Decimal) -> Said:
        sentence = f"The ceiling of {ceiling} US dollars for this run was reached."
        return abstained(Undetermined.OVER_BUDGET, self.code.measures, rationale=sentence)

    # --- what comes of a call ------------------------------------------------------------------------------------

    def take_in(self, call_pk: int) -> InHand:
        """It is no longer in the caller's hands."""
        return self.in_hand.pop(call_pk)

    def put_back_queued(self, caller: Caller[Ticket]) -> None:
        """What was not sent yet is anybody's again."""
        waiting = [self.take_in(call_id) for _, call_id in caller.abandon(self.judge.pk)]
        if waiting:
            claims.put_back([each.call for each in waiting], claim=self.claim)

    def broke(self, call: JudgeCall, detail: str) -> None:
        claims.put_off(call, claim=self.claim, trouble=detail, wait=_BROKE_WAIT)

    def _without_call(self, call: JudgeCall, said: Said) -> Result:
        return Result(call, self.judge, said, None, self.prices)
