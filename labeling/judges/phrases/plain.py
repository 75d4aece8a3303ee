"""Text without what only typography adds, and the way back to the text as it came.

Case, width, accents, typographic apostrophes, quotation marks and dashes, emphasis, invisible characters: phrases are
looked for with all of that taken away, and evidence must stand in the original.
"""

import unicodedata

# Fillers that Unicode counts among the letters, the tatweel that only stretches a word, and Markdown's emphasis.
_NOTHING = frozenset("\u115f\u1160\u3164\uffa0\u0640*_")
_APOSTROPHES = frozenset("\u2018\u2019\u201b\u02bc\u00b4\u2032\uff07`")
_QUOTES = frozenset("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02\u300c\u300d\u300e\u300f")
_HYPHENS = frozenset("\u2010\u2011\u2212\ufe63\uff0d")
# "Sorry, but I", "Sorry - but I" and "Sorry but I" are one phrase.
_PAUSES = frozenset(",;\u060c\u061b\u3001\u2012\u2013\u2014\u2015\u2800")
_KEPT = 20_000


class _Table(dict[int, str]):
    """What becomes of each code point. Filled as they come, and bounded: answers may hold all that there are."""

    def __missing__(self, code: int) -> str:
        made = _made(chr(code))
        if len(self) < _KEPT:
            self[code] = made
        return made


def _made(char: str) -> str:
    if char in _APOSTROPHES:
        return "'"
    if char in _QUOTES:
        return '"'
    if char in _HYPHENS:
        return "-"
    if char in _PAUSES or char.isspace():
        return " "
    taken_apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
    kept = (each for each in taken_apart if each not in _NOTHING and unicodedata.category(each) not in _UNSEEN)
    return "".join(" " if each in _PAUSES or each.isspace() else each for each in kept)


# Combining marks, format characters (zero-width, direction), control characters.
_UNSEEN = frozenset({"Mn", "Me", "Cf", "Cc"})
_TABLE = _Table()


def plain(text: str) -> str:
    return " ".join(text.translate(_TABLE).split())


def origins(text: str, length: int | None = None) -> list[int]:
    """For each code point of `plain(text)`, or at least its first ones, the place in `text` that it comes from."""
    found: list[int] = []
    space: int | None = None
    for at, char in enumerate(text):
        if length is not None and len(found) >= length:
            break
        for each in _TABLE[ord(char)]:
            if each == " ":
                space = at if space is None else space
                continue
            if space is not None and found:
                found.append(space)
            space = None
            found.append(at)
    return found


def original(text: str, start: int, end: int) -> tuple[int, int]:
    """Where `plain(text)[start:end]` stands in `text`. Marks above or below its last letter are part of it."""
    came_from = origins(text, end)
    last = came_from[end - 1] + 1
    while last < len(text) and unicodedata.combining(text[last]):
        last += 1
    return came_from[start], last
