"""Trajectories as they were posted, from the bytes that were kept."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from labeling.formats.packing import unpack
from labeling.models import TrajectoryContent


def posted_lines(trajectory_ids: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Each trajectory's line in the order of their ids, in one query; None where it was purged.

    One is held in memory at a time, however long they are.
    """
    rows = TrajectoryContent.objects.filter(pk__in=trajectory_ids).order_by("pk").values_list("pk", "raw")
    for pk, raw in rows.iterator(chunk_size=1):
        text = unpack(bytes(raw)).decode("utf-8", "surrogatepass")
        yield pk, json.loads(text) if text else None
