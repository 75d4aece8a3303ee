"""Evidence in a text: which stretches of it somebody quotes, as runs that a page can mark one after the other.

Pure. Stretches may overlap. Put together again, the runs show what the text shows without them: none of them ends
inside an emoji, a line end, or a sequence that is written out by name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from labeling.pages.visible import divides

# How many ways of underlining there are (static/litmus.css); the letter tells them apart beyond that.
TINTS = 6
# The markup of a run that is marked, without its title and the labels in it; of a label that begins or ends in it.
_RUN_BYTES, _LABEL_BYTES = 60, 130
# Of hostile names a title shows the beginning.
_LONGEST_NAME, _MOST_NAMES = 60, 3


class Mark(NamedTuple):
    """A stretch of a text, in code points. label: as it stands behind the stretch and on the card of who quotes it.

    voice: whose it is, counted from 0; name: the same in words.
    """

    start: int
    end: int
    label: str
    voice: int
    name: str

    @property
    def weight(self) -> int:
        """About how many bytes it adds to a page; where it overlaps another it is two runs."""
        return 2 * (_RUN_BYTES + 6 * len(self.name[:_LONGEST_NAME])) + _LABEL_BYTES


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch that is quoted by the same voices throughout, or by none.

    begins, ends: the labels of the marks that begin and end in it.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    @property
    def tint(self) -> str:
        """The class of its underlining."""
        voices = {mark.voice for mark in self.marks}
        return "ev-many" if len(voices) > 1 else f"ev-{min(voices) % TINTS + 1}" if voices else ""

    @property
    def title(self) -> str:
        names = list(dict.fromkeys(mark.name[:_LONGEST_NAME] for mark in self.marks))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return ", ".join(names[:_MOST_NAMES]) + more

    @property
    def weight(self) -> int:
        """About how many bytes of the page its marking takes."""
        if not self.marks:
            return 0
        return _RUN_BYTES + 6 * len(self.title) + _LABEL_BYTES * (len(self.begins) + len(self.ends))


class Stretch(NamedTuple):
    """A piece of a text as it is shown, and at which of the text's characters it begins."""

    start: int
    text: str


def marked(stretches: Sequence[Stretch], marks: Iterable[Mark]) -> list[tuple[Run, ...]]:
    """For each stretch its runs, whose texts make up the stretch; no runs at all where nothing in it is quoted.

    A label begins where its mark first shows and ends where it last does, over all stretches.
    """
    mine = tuple(marks)
    if not mine:
        return [()] * len(stretches)
    parted = [_runs(stretch, mine) for stretch in stretches]
    places = [(at, number) for at, runs in enumerate(parted) for number in range(len(runs))]
    first: dict[str, tuple[int, int]] = {}
    last: dict[str, tuple[int, int]] = {}
    for at, number in places:
        for mark in parted[at][number].marks:
            first.setdefault(mark.label, (at, number))
            last[mark.label] = (at, number)
    return [
        tuple(
            Run(
                run.text,
                run.marks,
                begins=tuple(mark.label for mark in run.marks if first[mark.label] == (at, number)),
                ends=tuple(mark.label for mark in run.marks if last[mark.label] == (at, number)),
            )
            for number, run in enumerate(runs)
        )
        for at, runs in enumerate(parted)
    ]


def _runs(stretch: Stretch, marks: Sequence[Mark]) -> tuple[Run, ...]:
    text = stretch.text
    snapped = [snapped for mark in marks if (snapped := _snapped(text, mark, stretch.start)) is not None]
    if not snapped:
        return ()
    edges = sorted({0, len(text), *(edge for start, end, _ in snapped for edge in (start, end))})
    return tuple(
        Run(text[start:end], tuple(mark for first, last, mark in snapped if first <= start and end <= last))
        for start, end in pairwise(edges)
    )


def _snapped(text: str, mark: Mark, offset: int) -> tuple[int, int, Mark] | None:
    """The mark within this stretch, made longer until it ends where the text may be parted."""
    start, end = max(0, mark.start - offset), min(len(text), mark.end - offset)
    if start >= end:
        return None
    while not divides(text, start):
        start -= 1
    while not divides(text, end):
        end += 1
    return start, end, mark
