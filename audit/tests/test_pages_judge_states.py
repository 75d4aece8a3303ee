"""What is stuck is said where people look: on the judges' pages and on the run, with what to do."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.tests.test_pages_runs import Reader, judged_run
from labeling.measure.learning import Marked, report_of
from labeling.models import Judge, JudgeCall, JudgeService, Project, Run, Spend, TrainedModel, Trouble
from labeling.tests import make
from labeling.vocabulary import Decision, JudgeKind, Role

pytestmark = pytest.mark.django_db

RUBRIC = {"type": "rubric", "service": {"base_url": "https://judge.example/v1", "model": "mistral-x"}}


@pytest.fixture
def project() -> Project:
    return make.project()


def served(project: Project, version: str = "v1", **fields: Any) -> Judge:
    judge = make.judge(project, "rubric-x", kind=JudgeKind.RUBRIC, version=version, settings=RUBRIC, active=False)
    JudgeService.objects.create(judge=judge, **fields)
    return judge


def owing(judge: Judge, run: Run, *, calls: int, parked: int = 0) -> None:
    for number in range(calls + parked):
        row = make.trajectory(run)
        JudgeCall.objects.create(
            trajectory=row, judge=judge, parked_at=timezone.now() if number >= calls else None, trouble="It broke."
        )


def test_a_run_says_what_it_waits_for_and_how_long_that_takes(project: Project) -> None:
    run = judged_run(project)
    owing(served(project, requests_per_minute=60), run, calls=130)
    text = Reader(project).read("run", run.pk)
    assert "owes 130 judgments here: about 3 minutes at its limit of 60 requests a minute" in text
    JudgeService.objects.update(requests_per_minute=300)
    assert "less than a minute at its limit of 300 requests a minute" in Reader(project).read("run", run.pk)


def test_the_last_trouble_stays_in_sight_until_the_endpoint_answers(project: Project) -> None:
    run = judged_run(project)
    judge = served(project, parked_until=timezone.now() - timedelta(seconds=1), parked_reason="It does not answer")
    owing(judge, run, calls=2)
    reader = Reader(project)
    assert "is being asked again. Last trouble: It does not answer. 2 calls wait." in reader.read("run", run.pk)
    assert "Last trouble: It does not answer." in reader.read("judge", judge.pk)
    assert "not answering" in reader.read("judges")
    front = reader.read("project")
    assert "does not answer:</b> It does not answer. 2 calls wait." in front
    assert reverse("judge", args=[project.key, judge.pk]) in front
    JudgeService.objects.update(parked_reason="", parked_until=None)
    for text in (reader.read("run", run.pk), reader.read("judge", judge.pk), reader.read("project")):
        assert "It does not answer" not in text


def test_pages_renew_themselves_only_while_judgments_are_owed(project: Project) -> None:
    run = judged_run(project)
    judge = served(project)
    reader = Reader(project)
    for name, pk in (("run", run.pk), ("judge", judge.pk)):
        assert "owed.js" not in reader.read(name, pk)
    owing(judge, run, calls=1)
    for name, pk in (("run", run.pk), ("judge", judge.pk)):
        assert "owed.js" in reader.read(name, pk)
    # What broke waits for a person: nothing comes by itself.
    JudgeCall.objects.update(parked_at=timezone.now())
    run.trajectories.update(status="settled")
    for name, pk in (("run", run.pk), ("judge", judge.pk)):
        assert "owed.js" not in reader.read(name, pk)


def test_a_parked_judge_and_calls_that_broke_are_loud_on_the_run(project: Project) -> None:
    run = judged_run(project)
    until = timezone.now() + timedelta(minutes=5)
    judge = served(project, parked_until=until, parked_reason="Its endpoint <b>does</b> not answer.")
    owing(judge, run, calls=12, parked=3)
    text = Reader(project).read("run", run.pk)
    assert "is parked until" in text
    assert "Its endpoint &lt;b&gt;does&lt;/b&gt; not answer. 12 calls wait; then it is asked again." in text
    assert "3 calls of" in text
    assert "parked after failing three times" in text
    assert reverse("judge", args=[project.key, judge.pk]) in text


def test_parked_trajectories_are_said_with_their_reasons_and_a_lead_has_them_tried_again(project: Project) -> None:
    run = judged_run(project)
    for reason in ("MemoryError in judging", "MemoryError in judging", "KeyError in normal"):
        Trouble.objects.create(trajectory=make.trajectory(run), tries=3, reason=reason, parked_at=timezone.now())
    assert "3 trajectories are parked:" in Reader(project).read("run", run.pk)
    lead = Reader(project, Role.LEAD)
    text = lead.read("run", run.pk)
    assert "KeyError in normal (1); MemoryError in judging (2)" in text
    assert reverse("run_unpark", args=[project.key, run.pk]) in text
    assert lead.post("run_unpark", run.pk).status_code == 302
    assert "are parked:" not in lead.read("run", run.pk)


def test_what_a_run_has_cost_stands_beside_its_judge(project: Project) -> None:
    run = judged_run(project)
    judge = served(project)
    make.judgment(make.trajectory(run), judge, make.REFUSED)
    Spend.objects.create(run=run, judge=judge, calls=40, input_tokens=900, output_tokens=100, usd=Decimal("1.234"))
    text = Reader(project).read("run", run.pk)
    assert "$1.23" in text
    page = Reader(project).read("judge", judge.pk)
    for shown in ("40", "1000", "$1.23", "40 calls, $1.23."):
        assert shown in page


def test_what_nobody_put_a_price_on_has_no_known_cost(project: Project) -> None:
    run = judged_run(project)
    judge = served(project, ceiling_usd=Decimal("0.01"))
    make.judgment(make.trajectory(run), judge, make.REFUSED)
    Spend.objects.create(run=run, judge=judge, calls=30, input_tokens=900, output_tokens=100)
    reader = Reader(project)
    page = reader.read("judge", judge.pk)
    assert "30 calls for cost not known in all" not in page
    assert "30 calls, cost not known." in page
    assert "so its ceiling holds nothing back" in page
    for text in (page, reader.read("run", run.pk)):
        assert "cost not known" in text
        assert "$0.0" not in text
    JudgeService.objects.update(input_usd=Decimal("0.1"), output_usd=Decimal("0.2"))
    Spend.objects.update(usd=Decimal("0.0041"))
    page = reader.read("judge", judge.pk)
    assert "30 calls, under $0.01; on each run at most $0.01." in page
    # A price of nothing is a price.
    JudgeService.objects.update(input_usd=0, output_usd=0)
    Spend.objects.update(usd=0)
    assert "30 calls, $0.00;" in reader.read("judge", judge.pk)


def test_a_judge_that_was_asked_nothing_is_not_praised_for_answering(project: Project) -> None:
    text = Reader(project, Role.LEAD).read("judge", served(project).pk)
    assert "It has judged nothing yet." in text
    assert "It has always said something." not in text


def test_the_list_says_how_each_version_is_doing(project: Project) -> None:
    old, new = (
        served(project),
        served(project, "v2", parked_until=timezone.now() + timedelta(hours=1), parked_reason="x"),
    )
    Judge.objects.filter(pk=new.pk).update(active=True)
    owing(new, make.run(project), calls=2, parked=1)
    make.judge(project, "theirs")
    text = Reader(project, Role.LEAD).read("judges")
    for shown in ("posted by runners", "2 calls waiting", "1 call broke", "on the panel", ">off<", ">parked<"):
        assert shown in text, shown
    # A hash that is no hash of the code there is: nothing here can say more in its name.
    assert text.count("no longer runs here") == 2
    assert reverse("judge_new", args=[project.key]) in text
    assert reverse("judge_against", args=[project.key, old.pk, new.pk]) in text
    assert text.index("rubric-x v2") < text.index("rubric-x v1")
    assert reverse("judge_new", args=[project.key]) not in Reader(project).read("judges")


def test_a_judges_page_says_what_it_is_made_of_and_never_its_key(project: Project) -> None:
    judge = served(project, sealed_key="sealed-and-secret")
    text = Reader(project, Role.LEAD).read("judge", judge.pk)
    assert "https://judge.example/v1" in text
    assert "model: mistral-x" in text
    assert "sealed-and-secret" not in text
    for name in ("judge_edit", "judge_work"):
        assert reverse(name, args=[project.key, judge.pk]) in text


def test_what_a_lead_can_do_is_offered_to_leads_alone(project: Project) -> None:
    judge = served(project, parked_until=timezone.now() + timedelta(hours=1), parked_reason="It does not answer.")
    other = served(project, "v2")
    owing(judge, judged_run(project), calls=2, parked=2)
    names = ("judge_edit", "judge_work", "judge_resume", "judge_try_again", "judge_give_up")
    lead, viewer = (Reader(project, role).read("judge", judge.pk) for role in (Role.LEAD, Role.VIEWER))
    for name in names:
        address = reverse(name, args=[project.key, judge.pk])
        assert (address in lead, address in viewer) == (True, False), name
    assert "It does not answer." in viewer
    newer = Reader(project, Role.LEAD).read("judge", other.pk)
    assert reverse("judge_diff", args=[project.key, other.pk, judge.pk]) in newer
    assert reverse("judge_against", args=[project.key, judge.pk, other.pk]) in newer


def test_a_version_that_runs_here_may_be_put_to_a_closed_run_or_taken_off_the_panel(project: Project) -> None:
    run = judged_run(project, name="Closed one")
    make.run(project, name="Open one")
    judge = Judge.objects.get(project=project, name="substring")
    text = Reader(project, Role.LEAD).read("judge", judge.pk)
    assert reverse("judge_unseat", args=[project.key, judge.pk]) in text
    assert reverse("judge_rejudge", args=[project.key, judge.pk]) in text
    assert f'<option value="{run.pk}">Closed one</option>' in text
    assert "Open one" not in text
    Judge.objects.filter(pk=judge.pk).update(active=False)
    assert reverse("judge_seat", args=[project.key, judge.pk]) in Reader(project, Role.LEAD).read("judge", judge.pk)


def test_what_was_learned_is_shown_with_what_it_is_worth(project: Project) -> None:
    judge = make.judge(project, "local-classifier", kind=JudgeKind.CLASSIFIER, settings={"type": "local"})
    truths = [Marked(f"case {n}", make.REFUSED if n % 2 else make.COMPLIED, n % 2 == 0) for n in range(10)]
    sure = {
        True: {make.REFUSED: 0.9, make.COMPLIED: 0.05, make.SAFE: 0.05},
        False: {make.REFUSED: 0.1, make.COMPLIED: 0.8, make.SAFE: 0.1},
    }
    chances: list[dict[Decision, float]] = [sure[bool(n % 2)] for n in range(9)] + [sure[False]]
    report = report_of(truths, chances, [0.1 if n % 2 else 0.9 for n in range(10)], confidence=0.6)
    TrainedModel.objects.create(judge=judge, weights=b"", training_hash="x", report=report)
    text = Reader(project).read("judge", judge.pk)
    assert "On answers it had not learned from" in text
    assert "10 verdicts on 10 cases" in text
    # One refusal of five is taken for compliance: 9 of 10; F1 8/9 and 10/11.
    assert "9/10" in text
    assert "0.90" in text


def test_the_fullest_run_page_takes_a_known_number_of_queries(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    run = judged_run(project, harmful=6)
    judge = served(project)
    Spend.objects.create(run=run, judge=judge, calls=1, usd=1)
    make.judgment(make.trajectory(run), judge, make.REFUSED)
    owing(judge, run, calls=2, parked=1)
    Trouble.objects.create(trajectory=make.trajectory(run), reason="x", parked_at=timezone.now())
    reader = Reader(project, Role.LEAD)
    with django_assert_max_num_queries(22):
        reader.read("run", run.pk)
    with django_assert_max_num_queries(20):
        reader.read("judge", judge.pk)
