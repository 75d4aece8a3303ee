"""Old against new: counts by hand, who is right, the cases that changed, and blindness kept."""

import re

import pytest
from django.utils import timezone

from audit.measure.comparing import Contest
from audit.models import ContentView, Verdict
from audit.selectors.against import against, changed
from audit.selectors.names import JudgeName
from audit.tests.make import claimed
from audit.tests.test_pages_runs import Reader
from labeling.models import Judge, JudgeCall, Project, Rejudging, Run, Trajectory
from labeling.tests import make
from labeling.vocabulary import Decision, JudgeKind, Part, Role, RunStatus, Side, VerdictSource

pytestmark = pytest.mark.django_db

# (side, old, new, what people said blind); None: could not say, or nobody read it.
CASES: list[tuple[Side, Decision | None, Decision | None, Decision | None]] = [
    (Side.HARMFUL, make.COMPLIED, make.COMPLIED, make.COMPLIED),
    (Side.HARMFUL, make.COMPLIED, make.REFUSED, make.REFUSED),
    (Side.HARMFUL, make.COMPLIED, make.REFUSED, make.REFUSED),
    (Side.HARMFUL, make.REFUSED, make.SAFE, make.SAFE),
    (Side.HARMFUL, None, make.REFUSED, None),
    (Side.BENIGN, make.REFUSED, make.COMPLIED, make.REFUSED),
    (Side.BENIGN, make.COMPLIED, make.COMPLIED, None),
]


class Stage:
    """A closed run of seven, judged by an old version and a new one."""

    def __init__(self) -> None:
        self.project: Project = make.project()
        self.run: Run = make.run(self.project, status=RunStatus.CLOSED, drawn_at=timezone.now(), panel_is_frozen=True)
        self.old, self.new = (
            make.judge(self.project, "rubric-x", kind=JudgeKind.RUBRIC, version=version, measures=[Part.DECISION])
            for version in ("old", "new")
        )
        self.rows = [self._case(*case) for case in CASES]

    def _case(self, side: Side, old: Decision | None, new: Decision | None, people: Decision | None) -> Trajectory:
        row = make.trajectory(self.run, side=side, status="settled")
        for judge, decision in ((self.old, old), (self.new, new)):
            if decision is None:
                make.judgment(row, judge, undetermined="unparsable")
            else:
                make.judgment(row, judge, decision)
        if people is not None:
            said = {"decision": people, "harm_grade": 0, "decided_at": timezone.now()}
            Verdict.objects.create(trajectory=row, author="Ada", source=VerdictSource.IMPORT, blind=True, **said)
            Trajectory.objects.filter(pk=row.pk).update(has_truth=True)
        return row

    @property
    def names(self) -> tuple[JudgeName, JudgeName]:
        return JudgeName.of(self.old), JudgeName.of(self.new)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_what_changed_is_counted_by_hand(stage: Stage) -> None:
    first, second = stage.names
    make.judgment(make.trajectory(stage.run), stage.old, make.REFUSED)
    found = against(project=stage.project, run=None, first=first, second=second)
    assert found.judged == 7
    one = {decision: frozenset({decision}) for decision in Decision}
    assert found.decisions[one[make.COMPLIED], one[make.REFUSED]] == 2
    assert found.decisions[frozenset(Decision), one[make.REFUSED]] == 1
    assert found.errors["harmful"] == {(True, True): 1, (True, False): 2, (False, False): 1, (None, False): 1}
    assert found.errors["benign"] == {(True, False): 1, (False, False): 1}


def test_who_is_right_is_asked_of_blind_verdicts(stage: Stage) -> None:
    first, second = stage.names
    found = against(project=stage.project, run=stage.run, first=first, second=second)
    # Five have a truth. On the decision the new one is right in four, the old one in two: one both, one only the old.
    assert found.by_decision == Contest(both=1, first=1, second=3, neither=0)
    # A refusal and a safe completion are both no error: there the old one was right too.
    assert found.by_error == Contest(both=2, first=1, second=2, neither=0)
    # 2 · (1 + 4)/2^4.
    assert found.by_decision.p == pytest.approx(0.625)


def test_the_cases_that_changed_come_page_by_page(stage: Stage) -> None:
    first, second = stage.names
    every = changed(project=stage.project, run=None, first=first, second=second, errors_only=False, page=1, without=())
    assert [one.row.id for one in every.rows] == [stage.rows[n].pk for n in (1, 2, 3, 4, 5)]
    errors = changed(
        project=stage.project,
        run=None,
        first=first,
        second=second,
        errors_only=True,
        page=1,
        without=[stage.rows[1].pk],
    )
    assert [(one.row.id, one.first_says, one.second_says) for one in errors.rows] == [
        (stage.rows[2].pk, True, False),
        (stage.rows[4].pk, None, False),
        (stage.rows[5].pk, True, False),
    ]


def test_it_takes_a_known_number_of_queries(stage: Stage, django_assert_max_num_queries: object) -> None:
    first, second = stage.names
    with django_assert_max_num_queries(6):  # type: ignore[operator]
        against(project=stage.project, run=None, first=first, second=second)
    reader = Reader(stage.project, Role.LEAD)
    with django_assert_max_num_queries(22):  # type: ignore[operator]
        reader.read("judge_against", stage.old.pk, stage.new.pk, run=str(stage.run.pk))


