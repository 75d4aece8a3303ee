"""One part of a message as a page shows it: what stands above it, its text in blocks, folded or cut where it is long.

Pure. Nothing is interpreted; fenced code only gets a fixed-width font.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from audit.pages.marking import Mark, Run, Stretch, marked
from labeling.pages.visible import fitting

# The markup around a part, around a link to what is cut; around what is spoken, and around a stretch of code.
PART_FRAME_BYTES, LINK_BYTES = 260, 250
_SPOKEN_FRAME_BYTES, _BLOCK_FRAME_BYTES = 60, 50
_HEADING_CHARACTERS, _MOST_BLOCKS = 200, 100
FOLD_CHARACTERS = 2_500
# Longer arguments are shown as they are written: indenting nested ones would make them many times as long.
_PRETTY_CHARACTERS = 10_000
# What the target says is what is judged: it is never folded away.
_NEVER_FOLDED = ("text", "refusal")
_HEADINGS = {"text": "", "refusal": "refusal part", "reasoning": "reasoning"}


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text, in fixed width where its author fenced it. runs: its text once more where it is quoted."""

    text: str
    is_code: bool
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class PartView:
    """One part of a message. `cut` is how many characters follow that are not shown; `folded` starts closed.

    weight: about how many bytes of the page it takes. labels: of what is quoted here and can be seen.
    """

    kind: str
    heading: str
    blocks: tuple[Block, ...]
    size: int
    folded: bool
    weight: int
    cut: int = 0
    warning: str = ""

    @property
    def labels(self) -> frozenset[str]:
        return frozenset(label for block in self.blocks for run in block.runs for label in run.begins)


def part_view(
    part: dict[str, Any], role: str, *, room: int, skipped: int, may_fold: bool, marks: Sequence[Mark]
) -> PartView:
    """As much of a part as the room holds, from its character `skipped` on, with what is quoted of it marked."""
    kind = str(part.get("type", "unknown"))
    heading, text, warning = _written(kind, part)
    heading = heading[:_HEADING_CHARACTERS]
    frame = _SPOKEN_FRAME_BYTES if kind in _NEVER_FOLDED else PART_FRAME_BYTES
    fit = fitting(text[skipped : skipped + room], room)
    # Always at least one character, so that a reader gets on.
    kept = text[skipped : skipped + max(1, fit.characters)]
    stretches = list(_stretches(kept)) if kind in _NEVER_FOLDED else [_Stretch(0, kept, is_code=True)]
    places = [Stretch(skipped + stretch.start, stretch.text) for stretch in stretches]
    blocks = tuple(
        Block(stretch.text, stretch.is_code, runs)
        for stretch, runs in zip(stretches, marked(places, marks), strict=True)
    )
    cut = max(0, len(text) - skipped - len(kept))
    return PartView(
        kind=kind,
        heading=heading,
        blocks=blocks,
        size=len(text),
        folded=may_fold and _is_folded(kind, role, len(text)),
        weight=frame
        + len(blocks) * _BLOCK_FRAME_BYTES
        + sum(run.weight for block in blocks for run in block.runs)
        + fit.size
        + fitting(heading, room).size
        + bool(cut) * LINK_BYTES,
        cut=cut,
        warning=warning,
    )


def _is_folded(kind: str, role: str, length: int) -> bool:
    if kind in ("reasoning", "media", "unknown"):
        return True
    spoken = kind in _NEVER_FOLDED and role == "assistant"
    return not spoken and length > FOLD_CHARACTERS


def heading_and_text(part: dict[str, Any]) -> tuple[str, str]:
    """What stands above a part, and its text, as pages show them."""
    heading, text, _ = _written(str(part.get("type", "unknown")), part)
    return heading, text


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


class _Stretch(NamedTuple):
    """A block to be, and at which character of the text it begins."""

    start: int
    text: str
    is_code: bool


def _stretches(text: str) -> Iterator[_Stretch]:
    """Split at lines that open or close a fence; the fences stay in, because nothing is interpreted."""
    held: list[str] = []
    fence, made, start, end = "", 0, 0, 0
    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else [text]:
        mark = line.lstrip()[:3]
        if not fence and mark in ("```", "~~~") and len(text) > len(line) and made < _MOST_BLOCKS:
            if held:
                # The block that follows stands on a line of its own anyway.
                yield _Stretch(start, "".join(held).rstrip("\n"), is_code=False)
            held, fence, made, start = [line], mark, made + 2, end
        elif fence and line.strip() == fence:
            yield _Stretch(start, "".join([*held, line]), is_code=True)
            held, fence, start = [], "", end + len(line)
        else:
            held.append(line)
        end += len(line)
    if held:
        yield _Stretch(start, "".join(held), is_code=bool(fence))
