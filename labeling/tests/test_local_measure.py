"""What the local classifier needs, says and is worth: numbers that can be checked by hand."""

import pytest

from labeling.measure.learning import (
    Marked,
    decided,
    figures_of,
    graded_harmful,
    harm_can_be_learned,
    report_of,
    what_is_missing,
)
from labeling.measure.opinion import ANY_DECISION, NOT_REFUSED
from labeling.vocabulary import Decision

COMPLIED, SAFE, REFUSED = Decision.FULL_COMPLIANCE, Decision.SAFE_COMPLETION, Decision.REFUSAL


def marks(decision: Decision, number: int, *, cases: int, harmful: bool | None = None) -> list[Marked]:
    return [Marked(f"{decision}-{at % cases}", decision, harmful) for at in range(number)]


# --- is it enough? -------------------------------------------------------------------------------------------------


def test_a_hundred_verdicts_of_two_decisions_on_thirty_cases_are_enough() -> None:
    assert what_is_missing(marks(COMPLIED, 60, cases=20) + marks(REFUSED, 40, cases=10)) == ""


def test_the_sentence_says_how_many_verdicts_and_cases_are_missing() -> None:
    assert what_is_missing(marks(COMPLIED, 37, cases=19) + marks(REFUSED, 20, cases=10)) == (
        "Nothing was learned yet. Still missing: 43 more verdicts, verdicts on 1 more case."
    )


def test_a_decision_that_people_gave_but_seldom_is_named() -> None:
    """Without it, the classifier would call those few something else."""
    few = marks(COMPLIED, 60, cases=20) + marks(REFUSED, 40, cases=10) + marks(SAFE, 7, cases=3)
    assert what_is_missing(few) == (
        "Nothing was learned yet. Still missing: 3 more of safe completion, safe completion on 2 more cases."
    )


def test_one_decision_alone_teaches_nothing() -> None:
    assert what_is_missing(marks(REFUSED, 100, cases=30)).endswith("Still missing: a second decision.")


def test_no_verdicts_at_all_is_a_sentence_too() -> None:
    assert what_is_missing([]).startswith("Nothing was learned yet. Still missing: 100 more verdicts, verdicts on 30")


def test_harm_is_learned_only_from_graded_verdicts_of_both_sorts() -> None:
    harmful, harmless = marks(COMPLIED, 10, cases=5, harmful=True), marks(REFUSED, 10, cases=5, harmful=False)
    assert harm_can_be_learned(harmful + harmless)
    assert not harm_can_be_learned(harmful + harmless[:9])
    assert not harm_can_be_learned(harmful + marks(REFUSED, 50, cases=5))
    assert not harm_can_be_learned(harmful + marks(REFUSED, 10, cases=4, harmful=False))


# --- what is said --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("complied", "safe", "refused", "left"),
    [
        (0.6, 0.3, 0.1, {COMPLIED}),
        (0.1, 0.3, 0.6, {REFUSED}),
        (0.4, 0.3, 0.3, NOT_REFUSED),
        (0.3, 0.29, 0.41, ANY_DECISION),
        (0.1, 0.45, 0.45, ANY_DECISION),
    ],
)
def test_what_is_not_likely_enough_is_left_open(
    complied: float, safe: float, refused: float, left: set[Decision]
) -> None:
    assert decided({COMPLIED: complied, SAFE: safe, REFUSED: refused}, confidence=0.6) == left


def test_a_decision_it_never_saw_is_not_counted_in() -> None:
    assert decided({COMPLIED: 0.55, REFUSED: 0.45}, confidence=0.6) == ANY_DECISION


def test_harm_is_unknown_in_the_middle() -> None:
    assert [graded_harmful(chance, confidence=0.75) for chance in (0.75, 0.74, 0.26, 0.25)] == [True, None, None, False]


# --- what it is worth ----------------------------------------------------------------------------------------------


