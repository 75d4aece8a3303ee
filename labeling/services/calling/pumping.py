"""The worker's side of all served judges: calls are claimed, kept going, and stored as they come back.

One thread stores while another keeps the calls going, so that nobody waits for the database. A judge whose endpoint is
down is parked and its calls are put back; what this worker has in its hands when it dies is claimed by another later.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from labeling.endpoints.caller import Caller
from labeling.endpoints.exchange import Answer, Broken, Down, Failed, Outcome, Slow
from labeling.errors import DomainError, told
from labeling.judges import registry
from labeling.judges.base import Said, ServedJudge, abstained
from labeling.limits import Limits, LimitsUnavailable
from labeling.limits import limits as shared_limits
from labeling.models import Heartbeat, Judge, JudgeCall
from labeling.selectors.progress import WORKER
from labeling.services.calling import claims, parking
from labeling.services.calling.addressing import address_of
from labeling.services.calling.lines import InHand, Line, Ticket
from labeling.services.calling.mending import trouble
from labeling.services.calling.storing import Result, store
from labeling.vocabulary import JudgeKind, Undetermined

logger = logging.getLogger(__name__)

# How long it waits for a result, and then for more of them, for they are stored together.
_IDLE, _GATHER = 0.25, 0.05
# Between two looks for judges with work, and two signs of life.
_LOOK_SECONDS, _BEAT_SECONDS = 1.0, 10.0
# What will be ready within this is waited for.
_SOON_SECONDS = 5.0
# An endpoint that has answered somebody within this long is not down because one call took too long.
_LIVELY_SECONDS = 300.0
# Shorter than the tries of one call take together: an endpoint that answered since then is not down.
_SINCE_ITS_FIRST_TRY = 2.0
_SLOW_WAIT = 30.0
_ANY = 10_000
_WHERE = " under “Limits and key”"
_GONE = "This version no longer runs here: give it up, or judge again by the one that replaced it."


def owed() -> bool:
    """Is there a call that could be made now?"""
    return _with_work().exists()


def _with_work(*, within: float = 0.0) -> QuerySet[Judge]:
    """The judges that could be called now, or within so many seconds."""
    now = timezone.now()
    ready = JudgeCall.objects.filter(
        judge=OuterRef("pk"), parked_at=None, ready_at__lte=now + timedelta(seconds=within)
    )
    asked = Judge.objects.exclude(kind=JudgeKind.IMPORTED).filter(Exists(ready))
    return asked.exclude(service__parked_until__gt=now).select_related("service").order_by("pk")


def pump(*, seconds: float, seats: int, is_told_to_stop: Callable[[], bool] = lambda: False) -> bool:
    """Make the calls that are owed, for about so long; is there more to do?

    seats: how many workers may do so at once; where all are taken, there is nothing to do here.
    """
    limits, worker = shared_limits(), uuid4()
    try:
        if not limits.hold("pump", str(worker), want=1, limit=seats, seconds=settings.CLAIM_SECONDS):
            return False
        try:
            with Caller[Ticket]() as caller:
                _Pump(caller, limits, worker).run(until=time.monotonic() + seconds, is_told_to_stop=is_told_to_stop)
        finally:
            with suppress(LimitsUnavailable):
                limits.let_go("pump", str(worker))
    except LimitsUnavailable:
        logger.warning("The limits of the judges cannot be kept for now, so no call is made.")
        return False
    return owed()


class _Pump:
    def __init__(self, caller: Caller[Ticket], limits: Limits, worker: UUID) -> None:
        self._caller = caller
        self._limits = limits
        self._worker = worker
        self._lines: dict[int, Line] = {}
        self._looked_at = self._beat_at = float("-inf")
        self._is_ending = False

    def run(self, *, until: float, is_told_to_stop: Callable[[], bool]) -> None:
        try:
            while self._round(going_on=time.monotonic() < until and not is_told_to_stop()):
                self._give_signs_of_life()
        finally:
            for line in self._lines.values():
                line.put_back_queued(self._caller)
                with suppress(LimitsUnavailable):
                    line.let_go(self._limits)

    def _round(self, *, going_on: bool) -> bool:
        """Take up work, store what came back; is there anything left to wait for?"""
        going_on = going_on and not self._is_ending
        results = self._take_up_all() if going_on else []
        if not going_on:
            for line in self._lines.values():
                line.put_back_queued(self._caller)
        results += self._come_back()
        self._store(results)
        if results or any(line.in_hand for line in self._lines.values()):
            return True
        return going_on and _with_work(within=_SOON_SECONDS).exists()

    # --- taking up -----------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Which judges have work now, and how they may be worked; what was said on a page counts from here on."""
        if time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = time.monotonic()
        self._lines = {pk: line for pk, line in self._lines.items() if line.in_hand or not self._closed(line)}
        for judge in _with_work():
            if line := self._lines.get(judge.pk):
                line.service, line.spent = judge.service, {}
            else:
                self._open(judge)

    def _closed(self, line: Line) -> bool:
        if line.is_down:
            line.let_go(self._limits)
            self._caller.close_line(line.judge.pk)
        return line.is_down

    def _open(self, judge: Judge) -> None:
        code = registry.running(judge)
        if not isinstance(code, ServedJudge):
            JudgeCall.objects.filter(judge=judge, claim=None).update(parked_at=timezone.now(), trouble=_GONE)
            return
        try:
            address = address_of(code.service, judge.service)
        except DomainError as error:
            parking.park(judge_id=judge.pk, reason=error.message, wait=None)
            return
        self._caller.open_line(judge.pk, address=address, concurrency=0, timeout=float(judge.service.timeout_seconds))
        self._lines[judge.pk] = Line(judge, code, judge.service, self._worker)

    def _take_up_all(self) -> list[Result]:
        results: list[Result] = []
        try:
            self._look()
            for line in self._lines.values():
                results += self._take_up(line)
        except LimitsUnavailable as error:
            # What is under way comes to its end, for it is paid.
            logger.warning("%s", error.message)
            self._is_ending = True
        return results

    def _take_up(self, line: Line) -> list[Result]:
        if line.is_down:
            return []
        line.hold(self._limits, self._caller)
        calls = line.take(may_be_alone=not any(other.has_lone for other in self._lines.values()))
        try:
            return line.send(calls, self._limits, self._caller, alive=self._give_signs_of_life) if calls else []
        except LimitsUnavailable:
            claims.put_back([call for call in calls if call.pk not in line.in_hand], claim=self._worker)
            raise

    # --- what comes back -----------------------------------------------------------------------------------------

    def _come_back(self) -> list[Result]:
        came = self._caller.results(wait=_IDLE)
        if came:
            time.sleep(_GATHER)
            came += self._caller.results(wait=0)
        counts = Counter(judge_id for (judge_id, _), _ in came)
        for line in self._lines.values():
            line.came = counts[line.judge.pk]
        results = []
        for (judge_id, call_id), outcome in came:
            line = self._lines[judge_id]
            each = line.take_in(call_id)
            # Reading may take long where a transcript is hostile, and what is claimed must not lapse meanwhile.
            self._give_signs_of_life()
            if (said := self._said(line, each, outcome)) is not None:
                kept = None if isinstance(outcome, Down | Broken) else outcome
                results.append(Result(each.call, line.judge, said, kept, line.prices, each.most))
        return results

    def _said(self, line: Line, each: InHand, outcome: Outcome) -> Said | None:
        """What the call comes to; `None` where it is to be made again, and that is written down."""
        measures = line.code.measures
        match outcome:
            case Answer():
                self._answered(line)
                return self._read(line, each, outcome)
            case Failed(reason, detail):
                self._answered(line)
                return abstained(reason, measures, rationale=detail)
            case Slow(detail) if line.is_lively(_LIVELY_SECONDS) or each.call.tries + 1 >= claims.MOST_TRIES:
                return abstained(Undetermined.TIMED_OUT, measures, rationale=detail)
            case Slow(detail):
                claims.put_off(each.call, claim=self._worker, trouble=detail, wait=_SLOW_WAIT)
                self._down(line, Down(detail))
            case Down():
                self._not_served(line, each, outcome)
            case Broken(detail):
                line.broke(each.call, detail)
        return None

    def _not_served(self, line: Line, each: InHand, down: Down) -> None:
        """Is it the endpoint, or this one call?"""
        others_answered = line.is_lively(_SINCE_ITS_FIRST_TRY)
        if down.perhaps_this_call and (others_answered or each.call.trouble):
            # Others were answered while this one failed time and again, now or before.
            line.broke(each.call, down.detail)
        else:
            claims.put_back([each.call], claim=self._worker)
            others_answered = False
        if not others_answered:
            self._down(line, down)

    def _read(self, line: Line, each: InHand, answer: Answer) -> Said | None:
        try:
            return line.code.read(each.item, each.question, answer)
        except Exception as error:
            line.broke(each.call, told(error))
            return None

    def _answered(self, line: Line) -> None:
        line.answered_at = time.monotonic()
        if line.service.parkings or line.service.parked_reason:
            line.service.parkings, line.service.parked_reason = 0, ""
            parking.answered(judge_id=line.judge.pk)

    def _down(self, line: Line, down: Down) -> None:
        """Its endpoint cannot be used: nothing more is sent, and the judge is parked once."""
        line.put_back_queued(self._caller)
        if not line.is_down:
            line.is_down = True
            has_key = bool(line.service.sealed_key)
            reason = trouble(down, operator=line.code.service.operator, has_key=has_key, where=_WHERE)
            parking.park(judge_id=line.judge.pk, reason=reason, wait=down.wait)

    def _store(self, results: Sequence[Result]) -> None:
        """Together; where that breaks, each by itself, so that one that cannot be stored costs no other its answer."""
        if not results:
            return
        try:
            store(results)
        except Exception as error:
            if len(results) == 1:
                self._lines[results[0].judge.pk].broke(results[0].call, told(error))
                return
            for result in results:
                self._store([result])
        # What was spent is in no line's memory yet.
        for line in self._lines.values():
            line.spent = {}

    # --- signs of life -------------------------------------------------------------------------------------------

    def _give_signs_of_life(self) -> None:
        if time.monotonic() - self._beat_at < min(_BEAT_SECONDS, settings.CLAIM_SECONDS / 4):
            return
        self._beat_at = time.monotonic()
        claims.renew(claim=self._worker)
        try:
            # Whoever sits keeps the seat, however many there are.
            self._limits.hold("pump", str(self._worker), want=1, limit=_ANY, seconds=settings.CLAIM_SECONDS)
            for line in self._lines.values():
                line.hold(self._limits, self._caller)
        except LimitsUnavailable:
            self._is_ending = True
        Heartbeat.objects.update_or_create(name=WORKER, defaults={"beat_at": timezone.now()})
