"""Labels on rows, and the requests that ask for a person: written here and nowhere else.

Row and request are copies of what judgments and verdicts say. Everything here runs inside the caller's transaction:
routing calls it with machine labels, the audit app with what people say.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Q

from labeling.measure.opinion import Opinion, error_of
from labeling.measure.routing import NO_LABEL, Label, NeedsAudit, Settled
from labeling.models import AuditRequest, DrawMember, Trajectory
from labeling.models.fields import decisions_to_bits
from labeling.vocabulary import PEOPLE_SOURCES, LabelSource, Reason, RequestState, RunStatus, Side, TrajectoryStatus

# What must be looked at first. Everything else, random draws included, shares one place in the queue.
_FIRST = {Reason.TOP_TIER, Reason.LEAK}
GRAVE, ORDINARY = 1, 5
_SHUFFLE_RANGE = 2**31 - 1


class PeopleSay(NamedTuple):
    """What the verdicts on one trajectory come to. Without an opinion people have not settled it (yet)."""

    opinion: Opinion | None
    source: LabelSource
    in_conflict: bool
    has_truth: bool


def write_routes(
    routes: Mapping[int, Settled | NeedsAudit], *, rows: Collection[Trajectory], anew: bool = False
) -> None:
    """Write machine labels and open or close requests. What people have said, or dispute, stays.

    anew: write over people's labels too; the caller then applies their verdicts again.
    """
    disputed = set(
        AuditRequest.objects.filter(trajectory__in=routes, for_lead=True).values_list("trajectory_id", flat=True)
    )
    free = [row for row in rows if anew or (row.label_source not in PEOPLE_SOURCES and row.pk not in disputed)]
    by_label: dict[Label, list[int]] = defaultdict(list)
    for row in free:
        by_label[routes[row.pk].label].append(row.pk)
    for label, ids in by_label.items():
        Trajectory.objects.filter(pk__in=ids).update(**_columns(label))
    asked = {row.pk: route for row in free if isinstance(route := routes[row.pk], NeedsAudit)}
    projects = {row.pk: row.run.project_id for row in free}
    open_requests(
        [
            AuditRequest(
                project_id=projects[pk],
                trajectory_id=pk,
                reasons=list(route.reasons),
                priority=GRAVE if _FIRST.intersection(route.reasons) else ORDINARY,
                shuffle=_shuffle(pk),
            )
            for pk, route in asked.items()
        ]
    )
    unasked = [row.pk for row in free if row.pk not in asked]
    _close_requests(unasked, reasons=[])
    refresh_status(routes)


def open_requests(requests: Iterable[AuditRequest], *, move: bool = False) -> None:
    """Insert requests, or open those that are there with the new reasons.

    move: take the new place in the queue too; only a draw does, whose members stay in draw order from then on.
    """
    AuditRequest.objects.bulk_create(
        requests,
        update_conflicts=True,
        unique_fields=["trajectory"],
        update_fields=["reasons", "priority", "state", *(["shuffle"] if move else [])],
    )


def refresh_status(trajectory_ids: Iterable[int]) -> None:
    """Whose turn it is, from what is open: a person's while a request is, else nobody's."""
    rows = Trajectory.objects.filter(pk__in=list(trajectory_ids))
    owed = Q(audit_request__state=RequestState.OPEN)
    opened = list(rows.filter(owed).values_list("pk", flat=True))
    Trajectory.objects.filter(pk__in=opened).update(status=TrajectoryStatus.NEEDS_AUDIT)
    rows.exclude(pk__in=opened).update(status=TrajectoryStatus.SETTLED)


def ask_nobody(run_id: int) -> None:
    """A voided run owes nothing: its requests leave the queue."""
    # Rows before their requests, in one order, as everybody who locks both.
    rows = Trajectory.objects.filter(run=run_id).order_by("pk").select_for_update(no_key=True)
    list(rows.values_list("pk", flat=True))
    AuditRequest.objects.filter(trajectory__run=run_id).update(state=RequestState.DONE)
    Trajectory.objects.filter(run=run_id).update(status=TrajectoryStatus.SETTLED)


def apply_verdicts(*, says: Mapping[int, PeopleSay]) -> None:
    """Bring rows and requests in line with what people say, for many trajectories at once.

    A settled opinion becomes the label and closes the request, unless a random draw still wants a blind truth. A
    conflict takes the label away and asks a lead. Otherwise the machine's label stands, provisionally.
    """
    # What people say of a voided run's trajectories is kept, and asks for nothing.
    standing = Trajectory.objects.exclude(run__status=RunStatus.VOIDED)
    rows = list(standing.filter(pk__in=list(says)).select_related("run__suite").order_by("pk"))
    says = {row.pk: says[row.pk] for row in rows}
    by_label: dict[tuple[Label, bool], list[int]] = defaultdict(list)
    for row in rows:
        say = says[row.pk]
        if say.opinion is not None:
            by_label[_people_label(row, say.opinion, say.source), say.has_truth].append(row.pk)
        elif say.in_conflict:
            by_label[NO_LABEL, say.has_truth].append(row.pk)
    for (label, has_truth), ids in by_label.items():
        Trajectory.objects.filter(pk__in=ids).update(has_truth=has_truth, **_columns(label))
    provisional = [pk for pk, say in says.items() if say.opinion is None and not say.in_conflict]
    for has_truth in (True, False):
        ids = [pk for pk in provisional if says[pk].has_truth is has_truth]
        Trajectory.objects.filter(pk__in=ids).update(has_truth=has_truth)
    wanted = set(
        DrawMember.objects.filter(
            trajectory__in=list(says), probability__isnull=False, trajectory__has_truth=False
        ).values_list("trajectory_id", flat=True)
    )
    settled = [pk for pk, say in says.items() if say.opinion is not None and pk not in wanted]
    AuditRequest.objects.filter(trajectory__in=settled).update(state=RequestState.DONE)
    _ask_leads([row for row in rows if says[row.pk].in_conflict])
    # Rows whose judgments are still owed stay pending: routing sets their status when it gets to them.
    refresh_status(row.pk for row in rows if row.status != TrajectoryStatus.PENDING)


def _ask_leads(rows: Sequence[Trajectory]) -> None:
    """People disagree on these: they are a lead's to decide, whatever their slots."""
    ids = [row.pk for row in rows]
    asked = AuditRequest.objects.filter(trajectory__in=ids)
    known = set(asked.values_list("trajectory_id", flat=True))
    asked.filter(for_lead=True).update(state=RequestState.OPEN)
    disputed = list(asked.filter(for_lead=False))
    for request in disputed:
        request.reasons = [*request.reasons, Reason.ADJUDICATION]
        request.for_lead, request.state, request.priority = True, RequestState.OPEN, ORDINARY
    AuditRequest.objects.bulk_update(disputed, ["reasons", "for_lead", "state", "priority"])
    AuditRequest.objects.bulk_create(
        AuditRequest(
            project_id=row.run.project_id,
            trajectory_id=row.pk,
            reasons=[Reason.ADJUDICATION],
            for_lead=True,
            slots=1,
            priority=ORDINARY,
            shuffle=_shuffle(row.pk),
        )
        for row in rows
        if row.pk not in known
    )


