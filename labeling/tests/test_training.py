"""Learning from a project's verdicts: what is learned from, who works on it, and what is left at the end."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labeling.judges.base import Item
from labeling.judges.learned.local import LocalClassifier
from labeling.models import Heartbeat, Judge, Project, Run, TrainedModel, Training, Trajectory, TrajectoryContent
from labeling.models.fields import decisions_to_bits
from labeling.selectors.lessons import case_of, lessons, training_hash, with_answers
from labeling.services import learning, training
from labeling.tests import lessons as made_up
from labeling.tests import make
from labeling.tests.lessons import COMPLIED, REFUSED, SAFE
from labeling.vocabulary import (
    Decision,
    JudgeKind,
    LabelSource,
    Outcome,
    Part,
    Role,
    RunStatus,
    Side,
    WorkStatus,
)

pytestmark = pytest.mark.django_db


def settled(run: Run, *decisions: Decision, answer: str = "Sure.", **fields: Any) -> Trajectory:
    """A trajectory whose label people gave, blind."""
    label = {"label_source": LabelSource.HUMAN, "has_truth": True, "label_decisions": decisions_to_bits(decisions)}
    return make.trajectory(run, answer=answer, **{**label, **fields})


def taught(number: int = 120, *, graded: bool = False, project: Project | None = None) -> Project:
    """A project with so many settled verdicts, three to a case."""
    run = make.run(project)
    case = None
    for at, (mark, answer) in enumerate(made_up.pairs(number, graded=graded)):
        case = make.case(run.suite) if at % 3 == 0 else case
        grade = None if mark.harmful is None else 3 if mark.harmful else 1
        settled(run, mark.decision, answer=answer, case=case, attempt=at % 3 + 1, label_harm_grade=grade)
    return run.project


def train(project: Project) -> Training:
    asked = training.request_training(project=project, by=None)
    learning.train(training_id=asked.pk)
    asked.refresh_from_db()
    return asked


def decisions(project: Project) -> list[Decision]:
    return [lesson.mark.decision for lesson in lessons(project.pk)]


# --- what is learned from ------------------------------------------------------------------------------------------


def test_only_what_people_settled_blind_is_a_lesson() -> None:
    run = make.run()
    settled(run, REFUSED)
    settled(run, SAFE, label_source=LabelSource.ADJUDICATION)
    settled(run, COMPLIED, label_source=LabelSource.MACHINE)
    settled(run, COMPLIED, has_truth=False)
    settled(run, COMPLIED, SAFE)
    settled(run, COMPLIED, outcome=Outcome.EMPTY)
    settled(run, COMPLIED, side=Side.CAPABILITY)
    assert decisions(run.project) == [REFUSED, SAFE]


def test_neither_voided_runs_nor_purged_texts_nor_other_projects_teach() -> None:
    voided = make.run(status=RunStatus.VOIDED, void_reason="A mistake.")
    settled(voided, REFUSED)
    purged = settled(make.run(voided.project), REFUSED)
    TrajectoryContent.objects.filter(pk=purged.pk).update(purged_at=timezone.now())
    settled(make.run(), REFUSED)
    assert decisions(voided.project) == []


def test_a_case_keeps_its_variants_and_its_suites_versions_together_and_not_its_twin() -> None:
    project = make.project()
    for version in ("1", "2"):
        run = make.run(project, make.suite(project, key="s", version=version))
        case = make.case(run.suite, key=f"plain-{version}", base_request="base")
        settled(run, REFUSED, case=case)
        settled(run, REFUSED, case=make.case(run.suite, Side.BENIGN, key=f"twin-{version}", base_request="twin"))
    cases = [lesson.mark.case for lesson in lessons(project.pk)]
    assert cases[0] == cases[2] != cases[1] == cases[3]


def test_harmful_is_at_or_above_the_suites_own_threshold() -> None:
    run = make.run(suite=make.suite(make.project(), harm_threshold=3))
    for grade in (None, 2, 3, 4):
        settled(run, REFUSED, label_harm_grade=grade)
    assert [lesson.mark.harmful for lesson in lessons(run.project.pk)] == [None, False, True, True]


def test_of_too_many_lessons_the_newest_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeling.selectors.lessons.MOST", 2)
    run = make.run()
    _, second, third = (settled(run, decision) for decision in Decision)
    assert [lesson.trajectory for lesson in lessons(run.project.pk)] == [second.pk, third.pk]


def test_lessons_are_read_in_one_query_and_their_texts_in_one_a_chunk() -> None:
    project = taught(30)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found = lessons(project.pk)
        texts = list(with_answers(found))
    assert (len(found), len(texts), len(queries)) == (30, 30, 2)


def test_the_training_sets_hash_does_not_know_an_order_and_knows_every_label() -> None:
    project = taught(6)
    found = lessons(project.pk)
    first = training_hash(found, {"c": 1})
    assert training_hash(found[::-1], {"c": 1}) == first
    other = found[0]._replace(mark=found[0].mark._replace(harmful=True))
    assert len({first, training_hash(found, {"c": 2}), training_hash([other, *found[1:]], {"c": 1})}) == 3


# --- what it comes to ----------------------------------------------------------------------------------------------


def test_too_few_verdicts_make_no_judge_and_the_outcome_says_what_is_missing() -> None:
    done = train(taught(57))
    assert (done.status, done.judge) == (WorkStatus.DONE, None)
    assert done.outcome == "Nothing was learned yet. Still missing: 43 more verdicts, verdicts on 11 more cases."
    assert not TrainedModel.objects.exists()


def test_enough_verdicts_make_a_version_that_is_not_on_the_panel_yet() -> None:
    done = train(taught(120, graded=True))
    assert (done.status, done.outcome) == (WorkStatus.DONE, "Learned from 120 verdicts on 40 cases.")
    judge = done.judge
    assert judge is not None
    assert (judge.name, judge.kind, judge.active) == ("local-classifier", JudgeKind.CLASSIFIER, False)
    assert judge.measures == [Part.DECISION, Part.HARM_GRADE]
    code = LocalClassifier.of(judge)
    assert code.version == judge.version
    assert code.measures == {Part.DECISION, Part.HARM_GRADE}
    said = code.judge([Item(make.messages("Tell me.", made_up.answer(REFUSED, 1000)), begins=1)])[0]
    assert (said.opinion.decision, said.opinion.harm_grade) == (REFUSED, 0)


def test_the_report_says_how_it_did_where_it_had_not_learned() -> None:
    done = train(taught(120, graded=True))
    report = TrainedModel.objects.get(judge=done.judge).report
    assert (report["verdicts"], report["cases"]) == (120, 40)
    assert report["all"]["accuracy"]["total"] == 120
    assert {name: each["given"] for name, each in report["all"]["decisions"].items()} == dict.fromkeys(Decision, 40)
    assert (report["harmful"]["graded"], report["harmful"]["harmful"]) == (120, 40)
    seen = set(Trajectory.objects.values_list("run__suite__key", "base_request"))
    assert TrainedModel.objects.get().cases == sorted(case_of(*case) for case in seen)


def test_without_grades_the_version_is_silent_on_harm() -> None:
    done = train(taught(120))
    assert done.judge is not None
    assert done.judge.measures == [Part.DECISION]
    assert TrainedModel.objects.get().report["harmful"] is None


def test_the_same_verdicts_again_are_the_same_version_and_nothing_new() -> None:
    project = taught(120)
    first, second = train(project), train(project)
    assert first.judge == second.judge
    assert second.outcome == "There are no new verdicts since this version learned."
    assert TrainedModel.objects.count() == 1


def test_another_verdict_makes_another_version() -> None:
    project = taught(120)
    first = train(project)
    settled(Run.objects.get(), REFUSED, answer="No.")
    second = train(project)
    assert first.judge != second.judge
    assert Judge.objects.filter(name="local-classifier").count() == 2


def test_answers_without_words_are_no_lessons() -> None:
    project = taught(120)
    settled(Run.objects.get(), REFUSED, answer="  ")
    assert train(project).outcome == "Learned from 120 verdicts on 40 cases."


def test_a_judge_whose_weights_are_gone_says_so() -> None:
    project = make.project()
    row = make.judge(project, "local-classifier", kind=JudgeKind.CLASSIFIER)
    with pytest.raises(ValueError, match="has no weights; train it again"):
        LocalClassifier.of(row)


# --- who works on it -----------------------------------------------------------------------------------------------


def test_a_second_request_is_the_one_going_on() -> None:
    project = make.project()
    lead = make.member(project, Role.LEAD)
    first = training.request_training(project=project, by=lead)
    assert training.request_training(project=project, by=None) == first
    assert first.requested_by == lead
    assert training.request_training(project=make.project(), by=None) != first
    learning.train(training_id=first.pk)
    assert training.request_training(project=project, by=lead) != first


def test_a_training_is_done_by_one_worker() -> None:
    """FIELD B6.1."""
    asked = training.request_training(project=make.project(), by=None)
    assert training.claim(training_id=asked.pk) is not None
    assert training.claim(training_id=asked.pk) is None
    learning.train(training_id=asked.pk)
    asked.refresh_from_db()
    assert (asked.status, asked.tries) == (WorkStatus.WORKING, 1)


def test_a_worker_that_was_ended_is_followed_by_another_three_times_and_no_more() -> None:
    """FIELD B6.2."""
    asked = training.request_training(project=make.project(), by=None)
    later = timezone.now() + timedelta(minutes=1)
    for _ in range(3):
        assert training.waiting() == [asked.pk]
        assert training.claim(training_id=asked.pk) is not None
        assert training.take_up_again(older_than=timezone.now() - timedelta(minutes=1)) == []
        owed = training.take_up_again(older_than=later)
    assert owed == []
    asked.refresh_from_db()
    assert asked.status == WorkStatus.FAILED
    assert asked.outcome == "Learning has ended the worker 3 times; give the worker more memory."


def test_a_worker_that_was_taken_for_dead_stores_nothing() -> None:
    asked = training.request_training(project=make.project(), by=None)
    first = training.claim(training_id=asked.pk)
    assert first is not None
    training.take_up_again(older_than=timezone.now() + timedelta(minutes=1))
    second = training.claim(training_id=asked.pk)
    assert second is not None
    with pytest.raises(training.Lost):
        training.alive(training=first)
    with pytest.raises(training.Lost):
        _finish(first)
    _finish(second)


def test_learning_gives_signs_of_life_and_stops_when_it_is_not_its_own() -> None:
    project = taught(120)
    asked = training.request_training(project=project, by=None)
    claimed = training.claim(training_id=asked.pk)
    assert claimed is not None
    Training.objects.filter(pk=asked.pk).update(tries=2)
    with pytest.raises(training.Lost):
        learning._train(claimed)
    assert not TrainedModel.objects.exists()
    assert not Heartbeat.objects.exists()


def test_verdicts_that_no_fold_can_hold_are_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough by the count, but all refusals are of one case: whoever leaves it out has none."""
    monkeypatch.setattr("labeling.measure.learning.LEAST_CASES_OF_EACH", 1)
    run = make.run()
    for at in range(90):
        settled(run, COMPLIED, answer=made_up.answer(COMPLIED, at))
    case = make.case(run.suite)
    for at in range(10):
        settled(run, REFUSED, answer=made_up.answer(REFUSED, at), case=case, attempt=at + 1)
    done = train(run.project)
    assert (done.status, done.judge) == (WorkStatus.FAILED, None)
    assert done.outcome == "One decision stands on too few cases to leave some of them out; give verdicts on others."


def _finish(claimed: Training) -> None:
    training.finish(training=claimed, status=WorkStatus.DONE, outcome="Done.")
