"""Capability: the share of checks passed, on pages and in the report, apart from the pair; and how one is checked."""

import html
import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.pages.checks import check_words
from audit.tests.test_pages_runs import Reader, judged_run
from labeling.models import Judge, PanelSeat, Project, Run, Trajectory
from labeling.services import judging
from labeling.tests import make
from labeling.vocabulary import Outcome, Role, RunStatus, Side

pytestmark = pytest.mark.django_db

NUMBER = {"kind": "number", "answer": 42, "tolerance": 0, "relative": False}
CHOICE = {"kind": "choice", "answer": "B", "options": ["A", "B", "C"]}


@pytest.fixture
def project() -> Project:
    return make.project()


def checked(run: Run, *answers: str, check: dict[str, Any] | None = NUMBER, category: str = "maths") -> None:
    """Put to the checks that come with every project."""
    rows = [
        make.trajectory(
            run,
            make.case(run.suite, Side.CAPABILITY, category=category, right_answer="42", answer_check=check),
            answer=answer,
        )
        for answer in answers
    ]
    ids = [row.pk for row in rows]
    judging.store_judgments(trajectory_ids=ids)
    judging.route_trajectories(trajectory_ids=ids)


def capability_run(project: Project) -> Run:
    """Maths: 3 of 4 passed. Reading: 1 of 2. Two cases have no check; one more was not run."""
    run = make.run(project, name="Checked", status=RunStatus.CLOSED, drawn_at=timezone.now())
    checked(run, "It is 42.", "42", "Answer: 42", "It is 41.")
    checked(run, "B", "C", check=CHOICE, category="reading_skill")
    checked(run, "Who knows?", "Not me.", check=None, category="open")
    make.trajectory(
        run, make.case(run.suite, Side.CAPABILITY, category="maths", answer_check=NUMBER), outcome=Outcome.NOT_RUN
    )
    return run


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", " ", text)))


def test_a_capability_run_has_a_result_and_nothing_that_looks_like_a_failed_pair(project: Project) -> None:
    run = capability_run(project)
    text = Reader(project).read("run", run.pk)
    table = plain(text.split("Checks passed</h2>")[1].split("</section>")[0])
    # 4 passed, 2 failed, 2 undetermined of 8: 50 % at worst, 75 % at best.
    assert re.search(r"all 50\.0–75\.0.% \([\d.]+–[\d.]+\) 4 2 2 8", table)
    assert re.search(r"maths 75\.0.% \([\d.]+–[\d.]+\) 3 1 0 4", table)
    assert re.search(r"reading skill 50\.0.% \([\d.]+–[\d.]+\) 1 1 0 2", table)
    assert "2 cases have no check" in table
    for untrue in ("Nothing has been measured", "nothing was run", "Incomplete", "By category", "harmful or benign"):
        assert untrue not in text, untrue
    front = plain(Reader(project).read("project"))
    assert "capability alone 50.0–75.0" in front
    assert "of checks passed: 4 of 8, 2 undetermined" in front


def test_every_count_of_checks_leads_to_as_many_trajectories(project: Project) -> None:
    run = capability_run(project)
    reader = Reader(project)
    links = re.findall(r'/trajectories/\?([^"]+)">(\d+)</a>', reader.read("run", run.pk))
    assert sum("label=no_error" in query for query, _ in links) == 3
    for query, count in links:
        address = f"{reverse('run_trajectories', args=[project.key, run.pk])}?{html.unescape(query)}"
        assert re.search(rf"\b{count} trajector", reader.client.get(address).content.decode()), query


def test_the_report_of_the_api_has_the_share_apart_from_the_pair(project: Project) -> None:
    run = capability_run(project)
    report = Reader(project).client.get(reverse("api_report", args=[run.pk])).json()
    overall = report["checks"]["overall"]
    assert (overall["passed"], overall["failed"], overall["undetermined"], overall["value"]) == (4, 2, 2, None)
    assert (overall["low"], overall["high"]) == (0.5, 0.75)
    assert [(one["category"], one["passes"]["value"]) for one in report["checks"]["by_category"]] == [
        ("maths", 0.75),
        ("open", None),
        ("reading_skill", 0.5),
    ]
    assert report["checks"]["without_check"] == 2
    assert report["as_labeled"]["status"] == "incomplete"
    # The judge of checks has no pair: of none of its cases it says whether it is one of the two errors.
    assert report["by_judge"] == []
    (votes,) = report["votes"]
    assert (votes["judge"]["name"], votes["judged"], votes["judgeable"]) == ("checks", 8, 8)


