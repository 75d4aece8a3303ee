"""Who opened which content, and whether opinions on it were on the page (RULES 7)."""

from django.contrib.auth.models import User
from django.db import transaction

from audit.models import ContentView
from audit.selectors.queue import may_see_opinions
from labeling.errors import NotAllowed


@transaction.atomic(durable=True)
def record_view(*, trajectory_id: int, user: User, showed_opinions: bool) -> None:
    """Record the first view of each sort; later ones add nothing. Call it before the page is made.

    Refuses to record, and so to show, opinions while this person is to judge the trajectory themselves.
    """
    if showed_opinions and not may_see_opinions(user=user, trajectory_id=trajectory_id):
        raise NotAllowed("You hold this item: give your verdict first, then the other opinions are shown.")
    ContentView.objects.bulk_create(
        [ContentView(trajectory_id=trajectory_id, user=user, showed_opinions=showed_opinions)], ignore_conflicts=True
    )
