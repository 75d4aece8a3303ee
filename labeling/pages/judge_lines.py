"""A judge's settings as lines that people read, and two versions line against line."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from labeling.models import Judge
from labeling.vocabulary import JudgeKind

# So many unchanged lines stay around what changed.
_AROUND = 2
# Lines that are the same all over say nothing of where they belong, and comparing them takes minutes.
_MOST_LINES, _OFTEN = 2_000, 5
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


class Line(NamedTuple):
    """change: "+" only in the newer, "−" only in the older, "" in both; folded: so many more are the same."""

    text: str
    change: str = ""
    folded: int = 0


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
    counts = Counter(newer)
    matcher = SequenceMatcher(lambda line: counts[line] > _OFTEN, older, newer, autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind == "equal":
            same = [Line(text) for text in older[old_from:old_to]]
            lines += _folded(same, is_first=not lines, is_last=new_to == len(newer) and old_to == len(older))
        else:
            lines += [Line(text, "−") for text in older[old_from:old_to]]
            lines += [Line(text, "+") for text in newer[new_from:new_to]]
    return lines


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
