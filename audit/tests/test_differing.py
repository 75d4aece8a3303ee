"""What the database makes of two opinions is what the code makes of them."""

from itertools import product
from typing import Any

import pytest

from audit.selectors.differing import DIFFER, EXCLUSIVE, differing, judged_by_both, judges_in
from labeling.measure.opinion import error_of, judges_disagree
from labeling.models import Judgment, Trajectory
from labeling.tests import make
from labeling.vocabulary import Part, Side

pytestmark = pytest.mark.django_db

GRADED, UNGRADED = ["decision", "harm_grade", "withheld", "check"], ["decision", "withheld", "check"]
# Every decision set; grades silent, unknown, below and at the threshold; withheld and the check unknown, yes, no.
OPINIONS: list[dict[str, Any]] = [
    {"decisions": bits, "harm_grade": grade, "withheld": flag, "check_passed": flag, "measures": measures}
    for bits in range(1, 8)
    for measures, grades in ((UNGRADED, (None,)), (GRADED, (None, 1, 2)))
    for grade in grades
    for flag in (None, False, True)
]


def test_every_two_opinions_compare_in_rows_as_they_do_in_code() -> None:
    run = make.run()
    one, other = (make.judge(run.project) for _ in range(2))
    # Each opinion beside a few others, so that every sort of pair is there.
    pairs = [(a, OPINIONS[(n * 5 + step) % len(OPINIONS)]) for n, a in enumerate(OPINIONS) for step in (0, 7, 31)]
    rows: list[Trajectory] = []
    for side, parts in product(Side, pairs):
        row = make.trajectory(run, side=side)
        for judge, given in zip((one, other), parts, strict=True):
            Judgment.objects.create(trajectory=row, judge=judge, **given)
        rows.append(row)
    make.judgment(make.trajectory(run), one, make.REFUSED)
    both = judged_by_both(run.trajectories.all(), one.pk, other.pk)
    told = {row.pk: (row.first_says, row.second_says) for row in both}
    assert len(told) == len(rows)
    exclusive = set(both.filter(EXCLUSIVE).values_list("pk", flat=True))
    differ = set(both.filter(DIFFER).values_list("pk", flat=True))
    for row in rows:
        first, second = (row.judgments.get(judge=judge).opinion() for judge in (one, other))
        side = Side(row.side)
        assert (row.pk in exclusive) == first.decisions.isdisjoint(second.decisions)
        assert (row.pk in differ) == judges_disagree(first, second, side=side, threshold=2)
        if Part.HARM_GRADE in first.measures & second.measures:
            errors = [error_of(opinion, side=side, threshold=2) for opinion in (first, second)]
            assert told[row.pk] == tuple(None if error is None else int(error) for error in errors)


def test_a_filter_names_two_judges_and_the_way_in_which_they_differ() -> None:
    run = make.run()
    one, other = (make.judge(run.project) for _ in range(2))
    for first, second in ((make.COMPLIED, make.REFUSED), (make.REFUSED, make.COMPLIED), (make.REFUSED, make.REFUSED)):
        row = make.trajectory(run)
        make.judgment(row, one, first)
        make.judgment(row, other, second)

    def count(choice: str) -> int:
        return differing(run.trajectories.all(), choice).count()

    assert count(f"{one.pk}-{other.pk}") == count(f"{other.pk}-{one.pk}") == 2
    assert count(f"{one.pk}-excludes-{other.pk}") == 2
    assert count(f"{one.pk}-not-{other.pk}") == count(f"{other.pk}-not-{one.pk}") == 1
    for nonsense in ("", "1", "1-2-3", "-1-2", "1-or-2", "1-excludes2", "9" * 40 + "-1", "٣-٤"):
        assert count(nonsense) == 0, nonsense
    assert judges_in("12-not-7") == (12, 7)
    assert judges_in("12-excludes-7") == (12, 7)
    assert judges_in("twelve") is None
