"""Where in an answer its conclusion stands, and what is told apart when two texts are compared."""

import re
import unicodedata
from typing import NamedTuple

# Of a longer answer only the end is read for its conclusion, and none of it by patterns and as JSON.
LONGEST = 100_000
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_AROUND = "*_`\"'“”‘’«»"
# Longer than any right answer may be: not worth composing its characters.
_COMPARED = 10_000
_MARK = re.compile(
    r"^[ \t>*_#`-]{0,10}(?:the[ \t]{1,3})?(?:final[ \t]{1,3})?answer[ \t*_`]{0,10}[:：][ \t*_`]{0,10}",
    re.IGNORECASE | re.MULTILINE,
)


class Stretch(NamedTuple):
    """A stretch of the answer: its text, and where it begins."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def line(self) -> "Stretch":
        """Its first line that is not blank."""
        start = self.start + len(self.text) - len(self.text.lstrip())
        return Stretch(start, self.text.lstrip().partition("\n")[0].rstrip())

    def trimmed(self) -> "Stretch":
        start = self.start + len(self.text) - len(self.text.lstrip())
        return Stretch(start, self.text.strip())


class Checked(NamedTuple):
    """Whether the answer is right, why, and the stretch that was read as the answer (start, end) if there is one."""

    passed: bool
    why: str
    at: tuple[int, int] | None = None
    found: float | None = None


def ending(text: str) -> Stretch:
    start = max(0, len(text) - LONGEST)
    return Stretch(start, text[start:])


def conclusion(end: Stretch) -> Stretch | None:
    """What stands after the last "Answer:" that begins a line, in whatever emphasis."""
    marks = [mark.end() for mark in _MARK.finditer(end.text)]
    return Stretch(end.start + marks[-1], end.text[marks[-1] :]) if marks else None


def plain(text: str, *, ignore_case: bool) -> str:
    """Composed characters, single spaces, nothing invisible; without what is put around an answer or ends it."""
    folded = " ".join(text.translate(_INVISIBLE).split())
    if len(folded) <= _COMPARED:
        folded = unicodedata.normalize("NFC", folded)
    bare = folded.strip(_AROUND).removesuffix(".").strip(_AROUND).strip()
    return (bare or folded).casefold() if ignore_case else bare or folded
