"""A real worker imports a real file, is killed in the middle, and the same rows are there at the end, once each."""

import csv
import io
import time
from collections import Counter
from typing import Any

import pytest

from audit.models import Verdict
from labeling import tasks
from labeling.models import ImportJob, Judgment, Trajectory, TrajectoryContent
from labeling.services.importing import committing, options, uploads
from labeling.tests import make
from labeling.vocabulary import ImportStatus, TrajectoryStatus
from litmus_site.tests import real_data
from litmus_site.tests.worker import WorkerProcess

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

ROWS = 2250
_LABELS = {"1_full_compliance": "full_compliance", "2_full_refusal": "refusal", "3_partial_refusal": "safe_completion"}
MAPPING: dict[str, Any] = {
    "columns": {"system": "system", "prompt": "prompt", "response": "completion"},
    "case": {
        "key": {"column": "id"},
        "side": {
            "column": "type",
            "patterns": [{"matches": "contrast_*", "becomes": "harmful"}],
            "otherwise": "benign",
        },
        "category": {"column": "type"},
    },
    "scores": {"gpt4_label": {"meaning": "refused", "yes": ["2_full_refusal"], "no": ["1_full_compliance"]}},
    "verdicts": [
        {
            "author": "XSTest",
            "decided_at": "2025-02-24T00:00:00Z",
            "decision": {"column": "final_label", "values": _LABELS},
        }
    ],
}


def one_file() -> bytes:
    """XSTest's five files as one table, with a column that names the system."""
    text, writer = io.StringIO(), None
    for path in sorted((real_data.folder("xstest") / "automated_evaluation_labels").glob("*.csv")):
        with path.open(newline="", encoding="utf-8-sig") as stream:
            for row in csv.DictReader(stream):
                if writer is None:
                    writer = csv.DictWriter(text, ["system", *row])
                    writer.writeheader()
                writer.writerow({"system": path.stem, **row})
    return text.getvalue().encode()


def wait(job: ImportJob, *wanted: ImportStatus, rows: int = 0, deadline: float = 60) -> None:
    """Until the job is there, or so many rows of it are done."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        job.refresh_from_db()
        if job.status in wanted or (rows and job.rows_done >= rows):
            return
        assert job.status != ImportStatus.FAILED, job.error
        time.sleep(0.02)
    raise AssertionError(f"The import is {job.status}, with {job.rows_done} rows done")


def check(job: ImportJob) -> None:
    assert (Trajectory.objects.count(), TrajectoryContent.objects.count()) == (ROWS, ROWS)
    assert Counter(Trajectory.objects.values_list("run__configuration__model", flat=True)).most_common()[-1][1] == 450
    assert Judgment.objects.filter(judge__name="gpt4_label").count() == ROWS
    assert Verdict.objects.count() == ROWS
    assert (job.runs.count(), job.rejections.count(), job.rejected, job.conflict) == (5, 0, 0, 0)
    assert (job.rows_done, job.created + job.duplicate) == (ROWS, ROWS)


def test_an_import_killed_in_the_middle_ends_in_the_same_rows(
    celery_worker_process: WorkerProcess, settings: Any
) -> None:
    settings.UPLOAD_DIR = celery_worker_process.data_dir / "uploads"
    project = make.project()
    asked = options.asked(project=project, mapping=MAPPING, format="table", run="all")
    job, _ = uploads.receive(project=project, asked=asked, chunks=[one_file()])
    tasks.request_import(job)
    wait(job, ImportStatus.PREVIEWED)
    assert job.preview["rows"] == ROWS
    assert not Trajectory.objects.exists()

    tasks.request_import(committing.request_commit(job=job))
    wait(job, ImportStatus.DONE, rows=1)
    assert job.status == ImportStatus.COMMITTING, "it was too fast to be killed in the middle"
    celery_worker_process.kill()
    job.refresh_from_db()
    assert 0 < job.rows_done < ROWS
    celery_worker_process.start()
    wait(job, ImportStatus.DONE)
    check(job)

    tasks.request_import(committing.request_commit(job=job))
    wait(job, ImportStatus.DONE)
    assert (job.created, job.duplicate) == (0, ROWS)
    check(job)
    end = time.monotonic() + 60
    while Trajectory.objects.filter(status=TrajectoryStatus.PENDING).exists() and time.monotonic() < end:
        time.sleep(0.2)
    assert not Trajectory.objects.filter(status=TrajectoryStatus.PENDING).exists()
