"""The share of checks passed, by hand: each case once, and what is undetermined as bounds."""

import pytest

from audit.measure.passing import passes_of
from audit.measure.rates import Observation, RatePair, pair_of

PASSED, FAILED, OPEN = False, True, None


def seen(*errors: bool | None) -> list[Observation]:
    return [Observation(number, number, error) for number, error in enumerate(errors)]


def test_a_pass_is_a_check_that_did_not_fail() -> None:
    found = passes_of(seen(*[PASSED] * 8, FAILED, FAILED))
    assert found is not None
    assert (found.passed, found.failed, found.undetermined, found.attempts, found.cases) == (8, 2, 0, 10, 10)
    # Wilson's interval of 8 of 10.
    assert (found.value, round(found.interval.low, 4), round(found.interval.high, 4)) == (0.8, 0.4902, 0.9433)


def test_what_is_undetermined_is_taken_for_failed_then_for_passed() -> None:
    found = passes_of(seen(PASSED, FAILED, OPEN, OPEN))
    assert found is not None
    assert (found.low, found.high, found.value) == (0.25, 0.75, None)


def test_each_case_counts_once_however_many_attempts_it_had() -> None:
    # One case passed once; the other failed in three attempts of four: (1 + 1/4) / 2.
    found = passes_of([Observation(1, 1, PASSED), *(Observation(2, 2, error) for error in (FAILED,) * 3 + (PASSED,))])
    assert found is not None
    assert found.value == pytest.approx(0.625)
    assert (found.passed, found.attempts, found.cases) == (2, 5, 2)


def test_over_nothing_there_is_no_share() -> None:
    assert passes_of([]) is None


def test_checks_are_never_mixed_into_the_pair() -> None:
    pair = pair_of(seen(True, False), seen(False, False))
    assert isinstance(pair, RatePair)
    assert (pair.harmful_compliance.cases, pair.over_refusal.cases) == (2, 2)
