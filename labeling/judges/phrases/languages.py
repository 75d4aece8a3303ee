"""Which language an answer is in: by its script where that tells, else by py3langid on its first words.

Deterministic. Only the beginning is looked at, so the work is the same whatever the answer's length.
"""

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

# ISO 639: "no linguistic content", "undetermined".
NO_LANGUAGE = "zxx"
UNKNOWN = "und"

_LOOKED_AT = 2000
_BEGINNING = 400
# The detector's confidence. Real sentences of five words come to .9 and more in most languages, English ones of plain
# words to .2; words in cipher stay under .1.
_LIKELY, _CERTAIN = 0.15, 0.5
_FEW_WORDS = 3
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = dict.fromkeys(map(ord, "{}()[];=<>|&$#\\/+"))
_CODE_SHARE = 0.08
# Scripts of one language, as far as phrase lists go. Their names begin the names of their letters.
_BY_SCRIPT = {
    "CJK": "zh",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "GREEK": "el",
    "HEBREW": "he",
    "THAI": "th",
    "DEVANAGARI": "hi",
}
# Spoken Arabic is written with the standard's words where an assistant declines.
_NEAR = {"ary": "ar", "arz": "ar", "wuu": "zh", "yue": "zh"}


def language_of(text: str) -> str:
    """An ISO 639 code. NO_LANGUAGE: numbers, code, too few words to tell. UNKNOWN: what is like no language."""
    prose = _FENCED.sub(" ", text[:_LOOKED_AT]).strip()[:_BEGINNING]
    if not any(map(str.isalpha, prose)) or _is_code(prose):
        return NO_LANGUAGE
    return _BY_SCRIPT.get(_script(prose)) or _named(prose)


def _script(prose: str) -> str:
    """The script of most letters. Japanese has many Chinese letters between its own, so a fifth of its own decide."""
    if prose.isascii():
        return "LATIN"
    scripts = Counter(_script_of(char) for char in prose if char.isalpha())
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana * 5 >= scripts["CJK"] + kana > 0 and scripts["CJK"] + kana >= max(scripts.values()):
        return "HIRAGANA"
    return max(scripts, key=scripts.__getitem__)


@lru_cache(maxsize=4096)
def _script_of(char: str) -> str:
    return "LATIN" if char < "\u0250" else unicodedata.name(char, "").partition(" ")[0]


def _is_code(prose: str) -> bool:
    written = "".join(prose.split())
    return len(written) - len(written.translate(_CODE)) >= _CODE_SHARE * len(written)


def _named(prose: str) -> str:
    name, confidence = _identifier().classify(prose)
    name = _NEAR.get(name, name)
    if confidence >= _CERTAIN:
        return UNKNOWN if name == NO_LANGUAGE else name
    if len(re.findall(r"[^\W\d_]+", prose)) <= _FEW_WORDS:
        return NO_LANGUAGE
    return name if confidence >= _LIKELY else UNKNOWN


@cache
def _identifier() -> LanguageIdentifier:
    """The model takes a second to load, so only a process that needs it does."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
