"""A transcript as a judging model reads it: who wrote what, as data between lines that nobody else can write.

Each line of ours carries the nonce of the call, which no transcript can know. What is not shown is said where it is
missing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from labeling.judges.base import Item, last_words, part_text
from labeling.judges.transcripts.cutting import Piece, Rank, fitted
from labeling.judges.transcripts.showing import shown

_ROLES = {
    "system": "system prompt",
    "developer": "system prompt",
    "user": "user",
    "tool": "tool",
    "assistant": "target",
}
SCRIPTED = "scripted assistant turn, not the target's"
_PARTS = {
    "refusal": "text that the interface marks as a refusal",
    "reasoning": "reasoning of its author, no part of the answer",
    "tool_call": "tool call",
    "tool_result": "result of a tool",
    "media": "media: what describes it, without its data",
    "unknown": "a part of unknown kind",
}
_SAID = ("text", "refusal", "tool_call", "unknown")
# Pictures and sound in letters, which say nothing to a reader.
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{200,}")


class Transcript(NamedTuple):
    """The text, and how many characters of the transcript are not in it."""

    text: str
    left_out: int


@dataclass(frozen=True, slots=True)
class _Shown:
    """One part as it is shown if all of it is: its message, the heading it has within it, its words."""

    message: int
    part: int
    heading: str
    text: str
    rank: Rank
    skipped: int = 0


def mark(nonce: str, words: str) -> str:
    """A line of ours."""
    return f"[{nonce} | {words}]"


def marks(nonce: str) -> re.Pattern[str]:
    """Finds our lines in what a judge quotes."""
    return re.compile(rf"\[{re.escape(nonce)} \| [^\]\n]*\]")


def transcript(item: Item, *, nonce: str, room: int) -> Transcript:
    """All of it where the texts of its parts have at most `room` characters; else cut by the rule of `cutting`."""
    parts = list(_parts(item, nonce))
    pieces = [Piece(part.rank, len(part.text)) for part in parts]
    return _written(item, parts, fitted(pieces, room=room, always=_always(item, parts)), nonce)


def _parts(item: Item, nonce: str) -> Iterator[_Shown]:
    for index, message in enumerate(item.messages):
        parts = message.get("parts") or ()
        if not parts:
            yield _Shown(index, 0, mark(nonce, "nothing"), "", Rank.OTHERS)
        for at, part in enumerate(parts):
            text, skipped = _text(part)
            yield _Shown(index, at, _heading(part, at, nonce), text, _rank(item, index, part), skipped)


def _text(part: dict[str, Any]) -> tuple[str, int]:
    text = shown(part_text(part))
    if part.get("type") != "media":
        return text, 0
    short = _ENCODED.sub("…", text)
    return short, len(text) - len(short)


def _heading(part: dict[str, Any], at: int, nonce: str) -> str:
    """Nothing above a message's opening words; above everything else, what it is."""
    kind = part.get("type")
    words = _PARTS.get(str(kind), "text")
    if words == "text":
        return mark(nonce, words) if at else ""
    if kind == "reasoning" and part.get("redacted"):
        words = "reasoning that its provider withheld"
    if part.get("parse_error"):
        words += " whose arguments are no JSON"
    if part.get("is_error"):
        words += ", which reports an error"
    return mark(nonce, words)


def _rank(item: Item, index: int, part: dict[str, Any]) -> Rank:
    role = item.messages[index].get("role")
    if role == "tool":
        return Rank.TOOL
    is_own = role == "assistant" and index >= item.begins and part.get("type") in _SAID
    return Rank.TARGET if is_own else Rank.OTHERS


def _always(item: Item, parts: Sequence[_Shown]) -> set[int]:
    """The first piece, the last one, and the last of the target's last words."""
    if not parts:
        return set()
    spoken = last_words(item)
    words = (spoken.message, spoken.parts[-1][0]) if spoken else None
    own = {place for place, part in enumerate(parts) if (part.message, part.part) == words}
    return {0, len(parts) - 1} | own


# --- on paper ------------------------------------------------------------------------------------------------------


class _Gap:
    """Pieces in a row that are left out; one line stands for all of them."""

    def __init__(self) -> None:
        self.pieces: list[_Shown] = []

    def line(self, nonce: str) -> Iterator[str]:
        if self.pieces:
            characters = sum(len(piece.text) for piece in self.pieces)
            first, last = self.pieces[0].message + 1, self.pieces[-1].message + 1
            where = f"of message {first}" if first == last else f"of messages {first} to {last}"
            yield mark(nonce, f"left out for length: {len(self.pieces):,} parts {where}, {characters:,} characters")
        self.pieces = []


def _written(item: Item, parts: Sequence[_Shown], kept: Sequence[int | None], nonce: str) -> Transcript:
    lines: list[str] = []
    gap, opened = _Gap(), -1
    left_out = 0
    for part, length in zip(parts, kept, strict=True):
        left_out += part.skipped + len(part.text) - (length or 0)
        if part.message != opened:
            # A message is closed where the next one with anything in it begins.
            lines += _closed(opened, gap, nonce) if opened >= 0 else ()
            opened = -1
        if length is None:
            gap.pieces.append(part)
            continue
        if opened < 0:
            lines += [*gap.line(nonce), _opening(item, part.message, nonce)]
            opened = part.message
        lines += [*gap.line(nonce), *filter(None, (part.heading, _halves(part.text, length, nonce)))]
    lines += _closed(opened, gap, nonce) if opened >= 0 else gap.line(nonce)
    return Transcript("\n".join(lines), left_out)


def _opening(item: Item, index: int, nonce: str) -> str:
    role = str(item.messages[index].get("role"))
    words = SCRIPTED if role == "assistant" and index < item.begins else _ROLES.get(role, "somebody else")
    return mark(nonce, f"message {index + 1} of {len(item.messages)} | {words}")


def _closed(index: int, gap: _Gap, nonce: str) -> list[str]:
    return [*gap.line(nonce), mark(nonce, f"end of message {index + 1}")]


def _halves(text: str, length: int, nonce: str) -> str:
    """The text, or its head and its tail with a line between them."""
    missing = len(text) - length
    if not missing:
        return text
    head = text[: length - length // 2]
    tail = text[len(text) - length // 2 :]
    return f"{head}\n{mark(nonce, f'{missing:,} characters left out for length')}\n{tail}"
