"""Makes hostile text legible: characters that hide, reorder or cannot be written are named, never obeyed.

The result is safe HTML that is also valid UTF-8. What is ordinary stays as it is: joiners inside an emoji or between
the letters of scripts that need them, and the variation selector behind a symbol.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

# Characters that are not seen, or change how others are seen. Tab and line feed are what they look like.
_SUSPECT = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\ufdd0-\ufdef"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
_ZWNJ, _ZWJ, _TEXT_STYLE, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0e", "\ufe0f"
_TAG_FIRST, _TAG_LAST, _BLACK_FLAG, _LONGEST_FLAG = 0xE0020, 0xE007F, "\U0001f3f4", 7
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{0,6}\U000e007f(?![\U000e0020-\U000e007f])")
_NAMES = {0x00: "NULL", 0x07: "BELL", 0x08: "BACKSPACE", 0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE"}
# What a character may come to on a page, in bytes: a mark with its name; an escape; else its own UTF-8.
_MARK_BYTES = 150
_ESCAPED_BYTES = {"&": 5, "<": 4, ">": 4, '"': 6, "'": 6}
# A text of nothing but joiners would take seconds to look through, and nobody needs its exact count.
MOST_LOOKED_AT = 20_000


class Marked(NamedTuple):
    """A run of one character that is shown by name; `times` is how often it stands there."""

    shown: str
    title: str
    times: int


def visible(text: str) -> str:
    """The text as safe HTML, with what does not show marked by `<span class="inv">`."""
    out = []
    for piece in pieces(text):
        if isinstance(piece, Marked):
            repeated = f" ×{piece.times}" if piece.times > 1 else ""
            out.append(f'<span class="inv" title="{escape(piece.title)}">{escape(piece.shown)}{repeated}</span>')
        else:
            out.append(escape(piece))
    return "".join(out)


def plain(text: str) -> str:
    """The same without markup, for places that hold text only (a title, an option)."""
    return "".join(piece.shown if isinstance(piece, Marked) else piece for piece in pieces(text))


class Fit(NamedTuple):
    """So many characters, and at most how many bytes they come to on a page."""

    characters: int
    size: int


class Count(NamedTuple):
    """How many characters are marked; or, where `is_least`, that there are at least so many."""

    number: int
    is_least: bool


def count_marked(texts: Iterable[str], *, most: int = MOST_LOOKED_AT) -> Count:
    """How many characters of the texts are marked. It looks at `most` suspects and then stops."""
    number = looked = 0
    for text in texts:
        lines = text.replace("\r\n", "\n")
        for found in _SUSPECT.finditer(lines):
            if looked == most:
                return Count(number, is_least=True)
            looked += 1
            number += not _belongs(lines, found.start())
    return Count(number, is_least=False)


def fitting(text: str, room: int) -> Fit:
    """How much of a text's beginning fits into so many bytes of a page; the work is bounded by the room."""
    head = text[: max(room, 0)]
    if _SUSPECT.search(head) is None:
        escapes = sum(head.count(character) * cost for character, cost in _ESCAPED_BYTES.items())
        if (size := len(head.encode()) + escapes) <= room:
            return Fit(len(head), size)
    before, size = "", 0
    for position, character in enumerate(head):
        # A run of one mark is written once.
        more = 0 if character == before and _SUSPECT.match(character) else _page_bytes(character)
        if size + more > room:
            return Fit(position, size)
        before, size = character, size + more
    return Fit(len(head), size)


def _page_bytes(character: str) -> int:
    if _SUSPECT.match(character):
        return _MARK_BYTES
    return _ESCAPED_BYTES.get(character) or len(character.encode())


def divides(text: str, position: int) -> bool:
    """May the text be parted here, so that both halves show as they did together?"""
    before, after = text[max(0, position - 1) : position], text[position : position + 1]
    if not before or not after:
        return True
    if _SUSPECT.match(before) or (_SUSPECT.match(after) and not text.startswith("\r\n", position)):
        return False
    return unicodedata.category(after) not in ("Mn", "Mc", "Me") and not "\U0001f3fb" <= after <= "\U0001f3ff"


def pieces(text: str) -> Iterator[str | Marked]:
    """The text in order: what shows as it is, and what is named instead."""
    text = text.replace("\r\n", "\n")
    start = position = 0
    while found := _SUSPECT.search(text, position):
        position = found.start()
        if _belongs(text, position):
            position += 1
            continue
        if start < position:
            yield text[start:position]
        end = _run_end(text, position)
        yield _marked(text[position:end])
        start = position = end
    if start < len(text):
        yield text[start:]


def _run_end(text: str, start: int) -> int:
    """Where a run of the same mark ends; tag characters spell words, so they stay together."""
    end = start + 1
    if _is_tag(text[start]):
        while end < len(text) and _is_tag(text[end]):
            end += 1
        return end
    while end < len(text) and text[end] == text[start]:
        end += 1
    return end


def _marked(run: str) -> Marked:
    character, code = run[0], ord(run[0])
    if _is_tag(character) and len(run) > 1:
        hidden = "".join(chr(ord(tag) - 0xE0000) for tag in run if ord(tag) < _TAG_LAST)
        return Marked(f"⟪hidden: {hidden}⟫", "Text written in invisible tag characters", len(run))
    if 0xD800 <= code <= 0xDFFF:
        return Marked(f"\\u{code:04x}", f"U+{code:04X} LONE SURROGATE", len(run))
    if code < 0x20 or code == 0x7F:
        picture = "␡" if code == 0x7F else chr(0x2400 + code)
        return Marked(picture, f"U+{code:04X} {_NAMES.get(code, 'CONTROL CHARACTER')}", len(run))
    return Marked(f"⟪U+{code:04X}⟫", f"U+{code:04X} {unicodedata.name(character, 'CONTROL CHARACTER')}", len(run))


def _is_tag(character: str) -> bool:
    return _TAG_FIRST <= ord(character) <= _TAG_LAST


def _belongs(text: str, position: int) -> bool:
    """Is this character at home here: part of an emoji, or needed by the script around it?"""
    character = text[position]
    before = text[position - 1] if position else ""
    after = text[position + 1 : position + 2]
    if character in (_TEXT_STYLE, _EMOJI_STYLE):
        return _is_symbol(before) or (bool(before) and before in "0123456789#*")
    if character in (_ZWJ, _ZWNJ):
        if character == _ZWJ and (_is_symbol(before) or before == _EMOJI_STYLE) and _is_symbol(after):
            return True
        return _joins(before) and _joins(after)
    if _is_tag(character):
        return _spells_a_flag(text, position)
    return False


def _is_symbol(character: str) -> bool:
    return bool(character) and unicodedata.category(character) in ("So", "Sk", "Sm", "Cn", "Po")


def _joins(character: str) -> bool:
    """A letter or mark of Arabic, Syriac, the Indic scripts and their neighbours, where joiners are spelling."""
    return bool(character) and 0x0600 <= ord(character) <= 0x109F and unicodedata.category(character)[0] in "LM"


def _spells_a_flag(text: str, position: int) -> bool:
    """A flag of a region is the black flag and a few tags; nothing further away needs to be looked at."""
    start = text.rfind(_BLACK_FLAG, max(0, position - _LONGEST_FLAG), position)
    found = _FLAG.match(text, start) if start >= 0 else None
    return found is not None and position < found.end()
