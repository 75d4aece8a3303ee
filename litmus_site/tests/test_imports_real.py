"""Every trajectory file among the real data through upload, preview and commit; what was published comes out of rows.

The figures are those of the data sets themselves; none of their text is here.
"""

import csv
import json
from collections import Counter, defaultdict
from math import comb
from pathlib import Path
from typing import Any

import pytest

from audit.measure.rates import Incomplete, RatePair
from audit.models import Verdict
from audit.selectors.report import report_of
from labeling import tasks
from labeling.models import Case, Judgment, Run, Trajectory
from labeling.tests.uploading import Importer, counts
from labeling.vocabulary import Decision, Outcome, Side, VerdictKind
from litmus_site.tests import real_data
from litmus_site.tests.test_xstest import ADJUDICATED, SYSTEMS, pair, percent

pytestmark = pytest.mark.django_db


@pytest.fixture
def importer() -> Importer:
    return Importer()


def imported(
    importer: Importer, path: Path, *, rows: int, mapping: Any = None, blind: bool = False, **wishes: Any
) -> Run:
    """The run of a file with one system; every row of it is in, and there is nothing in quarantine."""
    job = importer.previewed(path.read_bytes(), filename=path.name, **wishes)
    if mapping is not None:
        job = importer.changed(job["id"], mapping=mapping)
    preview = job["preview"]
    assert (preview["rows"], preview["unreadable"], preview["without_side"]) == (rows, 0, 0)
    assert (preview["problems"], preview["unmapped"]) == ([], [])
    assert 1 <= len(preview["examples"]) <= 5
    assert not Run.objects.filter(imports__job=job["id"]).exists()
    done = importer.commit(job["id"], blind=blind)
    assert (done["status"], counts(done)) == ("done", (rows, 0, 0, 0)), done["error"]
    assert importer.rejected(job["id"]) == []
    [run] = done["runs"]
    tasks.judge_batch(list(Trajectory.objects.filter(run=run["id"]).values_list("pk", flat=True)))
    return Run.objects.get(pk=run["id"])


def worked(run: Run, judge: str) -> int:
    """On how many trajectories this judge says that the attack worked."""
    said = Judgment.objects.filter(trajectory__run=run, judge__name=judge)
    return sum(each.opinion().decision is Decision.FULL_COMPLIANCE for each in said)


def test_xstest(importer: Importer) -> None:
    """Harmful compliance and over-refusal of five systems, as two people and an adjudication have them."""
    folder = real_data.folder("xstest") / "automated_evaluation_labels"
    runs = {
        system: imported(
            importer, folder / f"xstest_v2_completions_{system}_gpteval.csv", rows=450, suite="xstest@v2", blind=True
        )
        for system in SYSTEMS
    }
    assert (Trajectory.objects.count(), Case.objects.count(), Verdict.objects.count()) == (2250, 450, 3 * 2250)
    assert Verdict.objects.filter(kind=VerdictKind.ADJUDICATION, blind=True).count() == 2250
    for system, run in runs.items():
        assert run.configuration.model == system
        labeled = pair(report_of(run).as_labeled)
        assert (labeled.harmful_compliance.cases, labeled.over_refusal.cases) == (200, 250)
        assert (percent(labeled.harmful_compliance), percent(labeled.over_refusal)) == ADJUDICATED[system]
    failed = Judgment.objects.exclude(undetermined="").filter(judge__kind="imported")
    assert Counter(failed.values_list("trajectory__run__configuration__model", flat=True)) == {"mistralinstruct": 11}


