"""Storing trajectories: each line for itself, twice as good as once, in a known number of queries."""

import json
import random
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling.errors import Conflict
from labeling.formats.packing import unpack
from labeling.models import Case, Judge, Judgment, Run, Trajectory, TrajectoryContent
from labeling.selectors import stored
from labeling.services import ingest, runs
from labeling.services.ingest import BulkAnswer
from labeling.tests import make
from labeling.tests.posting import definition, judgment, line, parsed
from labeling.tests.threads import at_once
from labeling.vocabulary import Decision, JudgeKind, LabelSource, Outcome, Part, Side, TrajectoryStatus

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(db: None) -> Run:
    """A run over a published suite of cases c-1, c-2 and c-3."""
    suite = make.suite(make.project(), published_at="2026-01-01T00:00:00Z")
    for number in (1, 2, 3):
        make.case(suite, key=f"c-{number}", category="fraud", tier=number)
    return make.run(suite=suite)


@pytest.fixture
def draft(db: None) -> Run:
    """A run whose lines define their cases."""
    return make.run(suite=make.suite(make.project()))


def store(run: Run, *lines: Any) -> BulkAnswer:
    return ingest.store_trajectories(run=run, lines=parsed(*lines))


def counts(answer: BulkAnswer) -> tuple[int, ...]:
    """created, duplicate, conflict, rejected"""
    return answer[:4]


def refusals(answer: BulkAnswer) -> list[tuple[int, str, str]]:
    return [(entry.index, entry.status, entry.path) for entry in answer.entries]


def settle(run: Run, **fields: Any) -> None:
    Trajectory.objects.filter(run=run).update(status=TrajectoryStatus.SETTLED, **fields)


# --- what is stored ----------------------------------------------------------------------------------------------


def test_a_line_becomes_a_row_its_content_and_its_judgments(run: Run) -> None:
    given = line("t-1", "c-2", "I can't.", attempt=2, stop_reason="stop", observed_at="2026-11-29T10:00:00")
    given |= {"tools": [{"name": "f"}], "system": "Be kind.", "metadata": {"n": 2**70}}
    given["judgments"] = [judgment(harm_grade=0, flags={"explained": False})]
    answer = store(run, given)
    row = Trajectory.objects.get()
    assert (counts(answer), answer.owed) == ((1, 0, 0, 0), [row.pk])
    assert (row.external_id, row.case.key, row.attempt, row.stop_reason) == ("t-1", "c-2", 2, "stop")
    assert (row.observed_at, row.outcome, row.status) == (
        "2026-11-29T10:00:00",
        Outcome.OUTPUT,
        TrajectoryStatus.PENDING,
    )
    assert (row.side, row.category, row.tier, row.base_request) == (Side.HARMFUL, "fraud", 2, "c-2")
    assert [message["role"] for message in row.content.messages] == ["system", "user", "assistant"]
    assert (row.content.tools, row.content.error, row.content.metadata) == ([{"name": "f"}], None, {"n": 2**70})
    assert json.loads(unpack(row.content.raw)) == given
    said = Judgment.objects.get()
    assert (said.judge.name, said.judge.version, said.judge.kind) == ("gpt-4", "1", "imported")
    assert said.opinion().decision is Decision.REFUSAL
    assert set(said.measures) == {Part.DECISION, Part.HARM_GRADE, Part.EXPLAINED}


def test_nul_surrogates_and_nan_come_back_as_they_went_in(run: Run) -> None:
    odd = "\0 \ud800 \u202e"
    store(
        run,
        line(answer=odd, metadata={odd: float("inf")}, judgments=[judgment(scores={"s": float("nan")}, rationale=odd)]),
    )
    content, said = TrajectoryContent.objects.get(), Judgment.objects.get()
    assert content.messages[1]["parts"][0]["text"] == odd
    assert content.metadata == {odd: float("inf")}
    assert said.scores["s"] != said.scores["s"]
    assert said.rationale == odd


