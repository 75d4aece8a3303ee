"""A transcript as a page shows it: a window of messages, long texts folded or cut, tool calls as such.

Pure: from the stored normal form to plain values. Nothing is interpreted; fenced code only gets a fixed-width font.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from audit.pages.marking import Mark
from audit.pages.parts import LINK_BYTES, PART_FRAME_BYTES, PartView, heading_and_text, part_view
from labeling.pages.visible import Count, count_marked

FIRST_MESSAGES = 200
LAST_MESSAGES = 20
# What one page may carry, in bytes as they are sent, so that it stays quick whatever a runner posts.
HEAD_BYTES = 130_000
TAIL_BYTES = 40_000
PART_BYTES = 40_000
# A request that is quoted beside a transcript.
EXCERPT_BYTES = 25_000
# A message that is read on its own comes in stretches of this.
STRETCH_BYTES = 1_000_000
# The markup around a message.
_FRAME_BYTES = 240

ROLE_WORDS = {
    "system": "system prompt",
    "developer": "developer",
    "user": "user",
    "assistant": "target",
    "tool": "tool",
}


class Place(NamedTuple):
    """Where to read on in a message: in which part, from which of its characters. Parts count from 1."""

    part: int
    character: int


BEGINNING = Place(1, 0)

# What is quoted of which part of which message, both counted from 0.
Marks = Mapping[tuple[int, int], Sequence[Mark]]
NO_MARKS: Marks = {}


@dataclass(frozen=True, slots=True)
class MessageView:
    """`rest`: where what is not shown of it begins, if anything is left out after its shown parts."""

    number: int
    role: str
    words: str
    parts: tuple[PartView, ...]
    folded: bool
    size: int
    is_final: bool
    rest: Place | None

    @property
    def is_quoted(self) -> bool:
        """Somebody quotes from it, so it does not start closed."""
        return any(part.labels for part in self.parts)

    @property
    def weight(self) -> int:
        return _FRAME_BYTES + sum(part.weight for part in self.parts) + (LINK_BYTES if self.rest else 0)


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages that are there and not on this page."""

    first: int
    last: int

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Transcript:
    """The messages of one page, in order, and what is left out between head and tail. Numbers count from 1."""

    head: tuple[MessageView, ...]
    gap: Gap | None
    tail: tuple[MessageView, ...]
    total: int

    @property
    def is_empty(self) -> bool:
        return self.total == 0

    @property
    def labels(self) -> frozenset[str]:
        """What is marked on this page."""
        return frozenset(
            label for message in (*self.head, *self.tail) for part in message.parts for label in part.labels
        )


def transcript(
    messages: Sequence[dict[str, Any]], *, start: int = 1, stop: int | None = None, marks: Marks = NO_MARKS
) -> Transcript:
    """The messages from `start` to `stop`; from the beginning of a long transcript also its last ones.

    marks: what is quoted of them. There are none on a page that is read blind.
    """
    total = len(messages)
    start = min(max(1, start), max(1, total))
    last = total if stop is None else min(max(stop, start), total)
    head = _within(messages, range(start, min(start + FIRST_MESSAGES, last + 1)), room=HEAD_BYTES, marks=marks)
    reached = head[-1].number if head else start - 1
    tail: tuple[MessageView, ...] = ()
    if start == 1 and stop is None and reached < total:
        # From the end backwards, for the last answer must be there.
        first = max(reached, total - LAST_MESSAGES)
        tail = _within(messages, range(total, first, -1), room=TAIL_BYTES, marks=marks)[::-1]
    shown_again = tail[0].number if tail else last + 1
    return Transcript(
        head=head,
        gap=Gap(reached + 1, shown_again - 1) if reached + 1 < shown_again else None,
        tail=tail,
        total=total,
    )


def whole_message(messages: Sequence[dict[str, Any]], number: int, *, start: Place = BEGINNING) -> MessageView | None:
    """One message, or a stretch of a very long one; `rest` says where the next begins."""
    if not 1 <= number <= len(messages):
        return None
    final = number == _final(messages)
    return _message(messages[number - 1], number, is_final=final, room=STRETCH_BYTES, start=start)


def excerpt(messages: Sequence[dict[str, Any]]) -> tuple[MessageView, ...]:
    """The beginning of what a case asks, to be read beside a transcript."""
    return _within(messages, range(1, min(len(messages), LAST_MESSAGES) + 1), room=EXCERPT_BYTES)


def count_invisible(messages: Sequence[dict[str, Any]]) -> Count:
    """How many characters of the whole transcript are marked; it reads all of it, so only where it is shown."""
    parts = (part for message in messages for part in message.get("parts") or ())
    return count_marked(heading_and_text(part)[1] for part in parts)


def _within(
    messages: Sequence[dict[str, Any]], numbers: Iterable[int], *, room: int, marks: Marks = NO_MARKS
) -> tuple[MessageView, ...]:
    """Messages until the room is taken; always at least one, so that a page never stands still."""
    final, left = _final(messages), room
    views: list[MessageView] = []
    for number in numbers:
        message, is_final = messages[number - 1], number == final
        view = _message(message, number, is_final=is_final, room=room, part_room=PART_BYTES, marks=marks)
        left -= view.weight
        if views and left < 0:
            break
        views.append(view)
    return tuple(views)


def _final(messages: Sequence[dict[str, Any]]) -> int:
    """The number of the target's last message, 0 where it never spoke."""
    numbers = range(len(messages), 0, -1)
    return next((number for number in numbers if messages[number - 1].get("role") == "assistant"), 0)


def _message(
    message: dict[str, Any],
    number: int,
    *,
    is_final: bool,
    room: int,
    part_room: int | None = None,
    start: Place = BEGINNING,
    marks: Marks = NO_MARKS,
) -> MessageView:
    """A message from a place on until the room is taken. With room for each part, a cut part does not end it."""
    role, parts = str(message.get("role", "")), message.get("parts") or ()
    views: list[PartView] = []
    rest = None
    for index in range(start.part, len(parts) + 1):
        skipped = start.character if index == start.part else 0
        if views and room < PART_FRAME_BYTES:
            rest = Place(index, 0)
            break
        view = part_view(
            parts[index - 1],
            role,
            room=min(room, part_room or room),
            skipped=skipped,
            may_fold=bool(part_room),
            marks=marks.get((number - 1, index - 1), ()),
        )
        views.append(view)
        room -= view.weight
        if view.cut and part_room is None:
            rest = Place(index, view.size - view.cut)
            break
    return MessageView(
        number=number,
        role=role if role in ROLE_WORDS else "other",
        words=ROLE_WORDS.get(role, role),
        parts=tuple(views),
        folded=role in ("system", "developer"),
        size=sum(part.size for part in views),
        is_final=is_final,
        rest=rest,
    )
