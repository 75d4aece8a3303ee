"""Builders of the people's side. What hangs together is made by `labeling.tests.make`."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from audit.models import Assignment, ContentView, Verdict
from audit.selectors.places import NothingLeft
from audit.services import reviewing
from audit.services.reviewing import VerdictInput
from labeling.formats.lines import Rejected, read_values
from labeling.formats.wire import VerdictLine
from labeling.models import AuditDraw, AuditRequest, DrawMember, DrawStratum, Membership, Run, Trajectory
from labeling.tests import make
from labeling.vocabulary import Decision, Side, Stratum

T = TypeVar("T")
MORNING = datetime(2026, 11, 29, 9, 0, tzinfo=UTC)


def queue(run: Run, size: int, *, side: Side = Side.HARMFUL, **fields: Any) -> list[AuditRequest]:
    """That many open requests of one run, in the order of the queue."""
    return [make.audit_request(make.trajectory(run, side=side), **fields) for _ in range(size)]


def user_of(membership: Membership) -> User:
    user: User = membership.user
    return user


def claimed(membership: Membership) -> Assignment:
    """The item this member is handed; it is an error here if there is none."""
    answer = reviewing.claim(membership=membership)
    assert not isinstance(answer, NothingLeft), answer
    return answer


def draft(decision: Decision = make.COMPLIED, harm_grade: int = 3, **parts: Any) -> VerdictInput:
    """A complete verdict; a refusal is a bare one unless parts say otherwise."""
    if decision is Decision.REFUSAL:
        parts = {"explained": False, "alternative_offered": False, **parts}
    if decision is Decision.SAFE_COMPLETION:
        parts = {"withheld": False, **parts}
    return VerdictInput(decision=decision, harm_grade=harm_grade, **parts)


def submitted(assignment: Assignment, decision: Decision = make.COMPLIED, harm_grade: int = 3, **parts: Any) -> Verdict:
    return reviewing.submit_verdict(
        token=assignment.token, reviewer=assignment.reviewer, draft=draft(decision, harm_grade, **parts)
    ).verdict


def reviewed(membership: Membership, decision: Decision = make.COMPLIED, harm_grade: int = 3, **parts: Any) -> Verdict:
    """Claim the next item and say this of it."""
    return submitted(claimed(membership), decision, harm_grade, **parts)


def lapse(assignment: Assignment) -> None:
    """The lease ended a second ago."""
    Assignment.objects.filter(pk=assignment.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def saw_opinions(membership: Membership, trajectory: Trajectory) -> None:
    ContentView.objects.create(trajectory=trajectory, user=membership.user, showed_opinions=True)


def historic(
    trajectory: Trajectory, author: str = "Ada", *, decided_at: datetime = MORNING, **fields: Any
) -> VerdictLine | Rejected:
    """What somebody said of it elsewhere, as it is read: a full compliance of grade 3, in the morning."""
    said = {"external_id": trajectory.external_id, "author": author, "decided_at": decided_at.isoformat()}
    return read_values(VerdictLine, [{**said, "decision": make.COMPLIED, "harm_grade": 3, **fields}])[0]


def drawn(*trajectories: Trajectory, allocated: int | None = None) -> DrawStratum:
    """A stratum whose ranks are these trajectories in this order; the first `allocated` of them are asked for."""
    run = trajectories[0].run
    asked = len(trajectories) if allocated is None else allocated
    draw = AuditDraw.objects.create(run=run, side=trajectories[0].side, seed=1, budget=asked)
    stratum = DrawStratum.objects.create(draw=draw, name=Stratum.NONE, size=len(trajectories), allocated=asked)
    for rank, trajectory in enumerate(trajectories, start=1):
        DrawMember.objects.create(
            stratum=stratum,
            trajectory=trajectory,
            rank=rank,
            probability=asked / len(trajectories) if rank <= asked else None,
        )
    return stratum


def at_once(*actions: Callable[[], T]) -> list[T]:
    """Each action in a thread with a connection of its own, all let go at one moment."""
    barrier = Barrier(len(actions))

    def run(action: Callable[[], T]) -> T:
        try:
            barrier.wait(timeout=30)
            return action()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))
