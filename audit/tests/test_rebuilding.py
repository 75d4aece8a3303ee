"""`rebuild_labels`: the copies on rows come back equal from judgments and verdicts."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from audit.models import Verdict
from labeling import tasks
from labeling.models import AuditRequest, Trajectory
from labeling.tests import make
from labeling.vocabulary import LabelSource, RequestState, TrajectoryStatus, VerdictSource

pytestmark = pytest.mark.django_db

COPIES = ("pk", "status", "label_source", "label_error", "label_decisions", "label_harm_grade", "has_truth")


def rebuilt() -> str:
    out = StringIO()
    call_command("rebuild_labels", stdout=out, stderr=StringIO())
    return out.getvalue()


def copies() -> list[tuple[object, ...]]:
    return list(Trajectory.objects.order_by("pk").values_list(*COPIES))


def test_corrupted_copies_are_made_anew() -> None:
    run = make.run()
    judge = make.judge(run.project)
    rows = [make.trajectory(run) for _ in range(4)]
    for row, decision in zip(rows, (make.REFUSED, make.COMPLIED, make.SAFE, make.REFUSED), strict=True):
        make.judgment(row, judge, decision)
    # People contradict the judge on the second, and each other on the third.
    for row, decision in ((rows[1], make.REFUSED), (rows[2], make.REFUSED), (rows[2], make.COMPLIED)):
        Verdict.objects.create(
            trajectory=row,
            author=f"reader {decision}",
            source=VerdictSource.IMPORT,
            blind=True,
            decision=decision,
            decided_at=timezone.now(),
        )
    tasks.judge_batch([row.pk for row in rows])
    rebuilt()
    expected = copies()
    assert [source for _, _, source, *_ in expected] == [
        LabelSource.MACHINE,
        LabelSource.HUMAN,
        LabelSource.NONE,
        LabelSource.MACHINE,
    ]
    assert rebuilt() == "4 trajectories rebuilt, 0 of them differed.\n"

    Trajectory.objects.update(
        label_source=LabelSource.HUMAN, label_error=True, has_truth=False, status=TrajectoryStatus.SETTLED
    )
    AuditRequest.objects.update(state=RequestState.DONE)
    rebuilt()
    assert copies() == expected
