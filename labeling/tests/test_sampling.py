"""RULES 13, 14: strata, allocation, ranks."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from labeling.measure.sampling import SHARES, allocate, ranks, strata
from labeling.vocabulary import Stratum

NONE, SOME, FIRST, SECOND, ALL, OPEN = (
    Stratum.NONE,
    Stratum.SOME,
    Stratum.SOME_FIRST,
    Stratum.SOME_SECOND,
    Stratum.ALL,
    Stratum.UNDETERMINED,
)


def test_two_judges_that_speak_split_some_in_two() -> None:
    errors: list[list[bool | None]] = [
        [False, False],
        [True, False],
        [False, True],
        [True, True],
        [None, None],
        [None, True],
    ]
    assert strata(errors) == [NONE, FIRST, SECOND, ALL, OPEN, ALL]


def test_a_judge_that_never_speaks_does_not_count() -> None:
    errors = [[False, None, False], [True, None, False]]
    assert strata(errors) == [NONE, FIRST]


def test_three_judges_keep_some_whole() -> None:
    assert strata([[True, False, False], [False, False, True], [False, False, False]]) == [SOME, SOME, NONE]


def test_an_empty_panel_is_one_stratum() -> None:
    assert strata([[], []]) == [Stratum.EVERYTHING, Stratum.EVERYTHING]


def test_allocation_of_a_worked_example() -> None:
    # Budget 60; shares .6/.1/.1/.2 sum to 1, targets 36/6/6/12. Minimum 10 each (40), 20 left: "none" lags by 26,
    # "all" by 2, so "none" takes 18, reaching 28 and lag 8... until only it lags: it takes all but none to others,
    # since all's lag of 2 is met once none's lag falls to 2 (34 given: 24 more). 20 < 24, so all go to "none".
    sizes = {NONE: 300, FIRST: 50, SECOND: 40, ALL: 60}
    assert allocate(60, sizes) == {NONE: 30, FIRST: 10, SECOND: 10, ALL: 10}


def test_a_full_stratum_gives_its_share_to_the_others() -> None:
    # "none" has 12 only. 12 + 10 minimum = 20 first (10 each), then room in both until none is full.
    assert allocate(60, {NONE: 12, ALL: 100}) == {NONE: 12, ALL: 48}


def test_a_small_budget_still_touches_every_stratum() -> None:
    # floor(7 / 3) = 2 each, then one more for the stratum furthest behind: none (target 4.67 of .6/.9).
    assert allocate(7, {NONE: 100, ALL: 50, OPEN: 50}) == {NONE: 3, ALL: 2, OPEN: 2}


def test_ties_go_in_stratum_order() -> None:
    # "none" is full at its 15. The two others compete 2 : 1 for 60, so their targets are 40 and 20; at 32 and 12 both
    # are 8 behind, and the last audit goes to the first of them.
    assert allocate(60, {NONE: 15, ALL: 248, OPEN: 125}) == {NONE: 15, ALL: 33, OPEN: 12}


def test_nothing_to_audit_is_nothing() -> None:
    assert allocate(60, {}) == {}
    assert allocate(0, {NONE: 5}) == {NONE: 0}


@given(
    st.integers(0, 500),
    st.dictionaries(st.sampled_from(list(SHARES)), st.integers(0, 300), max_size=5),
)
def test_the_budget_is_spent_and_nothing_is_overdrawn(budget: int, sizes: dict[Stratum, int]) -> None:
    audits = allocate(budget, sizes)
    assert sum(audits.values()) == min(budget, sum(sizes.values()))
    assert all(0 <= audits[name] <= sizes[name] for name in audits)


def test_ranks_are_a_permutation_that_the_seed_alone_decides() -> None:
    members = [f"t-{number}" for number in range(50)]
    first = ranks(7, members)
    assert sorted(first) == list(range(1, 51))
    turned = ranks(7, members[::-1])
    assert turned[::-1] == first
    assert ranks(8, members) != first


def test_every_member_is_as_likely_to_come_first() -> None:
    # 3,000 seeds over 6 members: 500 each, SD 20.4; five SD is 102.
    counts = Counter(ranks(seed, list("abcdef")).index(1) for seed in range(3000))
    assert all(abs(counts[index] - 500) < 102 for index in range(6))
