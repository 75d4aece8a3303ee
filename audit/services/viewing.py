"""Who opened which content, and whether opinions on it were on the page (RULES 7)."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction

from audit.models import ContentView
from audit.selectors.asking import held_by


@transaction.atomic(durable=True)
def record_views(*, trajectory_ids: Iterable[int], user: User, showed_opinions: bool) -> frozenset[int]:
    """Record the first view of each sort; later ones add nothing. Call it before the page is made, and show these.

    Opinions on what this person is judging themselves are not recorded, and so not shown.
    """
    seen = frozenset(trajectory_ids)
    if showed_opinions:
        seen -= held_by(user.pk)
    ContentView.objects.bulk_create(
        [ContentView(trajectory_id=pk, user=user, showed_opinions=showed_opinions) for pk in sorted(seen)],
        ignore_conflicts=True,
    )
    return seen
