"""Whether so much waits to be judged that posting should wait too."""

import time
from functools import lru_cache

from django.conf import settings

from labeling.models import Trajectory
from labeling.vocabulary import TrajectoryStatus


def is_full() -> bool:
    """Looked up once a second in each process: a few more or less are no matter."""
    return _has_more_than(settings.MAX_PENDING, int(time.monotonic()))


@lru_cache(maxsize=1)
def _has_more_than(limit: int, _second: int) -> bool:
    """Reads no more than the limit of the index of pending rows."""
    pending = Trajectory.objects.filter(status=TrajectoryStatus.PENDING).order_by()
    return pending[limit : limit + 1].exists()
