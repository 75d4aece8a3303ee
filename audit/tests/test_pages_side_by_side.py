"""All opinions side by side: marked in the transcript, part by part, and never where somebody is to judge blind."""

import re
from typing import Any

import pytest
from django.urls import reverse

from audit.tests.make import reviewed
from audit.tests.test_pages_runs import Reader, judged_run
from labeling.models import Judge, Judgment, Project, Trajectory
from labeling.tests import make
from labeling.vocabulary import JudgeKind, Part, Role, Side

pytestmark = pytest.mark.django_db

ANSWER = "I can't do that 🙈. But here is how: step one, step two."


@pytest.fixture
def project() -> Project:
    return make.project()


def span(text: str) -> dict[str, Any]:
    start = ANSWER.index(text)
    return {"message": 1, "part": 0, "start": start, "end": start + len(text), "quote": text}


def three_judges(project: Project) -> Trajectory:
    """A leak: two judges quote overlapping words, one says where the harm is, one reads only the refusal."""
    run = judged_run(project, harmful=1, benign=1)
    row = make.trajectory(run, answer=ANSWER)
    graded = [Part.DECISION, Part.HARM_GRADE]
    phrases = make.judge(project, "phrases", kind=JudgeKind.SUBSTRING, measures=[Part.DECISION], version="p1")
    rubric = make.judge(project, "my-rubric", kind=JudgeKind.RUBRIC, measures=graded, version="r7")
    guard = make.judge(project, "guard", kind=JudgeKind.CLASSIFIER, measures=graded, version="g2")
    make.judgment(row, phrases, make.REFUSED, evidence=[span("I can't")])
    make.judgment(
        row,
        rubric,
        make.REFUSED,
        harm_grade=3,
        evidence=[span("I can't do that"), span("step one, step two")],
        scores={"characters_left_out": 12_345, "confidence": 0.875},
        latency_ms=1234,
        cost_usd="0.0021",
    )
    make.judgment(row, guard, undetermined="unparsable")
    return row


def judgment_of(row: Trajectory, name: str) -> Judgment:
    return row.judgments.get(judge__name=name)


def test_the_evidence_of_each_judge_is_marked_with_the_letter_of_its_card(project: Project) -> None:
    text = Reader(project).read("trajectory", three_judges(project).pk)
    # In the order of names: A guard, B my-rubric, C phrases.
    marks = re.findall(r'<mark class="ev ([a-z0-9-]+)" title="([^"]*)">(.*?)</mark>', text)
    assert marks == [
        ("ev-many", "my-rubric r7, phrases p1", "I can&#x27;t"),
        ("ev-2", "my-rubric r7", " do that"),
        ("ev-2", "my-rubric r7", "step one, step two"),
    ]
    for label in ("B1", "B2", "C"):
        assert text.count(f'id="ev-{label}"') == 1
        assert text.count(f'id="quote-{label}"') == 1
        assert f'href="#quote-{label}"' in text
        # From its row and from its card.
        assert text.count(f'href="#ev-{label}"') == 2


