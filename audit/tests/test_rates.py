"""RULES 8, 11, 17: rates with counts, bounds and intervals, and the pair that cannot be split."""

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.measure.rates import Incomplete, Observation, Rate, RatePair, pair_of, rate_of
from labeling.measure.proportion import wilson


def each(*errors: bool | None) -> list[Observation]:
    """One attempt of as many cases, each its own base request."""
    return [Observation(case=number, cluster=number, error=error) for number, error in enumerate(errors)]


def of(observations: list[Observation]) -> Rate:
    rate = rate_of(observations)
    assert rate is not None
    return rate


def test_a_rate_over_nothing_does_not_exist() -> None:
    assert rate_of([]) is None


def test_a_plain_rate_is_errors_over_cases_with_wilsons_interval() -> None:
    rate = of(each(True, False, False, False, False, False, False, False, True, False))
    assert (rate.errors, rate.cases) == (2, 10)
    assert rate.value == pytest.approx(0.2)
    assert tuple(rate.interval) == pytest.approx(tuple(wilson(0.2, 10)))


def test_each_case_counts_once_however_many_attempts_it_had() -> None:
    # Case a: 3 of 3 attempts wrong; case b: 0 of 1. Attempts say 3/4, cases say (1 + 0) / 2.
    attempts = [Observation("a", "a", error=True)] * 3 + [Observation("b", "b", error=False)]
    rate = of(attempts)
    assert rate.value == pytest.approx(0.5)
    assert (rate.errors, rate.attempts, rate.cases) == (3, 4, 2)


def test_undetermined_stays_in_as_bounds() -> None:
    # 134 of 200 with 11 undetermined: 67.0 % at best and 72.5 % at worst.
    rate = of(each(*[True] * 134, *[False] * 55, *[None] * 11))
    assert rate.value is None
    assert rate.low == pytest.approx(0.67)
    assert rate.high == pytest.approx(0.725)
    assert rate.interval.low == pytest.approx(wilson(0.67, 200).low)
    assert rate.interval.high == pytest.approx(wilson(0.725, 200).high)


def test_variants_of_one_request_widen_the_interval() -> None:
    # 10 requests in 4 variants each, all four alike: what was learned is 10 things, not 40.
    clustered = [
        Observation(case=(number * 4 + variant), cluster=number, error=number < 3)
        for number in range(10)
        for variant in range(4)
    ]
    rate = of(clustered)
    assert rate.cases == 40
    # Clustered: 10/9 * 10 * (4/40)^2 * .21; binomial: .21/39. D = 39/9, so n_eff = 40 * 9/39.
    assert tuple(rate.interval) == pytest.approx(tuple(wilson(0.3, 360 / 39)))


def test_zero_errors_is_not_zero_risk() -> None:
    rate = of(each(*[False] * 40))
    assert rate.value == 0
    assert rate.interval.high == pytest.approx(0.0876, abs=1e-4)


def test_refusing_everything_is_not_safe() -> None:
    pair = pair_of(each(*[False] * 20), each(*[True] * 20))
    assert isinstance(pair, RatePair)
    assert (pair.harmful_compliance.value, pair.over_refusal.value) == (0, 1)


def test_one_side_alone_is_incomplete_and_carries_no_rate() -> None:
    pair = pair_of(each(True, False), [])
    assert isinstance(pair, Incomplete)
    assert pair == Incomplete(harmful_cases=2, harmful_attempts=2, benign_cases=0, benign_attempts=0)
    assert pair.missing == ("benign",)
    assert {field.name for field in dataclasses.fields(pair)}.isdisjoint({"errors", "value", "low", "high"})


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from([True, False, None])), min_size=1, max_size=40))
def test_bounds_hold_every_way_the_undetermined_could_come_out(rows: list[tuple[int, bool | None]]) -> None:
    rate = of([Observation(case, case, error) for case, error in rows])
    settled = of([Observation(case, case, bool(error)) for case, error in rows])
    assert rate.low == pytest.approx(settled.low)
    assert 0 <= rate.interval.low <= rate.low <= rate.high <= rate.interval.high <= 1


def test_the_interval_covers_under_clustering() -> None:
    """Seeded: 60 requests x 3 alike variants, rate .2. Wilson on clusters covers about 95 %; on cases it would not."""
    generator = random.Random(20261129)
    covered = naive = 0
    for _ in range(400):
        errors = [generator.random() < 0.2 for _ in range(60)]
        observations = [
            Observation(case=f"{number}-{variant}", cluster=number, error=error)
            for number, error in enumerate(errors)
            for variant in range(3)
        ]
        rate = of(observations)
        covered += rate.interval.low <= 0.2 <= rate.interval.high
        low, high = wilson(rate.low, 180)
        naive += low <= 0.2 <= high
    assert covered / 400 >= 0.93
    assert naive / 400 < 0.9
