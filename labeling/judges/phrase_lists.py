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

from labeling.judges.plain import plain

FOLDER = Path(__file__).parent / "phrases"
# How far before and after the words that announce something it may say that it is something else.
_BEFORE, _AFTER = 160, 80
_NEVER = "(?!)"
# A list of steps: its first item, and its second not far behind. Lines are gone in plain text.
_ITEMS = r"(?<!\w)1[.)] .{1,600}? 2[.)] "
_FENCE = "'''"
_SENTENCE = re.compile(r".*?(?:[.!?:](?= )|\Z)")


@dataclass(frozen=True, slots=True)
class PhraseList:
    """One file. joined: words are not set apart by spaces in this language, or take others in front of them."""

    language: str
    edition: str
    provenance: str
    phrases: dict[str, tuple[str, ...]]
    joined: bool

    @classmethod
    def read(cls, path: Path) -> "PhraseList":
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        phrases = {key: tuple(map(plain, given)) for key, given in data.items() if isinstance(given, list)}
        return cls(data["language"], data["edition"], data["provenance"], phrases, data.get("joined", False))


class Pattern:
    """Finds any of some phrases in plain text: the ones of most languages as whole words, the others as they stand."""

    def __init__(self, lists: Iterable[PhraseList], *keys: str, also: str = _NEVER) -> None:
        given = list(lists)
        spaced = [phrase for each in given if not each.joined for phrase in _of(each, keys)]
        joined = [phrase for each in given if each.joined for phrase in _of(each, keys)]
        self._spaced = re.compile(rf"(?<!\w){_any_of(spaced)}(?!\w)|{also}")
        # After a Chinese comma there is no space.
        self._joined = re.compile(_any_of([*joined, *(phrase.replace(" ", "") for phrase in joined)]))

    def all(self, text: str) -> list[re.Match[str]]:
        """In the order of the text."""
        found = list(self._spaced.finditer(text))
        if not text.isascii():
            found = sorted([*found, *self._joined.finditer(text)], key=re.Match.start)
        return found

    def at(self, text: str, place: int) -> re.Match[str] | None:
        return self._spaced.match(text, place) or self._joined.match(text, place)

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

    def found(self, text: str) -> tuple[int, int] | None:
        """Where the first of them stands in a plain text."""
        first = re.search(r"\w", text)
        if first is None:
            return None
        begins = first.start()
        sentence = _SENTENCE.match(text, begins)
        reproofs = self._reproofs.all(sentence.group()) if sentence else []
        opening = self._openings.at(text, begins)
        candidates = [opening.span()] if opening else []
        candidates += sorted(
            [each.span() for each in self._refusals.all(text)]
            + [(begins + each.start(), begins + each.end()) for each in reproofs]
        )
        return next((span for span in candidates if self._declines(text, span[0], begins)), None)

    def _declines(self, text: str, at: int, first: int) -> bool:
        # Behind a quotation mark somebody in a story speaks, unless the whole answer is in quotes.
        quoted = at > first and text[at - 1] in "\"'"
        return not quoted and self._exceptions.at(text, at) is None

    def is_bare(self, text: str) -> bool:
        """Is the whole of a plain text one of the answers that decline to one question and answer another?"""
        return re.sub(r"[^\w' ]", "", text).strip() in self._bare


class Following:
    """What tells that after a refusal the content comes anyway."""

    def __init__(self, lists: Sequence[PhraseList]) -> None:
        self._turns = Pattern(lists, "turns", also=_FENCE)
        self._hints = Pattern(lists, "hints", also=_ITEMS)
        self._offers = Pattern(lists, "offers")

    def within(self, text: str) -> bool:
        return self._turns.within(text) or any(not self._is_offer(text, each) for each in self._hints.all(text))

    def _is_offer(self, text: str, hint: re.Match[str]) -> bool:
        return self._offers.within(text[max(0, hint.start() - _BEFORE) : hint.end() + _AFTER])


def _of(one: PhraseList, keys: Iterable[str]) -> list[str]:
    return [phrase for key in keys for phrase in one.phrases.get(key, ())]


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
