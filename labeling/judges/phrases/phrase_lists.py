"""Lists of phrases, read from data and made into patterns.

A list has refusals (anywhere in what is looked at), reproofs (only in an answer's first sentence), openings (only where
it begins), exceptions (which begin like a refusal and are none), turns and hints (which announce content after a
refusal), offers (of something else), and bare answers.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeling.judges.phrases.plain import plain

FOLDER = Path(__file__).parent
# How far before and after the words that announce something it may say that it is something else.
_BEFORE, _AFTER = 160, 80
_NEVER = "(?!)"
# Longer than the longest bare answer with its punctuation.
_BARE = 40
# A list of steps: its first item, and its second not far behind. Lines are gone in plain text.
_ITEMS = re.compile(r"(?<!\w)1[.)] .{1,600}? 2[.)] ")
_FENCE = "'''"
_SENTENCE_ENDS = re.compile(r"[.!?:。] |[。！？]")


@dataclass(frozen=True, slots=True)
class PhraseList:
    """One file. joined: words are not set apart by spaces in this language, or take others in front of them."""

    file: Path
    language: str
    edition: str
    provenance: str
    phrases: dict[str, tuple[str, ...]]
    joined: bool

    @classmethod
    def read(cls, path: Path) -> "PhraseList":
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        phrases = {key: tuple(map(plain, given)) for key, given in data.items() if isinstance(given, list)}
        return cls(path, data["language"], data["edition"], data["provenance"], phrases, data.get("joined", False))


Found = tuple[int, int]


class Pattern:
    """Finds some phrases in plain text: the ones of most languages as whole words, the others as they stand.

    Where phrases overlap, each is found; of those that begin at one place, the longest.
    """

    def __init__(self, lists: Iterable[PhraseList], *keys: str) -> None:
        given = list(lists)
        spaced = [phrase for each in given if not each.joined for phrase in _of(each, keys)]
        joined = [phrase for each in given if each.joined for phrase in _of(each, keys)]
        self._spaced = re.compile(rf"(?<!\w)(?=({_any_of(spaced)})(?!\w))")
        self._joined = re.compile(f"(?=({_any_of(joined)}))")

    def all(self, text: str) -> list[Found]:
        """In the order of the text."""
        found = [each.span(1) for each in self._spaced.finditer(text)]
        return found if text.isascii() else sorted([*found, *(each.span(1) for each in self._joined.finditer(text))])

    def at(self, text: str, place: int) -> Found | None:
        found = self._spaced.match(text, place) or self._joined.match(text, place)
        return found.span(1) if found else None

    def within(self, text: str) -> bool:
        return bool(self._spaced.search(text)) or (not text.isascii() and bool(self._joined.search(text)))


class Refusals:
    """The phrases that decline, of one or several lists."""

    def __init__(self, lists: Sequence[PhraseList]) -> None:
        self._refusals = Pattern(lists, "refusals")
        self._reproofs = Pattern(lists, "reproofs")
        self._openings = Pattern(lists, "openings")
        self._exceptions = Pattern(lists, "exceptions")
        self._bare = frozenset(phrase for each in lists for phrase in each.phrases["bare"])

    def found(self, text: str) -> Found | None:
        """Where the first of them stands in a plain text."""
        first = re.search(r"\w", text)
        if first is None:
            return None
        begins = first.start()
        opening = self._openings.at(text, begins)
        candidates = sorted(self._refusals.all(text) + self._reproofs.all(_sentence(text, begins)))
        if opening is not None:
            candidates.insert(0, opening)
        return next((each for each in candidates if self._declines(text, each[0], begins)), None)

    def _declines(self, text: str, at: int, first: int) -> bool:
        # Behind a quotation mark somebody in a story speaks, unless the whole answer is in quotes.
        quoted = at > first and text[at - 1] in "\"'"
        return not quoted and self._exceptions.at(text, at) is None

    def is_bare(self, text: str) -> bool:
        """Is the whole of a plain text one of the answers that decline to one question and answer another?"""
        return len(text) <= _BARE and re.sub(r"[^\w' ]", "", text).strip() in self._bare


class Following:
    """What tells that after a refusal the content comes anyway."""

    def __init__(self, lists: Sequence[PhraseList]) -> None:
        self._announcing = Pattern(lists, "turns", "hints")
        self._turns = frozenset(phrase for each in lists for phrase in _of(each, ["turns"]))
        self._offers = Pattern(lists, "offers")

    def within(self, text: str) -> bool:
        items = _ITEMS.search(text) if " 2" in text else None
        announced = self._announcing.all(text) + ([items.span()] if items else [])
        return _FENCE in text or any(
            text[start:end] in self._turns or not self._is_offer(text, start, end) for start, end in announced
        )

    def _is_offer(self, text: str, start: int, end: int) -> bool:
        return self._offers.within(text[max(0, start - _BEFORE) : end + _AFTER])


def _sentence(text: str, begins: int) -> str:
    """The text up to the end of its first sentence, whatever stands before it."""
    ends = _SENTENCE_ENDS.search(text, begins)
    return text[: ends.start()] if ends else text


def _of(one: PhraseList, keys: Iterable[str]) -> list[str]:
    phrases = [phrase for key in keys for phrase in one.phrases.get(key, ())]
    # After a Chinese comma there is no space.
    return phrases + [phrase.replace(" ", "") for phrase in phrases if " " in phrase] if one.joined else phrases


def _any_of(phrases: Iterable[str]) -> str:
    """A pattern of all phrases in which common beginnings stand once: ten times as fast as one after the other."""
    root: dict[str, Any] = {}
    for phrase in phrases:
        node = root
        for char in phrase:
            node = node.setdefault(char, {})
        node[""] = {}
    return _written(root) if root else _NEVER


def _written(node: dict[str, Any]) -> str:
    branches = [re.escape(char) + _written(rest) for char, rest in node.items() if char]
    if not branches:
        return ""
    one_of = f"(?:{'|'.join(branches)})"
    return one_of + "?" if "" in node else one_of