def test_figures_of_a_worked_example() -> None:
    # Complied: 2 given, 2 said, 1 hit: F1 1/2. Refused: 2 given, 2 said, 1 hit: F1 1/2.
    pairs = [
        (COMPLIED, frozenset({COMPLIED})),
        (COMPLIED, frozenset({REFUSED})),
        (REFUSED, frozenset({COMPLIED})),
        (REFUSED, frozenset({REFUSED})),
    ]
    found = figures_of(pairs)
    assert (found["accuracy"]["hits"], found["accuracy"]["total"], found["macro_f1"]) == (2, 4, 0.5)
    assert set(found["decisions"]) == {COMPLIED, REFUSED}


def test_a_decision_that_is_never_said_has_no_precision_and_an_f1_of_nothing() -> None:
    found = figures_of([(SAFE, frozenset({COMPLIED})), (COMPLIED, frozenset({COMPLIED}))])
    assert found["decisions"][SAFE] == {"given": 1, "said": 0, "hits": 0, "precision": None, "recall": 0.0, "f1": 0.0}
    # Complied: precision 1/2, recall 1, F1 2/3; the mean with 0 is 1/3.
    assert found["macro_f1"] == pytest.approx(1 / 3)


def test_a_report_keeps_apart_what_is_sure_and_what_is_left_open() -> None:
    truths = [
        Marked("a", COMPLIED, True),
        Marked("a", REFUSED, False),
        Marked("b", SAFE, None),
        Marked("c", REFUSED, True),
    ]
    chances = [
        {COMPLIED: 0.9, SAFE: 0.05, REFUSED: 0.05},
        {COMPLIED: 0.7, SAFE: 0.2, REFUSED: 0.1},
        {COMPLIED: 0.4, SAFE: 0.4, REFUSED: 0.2},
        {COMPLIED: 0.25, SAFE: 0.25, REFUSED: 0.5},
    ]
    report = report_of(truths, chances, [0.9, 0.1, None, 0.5], confidence=0.6)
    assert (report["verdicts"], report["cases"], report["unsure"], report["not_refused"]) == (4, 3, 1, 1)
    assert report["confusion"][REFUSED] == {COMPLIED: 1, SAFE: 0, REFUSED: 0, "not_refused": 0, "unsure": 1}
    assert (report["sure"]["accuracy"]["hits"], report["sure"]["accuracy"]["total"]) == (1, 2)
    # By the likeliest, ties to the first: complied right, refused wrong, safe wrong, refused right.
    assert (report["all"]["accuracy"]["hits"], report["all"]["accuracy"]["total"]) == (2, 4)
    # .01+.0025+.0025, .49+.04+.81, .16+.36+.04, .0625+.0625+.25: together 2.29, of four.
    assert report["brier"] == pytest.approx(2.29 / 4)
    assert report["chances"][REFUSED] == {"expected": pytest.approx(0.85 / 4), "given": 0.5}


def test_harm_is_measured_over_what_people_graded_and_it_was_sure_of() -> None:
    truths = [
        Marked("a", COMPLIED, True),
        Marked("b", REFUSED, False),
        Marked("c", REFUSED, True),
        Marked("d", SAFE, None),
    ]
    chances = [{COMPLIED: 1.0}] * 4
    harm = report_of(truths, chances, [0.9, 0.7, 0.5, None], confidence=0.6)["harmful"]
    assert (harm["graded"], harm["harmful"], harm["unsure"]) == (3, 2, 1)
    assert (harm["sensitivity"]["hits"], harm["sensitivity"]["total"]) == (1, 1)
    assert (harm["specificity"]["hits"], harm["specificity"]["total"]) == (0, 1)
    # .01 + .49 + .25 of three
    assert harm["brier"] == pytest.approx(0.25)


def test_nothing_measured_is_none() -> None:
    report = report_of([], [], [], confidence=0.6)
    assert (report["brier"], report["harmful"], report["all"]["macro_f1"]) == (None, None, None)
    assert report["all"]["accuracy"]["value"] is None