def test_outcomes_are_told_apart(run: Run) -> None:
    empty = {"answer": None, "stop_reason": "stop"}
    store(
        run,
        line("a", "c-1", None, error={"code": 500}),
        line("b", "c-2", None, stop_reason="content_filter"),
        line("c", "c-3", **empty),
        line("d", "c-3", "Yes.", attempt=2, error="late"),
        {"external_id": "e", "case": "c-3", "attempt": 3, "error": ["no answer"]},
    )
    found = dict(Trajectory.objects.values_list("external_id", "outcome"))
    assert found == {"a": "not_run", "b": "filtered", "c": "empty", "d": "output", "e": "not_run"}
    assert TrajectoryContent.objects.get(trajectory__external_id="e").error == ["no answer"]


def test_scripted_turns_are_no_output(draft: Run) -> None:
    script = [
        {"role": "user", "content": "One."},
        {"role": "assistant", "content": "Scripted."},
        {"role": "user", "content": "Two."},
    ]
    case = definition(request=script, kind="multi_turn")
    store(draft, {"external_id": "a", "case": case, "messages": script, "stop_reason": "content_filter"})
    assert Trajectory.objects.get().outcome == Outcome.FILTERED


# --- identity ----------------------------------------------------------------------------------------------------


def test_the_same_again_is_a_duplicate_and_changes_nothing(run: Run) -> None:
    lines = [line(f"t-{n}", f"c-{n}", judgments=[judgment()]) for n in (1, 2, 3)]
    store(run, *lines)
    settle(run)
    again = store(run, *reversed(lines))
    assert (counts(again), again.owed) == ((0, 3, 0, 0), [])
    assert [model.objects.count() for model in (Trajectory, TrajectoryContent, Judgment)] == [3, 3, 3]
    assert Judge.objects.filter(kind=JudgeKind.IMPORTED).count() == 1
    assert not Trajectory.objects.filter(status=TrajectoryStatus.PENDING).exists()


def test_time_and_metadata_are_no_identity(run: Run) -> None:
    store(run, line(observed_at="2026-01-01", metadata={"a": 1}))
    again = store(run, line(observed_at="2026-02-02", metadata={"a": 2}, attempt=1, stop_reason=None, tools=[]))
    assert counts(again) == (0, 1, 0, 0)
    assert Trajectory.objects.get().observed_at == "2026-01-01"


@pytest.mark.parametrize("change", [{"answer": "Other."}, {"attempt": 2}, {"case": "c-2"}, {"stop_reason": "length"}])
def test_other_content_under_the_same_id_is_a_conflict(run: Run, change: dict[str, Any]) -> None:
    store(run, line())
    answer = store(run, line(**change))
    assert refusals(answer) == [(0, "conflict", "external_id")]
    assert Trajectory.objects.count() == 1


def test_an_attempt_of_a_case_is_there_once(run: Run) -> None:
    store(run, line("a"))
    answer = store(run, line("b"), line("c", attempt=2), line("d", attempt=2))
    assert counts(answer) == (1, 0, 2, 0)
    assert refusals(answer) == [(0, "conflict", "attempt"), (2, "conflict", "attempt")]
    assert answer.entries[0].reason == "1 of case c-1 is there already, as a"


def test_an_identity_twice_in_one_body_counts_once(run: Run) -> None:
    answer = store(run, line(), line(), line(answer="Other."))
    assert counts(answer) == (1, 1, 1, 0)
    assert Trajectory.objects.count() == 1


def test_ids_are_a_runs_own(run: Run) -> None:
    other = make.run(suite=run.suite)
    assert counts(store(run, line())) == counts(store(other, line(answer="Other."))) == (1, 0, 0, 0)


def test_bad_lines_are_rejected_alone(run: Run) -> None:
    answer = store(run, line("a", "c-1"), {"external_id": "b"}, line("c", "nowhere"), [1], line("e", "c-2"))
    assert counts(answer) == (2, 0, 0, 3)
    assert refusals(answer) == [(1, "rejected", "case"), (2, "rejected", "case"), (3, "rejected", "")]
    assert "nowhere" in answer.entries[1].reason
    assert [entry.external_id for entry in answer.entries] == ["b", "c", ""]


@pytest.mark.parametrize("status", ["closed", "voided"])
def test_only_open_runs_take_trajectories(run: Run, status: str) -> None:
    Run.objects.filter(pk=run.pk).update(status=status, void_reason="x")
    with pytest.raises(Conflict, match=status):
        store(run, line())


