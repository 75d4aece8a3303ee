"""Where in a transcript the evidence stands that judges and people give, so that it can be marked there.

Evidence of our own judges says where its words are, and is believed only if they are there. Other people's evidence
may be anything; what of it is a quote that stands in the transcript word for word is marked at its first place, in the
target's own messages where it occurs in them.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from audit.pages.marking import Mark
from audit.pages.parts import heading_and_text
from audit.pages.transcript import Marks

# Evidence is looked for in so many characters, all evidence of a page together; a part costs a little even if empty.
_MOST_SEARCHED, _PART_COSTS = 20_000_000, 200
# What the marks of a page may weigh; what is beyond them is listed on the cards all the same.
_MARKS_BYTES = 25_000
# Fewer characters prove nothing: they stand everywhere.
_SHORTEST_QUOTE = 3
# Texts that a page writes in its own way; judges read the same words with other white space.
_REWRITTEN = ("tool_call", "media", "unknown")

Messages = Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of evidence. message, part (counted from 0), start: where it stands; `message` is None if nowhere."""

    text: str
    label: str = ""
    message: int | None = None
    part: int = 0
    start: int = 0


class Evidence(NamedTuple):
    """The quotes of each voice, in the order they were given, and the marks to be made."""

    quotes: tuple[tuple[Quote, ...], ...]
    marks: Marks


class _Found(NamedTuple):
    """end: where it begins, if nothing of it can be marked."""

    message: int
    part: int
    start: int
    end: int


def letters(voice: int) -> str:
    """A, B, … Z, AA, AB, …: how a page calls the voices on it, counted from 0."""
    return (letters(voice // 26 - 1) if voice >= 26 else "") + chr(ord("A") + voice % 26)


def evidence_in(messages: Messages, voices: Sequence[tuple[str, Sequence[tuple[str, Any]]]]) -> Evidence:
    """Find the evidence of voices: each has a name and its evidence, as (its words, what was given)."""
    finder = _Finder(messages)
    marks: dict[tuple[int, int], list[Mark]] = defaultdict(list)
    quotes, room = [], _MARKS_BYTES
    for voice, (name, given) in enumerate(voices):
        found = [finder.find(words, span) for words, span in given]
        labels = _labels(letters(voice), found)
        for place, label in zip(found, labels, strict=True):
            if place and label and room > 0:
                mark = Mark(place.start, place.end, label, voice, name)
                marks[place.message, place.part].append(mark)
                room -= mark.weight
        quotes.append(tuple(map(_quote, given, labels, found)))
    return Evidence(tuple(quotes), dict(marks))


def _labels(letter: str, found: Sequence[_Found | None]) -> list[str]:
    """The letter of a voice, with a number where it has several marks; nothing for what cannot be marked."""
    several = sum(_can_be_marked(place) for place in found) > 1
    numbers = iter(range(1, len(found) + 1))
    return [(f"{letter}{next(numbers)}" if several else letter) if _can_be_marked(place) else "" for place in found]


def _can_be_marked(place: _Found | None) -> bool:
    return place is not None and place.start < place.end


def _quote(given: tuple[str, Any], label: str, place: _Found | None) -> Quote:
    return Quote(given[0], label, place.message, place.part, place.start) if place else Quote(given[0])


class _Finder:
    """The parts of a transcript, and how much has been searched."""

    def __init__(self, messages: Messages) -> None:
        self._parts = {
            (at, number): part
            for at, message in enumerate(messages)
            for number, part in enumerate(message.get("parts") or ())
        }
        # The target's own messages first.
        own = {at for at, message in enumerate(messages) if message.get("role") == "assistant"}
        self._order = sorted(self._parts, key=lambda place: (place[0] not in own, place))
        self._texts: dict[tuple[int, int], tuple[str, str]] = {}
        self._left = _MOST_SEARCHED

    def find(self, words: str, given: Any) -> _Found | None:
        return self._as_it_says(words, given) or self._anywhere(words)

    def _as_it_says(self, words: str, given: Any) -> _Found | None:
        """The place that it names, if its words stand there."""
        named = _named(given)
        part = self._parts.get((named.message, named.part)) if named else None
        if named is None or part is None or not words:
            return None
        heading, text = self._text((named.message, named.part))
        if part.get("type") in _REWRITTEN:
            place = _rewritten(heading if part["type"] == "tool_call" else "", text, words)
            return place and _Found(named.message, named.part, *place)
        return named if text[named.start : named.end] == words else None

    def _anywhere(self, words: str) -> _Found | None:
        if len(words.strip()) < _SHORTEST_QUOTE:
            return None
        for message, number in self._order:
            _, text = self._text((message, number))
            self._left -= len(text) + _PART_COSTS
            if self._left < 0:
                return None
            if (start := text.find(words)) >= 0:
                return _Found(message, number, start, start + len(words))
        return None

    def _text(self, place: tuple[int, int]) -> tuple[str, str]:
        if place not in self._texts:
            self._texts[place] = heading_and_text(self._parts[place])
        return self._texts[place]


def _named(given: Any) -> _Found | None:
    """The place that evidence of our own names; other people's may use the same words for anything."""
    if not isinstance(given, dict):
        return None
    places = [given.get(name) for name in ("message", "part", "start", "end")]
    numbers = [place for place in places if type(place) is int and place >= 0]
    return _Found(*numbers) if len(numbers) == len(places) else None


def _rewritten(name: str, text: str, words: str) -> tuple[int, int] | None:
    """Where words of `name(text)` stand in the text, white space not compared; (0, 0) if in nothing but the name."""
    whole = _Dense(f"{name}({text})" if name else text)
    wanted = "".join(words.split())
    at = whole.text.find(wanted) if wanted else -1
    if at < 0:
        return None
    before = len(name) + 1 if name else 0
    start, end = whole.place(at) - before, whole.place(at + len(wanted) - 1) + 1 - before
    start, end = max(0, start), min(len(text), end)
    return (start, end) if start < end else (0, 0)


class _Dense:
    """A text without its white space, and where each of its characters came from."""

    def __init__(self, text: str) -> None:
        words = list(re.finditer(r"\S+", text))
        self.text = "".join(word[0] for word in words)
        self._source = [word.start() for word in words]
        self._at, length = [], 0
        for word in words:
            self._at.append(length)
            length += len(word[0])

    def place(self, position: int) -> int:
        nearest = bisect_right(self._at, position) - 1
        return self._source[nearest] + position - self._at[nearest]