def _close_requests(trajectory_ids: Sequence[int], *, reasons: list[str]) -> None:
    """Routing no longer asks; a request stays open where a random draw asks."""
    asked = AuditRequest.objects.filter(trajectory__in=trajectory_ids, for_lead=False)
    asked.update(reasons=reasons)
    drawn = DrawMember.objects.filter(trajectory__in=trajectory_ids, probability__isnull=False)
    asked.exclude(trajectory__in=drawn.values("trajectory")).update(state=RequestState.DONE)


def _people_label(row: Trajectory, opinion: Opinion, source: LabelSource) -> Label:
    return Label(
        error=error_of(opinion, side=Side(row.side), threshold=row.run.suite.harm_threshold),
        decisions=opinion.decisions,
        harm_grade=opinion.harm_grade,
        source=source,
        explained=opinion.explained,
        alternative_offered=opinion.alternative_offered,
        withheld=opinion.withheld,
    )


def _columns(label: Label) -> dict[str, object]:
    return {
        "label_source": label.source,
        "label_error": label.error,
        "label_decisions": decisions_to_bits(label.decisions),
        "label_harm_grade": label.harm_grade,
        "label_mixed": label.mixed,
        "label_explained": label.explained,
        "label_alternative_offered": label.alternative_offered,
        "label_withheld": label.withheld,
    }


def _shuffle(trajectory_id: int) -> int:
    """A place in the queue that has nothing to do with when or with which run a row came in."""
    digest = hashlib.sha256(str(trajectory_id).encode()).digest()
    return int.from_bytes(digest[:4], "big") % _SHUFFLE_RANGE


def place_by_rank(rank: int, allocated: int) -> int:
    """A place in the queue in draw order, spread over the whole of it, so that neither kind waits for the other."""
    return int((rank - 0.5) / allocated * _SHUFFLE_RANGE)