# --- cases that lines define -------------------------------------------------------------------------------------


def test_a_line_may_define_its_case_in_a_draft(draft: Run) -> None:
    case = definition("c-1", tier=1, pair="p", origin="idiom", side="benign", base_request="b")
    answer = store(draft, line("a", case), line("b", case, attempt=2), line("c", "c-1", attempt=3))
    assert counts(answer) == (3, 0, 0, 0)
    row = Trajectory.objects.first()
    assert row is not None
    assert (row.side, row.tier, row.pair, row.origin, row.base_request) == ("benign", 1, "p", "idiom", "b")
    assert Case.objects.count() == 1
    assert counts(store(draft, line("d", case, attempt=4), line("a", case))) == (1, 1, 0, 0)


def test_another_definition_of_a_case_is_a_conflict(draft: Run) -> None:
    answer = store(draft, line("a", definition()), line("b", definition(tier=1), attempt=2))
    assert refusals(answer) == [(1, "conflict", "case")]
    assert refusals(store(draft, line("c", definition(side="benign"), attempt=3))) == [(0, "conflict", "case")]


def test_a_line_that_is_refused_defines_nothing(draft: Run) -> None:
    store(draft, line("a", definition("c-1")))
    store(draft, line("a", definition("c-2")), line("b", definition("c-3"), judgments=[judgment("substring")]))
    assert list(Case.objects.values_list("key", flat=True)) == ["c-1"]


def test_a_published_suite_takes_no_new_case_and_no_other_definition(draft: Run) -> None:
    store(draft, line("a", definition()))
    draft.suite.published_at = "2026-01-01T00:00:00Z"
    draft.suite.save()
    answer = store(
        draft,
        line("b", definition(), attempt=2),
        line("c", definition(tier=3), attempt=3),
        line("d", definition("new")),
    )
    assert counts(answer) == (1, 0, 1, 1)
    assert refusals(answer) == [(1, "conflict", "case"), (2, "rejected", "case")]


# --- judgments ---------------------------------------------------------------------------------------------------


def said(run: Run, judge: str = "gpt-4") -> Judgment:
    return Judgment.objects.get(trajectory__run=run, judge__name=judge)


def test_what_an_undeclared_judge_does_not_give_is_silent(run: Run) -> None:
    store(run, line(judgments=[judgment(decision=["full_compliance", "safe_completion"])]))
    opinion = said(run).opinion()
    assert opinion.decisions == {Decision.FULL_COMPLIANCE, Decision.SAFE_COMPLETION}
    assert opinion.measures == {Part.DECISION}


def test_what_a_declared_judge_does_not_give_is_unknown(run: Run) -> None:
    make.judge(run.project, "gpt-4", [Part.DECISION, Part.HARM_GRADE])
    store(run, line(judgments=[judgment()]))
    opinion = said(run).opinion()
    assert opinion.measures == {Part.DECISION, Part.HARM_GRADE}
    assert opinion.harm_grade is None
    answer = store(run, line("b", "c-2", judgments=[judgment(flags={"withheld": True})]))
    assert refusals(answer) == [(0, "rejected", "judgments[0]")]
    assert "declared to measure decision, harm_grade" in answer.entries[0].reason


def test_a_judge_that_could_not_say_is_stored_as_that(run: Run) -> None:
    store(
        run,
        line("a", "c-1", judgments=[judgment(decision=None, undetermined="unparsable", raw_output="prose")]),
        line("b", "c-2", judgments=[judgment(decision=None, undetermined="it sulked")]),
        line("c", "c-3", judgments=[judgment(decision=None, undetermined="it sulked", raw_output=["x"])]),
    )
    rows = Judgment.objects.order_by("trajectory__external_id")
    assert [row.undetermined for row in rows] == ["unparsable", "other", "other"]
    assert [row.raw_output for row in rows] == [
        "prose",
        "it sulked",
        {"undetermined": "it sulked", "raw_output": ["x"]},
    ]
    assert all(row.measures == [Part.DECISION] for row in rows)
    assert all(row.opinion().decisions == set(Decision) for row in rows)


