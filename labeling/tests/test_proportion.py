"""Wilson's interval against published values and its own properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.measure.proportion import wilson


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    # As statsmodels' proportion_confint(method="wilson") prints them.
    [(0, 50, 0.0, 0.071348), (1, 80, 0.002210, 0.067463), (13, 100, 0.077572, 0.209804), (50, 60, 0.719684, 0.906868)],
)
def test_wilson_equals_the_reference(hits: int, total: int, low: float, high: float) -> None:
    interval = wilson(hits / total, total)
    assert interval.low == pytest.approx(low, abs=1e-6)
    assert interval.high == pytest.approx(high, abs=1e-6)


def test_wilson_of_a_worked_example() -> None:
    # 8 of 10, z = 1.96: centre (0.8 + 3.8416/20) / 1.38416 = 0.71674; half 0.22658. So 0.4902 .. 0.9433.
    low, high = wilson(0.8, 10, z=1.96)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)


@given(st.floats(0, 1), st.floats(0.5, 1e6))
def test_the_interval_holds_the_proportion_and_stays_in_bounds(p: float, n: float) -> None:
    low, high = wilson(p, n)
    assert 0 <= low <= p + 1e-12
    assert p - 1e-12 <= high <= 1


@pytest.mark.parametrize(("p", "n"), [(0.5, 0), (0.5, -1), (1.5, 10), (float("nan"), 10)])
def test_nothing_to_measure_is_an_error_not_a_number(p: float, n: float) -> None:
    with pytest.raises(ValueError, match="wilson needs"):
        wilson(p, n)
