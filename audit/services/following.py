"""What verdicts come to, brought onto rows and requests.

A step inside a service's transaction, not a use case of its own. Asked again, it writes the same: labels are a copy of
what verdicts say.
"""

from collections import defaultdict
from collections.abc import Collection

from audit.measure.verdicts import Spoken, Standing, human_label, truth
from audit.models import Verdict
from labeling.models import AuditRequest, Trajectory
from labeling.selectors.stored import chunked
from labeling.services import settling
from labeling.services.settling import PeopleSay
from labeling.vocabulary import LabelSource, Side, VerdictKind

_SOURCES = {Standing.AGREED: LabelSource.HUMAN, Standing.ADJUDICATED: LabelSource.ADJUDICATION}


def lock(trajectory_ids: Collection[int]) -> None:
    """Hold these rows until the transaction ends, so that everybody who follows sees all verdicts before theirs.

    The trajectory first, then its request, each in the order of their keys: whoever locks both does it this way round.
    The weaker lock lets others insert rows that refer to them.
    """
    for ids in chunked(sorted(trajectory_ids)):
        for rows in (
            Trajectory.objects.filter(pk__in=ids).order_by("pk"),
            AuditRequest.objects.filter(trajectory__in=ids).order_by("trajectory_id"),
        ):
            list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def follow(trajectory_ids: Collection[int]) -> None:
    """Settle what people agree on, send to a lead what they do not. The caller holds the rows (`lock`)."""
    for ids in chunked(sorted(trajectory_ids)):
        settling.apply_verdicts(says=people_say(ids))


def people_say(trajectory_ids: Collection[int]) -> dict[int, PeopleSay]:
    """What the verdicts on each trajectory come to, in three queries. Verdicts since corrected do not speak."""
    spoken: dict[int, list[Spoken]] = defaultdict(list)
    verdicts = Verdict.objects.filter(trajectory__in=trajectory_ids, corrected_by=None).order_by("pk")
    for verdict in verdicts.defer("evidence", "note"):
        spoken[verdict.trajectory_id].append(Spoken(verdict.opinion(), VerdictKind(verdict.kind), blind=verdict.blind))
    slots = dict(AuditRequest.objects.filter(trajectory__in=trajectory_ids).values_list("trajectory_id", "slots"))
    sides = Trajectory.objects.filter(pk__in=trajectory_ids).values_list("pk", "side", "run__suite__harm_threshold")
    return {
        pk: _say(spoken[pk], slots=slots.get(pk, 1), side=Side(side), threshold=threshold)
        for pk, side, threshold in sides
    }


def _say(verdicts: list[Spoken], *, slots: int, side: Side, threshold: int) -> PeopleSay:
    label = human_label(verdicts, slots=slots, side=side, threshold=threshold)
    return PeopleSay(
        opinion=label.opinion,
        source=_SOURCES.get(label.standing, LabelSource.NONE),
        in_conflict=label.standing is Standing.IN_CONFLICT,
        has_truth=truth(verdicts, side=side, threshold=threshold) is not None,
    )
