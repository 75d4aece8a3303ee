"""Making the copies on rows anew from what people said."""

from collections.abc import Sequence

from django.db import transaction

from audit.services import following


@transaction.atomic(durable=True)
def follow_again(*, trajectory_ids: Sequence[int]) -> None:
    """Bring rows and requests in line with all verdicts on these trajectories."""
    following.lock(trajectory_ids)
    following.follow(trajectory_ids)
