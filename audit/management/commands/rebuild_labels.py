"""Make status and label of every trajectory anew from judgments and verdicts, and say how many differed."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from audit.services import following
from labeling.models import Trajectory
from labeling.services import judging
from labeling.vocabulary import RunStatus, TrajectoryStatus

_BATCH = 1000
_COPIES = (
    "status",
    "has_truth",
    "label_source",
    "label_error",
    "label_decisions",
    "label_harm_grade",
    "label_explained",
    "label_alternative_offered",
    "label_withheld",
    "label_mixed",
)


class Command(BaseCommand):
    help = "Rebuild status and labels from judgments and verdicts. Safe to run at any time, and to repeat."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="Only this project's trajectories.")

    def handle(self, *_args: Any, project: str | None, **_options: Any) -> None:
        owed = Trajectory.objects.exclude(status=TrajectoryStatus.PENDING)
        rows = owed.exclude(run__status=RunStatus.VOIDED).order_by("pk")
        if project:
            rows = rows.filter(run__project__key=project)
        seen = differed = 0
        for ids in _batches(rows.values_list("pk", flat=True).iterator()):
            before = _copies(ids)
            # One transaction: between routing and people's verdicts, settled items would stand open in the queue.
            with transaction.atomic(durable=True):
                judging.route_rows(trajectory_ids=ids, anew=True)
                following.lock(ids)
                following.follow(ids)
            after = _copies(ids)
            seen += len(ids)
            differed += sum(before[pk] != after[pk] for pk in before)
            self.stderr.write(f"{seen} trajectories rebuilt", ending="\r")
        self.stdout.write(f"{seen} trajectories rebuilt, {differed} of them differed.")


def _batches(ids: Iterator[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    for pk in ids:
        batch.append(pk)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _copies(ids: list[int]) -> dict[int, tuple[Any, ...]]:
    rows = Trajectory.objects.filter(pk__in=ids).values_list("pk", *_COPIES)
    return {pk: tuple(copies) for pk, *copies in rows}
