"""A transcript as a page shows it: a window of messages, long texts folded or cut, tool calls as such.

Pure: from the stored normal form to plain values. Nothing is interpreted; fenced code only gets a fixed-width font.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.pages.visible import count_marked

FIRST_MESSAGES = 200
LAST_MESSAGES = 20
# What one page may carry, so that it stays quick whatever a runner posts.
PAGE_CHARACTERS = 120_000
PART_CHARACTERS = 40_000
FOLD_CHARACTERS = 2_500

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


@dataclass(frozen=True, slots=True)
class PartView:
    """One part of a message. `cut` is how many characters were left out; `folded` starts closed."""

    kind: str
    heading: str
    blocks: tuple[Block, ...]
    size: int
    folded: bool
    cut: int = 0
    warning: str = ""


@dataclass(frozen=True, slots=True)
class MessageView:
    number: int
    role: str
    words: str
    parts: tuple[PartView, ...]
    folded: bool
    size: int
    is_final: bool


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
    tail_from = total + 1 if stop is None else min(max(stop, start) + 1, total + 1)
    if start == 1 and stop is None and total > FIRST_MESSAGES + LAST_MESSAGES:
        tail_from = total - LAST_MESSAGES + 1
    final = _final(messages)
    tail = _within(messages, range(tail_from, total + 1), final, budget=PAGE_CHARACTERS // 3) if stop is None else ()
    head_end = min(start + FIRST_MESSAGES, tail_from)
    head = _within(messages, range(start, head_end), final, budget=PAGE_CHARACTERS)
    reached = head[-1].number if head else start - 1
    shown_again = tail[0].number if tail else tail_from
    return Transcript(
        head=head,
        gap=Gap(reached + 1, shown_again - 1) if reached + 1 < shown_again else None,
        tail=tail,
        total=total,
    )


def whole_message(messages: Sequence[dict[str, Any]], number: int) -> MessageView | None:
    """One message without any cut."""
    if not 1 <= number <= len(messages):
        return None
    return _message(messages[number - 1], number, is_final=number == _final(messages), limit=None)


def count_invisible(messages: Sequence[dict[str, Any]]) -> int:
    """How many characters of the whole transcript are marked; it reads all of it, so only where it is shown."""
    parts = (part for message in messages for part in message.get("parts") or ())
    return sum(count_marked(_written(str(part.get("type")), part)[1]) for part in parts)


def _within(messages: Sequence[dict[str, Any]], numbers: range, final: int, *, budget: int) -> tuple[MessageView, ...]:
    """Messages until the budget is spent; always at least one, so that a page never stands still."""
    views: list[MessageView] = []
    for number in numbers:
        view = _message(messages[number - 1], number, is_final=number == final, limit=PART_CHARACTERS)
        budget -= sum(min(part.size, PART_CHARACTERS) for part in view.parts)
        if views and budget < 0:
            break
        views.append(view)
    return tuple(views)


def _final(messages: Sequence[dict[str, Any]]) -> int:
    """The number of the target's last message, 0 where it never spoke."""
    numbers = [number for number, message in enumerate(messages, 1) if message.get("role") == "assistant"]
    return numbers[-1] if numbers else 0


def _message(message: dict[str, Any], number: int, *, is_final: bool, limit: int | None) -> MessageView:
    role = str(message.get("role", ""))
    parts = tuple(_part(part, role, limit) for part in message.get("parts") or ())
    return MessageView(
        number=number,
        role=role if role in ROLE_WORDS else "other",
        words=ROLE_WORDS.get(role, role),
        parts=parts,
        folded=role in ("system", "developer"),
        size=sum(part.size for part in parts),
        is_final=is_final,
    )


def _part(part: dict[str, Any], role: str, limit: int | None) -> PartView:
    kind = str(part.get("type", "unknown"))
    heading, text, warning = _written(kind, part)
    kept = text if limit is None else text[:limit]
    return PartView(
        kind=kind,
        heading=heading,
        blocks=tuple(_blocks(kept)) if kind in _NEVER_FOLDED else (Block(kept, is_code=True),),
        size=len(text),
        folded=_is_folded(kind, role, len(text)) and limit is not None,
        cut=len(text) - len(kept),
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
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _blocks(text: str) -> Iterator[Block]:
    """Split at lines that open or close a fence; the fences stay in, because nothing is interpreted."""
    held: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else [text]:
        mark = line.lstrip()[:3]
        if not fence and mark in ("```", "~~~") and len(text) > len(line):
            if held:
                # The block that follows stands on a line of its own anyway.
                yield Block("".join(held).rstrip("\n"), is_code=False)
            held, fence = [line], mark
        elif fence and line.strip() == fence:
            yield Block("".join([*held, line]), is_code=True)
            held, fence = [], ""
        else:
            held.append(line)
    if held:
        yield Block("".join(held), is_code=bool(fence))