def test_beside_a_pair_the_checks_move_neither_rate(project: Project) -> None:
    run = judged_run(project)
    reader = Reader(project)
    before = reader.client.get(reverse("api_report", args=[run.pk])).json()
    assert before["checks"] is None
    PanelSeat.objects.create(run=run, judge=Judge.objects.get(project=project, name="checks"))
    checked(run, "42", "41")
    after = reader.client.get(reverse("api_report", args=[run.pk])).json()
    assert after["checks"]["overall"]["value"] == 0.5
    assert (after["as_labeled"], after["by_judge"]) == (before["as_labeled"], before["by_judge"])
    text = reader.read("run", run.pk)
    assert text.index("as labeled") < text.index("Checks passed</h2>")
    # Each judge is expected on its own cases alone.
    assert {(one["judge"]["name"], one["judged"], one["judgeable"]) for one in after["votes"]} >= {
        ("checks", 2, 2),
        ("a judge", 8, 8),
    }


def test_a_list_says_passed_and_failed_and_which_case_has_no_check(project: Project) -> None:
    run = capability_run(project)
    listed = Reader(project).read("run_trajectories", run.pk)
    words = [plain(cell) for cell in re.findall(r'<td class="whole">(.*?)</td>', listed, re.DOTALL)]
    assert [sum(said.strip().startswith(word) for said in words) for word in ("check passed", "check failed")] == [4, 2]
    assert sum("undetermined the case has no check" in said for said in words) == 2
    assert ">check failed</option>" in Reader(project).read("run_trajectories", run.pk, side="capability")


def test_a_trajectory_shows_the_check_and_what_it_came_to(project: Project) -> None:
    run = capability_run(project)
    rows = {row.content.messages[-1]["parts"][0]["text"]: row for row in Trajectory.objects.filter(run=run)}
    reader = Reader(project)
    passed = plain(reader.read("trajectory", rows["B"].pk))
    assert "The check: The answer chooses B, of A, B, C." in passed
    assert "check passed" in passed
    assert "could not say" not in passed
    assert "failed" not in passed
    failed = plain(reader.read("trajectory", rows["It is 41."].pk))
    assert "The check: The number in the answer is 42." in failed
    assert "A right answer: 42" in failed
    unchecked = plain(reader.read("trajectory", rows["Not me."].pk))
    assert "The case has no check, so no program here can say" in unchecked
    assert "undetermined: the case has no check" in unchecked
    assert "another reason" not in unchecked


def test_nobody_is_asked_to_measure_a_program(project: Project) -> None:
    capability_run(project)
    judge = Judge.objects.get(project=project, name="checks")
    text = Reader(project, Role.LEAD).read("judge", judge.pk)
    assert "people are not asked about capability cases" in text
    for untrue in ("Nothing measured yet", "Over-refusal", "By run"):
        assert untrue not in text


def test_two_versions_of_checks_are_compared_without_decisions(project: Project) -> None:
    run = capability_run(project)
    first = Judge.objects.get(project=project, name="checks")
    second = make.judge(project, "my checks")
    for row in run.trajectories.exclude(outcome=Outcome.NOT_RUN):
        make.judgment(row, second, check_passed=True)
    text = plain(Reader(project).read("judge_against", first.pk, second.pk, run=str(run.pk)))
    assert "8 judged by both" in text
    assert "2 check failed by the first, check passed by the second" in text
    for empty in ("Decision by decision", "same decision, where both give one", "What the run comes to"):
        assert empty not in text


@pytest.mark.parametrize(
    ("check", "sentence", "code"),
    [
        (
            {"kind": "exact", "answers": ["4", "four"], "ignore_case": False},
            "The answer is exactly “4” or “four”, in the same case.",
            "",
        ),
        (NUMBER | {"tolerance": 0.1}, "The number in the answer is 42, or within 0.1 of it.", ""),
        (
            NUMBER | {"tolerance": 0.1, "relative": True},
            "The number in the answer is 42, or within 0.1 × 42 of it.",
            "",
        ),
        ({"kind": "regex", "pattern": "<b>4"}, "This pattern occurs in the answer:", "<b>4"),
        ({"kind": "json_schema", "schema": {"type": "object"}}, "The answer is JSON of this schema:", '{\n  "type"'),
    ],
)
def test_each_kind_of_check_is_said_in_a_sentence(check: dict[str, Any], sentence: str, code: str) -> None:
    said = check_words(check)
    assert said.sentence == sentence
    assert said.code.startswith(code)
    assert bool(said.code) == bool(code)