def test_every_part_stands_beside_the_others_with_judge_and_version(project: Project) -> None:
    """FIELD B5.13."""
    text = Reader(project).read("trajectory", three_judges(project).pk)
    table = text.split('class="side-by-side"')[1].split("</section>")[0]
    rows = [re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", row)) for row in table.split("<tr>")[2:]]
    guard, rubric, phrases = rows
    assert "guard g2 classifier, not on the panel" in guard
    assert "undetermined: its answer could not be read" in guard
    assert "counts as undetermined" in guard
    for shown in ("my-rubric r7", "refusal", " 3 ", "counts as harmful compliance", "1.2 s · $0.0021"):
        assert shown in rubric, shown
    assert "judged on a cut transcript: 12,345 characters left out" in rubric
    assert "no harmful compliance" in phrases
    assert "harmful compliance: B · no harmful compliance: C · undetermined: A" in table
    assert "confidence 0.875" in text


def test_evidence_that_is_not_on_the_page_is_a_quote_that_leads_to_it(project: Project) -> None:
    row = three_judges(project)
    content = row.content
    content.messages = make.messages("q", "x" * 50_000 + ANSWER)
    content.save()
    judgment_of(row, "phrases")
    Judgment.objects.filter(pk=judgment_of(row, "phrases").pk).update(evidence=["I can't do"])
    text = Reader(project).read("trajectory", row.pk)
    assert "<mark" not in text
    address = reverse("transcript", args=[project.key, row.pk])
    assert f'href="{address}?message=2&amp;part=1&amp;at=49800"' in text
    assert ">message 2</a>" in text


def test_where_opinions_are_hidden_nothing_is_marked(project: Project) -> None:
    row = three_judges(project)
    make.audit_request(row)
    reviewer = Reader(project, Role.REVIEWER)
    assert "<mark" not in reviewer.read("trajectory", row.pk)
    reviewer.post("review_start")
    blind = reviewer.read("review")
    assert ANSWER.split(".")[1] in blind
    assert "<mark" not in blind
    assert "ev-" not in blind
    assert "<mark" not in reviewer.read("transcript", row.pk)


def test_after_the_verdict_the_judges_stand_beside_it_in_the_transcript(project: Project) -> None:
    row = three_judges(project)
    make.audit_request(row)
    reviewer = Reader(project, Role.REVIEWER)
    reviewed(reviewer.membership, make.REFUSED, 3)
    text = reviewer.read("review_said", row.pk)
    # A is one's own verdict; the judges follow in the order of their names.
    assert "harmful compliance: A, C · no harmful compliance: D · undetermined: B" in text
    assert text.count("<mark") == 3
    assert 'id="ev-D"' in text
    assert "Next item" in text


def test_a_page_with_very_many_opinions_keeps_its_weight(project: Project) -> None:
    run = judged_run(project, harmful=1, benign=1)
    row = make.trajectory(run, answer="word " * 40_000)
    for number in range(40):
        judge = make.judge(project, f"judge-{number}", title="&" * 150)
        quotes = [
            {"message": 1, "part": 0, "start": 5 * n, "end": 30_000, "quote": ("word " * 40_000)[5 * n : 30_000]}
            for n in range(12)
        ]
        make.judgment(row, judge, make.REFUSED, evidence=quotes, rationale="because " * 2000)
    text = Reader(project).read("trajectory", row.pk)
    assert len(text.encode()) < 300_000
    assert "more opinions are in the run" in text


def test_what_the_judges_of_a_run_said_is_counted_by_judge_and_version(project: Project) -> None:
    """FIELD B5.12: a judge that was named and said nothing is not counted as if it had."""
    run = judged_run(project, harmful=4, benign=4)
    silent = make.judge(project, "silent", version="s1")
    run.panel.create(judge=silent)
    rubric = make.judge(project, "rubric-x", kind=JudgeKind.RUBRIC, version="abc")
    rows = list(Trajectory.objects.filter(run=run, side=Side.HARMFUL).order_by("pk"))
    make.judgment(rows[0], rubric, make.COMPLIED)
    make.judgment(rows[1], rubric, make.COMPLIED)
    make.judgment(rows[2], rubric, make.REFUSED)
    make.judgment(rows[3], rubric, undetermined="judge_refused")
    text = Reader(project).read("run", run.pk)
    section = text.split("<h2>Who judged</h2>")[1].split("</section>")[0]
    lines = [re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", line)) for line in section.split("<tr>")[2:]]
    assert "a judge 1 imported · on the panel 8 of 8 0" in lines[0]
    assert "rubric-x abc rubric · opinions only 4 of 8 1 the judge refused to judge 1" in lines[1]
    assert "silent s1 imported · on the panel 0 of 8 0" in lines[2]
    # a judge: complied, refused, refused, refused. Both speak on three; only rubric-x calls the second an error.
    where = re.sub(
        r"\s+", " ", re.sub("<[^>]+>", " ", text.split("Where they disagree</h2>")[1].split("</section>")[0])
    )
    assert "a judge 1 and rubric-x abc harmful 3 2 1 1 only rubric-x abc 1" in where
    judge = Judge.objects.get(project=project, name="a judge")
    reader = Reader(project)
    for differ, count in (
        (f"{judge.pk}-{rubric.pk}", 1),
        (f"{rubric.pk}-not-{judge.pk}", 1),
        (f"{judge.pk}-not-{rubric.pk}", 0),
    ):
        listed = reader.read("run_trajectories", run.pk, side="harmful", differ=differ)
        assert ("1 trajectory with these filters" in listed) == bool(count)
        assert "differ=" not in listed or differ in listed
    assert "a judge 1 and rubric-x abc disagree" in reader.read(
        "run_trajectories", run.pk, differ=f"{judge.pk}-{rubric.pk}"
    )


def test_a_contradiction_is_counted_where_one_of_the_two_leaves_the_error_open(project: Project) -> None:
    run = judged_run(project, harmful=2, benign=1)
    phrases = make.judge(project, "phrases", version="p1", measures=[Part.DECISION])
    for row in run.trajectories.filter(side=Side.HARMFUL):
        make.judgment(row, phrases, make.COMPLIED, make.SAFE)
    reader = Reader(project)
    judge = Judge.objects.get(project=project, name="a judge")
    # The judge: complied, refused. Both speak of none; only the refusal rules out all that phrases leaves open.
    (one,) = reader.client.get(reverse("api_report", args=[run.pk])).json()["disagreements"]
    assert (one["compared"], one["exclusive"]) == (0, 1)
    differ = f"{judge.pk}-excludes-{phrases.pk}"
    assert f"differ={differ}" in reader.read("run", run.pk)
    listed = reader.read("run_trajectories", run.pk, differ=differ)
    assert "1 trajectory with these filters" in listed
    assert "the decisions of a judge 1 and phrases p1 exclude each other" in listed


def test_the_raw_answer_of_a_judge_is_there_folded_and_why_is_no_quote(project: Project) -> None:
    row = three_judges(project)
    why = "The answer is not one JSON object."
    Judgment.objects.filter(pk=judgment_of(row, "guard").pk).update(raw_output="Sure! <b>safe</b>", rationale=why)
    Judgment.objects.filter(pk=judgment_of(row, "phrases").pk).update(raw_output="x" * 250_001)
    text = Reader(project).read("trajectory", row.pk)
    card = text.split('id="said-A"')[1].split("</article>")[0]
    assert "<summary>Its answer, word for word</summary>" in card
    assert "Sure! &lt;b&gt;safe&lt;/b&gt;" in card
    assert f'<div class="why"><b>Why</b><p dir="auto">{why}</p></div>' in card
    assert "<blockquote" not in card
    assert "xxx" not in text
    assert "Its answer is too long for this page" in text.split('id="said-C"')[1]


def test_the_hazards_of_llama_guard_have_names_and_the_codes_of_others_stay(project: Project) -> None:
    row = three_judges(project)
    Judgment.objects.filter(pk=judgment_of(row, "guard").pk).update(scores={"unsafe": 1.0, "S2": 1.0})
    assert "unsafe 1, S2 1" in Reader(project).read("trajectory", row.pk)
    Judge.objects.filter(name="guard").update(settings={"type": "served", "preset": "llama_guard_4"})
    assert "unsafe 1, S2 (non-violent crimes) 1" in Reader(project).read("trajectory", row.pk)


def test_a_reason_without_a_word_of_its_own_is_said_in_the_words_of_our_code(project: Project) -> None:
    row = three_judges(project)
    pk = judgment_of(row, "guard").pk
    Judgment.objects.filter(pk=pk).update(undetermined="other", rationale="Given up by grace.")
    assert "undetermined: given up by grace" in Reader(project).read("trajectory", row.pk)
    # What a runner writes stays on its card.
    Judge.objects.filter(name="guard").update(kind=JudgeKind.IMPORTED)
    assert "undetermined: another reason" in Reader(project).read("trajectory", row.pk)


def test_a_list_of_disagreements_tells_what_was_said_and_waits_for_consent(project: Project) -> None:
    run = judged_run(project, harmful=2, benign=1)
    rubric = make.judge(project, "rubric-x")
    rows = Trajectory.objects.filter(run=run, side=Side.HARMFUL).order_by("pk")
    make.judgment(rows[0], rubric, make.REFUSED)
    make.audit_request(rows[0])
    judge = Judge.objects.get(project=project, name="a judge")
    reviewer = Reader(project, Role.REVIEWER)
    refused = reviewer.read("run_trajectories", run.pk, differ=f"{judge.pk}-{rubric.pk}")
    assert "Filters by label or reason tell what judges said." in refused
    assert "3 trajectories" in refused
    answer = reviewer.post("run_labels", run.pk, show="yes", differ=f"{judge.pk}-{rubric.pk}")
    assert answer["Location"].endswith(f"?differ={judge.pk}-{rubric.pk}")
    assert "1 trajectory with these filters" in reviewer.client.get(answer["Location"]).content.decode()


def test_a_pile_of_undetermined_in_one_slice_is_a_loud_fact_and_a_warning_of_the_api(project: Project) -> None:
    run = judged_run(project, harmful=1, benign=1)
    judge = make.judge(project, "phrases", version="p1")
    for number in range(30):
        row = make.trajectory(run, category="hate" if number < 10 else "fraud")
        unread = number < 8
        make.judgment(row, judge, *([] if unread else [make.REFUSED]), undetermined="language" if unread else "")
    reader = Reader(project)
    text = reader.read("run", run.pk)
    fact = "phrases p1 could not say on 8 of 10 of category hate (elsewhere 0 of 20): a language it does not read 8."
    assert fact in text
    assert text.index(fact) < text.index("as labeled")
    shown = reader.client.get(reverse("api_report", args=[run.pk])).json()
    (warning,) = shown["warnings"]
    assert (warning["judge"]["name"], warning["slicing"], warning["name"]) == ("phrases", "category", "hate")
    assert (warning["here"], warning["elsewhere"]) == (
        {"undetermined": 8, "judged": 10},
        {"undetermined": 0, "judged": 20},
    )
    assert warning["reasons"] == {"language": 8}
    votes = {one["judge"]["name"]: one for one in shown["votes"]}
    assert (votes["phrases"]["judged"], votes["phrases"]["undetermined"]) == (30, {"language": 8})
