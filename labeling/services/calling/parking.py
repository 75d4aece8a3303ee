"""Judges that cannot be reached wait and resume by themselves; calls that broke wait for a person."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.errors import DomainError
from labeling.judges.base import abstained
from labeling.models import Judge, JudgeCall, JudgeService, Judgment
from labeling.selectors.stored import chunked
from labeling.services import judging
from labeling.services.calling import claims
from labeling.vocabulary import Part, Undetermined

# An endpoint that is down is asked again after this, then twice as long, and so on up to the longest.
_SHORTEST, _LONGEST = 15.0, 900.0
LONGEST_WHY = 300


@transaction.atomic(durable=True)
def park(*, judge_id: int, reason: str, wait: float | None) -> None:
    """Make no call to this judge for a while: as long as its endpoint asked for, or longer each time it fails again.

    Also where only a person can mend it: they may do so where nothing here would show it, as with an account.
    """
    service = JudgeService.objects.select_for_update().get(judge=judge_id)
    seconds = min(_SHORTEST * 2**service.parkings, _LONGEST) if wait is None else max(wait, 1.0)
    service.parked_until = timezone.now() + timedelta(seconds=seconds)
    service.parked_reason = reason.removesuffix(".")[:300]
    service.parkings = min(service.parkings + 1, 20)
    service.save(update_fields=["parked_until", "parked_reason", "parkings"])


def answered(*, judge_id: int) -> None:
    """It answers again."""
    JudgeService.objects.filter(judge=judge_id).exclude(parkings=0, parked_until=None, parked_reason="").update(
        parked_until=None, parked_reason="", parkings=0
    )


def resume(*, judge: Judge) -> None:
    """A person says that it is worth asking now, and not only later. What was wrong stays until it answers."""
    JudgeService.objects.filter(judge=judge).update(parked_until=None, parkings=0)


@transaction.atomic(durable=True)
def try_again(*, judge: Judge) -> int:
    """A person says that this judge's parked calls are worth another three tries; how many there are."""
    parked = JudgeCall.objects.filter(judge=judge).exclude(parked_at=None)
    return parked.update(parked_at=None, tries=0, ready_at=timezone.now(), claim=None)


def give_up(*, judge: Judge, by: User | None, why: str) -> int:
    """A person says that what this judge owes is not worth waiting for: it is undetermined, and says who and why."""
    why = " ".join(why.split())
    if not why or len(why) > LONGEST_WHY:
        sentence = f"Say why in at most {LONGEST_WHY} characters: it is kept with each of these judgments."
        raise DomainError(sentence, field="why")
    ids = _give_up(judge=judge, by=by, why=why)
    for chunk in chunked(ids):
        judging.route_trajectories(trajectory_ids=judging.nothing_owed(chunk))
    return len(ids)


@transaction.atomic(durable=True)
def _give_up(*, judge: Judge, by: User | None, why: str) -> Sequence[int]:
    owed = JudgeCall.objects.filter(claims.in_nobodys_hands(), judge=judge)
    calls = list(owed.select_for_update(of=("self",)).order_by("pk"))
    measures = frozenset(Part(part) for part in judge.measures or ())
    who = by.get_username() if by is not None else "a lead"
    Judgment.objects.bulk_create(
        (
            judging.judgment_row(
                call.trajectory_id,
                judge,
                abstained(
                    Undetermined.OTHER,
                    measures,
                    rationale="\n".join(filter(None, (f"Given up by {who}: {why}", call.trouble))),
                ),
            )
            for call in calls
        ),
        ignore_conflicts=True,
        batch_size=1000,
    )
    JudgeCall.objects.filter(pk__in=[call.pk for call in calls]).delete()
    return [call.trajectory_id for call in calls]