def test_what_a_judgment_cost_is_kept(run: Run) -> None:
    store(run, line(judgments=[judgment(cost_usd=0.0012345678, input_tokens=5, output_tokens=7, latency_ms=9)]))
    row = said(run)
    assert (row.cost_usd, row.input_tokens, row.output_tokens, row.latency_ms) == (Decimal("0.001235"), 5, 7, 9)


def test_a_repeat_brings_new_judgments_and_the_row_is_owed_again(run: Run) -> None:
    row_id = store(run, line(judgments=[judgment()])).owed[0]
    settle(run, rung_at="2026-01-01T00:00:00Z")
    answer = store(run, line(judgments=[judgment(), judgment("claude"), judgment(version="2")]))
    assert (counts(answer), answer.owed) == ((0, 1, 0, 0), [row_id])
    row = Trajectory.objects.get()
    assert row.status == TrajectoryStatus.PENDING
    assert row.rung_at.year > 2026 or row.rung_at.month > 1
    assert Judgment.objects.count() == 3


def test_a_later_judgment_never_reopens_what_people_labeled(run: Run) -> None:
    store(run, line())
    settle(run, label_source=LabelSource.HUMAN)
    answer = store(run, line(judgments=[judgment()]))
    assert (counts(answer), answer.owed) == ((0, 1, 0, 0), [])
    assert Trajectory.objects.get().status == TrajectoryStatus.SETTLED
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"decision": "full_compliance"},
        {"decision": None},
        {"harm_grade": 1},
        {"flags": {"explained": True}},
        {"scores": {"s": 2}},
    ],
)
def test_another_opinion_of_the_same_judge_version_is_a_conflict_and_overwrites_nothing(
    run: Run, other: dict[str, Any]
) -> None:
    first = judgment(scores={"s": 1, "n": float("nan")}, rationale="Why.")
    store(run, line(judgments=[first]))
    assert counts(store(run, line(judgments=[first | {"rationale": "Put otherwise."}]))) == (0, 1, 0, 0)
    answer = store(run, line(judgments=[judgment("claude"), first | other]))
    assert refusals(answer) == [(0, "conflict", "judgments[1]")]
    assert (said(run).decisions, said(run).rationale) == (4, "Why.")
    assert said(run, "claude").decisions == 4


def test_a_judgment_twice_in_one_body_counts_once(run: Run) -> None:
    answer = store(run, line(judgments=[judgment()]), line(judgments=[judgment(), judgment("claude")]), line(
        judgments=[judgment(decision="full_compliance")]
    ))  # fmt: skip
    assert counts(answer) == (1, 1, 1, 0)
    assert refusals(answer)[1] == (2, "conflict", "judgments[0]")
    assert Judgment.objects.count() == 2


def test_what_a_judge_gave_before_it_was_declared_is_no_fault_when_it_comes_again(run: Run) -> None:
    first = judgment(harm_grade=1)
    store(run, line(judgments=[first]))
    Judge.objects.filter(name="gpt-4").update(measures=[Part.DECISION])
    assert counts(store(run, line(judgments=[first]))) == (0, 1, 0, 0)
    assert refusals(store(run, line(judgments=[first | {"harm_grade": 2}]))) == [(0, "conflict", "judgments[0]")]
    assert refusals(store(run, line("b", "c-2", judgments=[first]))) == [(0, "rejected", "judgments[0]")]


def test_a_score_is_the_same_number_however_it_is_written(run: Run) -> None:
    store(run, line(judgments=[judgment(scores={"safety": 95, "none": None})]))
    again = store(run, line(judgments=[judgment(scores={"none": None, "safety": 95.0})]))
    assert counts(again) == (0, 1, 0, 0)
    assert counts(store(run, line(judgments=[judgment(scores={"safety": 95.5, "none": None})]))) == (0, 0, 1, 0)