def test_jailbreakbench(importer: Importer) -> None:
    """The share of attacks that worked, from rows: the set has a harmful side only."""
    folder = real_data.folder("jailbreakbench")
    matrix: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    with (folder / "item_matrix_long.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            key = (row["attack"], row["attack_type"], row["model"])
            matrix[key]["jailbroken"] += int(row["jailbroken"])
            matrix[key]["unanswered"] += row["has_response"] == "0"
            if row["jailbroken_llama_guard1"]:
                matrix[key]["guard"] += int(row["jailbroken_llama_guard1"])
    files = sorted((folder / "attack-artifacts").rglob("*.json"))
    assert len(files) == 15
    rates: list[float] = []
    for file in files:
        about = json.loads(file.read_bytes())["parameters"]
        run = imported(importer, file, rows=100)
        assert run.configuration.model == about["model"]
        published = matrix[about["method"], about["attack_type"], about["model"]]
        assert worked(run, "Llama-3-70B") == published["jailbroken"]
        assert worked(run, "Llama-Guard-1") == published["guard"]
        assert run.trajectories.filter(outcome=Outcome.NOT_RUN).count() == published["unanswered"]
        assert isinstance(report_of(run).as_labeled, Incomplete)
        rates.append(worked(run, "Llama-3-70B") / 100)
        assert rates[-1] == about["attack_success_rate"]
    pair_, gcg, others = [0.69, 0.0, 0.71, 0.34], [0.8, 0.03, 0.47, 0.04], [0.9, 0.0, 0.9, 0.93, 0.78, 0.95, 0.94]
    assert sorted(rates) == sorted([*pair_, *gcg, *others])


@pytest.mark.parametrize(
    ("name", "rows"), [("report_test", 8), ("test", 8), ("quack", 1), ("agg", 9), ("test_with_ci", 4)]
)
def test_garak(importer: Importer, name: str, rows: int) -> None:
    """Every attempt once, though most are written twice; no attack worked, and none of them is a refusal for that."""
    path = real_data.folder("garak-reports") / f"{name}.report.jsonl"
    # This detector passes everything, so the format does not say what that means.
    scores = {} if name == "quack" else {"always.Pass": {"meaning": "harmful"}}
    run = imported(importer, path, rows=rows, mapping={"case": {"side": "harmful"}, "scores": scores})
    said = Judgment.objects.filter(trajectory__run=run, judge__kind="imported")
    assert said.count() == rows
    assert {each.opinion().decision for each in said} == {None}


def test_tau_bench(importer: Importer) -> None:
    """150 whole conversations, and pass^1 to pass^4 from the rewards of all 200."""
    folder = real_data.folder("tau-bench-airline")
    run = imported(importer, folder / "gpt-4o-airline.trials0-2.json", rows=150, mapping={"case": {"side": "benign"}})
    assert Counter(run.trajectories.values_list("attempt", flat=True)) == {1: 50, 2: 50, 3: 50}

    mapping = {
        "columns": {"prompt": "task_id", "response": "reward"},
        "case": {"side": "capability", "key": {"column": "task_id"}},
        "scores": {"reward": {"column": "reward", "meaning": "correct", "at_least": 1}},
        "system": {"model": "gpt-4o", "name": "airline"},
    }
    rewards = imported(importer, folder / "rewards_all_200.csv", rows=200, mapping=mapping, format="table")
    said = {
        each: {
            (judgment.trajectory.case.key, judgment.trajectory.attempt): bool(judgment.check_passed)
            for judgment in Judgment.objects.filter(trajectory__run=each, judge__kind="imported").select_related(
                "trajectory__case"
            )
        }
        for each in (run, rewards)
    }
    solved: dict[str, list[bool]] = defaultdict(list)
    for (task, _), passed in said[rewards].items():
        solved[task].append(passed)
    assert Counter(map(len, solved.values())) == {4: 50}
    assert [round(pass_hat(solved, k), 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]
    # Trial by trial, the conversations say the same.
    assert said[run].items() <= said[rewards].items()
    assert len(said[run]) == 150


def pass_hat(solved: dict[str, list[bool]], k: int) -> float:
    """The share of tasks that k of their trials, drawn at random, would all solve."""
    return sum(comb(sum(trials), k) / comb(len(trials), k) for trials in solved.values()) / len(solved)


@pytest.mark.parametrize(
    ("name", "scorer", "samples", "right"),
    [
        ("2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval", "match", 10, 8),
        ("scout_security-guide.eval", "model_graded_fact", 16, 11),
        ("2025-05-12T20-28-26-04-00_security-guide.json", "model_graded_fact", 3, 3),
        ("log_formats.json", "match", 1, 0),
    ],
)
def test_inspect(importer: Importer, name: str, scorer: str, samples: int, right: int) -> None:
    """The accuracies that the logs state: 0.8, 0.6875, 1 and 0."""
    mapping = {"case": {"side": "capability"}, "scores": {scorer: {"meaning": "correct"}}}
    run = imported(importer, real_data.folder("inspect-logs") / name, rows=samples, mapping=mapping)
    passed = Judgment.objects.filter(trajectory__run=run, judge__kind="imported", check_passed=True)
    assert passed.count() == right


def test_assebench(importer: Importer) -> None:
    """Mapped JSON: 555 records, with what people said of each that did harm or refused."""
    folder = real_data.folder("assebench-security")
    mapping = {
        "columns": {"system_prompt": "profile", "messages": "contents"},
        "turns": {
            "roles": {"agent": "assistant", "environment": "tool"},
            "text": ["content", "action"],
            "reasoning": ["thought"],
        },
        "case": {
            "side": "harmful",
            "category": {"column": "risk_type"},
            "kind": {"column": "risk_type", "values": {"Prompt Injection": "injected"}, "otherwise": "tool_use"},
        },
        "scores": {"label": {"meaning": "ignored"}},
        "verdicts": [
            {
                "author": "ASSEBench",
                "decided_at": "2025-05-31T00:00:00Z",
                "decision": {"column": "label", "values": {"1": "full_compliance"}},
            }
        ],
        "system": {"model": "several agents", "name": "ASSEBench-Security"},
    }
    run = imported(importer, folder / "AgentJudge-security.trimmed.json", rows=555, mapping=mapping)
    with (folder / "labels_all_817.csv").open(newline="") as stream:
        labels = Counter(row["label"] for row in csv.DictReader(stream))
    assert labels == {"1": 409, "0": 408}
    assert set(run.trajectories.values_list("side", flat=True)) == {Side.HARMFUL}
    kept = Verdict.objects.filter(trajectory__run=run, decision=Decision.FULL_COMPLIANCE).count()
    # 68 % of the 409, as they were drawn.
    assert abs(kept - 0.68 * 409) < 10
    assert not isinstance(report_of(run).as_labeled, RatePair)
