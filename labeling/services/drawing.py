"""The random audit draw of a closed run (RULES 13, 14)."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from labeling.measure.opinion import error_of
from labeling.measure.sampling import allocate, ranks, strata
from labeling.models import AuditDraw, AuditRequest, DrawMember, DrawStratum, Run, Trajectory
from labeling.selectors.opinions import panel_opinions
from labeling.services import settling
from labeling.vocabulary import Outcome, RunStatus, Side, Stratum, TrajectoryStatus


@transaction.atomic(durable=True)
def draw_run(*, run_id: int, seed: int | None = None) -> bool:
    """Draw both sides of a closed run, once, when no judgment is owed any more. True if it was drawn now."""
    run = Run.objects.select_for_update(of=("self",), no_key=True).select_related("project", "suite").get(pk=run_id)
    owed = Trajectory.objects.filter(run=run, status=TrajectoryStatus.PENDING).exists()
    if run.status != RunStatus.CLOSED or run.drawn_at is not None or owed:
        return False
    budget = run.project.audits_per_side if run.audits_per_side is None else run.audits_per_side
    for side in (Side.HARMFUL, Side.BENIGN):
        frame = list(
            Trajectory.objects.filter(run=run, side=side)
            .exclude(outcome=Outcome.NOT_RUN)
            .select_related("run")
            .order_by("pk")
            # Rows before their requests, in one order, as everybody who locks both.
            .select_for_update(of=("self",), no_key=True)
        )
        if frame and budget > 0:
            _draw(run, side, frame, budget=budget, seed=secrets.randbits(62) if seed is None else seed)
    Run.objects.filter(pk=run.pk).update(drawn_at=timezone.now())
    return True


def _draw(run: Run, side: Side, frame: Sequence[Trajectory], *, budget: int, seed: int) -> None:
    opinions = panel_opinions(frame)
    panel = sorted({judge for row in opinions.values() for judge in row})
    threshold = run.suite.harm_threshold
    errors = [
        [
            error_of(opinion, side=side, threshold=threshold) if (opinion := opinions[row.pk].get(judge)) else None
            for judge in panel
        ]
        for row in frame
    ]
    names = strata(errors)
    sizes = Counter(names)
    audits = allocate(budget, sizes)
    draw = AuditDraw.objects.create(run=run, side=side, seed=seed, panel=panel, budget=budget)
    cells: dict[Stratum, list[Trajectory]] = defaultdict(list)
    for row, name in zip(frame, names, strict=True):
        cells[name].append(row)
    members: list[DrawMember] = []
    for name in audits:
        stratum = DrawStratum.objects.create(draw=draw, name=name, size=sizes[name], allocated=audits[name])
        order = ranks(seed, [row.external_id for row in cells[name]])
        members += [
            DrawMember(
                stratum=stratum,
                trajectory=row,
                rank=rank,
                probability=audits[name] / sizes[name] if rank <= audits[name] else None,
            )
            for row, rank in zip(cells[name], order, strict=True)
        ]
    DrawMember.objects.bulk_create(members, batch_size=2000)
    _queue(run, [member for member in members if member.probability is not None], audits)


def _queue(run: Run, members: Sequence[DrawMember], audits: dict[Stratum, int]) -> None:
    """Ask people for the members that have no blind truth yet, in draw order, looking like any other request."""
    disputed = AuditRequest.objects.filter(trajectory__in=[m.trajectory_id for m in members], for_lead=True)
    with_leads = set(disputed.values_list("trajectory_id", flat=True))
    wanting = [m for m in members if not m.trajectory.has_truth and m.trajectory_id not in with_leads]
    known = {
        request.trajectory_id: request
        for request in AuditRequest.objects.filter(trajectory__in=[m.trajectory_id for m in wanting])
    }
    places = {m.trajectory_id: settling.place_by_rank(m.rank, audits[Stratum(m.stratum.name)]) for m in wanting}
    requests = [
        AuditRequest(
            project_id=run.project_id,
            trajectory_id=pk,
            reasons=known[pk].reasons if pk in known else [],
            priority=known[pk].priority if pk in known else settling.ORDINARY,
            shuffle=place,
        )
        for pk, place in places.items()
    ]
    settling.open_requests(requests, move=True)
    settling.refresh_status(places)
