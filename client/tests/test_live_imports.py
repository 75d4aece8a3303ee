"""`litmus push` of another runner's file through the real service, its work done at once."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labeling.models import ImportJob, Judgment, Run, Trajectory
from litmus_site.celery import app
from tests.conftest import Litmus

pytestmark = pytest.mark.django_db(transaction=True)

MAPPING = """
case:
  side: {column: kind, values: {bad: harmful, good: benign}}
  category: fraud
"""


@pytest.fixture(autouse=True)
def worker(tmp_path: Path, settings: Any) -> Iterator[None]:
    """What a worker would do happens within the request that asks for it."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def table(elsewhere: Path) -> str:
    path = elsewhere / "answers.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "kind", "prompt", "response"])
        rows.writerows([[f"t-{n}", "bad" if n % 2 else "good", f"Request\n{n}", "No."] for n in range(4)])
    return str(path)


def test_a_table_goes_in_with_a_mapping_and_again_is_recognised(litmus: Litmus, table: str, elsewhere: Path) -> None:
    (elsewhere / "mapping.yaml").write_text(MAPPING)
    asked = ("push", table, "--run", "r", "--model", "m", "--model-version", "1", "--mapping", "mapping.yaml")
    assert "nobody to ask" in litmus(*asked, code=2).stderr
    assert Run.objects.count() == 0
    output = litmus(*asked, "--yes").stdout
    assert "answers.csv: table, 4 rows" in output
    assert "sides     harmful 2 · benign 2" in output
    assert "4 created, 0 duplicate, 0 conflict, 0 rejected, in r" in output
    assert "0 created, 4 duplicate" in litmus(*asked, "--yes", "--close").stdout
    assert (ImportJob.objects.count(), Trajectory.objects.count()) == (1, 4)
    run = Run.objects.get()
    assert (run.configuration.model, run.configuration.version, run.status) == ("m", "1", "closed")


def test_a_mapping_is_saved_for_the_next_file(litmus: Litmus, table: str, elsewhere: Path) -> None:
    asked = ("push", table, "--run", "r", "--yes", "--mapping")
    (elsewhere / "mapping.yaml").write_text(MAPPING)
    assert "Next: litmus watch r" in litmus(*asked, "mapping.yaml", "--save-mapping", "answers").stderr
    assert "4 duplicate" in litmus(*asked, "answers").stdout
    assert "no mapping to save" in litmus(*asked, "answers", "--save-mapping", "again", code=2).stderr


def test_without_a_side_it_asks_and_rows_are_refused_with_the_reason(litmus: Litmus, table: str) -> None:
    asked = ("push", table, "--run", "r", "--model", "m", "--model-version", "1")
    assert "Give a --mapping" in litmus(*asked, code=2).stderr
    result = litmus(*asked, "--yes", "--rejected", "bad.jsonl", code=1)
    assert "4 rejected" in result.stdout
    assert len([json.loads(row) for row in Path("bad.jsonl").read_text().splitlines()]) == 4


def test_an_artifact_brings_its_judge(litmus: Litmus, elsewhere: Path) -> None:
    jailbreaks = [
        {"index": n, "goal": f"Goal {n}", "behavior": f"b{n}", "category": "Fraud", "prompt": f"Do {n}.",
         "response": "Sure.", "jailbroken": n == 0}
        for n in range(2)
    ]  # fmt: skip
    file = elsewhere / "vicuna-13b-v1.5.json"
    file.write_text(json.dumps({"parameters": {"method": "PAIR", "model": "vicuna"}, "jailbreaks": jailbreaks}))
    output = litmus("push", str(file), "--run", "jbb", "--yes").stdout
    assert "2 created" in output
    assert "score     jailbroken" in output
    assert Judgment.objects.filter(judge__kind="imported").count() == 2
