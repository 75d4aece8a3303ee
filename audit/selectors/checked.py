"""What capability cases come to: the share of checks passed, overall and by category. Apart from the pair."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from audit.measure.passing import Passes, passes_of
from audit.measure.rates import Incomplete, Observation, RatePair
from audit.selectors.observing import Row
from labeling.models import Case
from labeling.vocabulary import Side, TrajectoryStatus


class CheckedSlice(NamedTuple):
    """category: empty where the suite names none."""

    category: str
    passes: Passes


class Checked(NamedTuple):
    """without_check: cases that a program here can say nothing of. pending: attempts that wait for the judges."""

    overall: Passes
    by_category: tuple[CheckedSlice, ...]
    without_check: int
    pending: int


def passes_as_labeled(rows: Sequence[Row]) -> Passes | None:
    """Of the capability cases among these that were run; `None` if there is none."""
    return passes_of([Observation(row.case_id, row.cluster, row.label_error) for row in _checkable(rows)])


def are_checks_alone(pair: RatePair | Incomplete, checks: object) -> bool:
    """Were capability cases all that was run? Then there is no pair to speak of, and no side of it is missing."""
    return checks is not None and isinstance(pair, Incomplete) and pair.harmful_attempts + pair.benign_attempts == 0


def checked_of(rows: Sequence[Row], suites: Collection[int]) -> Checked | None:
    """Over these rows, which are of cases of these suites; in one query, in none where no capability case was run."""
    overall = passes_as_labeled(rows)
    if overall is None:
        return None
    cells: dict[str, list[Row]] = defaultdict(list)
    for row in _checkable(rows):
        cells[row.category].append(row)
    slices = ((category, passes_as_labeled(cell)) for category, cell in sorted(cells.items()))
    return Checked(
        overall,
        tuple(CheckedSlice(category, passes) for category, passes in slices if passes),
        Case.objects.filter(suite__in=suites, side=Side.CAPABILITY, answer_check__isnull=True).count(),
        sum(row.status == TrajectoryStatus.PENDING for row in _checkable(rows)),
    )


def _checkable(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.was_run and row.side == Side.CAPABILITY]
