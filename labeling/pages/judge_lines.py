"""A judge's settings as lines that people read, and two versions line against line."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple

from labeling.models import Judge
from labeling.vocabulary import JudgeKind

# So many unchanged lines stay around what changed.
_AROUND = 2
# Lines that are the same all over say nothing of where they belong, and comparing them takes minutes.
_MOST_LINES, _OFTEN = 2_000, 5
# The words of a line from the first to the last that is another, and the lines of which they are marked.
_MOST_WORDS, _OFTEN_IN_LINE, _MOST_PAIRS = 200, 10, 50
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
# What a change of it means, by where it stands; the first that fits.
_TOPICS = {
    "service.base_url": "the endpoint",
    "service.operator": "the endpoint",
    "service.model": "the model",
    "service": "how the endpoint is asked",
    "instructions": "the text of the rubric",
    "sides": "the text of the rubric",
    "categories": "the text for categories",
    "prompt": "the prompt",
    "title": "the title",
    "training_hash": "the verdicts it learned from",
}


class Piece(NamedTuple):
    """A stretch of a line. is_new: the line that stands against it has other words there."""

    text: str
    is_new: bool = False


class Line(NamedTuple):
    """change: "+" only in the newer, "−" only in the older, "" in both; folded: so many more are the same.

    pieces: of a line that took the place of another, which of its words are others; else none.
    """

    text: str
    change: str = ""
    folded: int = 0
    pieces: tuple[Piece, ...] = ()


_Pieces = tuple[tuple[Piece, ...], tuple[Piece, ...]]


def lines_of(settings: Mapping[str, Any]) -> list[str]:
    """A line a value, and a line a line of longer texts; what belongs to something is indented under it."""
    return list(_lines(settings, ""))


def _lines(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield f"{indent}{name}:{'' if inner else ' none'}"
            yield from _lines(inner, f"{indent}  ")
        elif isinstance(inner, str) and "\n" in inner.strip():
            yield f"{indent}{name}:"
            yield from (f"{indent}  {line}".rstrip() for line in inner.strip("\n").split("\n"))
        else:
            yield f"{indent}{name}: {_said(inner)}"


def _said(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case str():
            return value.strip("\n") or "empty"
        case list():
            return ", ".join(map(_said, value)) or "none"
        case _:
            return str(value)


def compared(older: Sequence[str], newer: Sequence[str]) -> list[Line]:
    """What is the same is folded, but for a few lines around each change. Of very long ones the beginning."""
    older, newer = older[:_MOST_LINES], newer[:_MOST_LINES]
    lines: list[Line] = []
    room, counts = _MOST_PAIRS, Counter(newer)
    matcher = SequenceMatcher(lambda line: counts[line] > _OFTEN, older, newer, autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind == "equal":
            same = [Line(text) for text in older[old_from:old_to]]
            lines += _folded(same, is_first=not lines, is_last=new_to == len(newer) and old_to == len(older))
        else:
            lines += _replaced(older[old_from:old_to], newer[new_from:new_to], room=room)
            room = max(room - (old_to - old_from), 0)
    return lines


def _replaced(older: Sequence[str], newer: Sequence[str], *, room: int) -> list[Line]:
    """Lines that took the place of others. Where they are as many, each of the one that stood there, up to `room`."""
    pairs: list[_Pieces] = []
    if len(older) == len(newer):
        pairs = [_words_changed(*pair) for pair in islice(zip(older, newer, strict=True), room)]
    pairs += [((), ())] * max(len(older), len(newer))
    return [
        *(Line(text, "−", pieces=pieces) for text, (pieces, _) in zip(older, pairs, strict=False)),
        *(Line(text, "+", pieces=pieces) for text, (_, pieces) in zip(newer, pairs, strict=False)),
    ]


def _words_changed(older: str, newer: str) -> _Pieces:
    """Both lines in pieces; none where hardly a word is the same, or there are too many others to compare."""
    old, new = _WORD.findall(older), _WORD.findall(newer)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(old_middle), len(new_middle)) > _MOST_WORDS:
        return (), ()
    counts = Counter(new_middle)
    matcher = SequenceMatcher(lambda word: counts[word] > _OFTEN_IN_LINE, old_middle, new_middle, autojunk=False)
    same = head + tail + sum(block.size for block in matcher.get_matching_blocks())
    if 2 * same < min(len(old), len(new)):
        return (), ()
    steps = matcher.get_opcodes()
    start, end = Piece("".join(old[:head])), Piece("".join(old[len(old) - tail :]))
    before = [Piece("".join(old_middle[a:b]), kind != "equal") for kind, a, b, _, _ in steps]
    after = [Piece("".join(new_middle[a:b]), kind != "equal") for kind, _, _, a, b in steps]
    return _written(start, *before, end), _written(start, *after, end)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _written(*pieces: Piece) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece.text)


def _folded(same: list[Line], *, is_first: bool, is_last: bool) -> list[Line]:
    before = 0 if is_first else _AROUND
    after = 0 if is_last else _AROUND
    hidden = len(same) - before - after
    # Folding one line would save nothing.
    if hidden < 2:
        return same
    return [*same[:before], Line("", folded=hidden), *same[len(same) - after :]]


def difference(older: Judge, newer: Judge) -> str:
    """What differs between two versions, in a sentence."""
    if JudgeKind.IMPORTED in (older.kind, newer.kind):
        return "An imported judge is what its runner calls it: what changed is not known here."
    topics = list(dict.fromkeys(_topic(path) for path in _changed(older.settings, newer.settings, "")))
    if topics:
        return f"What differs: {', '.join(topics)}."
    return "The settings are the same: what differs is the code or the data that come with Litmus."


def _changed(older: Any, newer: Any, path: str) -> Iterator[str]:
    """The places in which two settings differ."""
    if not (isinstance(older, Mapping) and isinstance(newer, Mapping)):
        if older != newer:
            yield path
        return
    for name in dict.fromkeys([*older, *newer]):
        yield from _changed(older.get(name), newer.get(name), f"{path}.{name}" if path else name)


def _topic(path: str) -> str:
    fits = (words for place, words in _TOPICS.items() if path == place or path.startswith(f"{place}."))
    return next(fits, path.replace("_", " "))