def test_the_page_says_it_whichever_way_round_it_is_asked(stage: Stage) -> None:
    reader = Reader(stage.project)
    text = reader.read("judge_against", stage.new.pk, stage.old.pk, run=str(stage.run.pk))
    assert "Old against new" in text
    assert text.index("rubric-x old") < text.index("rubric-x new")
    # Both judges' pairs over the run, both rates of each.
    assert re.search(r"harmful compliance 60.0–80.0.%,.*; over-refusal 50.0.%", text)
    assert re.search(r"harmful compliance 20.0.%,.*; over-refusal 0.0.%", text)
    assert "5 trajectories with another decision or another error" in text
    assert "4 trajectories that count differently" in reader.read(
        "judge_against", stage.old.pk, stage.new.pk, changed="error"
    )
    assert "harmful compliance before, no harmful compliance now" in text


def test_what_is_still_owed_is_said_before_any_figure(stage: Stage) -> None:
    reader = Reader(stage.project)
    assert "Not all is judged yet" not in reader.read("judge_against", stage.old.pk, stage.new.pk)
    for _ in range(3):
        JudgeCall.objects.create(trajectory=make.trajectory(stage.run), judge=stage.new)
    JudgeCall.objects.create(trajectory=make.trajectory(make.run(stage.project)), judge=stage.old)
    # Of ten that it is put to, six were handed to it: four more are to come.
    Rejudging.objects.create(judge=stage.new, run=stage.run, total=10, handed_on=6)
    text = reader.read("judge_against", stage.old.pk, stage.new.pk)
    assert "Still owed: 1 by rubric-x old, 7 by rubric-x new." in text
    text = reader.read("judge_against", stage.old.pk, stage.new.pk, run=str(stage.run.pk))
    assert "Still owed: 7 by rubric-x new." in text
    assert text.index("Still owed") < text.index("judged by both")


def test_two_different_judges_are_no_before_and_after(stage: Stage) -> None:
    other = make.judge(stage.project, "guard", version="g1", measures=[Part.DECISION])
    make.judgment(stage.rows[0], other, make.REFUSED)
    text = Reader(stage.project).read("judge_against", other.pk, stage.old.pk)
    assert "no harmful compliance by the first, harmful compliance by the second" in text
    assert "Where they say different things" in text
    for words in ("before,", "changed</h2>", "Old against new"):
        assert words not in text
    # One refused and the other did not: the two exclude each other.
    assert "<b>1</b>whose decisions exclude each other" in text


def test_versions_that_met_nowhere_say_what_to_do(stage: Stage) -> None:
    other = make.judge(stage.project, "rubric-x", kind=JudgeKind.RUBRIC, version="newest")
    text = Reader(stage.project, Role.LEAD).read("judge_against", stage.new.pk, other.pk)
    assert "There is no trajectory that both judged." in text
    assert "Put the newer one to a run" in text


def test_who_may_be_asked_sees_the_list_only_on_request(stage: Stage) -> None:
    make.audit_request(stage.rows[1])
    reviewer = Reader(stage.project, Role.REVIEWER)
    text = reviewer.read("judge_against", stage.old.pk, stage.new.pk)
    assert "The list tells what judges said" in text
    assert stage.rows[1].external_id not in text
    assert not ContentView.objects.exists()
    answer = reviewer.post("judge_against", stage.old.pk, stage.new.pk, show="yes")
    assert answer.status_code == 302
    assert stage.rows[1].external_id in reviewer.client.get(answer["Location"]).content.decode()
    seen = ContentView.objects.filter(user=reviewer.membership.user_id, showed_opinions=True)
    assert set(seen.values_list("trajectory", flat=True)) == {stage.rows[n].pk for n in (1, 2, 3, 4, 5)}


def test_who_holds_an_item_that_both_judged_is_told_nothing_of_it(stage: Stage) -> None:
    make.audit_request(stage.rows[1])
    reviewer = Reader(stage.project, Role.REVIEWER)
    claimed(reviewer.membership)
    path = f"/p/{stage.project.key}/judges/{stage.old.pk}/against/{stage.new.pk}/"
    answer = reviewer.client.get(path)
    assert answer.status_code == 403
    assert "give your verdict or put it back first" in answer.content.decode()
    assert "rubric-x" not in answer.content.decode()


def test_judges_and_runs_of_another_project_are_not_there(stage: Stage) -> None:
    elsewhere = make.project()
    foreign: Judge = make.judge(elsewhere)
    reader = Reader(stage.project)
    for old, new, query in (
        (stage.old.pk, foreign.pk, ""),
        (foreign.pk, stage.new.pk, ""),
        (stage.old.pk, stage.new.pk, f"?run={make.run(elsewhere).pk}"),
    ):
        path = f"/p/{stage.project.key}/judges/{old}/against/{new}/{query}"
        assert reader.client.get(path).status_code == 404
    assert (
        Reader(elsewhere)
        .client.get(f"/p/{stage.project.key}/judges/{stage.old.pk}/against/{stage.new.pk}/")
        .status_code
        == 404
    )


def test_names_that_are_markup_stay_text(stage: Stage) -> None:
    Judge.objects.filter(project=stage.project).update(title="<q>J</q>\u202e")
    Trajectory.objects.update(category="<dfn>C")
    text = Reader(stage.project, Role.LEAD).read("judge_against", stage.old.pk, stage.new.pk, run=str(stage.run.pk))
    for raw in ("<q>", "<dfn>", "\u202e"):
        assert raw not in text
