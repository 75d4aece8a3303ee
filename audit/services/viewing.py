"""Who opened which content, and whether opinions on it were on the page (RULES 7)."""

from collections.abc import Collection, Iterable

from django.contrib.auth.models import User
from django.db import transaction

from audit.models import ContentView
from audit.selectors.asking import held_by, holds_of_any, labels_for
from labeling.errors import NotAllowed
from labeling.models import Membership, Trajectory


@transaction.atomic(durable=True)
def record_views(*, trajectory_ids: Iterable[int], user: User, showed_opinions: bool) -> frozenset[int]:
    """Record the first view of each sort; later ones add nothing. Call it before the page is made, and show these.

    Opinions on what this person is judging themselves are not recorded, and so not shown.
    """
    return _recorded(trajectory_ids, user, showed_opinions=showed_opinions)


@transaction.atomic(durable=True)
def import_opinions_told(
    *, user: User, run_ids: Collection[int], external_ids: Collection[str], chose_to_see: bool
) -> frozenset[str]:
    """A file that went into these runs is shown: on which of its rows no opinions may be told; the rest is recorded.

    Raises NotAllowed to who is judging an item of the runs: in a small file a count tells what was said of it.
    """
    if holds_of_any(user_id=user.pk, run_ids=run_ids):
        raise NotAllowed("You are judging an item of a run of this file: give your verdict or put it back first.")
    there = Trajectory.objects.filter(run__in=run_ids, external_id__in=external_ids).order_by()
    rows = dict(there.values_list("pk", "external_id"))
    seat = Membership.objects.filter(user=user, project__runs__in=run_ids).distinct().first()
    if seat is None or not rows:
        return frozenset(rows.values())
    labels = labels_for(membership=seat, trajectory_ids=rows, chose_to_see=chose_to_see)
    shown = _recorded(labels.shown, user, showed_opinions=True)
    return frozenset(external_id for pk, external_id in rows.items() if pk not in shown)


@transaction.atomic(durable=True)
def opinions_told(*, membership: Membership, trajectory_ids: Collection[int], chose_to_see: bool) -> frozenset[int]:
    """What a judge on trial says of these is shown: on which of them it may be; that is recorded."""
    labels = labels_for(membership=membership, trajectory_ids=trajectory_ids, chose_to_see=chose_to_see)
    return _recorded(labels.shown, membership.user, showed_opinions=True)


@transaction.atomic(durable=True)
def record_opinions_told(*, told: Collection[tuple[int, int]]) -> None:
    """Opinions on trajectories were told before these were there: pairs of user id and trajectory id."""
    views = [ContentView(user_id=user, trajectory_id=pk, showed_opinions=True) for user, pk in sorted(told)]
    ContentView.objects.bulk_create(views, ignore_conflicts=True)


def _recorded(trajectory_ids: Iterable[int], user: User, *, showed_opinions: bool) -> frozenset[int]:
    seen = frozenset(trajectory_ids)
    if showed_opinions:
        seen -= held_by(user.pk)
    ContentView.objects.bulk_create(
        [ContentView(trajectory_id=pk, user=user, showed_opinions=showed_opinions) for pk in sorted(seen)],
        ignore_conflicts=True,
    )
    return seen
