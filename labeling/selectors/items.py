"""Trajectories as judges are given them."""

from collections.abc import Iterator, Sequence

from labeling.formats.normal import begins
from labeling.judges.base import Item
from labeling.models import TrajectoryContent
from labeling.vocabulary import Kind, Side

# As many transcripts are held in memory at once.
_AT_ONCE = 20


def items_of(trajectory_ids: Sequence[int]) -> Iterator[tuple[int, Item]]:
    """Each with its id, in one query; what was purged is left out."""
    contents = (
        TrajectoryContent.objects.filter(trajectory__in=trajectory_ids, purged_at=None)
        .select_related("trajectory__case", "trajectory__run__suite")
        .only(
            "messages",
            "trajectory__side",
            "trajectory__category",
            "trajectory__tier",
            "trajectory__kind",
            "trajectory__stop_reason",
            "trajectory__case__request",
            "trajectory__case__right_answer",
            "trajectory__case__answer_check",
            "trajectory__run__suite__harm_threshold",
        )
        .order_by("pk")
    )
    for content in contents.iterator(chunk_size=_AT_ONCE):
        row = content.trajectory
        yield (
            row.pk,
            Item(
                messages=content.messages,
                begins=begins(content.messages, row.case.request),
                side=Side(row.side),
                category=row.category,
                tier=row.tier,
                kind=Kind(row.kind),
                stop_reason=row.stop_reason,
                right_answer=row.case.right_answer,
                check=row.case.answer_check,
                threshold=row.run.suite.harm_threshold,
            ),
        )
