"""A list that shows labels shows opinions: whoever looks at it is no longer blind on what it lists (RULES 7)."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction

from audit.models import ContentView


@transaction.atomic(durable=True)
def record_listed(*, trajectory_ids: Iterable[int], user: User) -> None:
    """Record, in one statement, that this person saw these labels. Call it before the page is made."""
    ContentView.objects.bulk_create(
        [ContentView(trajectory_id=pk, user=user, showed_opinions=True) for pk in trajectory_ids],
        ignore_conflicts=True,
    )
