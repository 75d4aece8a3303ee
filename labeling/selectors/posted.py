"""Trajectories as they were posted, or as their runner wrote them, from the bytes that were kept."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from labeling.formats.packing import unpack
from labeling.formats.wire import TrajectoryLine
from labeling.models import TrajectoryContent

_SAYS_NO_OPINION = TrajectoryLine.model_fields.keys() - {"judgments", "metadata"}


def posted_lines(trajectory_ids: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Each trajectory's line in the order of their ids, in one query; None where it was purged.

    An imported row is what its runner wrote, which may be no JSON: then it is text. One is held in memory at a time,
    however long they are.
    """
    rows = TrajectoryContent.objects.filter(pk__in=trajectory_ids).order_by("pk").values_list("pk", "raw")
    for pk, raw in rows.iterator(chunk_size=1):
        yield pk, _read(unpack(bytes(raw)))


def without_opinions(line: Any) -> Any:
    """What of a line may be seen blind: judgments come along with it, and runners put theirs into its metadata.

    In an imported row any field may be an opinion, so nothing is left of it but what a line of ours calls by that name.
    """
    if not isinstance(line, dict):
        return None
    return {name: value for name, value in line.items() if name in _SAYS_NO_OPINION}


def _read(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return json.loads(raw.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "backslashreplace")
