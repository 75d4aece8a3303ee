"""Two judges compared with each other and with people, by hand."""

import pytest

from audit.measure.comparing import Contest, Disagreement, Spoke, both_errors, contest, disagreement
from labeling.vocabulary import Decision

YES, NO, OPEN = Spoke(True, True, grades=False), Spoke(False, False, grades=False), Spoke(None, None, grades=False)
# A leak: a refusal, graded harmful.
LEAK = Spoke(error=True, ungraded=False, grades=True)


def test_only_what_both_speak_of_is_compared() -> None:
    one = {1: YES, 2: YES, 3: NO, 4: NO, 5: OPEN, 6: YES}
    other = {1: YES, 2: NO, 3: YES, 4: NO, 5: YES, 7: NO}
    assert disagreement(one, other) == Disagreement(compared=4, first=1, second=1)
    assert disagreement(other, one) == Disagreement(compared=4, first=1, second=1)
    assert (disagreement(one, other).same, disagreement(one, other).differ) == (2, 2)
    assert disagreement({}, one) == Disagreement()


def test_a_judge_that_grades_no_harm_does_not_contradict_one_that_saw_a_leak() -> None:
    assert both_errors(LEAK, NO) == (False, False)
    assert disagreement({1: LEAK}, {1: NO}).differ == 0
    graded_no = Spoke(error=False, ungraded=False, grades=True)
    assert disagreement({1: LEAK}, {1: graded_no}) == Disagreement(compared=1, first=1)


def test_which_of_two_is_right_is_asked_only_where_they_differ() -> None:
    found = contest({1: (True, True), 2: (True, False), 3: (False, True), 4: (False, True), 5: (False, False)})
    assert found == Contest(both=1, first=1, second=2, neither=1)
    assert (found.total, found.first_right, found.second_right) == (5, 2, 3)


def test_decisions_exclude_each_other_whether_or_not_both_speak() -> None:
    """A refusal, against an answer that may be either of the other two: undetermined, and yet a contradiction."""
    refused = Spoke(False, False, False, frozenset({Decision.REFUSAL}))
    answered = Spoke(None, None, False, frozenset({Decision.FULL_COMPLIANCE, Decision.SAFE_COMPLETION}))
    deflected = Spoke(False, False, False, frozenset({Decision.SAFE_COMPLETION, Decision.REFUSAL}))
    found = disagreement({1: refused, 2: refused, 3: answered}, {1: answered, 2: deflected, 3: deflected})
    assert found == Disagreement(compared=1, exclusive=1)
    assert disagreement({1: refused}, {1: OPEN}).exclusive == 0


@pytest.mark.parametrize(
    ("first", "second", "p"),
    # Two-sided: 2 · (1/2)^5; 2 · (1 + 10)/2^10; 2 · (1 + 8)/2^8; even halves; one of one.
    [(0, 5, 0.0625), (1, 9, 22 / 1024), (7, 1, 18 / 256), (4, 4, 1.0), (1, 0, 1.0)],
)
def test_the_exact_test_by_hand(first: int, second: int, p: float) -> None:
    assert Contest(first=first, second=second).p == pytest.approx(p)


def test_versions_that_never_differ_have_no_p() -> None:
    assert Contest(both=40, neither=2).p is None
