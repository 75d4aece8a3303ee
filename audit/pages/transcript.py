"""A transcript as a page shows it: a window of messages, long texts folded or cut, tool calls as such.

Pure: from the stored normal form to plain values. Nothing is interpreted; fenced code only gets a fixed-width font.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from labeling.pages.visible import Count, count_marked, fitting

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
FOLD_CHARACTERS = 2_500
# The markup around a message, around a part of it, around a stretch of code, and a link to what is cut.
_FRAME_BYTES, _SPOKEN_FRAME_BYTES, _PART_FRAME_BYTES, _BLOCK_FRAME_BYTES, _LINK_BYTES = 240, 60, 260, 50, 250
_HEADING_CHARACTERS, _MOST_BLOCKS = 200, 100
# Longer arguments are shown as they are written: indenting nested ones would make them many times as long.
_PRETTY_CHARACTERS = 10_000

ROLE_WORDS = {
    "system": "system prompt",
    "developer": "developer",
    "user": "user",
    "assistant": "target",
    "tool": "tool",
}
# What the target says is what is judged: it is never folded away.
_NEVER_FOLDED = ("text", "refusal")
_HEADINGS = {"text": "", "refusal": "refusal part", "reasoning": "reasoning"}


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text, in fixed width where its author fenced it."""

    text: str
    is_code: bool


class Place(NamedTuple):
    """Where to read on in a message: in which part, from which of its characters. Parts count from 1."""

    part: int
    character: int


BEGINNING = Place(1, 0)


@dataclass(frozen=True, slots=True)
class PartView:
    """One part of a message. `cut` is how many characters follow that are not shown; `folded` starts closed.

    weight: about how many bytes of the page it takes.
    """

    kind: str
    heading: str
    blocks: tuple[Block, ...]
    size: int
    folded: bool
    weight: int
    cut: int = 0
    warning: str = ""


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
    def weight(self) -> int:
        return _FRAME_BYTES + sum(part.weight for part in self.parts) + (_LINK_BYTES if self.rest else 0)


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


def transcript(messages: Sequence[dict[str, Any]], *, start: int = 1, stop: int | None = None) -> Transcript:
    """The messages from `start` to `stop`; from the beginning of a long transcript also its last ones."""
    total = len(messages)
    start = min(max(1, start), max(1, total))
    last = total if stop is None else min(max(stop, start), total)
    head = _within(messages, range(start, min(start + FIRST_MESSAGES, last + 1)), room=HEAD_BYTES)
    reached = head[-1].number if head else start - 1
    tail: tuple[MessageView, ...] = ()
    if start == 1 and stop is None and reached < total:
        # From the end backwards, for the last answer must be there.
        first = max(reached, total - LAST_MESSAGES)
        tail = _within(messages, range(total, first, -1), room=TAIL_BYTES)[::-1]
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
    return count_marked(_written(str(part.get("type")), part)[1] for part in parts)


def _within(messages: Sequence[dict[str, Any]], numbers: Iterable[int], *, room: int) -> tuple[MessageView, ...]:
    """Messages until the room is taken; always at least one, so that a page never stands still."""
    final, left = _final(messages), room
    views: list[MessageView] = []
    for number in numbers:
        view = _message(messages[number - 1], number, is_final=number == final, room=room, part_room=PART_BYTES)
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
) -> MessageView:
    """A message from a place on until the room is taken. With room for each part, a cut part does not end it."""
    role, parts = str(message.get("role", "")), message.get("parts") or ()
    views: list[PartView] = []
    rest = None
    for index in range(start.part, len(parts) + 1):
        skipped = start.character if index == start.part else 0
        if views and room < _PART_FRAME_BYTES:
            rest = Place(index, 0)
            break
        view = _part(
            parts[index - 1], role, room=min(room, part_room or room), skipped=skipped, may_fold=bool(part_room)
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


def _part(part: dict[str, Any], role: str, *, room: int, skipped: int, may_fold: bool) -> PartView:
    kind = str(part.get("type", "unknown"))
    heading, text, warning = _written(kind, part)
    heading = heading[:_HEADING_CHARACTERS]
    frame = _SPOKEN_FRAME_BYTES if kind in _NEVER_FOLDED else _PART_FRAME_BYTES
    fit = fitting(text[skipped : skipped + room], room)
    # Always at least one character, so that a reader gets on.
    kept = text[skipped : skipped + max(1, fit.characters)]
    blocks = tuple(_blocks(kept)) if kind in _NEVER_FOLDED else (Block(kept, is_code=True),)
    cut = max(0, len(text) - skipped - len(kept))
    return PartView(
        kind=kind,
        heading=heading,
        blocks=blocks,
        size=len(text),
        folded=may_fold and _is_folded(kind, role, len(text)),
        weight=frame
        + len(blocks) * _BLOCK_FRAME_BYTES
        + fit.size
        + fitting(heading, room).size
        + bool(cut) * _LINK_BYTES,
        cut=cut,
        warning=warning,
    )


def _is_folded(kind: str, role: str, length: int) -> bool:
    if kind in ("reasoning", "media", "unknown"):
        return True
    spoken = kind in _NEVER_FOLDED and role == "assistant"
    return not spoken and length > FOLD_CHARACTERS


def _written(kind: str, part: dict[str, Any]) -> tuple[str, str, str]:
    """Heading, text and warning of a part."""
    if kind == "tool_call":
        return _written_call(part)
    if kind == "tool_result":
        return "result", str(part.get("text") or ""), "The tool answered with an error." if part.get("is_error") else ""
    if kind in _HEADINGS:
        warning = "The provider keeps this reasoning to itself." if part.get("redacted") else ""
        return _HEADINGS[kind], str(part.get("text") or ""), warning
    return ("media, not shown" if kind == "media" else "unknown part"), _pretty(part.get("raw")), ""


def _written_call(part: dict[str, Any]) -> tuple[str, str, str]:
    """The arguments pretty where they parse, and as they came where they do not."""
    name, arguments, raw = str(part.get("name") or "unnamed tool"), part.get("arguments"), part.get("arguments_raw")
    broken = bool(part.get("parse_error"))
    text = str(raw) if raw is not None and (broken or arguments is None) else _pretty(arguments)
    return name, text, "The arguments are not valid JSON; shown as they came." if broken else ""


def _pretty(value: Any) -> str:
    if value is None or value == {}:
        return ""
    if isinstance(value, str):
        return value
    compact = json.dumps(value, ensure_ascii=False)
    return compact if len(compact) > _PRETTY_CHARACTERS else json.dumps(value, ensure_ascii=False, indent=2)


def _blocks(text: str) -> Iterator[Block]:
    """Split at lines that open or close a fence; the fences stay in, because nothing is interpreted."""
    held: list[str] = []
    fence, made = "", 0
    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else [text]:
        mark = line.lstrip()[:3]
        if not fence and mark in ("```", "~~~") and len(text) > len(line) and made < _MOST_BLOCKS:
            if held:
                # The block that follows stands on a line of its own anyway.
                yield Block("".join(held).rstrip("\n"), is_code=False)
            held, fence, made = [line], mark, made + 2
        elif fence and line.strip() == fence:
            yield Block("".join([*held, line]), is_code=True)
            held, fence = [], ""
        else:
            held.append(line)
    if held:
        yield Block("".join(held), is_code=bool(fence))
