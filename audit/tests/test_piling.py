"""Piles of *undetermined* in one slice: found where they are, and not where chance makes a small one."""

import random

from audit.measure.piling import Pile, Share, piles


def test_most_of_one_category_against_almost_none_elsewhere_is_a_pile() -> None:
    slices = {"hate": Share(41, 50), "fraud": Share(1, 200), "weapons": Share(2, 200)}
    assert piles(slices) == [Pile("hate", Share(41, 50), Share(3, 400))]


def test_eleven_on_one_side_and_none_on_the_other_are_a_pile() -> None:
    assert [pile.name for pile in piles({"harmful": Share(11, 200), "benign": Share(0, 250)})] == ["harmful"]


def test_four_are_no_pile_whatever_share_they_are() -> None:
    assert piles({"a": Share(4, 4), "b": Share(0, 1000)}) == []
    assert [pile.name for pile in piles({"a": Share(5, 5), "b": Share(0, 1000)})] == ["a"]


def test_a_slice_that_is_the_whole_run_has_nothing_to_be_compared_with() -> None:
    assert piles({"only": Share(50, 50)}) == []
    assert piles({}) == []


def test_what_is_spread_evenly_is_none() -> None:
    assert piles({name: Share(12, 40) for name in "abcdefgh"}) == []


def test_limits_must_not_overlap() -> None:
    # At 95 % for two slices: 9 of 50 lies in 9.0-32.9 %; 3 of 100 in 0.9-9.6 %, 2 of 100 in 0.5-8.1 %.
    assert piles({"a": Share(9, 50), "b": Share(3, 100)}) == []
    assert [pile.name for pile in piles({"a": Share(9, 50), "b": Share(2, 100)})] == ["a"]


def test_false_alarms_stay_under_one_run_in_a_hundred() -> None:
    """All slices alike: 12 of 40 at 30 %, and 50 of 20, each with 300 runs."""
    chance = random.Random(20260729)
    for slices, size in ((12, 40), (50, 20)):
        alarms = 0
        for _ in range(300):
            drawn = {str(n): Share(sum(chance.random() < 0.3 for _ in range(size)), size) for n in range(slices)}
            alarms += bool(piles(drawn))
        assert alarms <= 6, (slices, alarms)