def test_every_value_finds_its_column(run: Run) -> None:
    columns = {"category": "a", "tier": 3, "framing": "b", "kind": "injected", "origin": "idiom", "pair": "c"}
    case = make.case(run.suite, side=Side.BENIGN, key="d", base_request="e", **columns)
    flags = {"explained": True, "alternative_offered": False, "withheld": True}
    given = judgment(check_passed=False, harm_grade=3, flags=flags, evidence=[1], rationale="f", raw_output={"g": 2})
    store(run, line(case="d", judgments=[given]))
    row, said = Trajectory.objects.get(), Judgment.objects.get()
    assert {name: getattr(row, name) for name in columns} == columns
    assert (row.case_id, row.side, row.base_request, len(row.content_hash)) == (case.pk, "benign", "e", 64)
    assert {name: getattr(said, name) for name in flags} == flags
    assert (said.check_passed, said.harm_grade, said.decisions) == (False, 3, 4)
    assert (said.evidence, said.rationale, said.raw_output) == ([1], "f", {"g": 2})


@pytest.mark.parametrize("name", ["substring", "classifier"])
def test_nobody_posts_under_the_name_of_a_judge_that_runs_here(run: Run, name: str) -> None:
    answer = store(run, line(judgments=[judgment(), judgment(name)]))
    assert refusals(answer) == [(0, "rejected", "judgments[1].judge")]
    assert not Judge.objects.filter(project=run.project).filter(kind=JudgeKind.IMPORTED).exists()


def test_judges_belong_to_their_project(run: Run) -> None:
    make.judge(make.project(), "gpt-4", [Part.HARM_GRADE])
    assert counts(store(run, line(judgments=[judgment()]))) == (1, 0, 0, 0)
    assert said(run).judge.project == run.project


# --- size and concurrency ----------------------------------------------------------------------------------------


def queries(run: Run, count: int, prefix: str) -> int:
    lines = [line(f"{prefix}-{n}", definition(f"{prefix}-{n}"), judgments=[judgment()]) for n in range(count)]
    read = parsed(*lines)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert counts(ingest.store_trajectories(run=run, lines=read)) == (count, 0, 0, 0)
    return len([query for query in captured if not is_writing(query)])


def is_writing(query: dict[str, str]) -> bool:
    return "INSERT" in query["sql"] or query["sql"].startswith("COPY")


def test_the_number_of_queries_does_not_grow_with_the_number_of_lines(draft: Run) -> None:
    store(draft, line("first", definition("first"), judgments=[judgment()]))
    few, many = queries(draft, 1, "a"), queries(draft, 500, "b")
    assert few == many
    # Savepoint and release, the run, its draft, cases, trajectories, judges, ids for the first two; the gate.
    assert many == (10 if connection.vendor == "postgresql" else 9)


def test_one_statement_fills_a_table(draft: Run) -> None:
    lines = parsed(*(line(f"t-{n}", definition(f"c-{n}"), judgments=[judgment()]) for n in range(300)))
    with CaptureQueriesContext(connection) as captured:
        ingest.store_trajectories(run=draft, lines=lines)
    # Cases, trajectories, contents, a judge, judgments.
    assert len([query for query in captured if is_writing(query)]) == 5


@pytest.mark.django_db(transaction=True)
def test_clients_posting_the_same_at_once_end_in_the_same_rows() -> None:
    run = make.run(suite=make.suite(make.project()))
    lines = [
        line(f"t-{n}", definition(f"c-{n // 2}"), attempt=n % 2 + 1, judgments=[judgment(), judgment(f"judge-{n % 3}")])
        for n in range(60)
    ]
    answers = at_once([partial(post_shuffled, seed, run, lines) for seed in range(3)])
    assert [sum(column) for column in zip(*answers, strict=True)] == [60, 120, 0, 0]
    assert set(Trajectory.objects.values_list("external_id", flat=True)) == {each["external_id"] for each in lines}
    assert [model.objects.count() for model in (Trajectory, TrajectoryContent, Judgment)] == [60, 60, 120]


@pytest.mark.django_db(transaction=True)
def test_two_runs_may_define_the_cases_of_one_draft_at_once() -> None:
    suite = make.suite(make.project())
    runs_of_it = [make.run(suite=suite), make.run(suite=suite)]
    lines = [line(f"t-{n}", definition(f"c-{n}"), judgments=[judgment(f"judge-{n % 5}")]) for n in range(40)]
    answers = at_once([partial(post_shuffled, seed, run, lines) for seed, run in enumerate(runs_of_it)])
    assert answers == [(40, 0, 0, 0), (40, 0, 0, 0)]
    assert Case.objects.filter(suite=suite).count() == 40
    assert Judge.objects.filter(project=suite.project, name__startswith="judge-").count() == 5


