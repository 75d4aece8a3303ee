"""The figure of a pair: places, scale and words, by hand."""

import pytest

from audit.charts.balance import axis, balance, scale_for
from audit.charts.numbers import figure, percent
from audit.charts.strip import strip
from audit.measure.calibration import Fraction
from audit.measure.rates import Incomplete, Rate, RatePair
from labeling.measure.proportion import Interval


def rate(errors: int, total: int, *, undetermined: int = 0, low: float = 0.0, high: float = 1.0, **more: int) -> Rate:
    fields = {"attempts": total, "cases": total, **more}
    return Rate(
        errors=errors,
        undetermined=undetermined,
        low=errors / total,
        high=(errors + undetermined) / total,
        interval=Interval(low, high),
        **fields,
    )


# The pair of one system on XSTest: 7 of 200 and 47 of 250.
PAIR = RatePair(rate(7, 200, low=0.013, high=0.082), rate(47, 250, low=0.132, high=0.260))


def test_harmful_compliance_grows_to_the_left_and_over_refusal_to_the_right() -> None:
    drawn = balance(PAIR, scale=0.4)
    # 50 - 47 * 0.035 / 0.4 and 50 + 47 * 0.188 / 0.4
    assert (drawn.left.point, drawn.right.point) == ("45.89%", "72.09%")
    assert (drawn.left.line_from, drawn.left.line_to) == ("40.37%", "48.47%")
    # Two marks at zero stand beside each other, not on top of each other.
    assert (drawn.left.shift, drawn.right.shift) == (-7, 7)


def test_the_words_hold_rate_interval_and_counts_of_both_sides() -> None:
    drawn = balance(PAIR, scale=0.4)
    assert (drawn.left.value, drawn.left.limits, drawn.left.counts) == ("3.5\u00a0%", "1.3–8.2", "7/200")
    assert (drawn.right.value, drawn.right.limits, drawn.right.counts) == ("18.8\u00a0%", "13.2–26.0", "47/250")
    assert drawn.sentence == (
        "harmful compliance 3.5\u00a0%, 95 % interval 1.3 to 8.2\u00a0%, 7 of 200; "
        "over-refusal 18.8\u00a0%, 95 % interval 13.2 to 26.0\u00a0%, 47 of 250."
    )


def test_undetermined_is_a_hatched_band_between_the_bounds_and_no_point() -> None:
    # 134 of 200 with 11 undetermined: 67.0 at best and 72.5 at worst.
    pair = RatePair(rate(134, 200, undetermined=11, low=0.6, high=0.78), rate(0, 250, high=0.015))
    drawn = balance(pair, scale=1.0)
    assert drawn.left.value == "67.0–72.5\u00a0%"
    assert drawn.left.has_band
    assert drawn.left.point == ""
    assert "11 undetermined" in drawn.sentence
    assert not drawn.right.has_band


def test_a_judge_is_a_hollow_tick_and_a_line_where_it_could_not_say() -> None:
    drawn = balance(
        PAIR, scale=0.4, raw=[("sure", PAIR), ("unsure", RatePair(rate(7, 200, undetermined=3), rate(1, 2)))]
    )
    sure, unsure = drawn.left.ticks
    assert (sure.at, sure.is_bar) == ("45.89%", False)
    assert unsure.is_bar
    assert unsure.title == "unsure: 3.5–5.0\u00a0%"


def test_an_interval_may_run_out_of_the_scale_and_says_so() -> None:
    drawn = balance(PAIR, scale=0.2)
    assert (drawn.right.runs_out, drawn.right.end, drawn.right.line_to) == (True, "97.00%", "97.00%")
    assert (drawn.left.runs_out, drawn.left.end) == (False, "3.00%")


def test_leaks_nobody_measured_are_a_note() -> None:
    drawn = balance(RatePair(rate(1, 10, ungraded=4), rate(1, 10)), scale=1.0)
    assert drawn.notes == ("leaks not measured (4 ungraded)",)


def test_attempts_of_fewer_cases_are_counted_as_such() -> None:
    drawn = balance(RatePair(rate(6, 30, cases=10), rate(1, 10)), scale=1.0)
    assert drawn.left.counts == "6/30 in 10 cases"


@pytest.mark.parametrize(
    ("pairs", "scale"),
    [
        ([], 0.05),
        ([PAIR], 0.40),  # the first interval reaches 26.0 %
        ([PAIR, RatePair(rate(1, 2), rate(0, 2))], 0.60),  # a slice at 50 %; its interval does not count
        ([Incomplete(3, 3, 0, 0), PAIR], 0.40),
        ([RatePair(rate(2, 2), rate(0, 2))], 1.0),
    ],
)
def test_all_rows_share_the_smallest_nice_scale(pairs: list[RatePair | Incomplete], scale: float) -> None:
    assert scale_for(pairs) == scale


def test_the_axis_is_written_to_both_sides() -> None:
    assert [tick.label for tick in axis(0.05)] == ["5", "2.5", "0", "2.5", "5"]
    assert [tick.at for tick in axis(1.0)] == ["3.00%", "26.50%", "50.00%", "73.50%", "97.00%"]


def test_a_percentage_is_zero_or_a_hundred_only_if_it_is() -> None:
    assert [figure(value) for value in (0.0, 0.0001, 0.0005, 0.12345, 0.9996, 1.0)] == [
        "0.0",
        "<0.1",
        "0.1",
        "12.3",
        ">99.9",
        "100.0",
    ]
    assert percent(0.035) == "3.5\u00a0%"


def test_a_fraction_over_nothing_has_no_strip() -> None:
    assert strip(Fraction(0, 0)) is None
    drawn = strip(Fraction(8, 10))
    assert drawn is not None
    # Wilson at 8 of 10 by hand: 49.0 to 94.3 %.
    assert (drawn.value, drawn.limits, drawn.counts, drawn.point) == ("80.0\u00a0%", "49.0–94.3", "8/10", "78.20%")
