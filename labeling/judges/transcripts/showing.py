"""Text as a judging model is shown it: what does not show is written out, what steers a model's own format is broken.

A model reads characters that no person sees. Written as ⟨U+200B⟩ they are there for both, and nothing hides in them.
"""

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass

# Unseen, reordering or unwritable. Tab, line feed and the carriage return before one are what they look like.
_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\ufdd0-\ufdef"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e0fff"
)
_TAGS = "\U000e0000-\U000e007f"
_JOINERS, _STYLES = "\u200c\u200d", "\ufe0e\ufe0f"
# Joiners are spelling between letters of some scripts and glue inside an emoji; a style stands behind a symbol.
_HIDDEN = re.compile(
    f"(?P<tags>[{_TAGS}]+)|(?P<one>[{_UNSEEN}]|\r(?!\n)|(?<![\u0590-\u10ff\u2190-\U0001ffff])[{_JOINERS}]"
    f"|[{_JOINERS}](?![\u0590-\u10ff\u2190-\U0001ffff])|(?<![0-9#*\u00a9\u00ae\u2030-\u2bff\u3030-\u3299\U0001f000-\U0001ffff])"
    # Possessive: without it a run of a million costs a hundred bytes a character.
    f"[{_STYLES}])(?P=one)*+"
)
_PERHAPS = re.compile(f"[{_UNSEEN}{_TAGS}{_JOINERS}{_STYLES}\r]")
# What the templates of open models take for ends of turns, wherever it stands. ⟨⟩ inside makes it text.
_STEERS = re.compile(
    r"<(?=[|｜][^|｜<>\s]{1,40}[|｜]>)|<(?=/?(?:s|bos|eos|pad|start_of_turn|end_of_turn|think|im_start|im_end)>)"
    r"|<(?=</?SYS>>)|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\])"
)
_BREAK = "⟨⟩"
# A run of what the writing of words may hold more or less of: white space, unseen characters, and how they are written.
_RUN = re.compile(
    rf"(?:[\s{_UNSEEN}{_TAGS}{_JOINERS}{_STYLES}]|⟨U\+[0-9A-F]{{4,6}}(?:×[0-9]{{1,9}})?⟩|⟨tags:[!-~␣]*⟩|{_BREAK})+"
)
_SPACE = re.compile(r"\s")
# One character each, so that places stay where they are.
_PLAIN = str.maketrans(dict(zip("‘’ʼ´`“”„–—−", "'''''\"\"\"---", strict=True)))


def shown(text: str) -> str:
    """The text with what does not show written out. Valid UTF-8, whatever came in."""
    # Most texts hold none of it, and one look is much faster than the rule itself.
    if _PERHAPS.search(text):
        text = _HIDDEN.sub(_written, text)
    return _STEERS.sub(_broken, text) if "<" in text or "[" in text else text


def _broken(found: re.Match[str]) -> str:
    return found[0] + _BREAK


def _written(found: re.Match[str]) -> str:
    run = found[0]
    if found["tags"]:
        # They spell ASCII that only machines read.
        spelled = "".join(chr(ord(tag) - 0xE0000) for tag in run).replace(" ", "␣")
        return f"⟨tags:{''.join(letter for letter in spelled if letter.isprintable())}⟩"
    times = f"×{len(run)}" if len(run) > 1 else ""
    return f"⟨U+{ord(run[0]):04X}{times}⟩"


def plain(text: str) -> str:
    """Curly quotes and dashes as a keyboard has them; every character stays at its place."""
    return text.translate(_PLAIN)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text for comparing: runs of white space are one space; what is only for the eye, or hidden from it, is gone.

    Places are kept only where the two drift apart: from folded position `_at[n]` on, the text goes on at `_source[n]`.
    """

    text: str
    _at: "array[int]"
    _source: "array[int]"

    def place(self, position: int) -> int:
        """Where in the text as it came the character stands that is at this position here."""
        nearest = bisect_right(self._at, position) - 1
        return position if nearest < 0 else self._source[nearest] + position - self._at[nearest]


def folded(text: str) -> Folded:
    """In time that grows with the text and nothing else."""
    even, pieces, length, last = plain(text), [], 0, 0
    at, source = array("q"), array("q")
    for found in _RUN.finditer(even):
        run = found[0]
        if run == " ":
            continue
        piece = even[last : found.start()] + (" " if _SPACE.search(run) else "")
        pieces.append(piece)
        length, last = length + len(piece), found.end()
        at.append(length)
        source.append(last)
    pieces.append(even[last:])
    return Folded("".join(pieces), at, source)