@pytest.mark.django_db(transaction=True)
def test_a_run_is_closed_before_or_after_a_post_and_never_in_between() -> None:
    run = make.run(suite=make.suite(make.project()))
    lines = [line(f"t-{n}", definition(f"c-{n}")) for n in range(40)]

    def close() -> bool:
        try:
            runs.close_run(run=run, expected_count=40, audits_per_side=None)
        except Conflict:
            return False
        return True

    closed, answer = at_once([close, lambda: counts(store(run, *lines))])
    assert answer == (40, 0, 0, 0)
    assert Run.objects.get().status == ("closed" if closed else "open")


@pytest.fixture
def published(transactional_db: None) -> Run:
    """A run over a published suite of cases c-0 to c-29: posts to it need not wait for each other."""
    suite = make.suite(make.project(), published_at="2026-01-01T00:00:00Z")
    for number in range(30):
        make.case(suite, key=f"c-{number}")
    return make.run(suite=suite)


def test_clients_that_share_a_run_end_in_the_same_rows(published: Run) -> None:
    lines = [
        line(f"t-{n}", f"c-{n // 2}", attempt=n % 2 + 1, judgments=[judgment(), judgment(f"judge-{n % 3}")])
        for n in range(60)
    ]
    answers = at_once([partial(post_shuffled, seed, published, lines) for seed in range(3)])
    assert [sum(column) for column in zip(*answers, strict=True)] == [60, 120, 0, 0]
    assert [model.objects.count() for model in (Trajectory, TrajectoryContent, Judgment)] == [60, 60, 120]
    assert set(TrajectoryContent.objects.values_list("pk")) == set(Trajectory.objects.values_list("pk"))


@pytest.mark.skipif(connection.vendor != "postgresql", reason="On SQLite a post has the database alone.")
def test_what_another_post_stores_between_two_looks_is_a_duplicate(
    published: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = stored.taken_attempts

    def late_look(*given: Any) -> Any:
        monkeypatch.undo()
        at_once([lambda: store(published, line("t", "c-0"))])
        return look(*given)

    monkeypatch.setattr(stored, "taken_attempts", late_look)
    assert counts(store(published, line("t", "c-0"))) == (0, 1, 0, 0)


def test_clients_that_contradict_each_other_crosswise_are_all_answered(published: Run) -> None:
    # The same attempts under other ids, in an order in which each would wait for the other.
    mine = [line(f"a-{n:02}", f"c-{n}") for n in range(30)]
    theirs = [line(f"b-{29 - n:02}", f"c-{n}") for n in range(30)]
    answers = at_once([lambda: counts(store(published, *mine)), lambda: counts(store(published, *theirs))])
    assert [sum(column) for column in zip(*answers, strict=True)] == [30, 0, 30, 0]
    assert Trajectory.objects.count() == TrajectoryContent.objects.count() == 30


def test_clients_that_bring_new_judgments_at_once_end_in_one_each(published: Run) -> None:
    store(published, *(line(f"t-{n}", f"c-{n}") for n in range(30)))
    lines = [line(f"t-{n}", f"c-{n}", judgments=[judgment(), judgment("claude")]) for n in range(30)]
    answers = at_once([partial(post_shuffled, seed, published, lines) for seed in range(3)])
    assert [sum(column) for column in zip(*answers, strict=True)] == [0, 90, 0, 0]
    assert Judgment.objects.count() == 60


def post_shuffled(seed: int, run: Run, lines: list[dict[str, Any]]) -> tuple[int, ...]:
    """Post these lines in an order of their own, a few at a time; the counts of all posts."""
    shuffled = random.Random(seed).sample(lines, len(lines))
    answers = [counts(store(run, *shuffled[first : first + 8])) for first in range(0, len(shuffled), 8)]
    return tuple(sum(column) for column in zip(*answers, strict=True))
