"""The option that an answer names.

From the plainest way of naming one to the least plain; the first that names any decides. Options that are joined, as in
"A or B", are named together. Where several are named, or one is spoken of and not given, none is taken: an answer that
cannot be read is not a wrong one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from labeling.judges.checking.reading import Stretch

# In patterns, ‹X› stands for an option as it is written, ‹x› for one in any case.
_END = r"(?!\w|[.'’-]\w|[+#])"
_SOFT = r"(?i:(?:either|both|probably|maybe|perhaps|possibly|also|option|choice|answer|letter)[^\w\n]{1,4}){0,2}"
_ALONE = rf"^[^\w\n]{{0,8}}{_SOFT}(‹x›)(?!\w)"
_BEGINS = r"^[^\w\n(\[]{0,8}(‹X›)(?=[*_`]{0,3}[).:])"
_LEADS = rf"\A[^\w\n]{{0,8}}{_SOFT}(‹X›){_END}"
_STATED = (
    r"(?i:\b(?:answer|choice|option)(?:[ \t]{1,3}is)?|\b(?:choose|pick|select|go[ \t]{1,3}with))"
    rf"\W{{1,8}}{_SOFT}(‹X›)(?!\w)"
)
_BRACKETED = r"[(\[](‹x›)[)\]]"
_STANDING = r"(?<!\w)(‹X›)(?!\w)"
_IT_IS = (
    r"(?i:\b(?:it|this|that)(?:['’]s|[ \t]{1,3}(?:is|was|(?:must|should|would|has[ \t]{1,3}to)[ \t]{1,3}be)))"
    rf"[^\w\n]{{1,8}}{_SOFT}(‹X›){_END}"
)
_SPOKEN_OF = rf"(?<![\w.])(‹X›){_END}"

# Where an option has a verb of its own, it is not one of several.
_NO_VERB = r"(?![^\w\n]{1,4}(?i:is|isn|was|does|doesn|has|can|cannot|would|seems|looks)\b)"
_JOINED = (
    rf"[^\w\n]{{1,6}}(?i:or|nor|and/or|vs|versus)[^\w\n]{{1,6}}{_SOFT}(‹x›){_END}",
    rf"(?:[^\w\n.!?]{{1,6}}(?i:and|plus)[^\w\n]{{1,6}}|[^\w\n]{{0,4}}[,/&|+;][^\w\n]{{0,6}}){_SOFT}(‹x›){_END}{_NO_VERB}",
    r"[ \t)\](\[*_`]{1,8}(‹X›)(?=[)\].:])",
    r"[^\w\n]{1,8}(‹X›)(?=[^\w\n]{0,8}$)",
)
_LINE_ENDS = re.compile(r"[^\w\n]{0,8}$", re.MULTILINE)
_REASON = re.compile(r"[^\w\n]{0,4}(?:$|,(?! ?(?i:no|wait|or|but|though)\b)|\b(?i:because|since)\b)", re.MULTILINE)
_IS_RIGHT = re.compile(
    r"[^\w\n]{1,4}(?i:is|are)[ \t]{1,3}(?i:(?:the|both|all|most|likely|probably|clearly|also|my)[ \t]{1,3}){0,3}"
    r"(?i:correct|right|best|true|answers?|choice)\b"
)
_NEGATED = re.compile(r"(?:\b(?i:not|nor|neither|than|except|if|whether|suppose|assume|unless)|n['’]t)[^\w\n]{1,4}$")
_LONGEST_NEGATION = 14
# "A good one" and "I think" speak of no option.
_WORD = re.compile(r"(?i:a(?=[ \t])|i)(?:['’]\w|[ \t]+(?!(?:or|and|nor|is|are|because|since|but|not)\b)[a-z])")


class Named(NamedTuple):
    option: str
    start: int
    end: int


class _Way(NamedTuple):
    """first: leads to an option, which others may be joined to. after: what stands behind the last of them."""

    first: str
    after: re.Pattern[str] | None = None
    words_too: bool = True


_OF_LINE = (
    _Way(_ALONE, _LINE_ENDS),
    _Way(_BEGINS),
    _Way(_LEADS, _REASON, words_too=False),
    _Way(_STATED),
    _Way(_BRACKETED),
    _Way(_STANDING),
)
_OF_END = (
    _Way(_STATED),
    *_OF_LINE[:3],
    _Way(_BRACKETED),
    _Way(_IT_IS),
    _Way(_SPOKEN_OF, _IS_RIGHT, words_too=False),
)


def named(options: Sequence[str], *, line: Stretch | None, end: Stretch) -> list[Named]:
    """The options named, each once. line: what stands after "Answer:", which goes before everything else."""
    where = line or end
    for way in _OF_LINE if line else _OF_END:
        groups = _groups(way, where.text, tuple(options))
        found = [each for group in groups if not _is_negated(where.text, group[0].start) for each in group]
        if found:
            return _each_once(found, options, where.start)
    return []


def spoken_of(options: Sequence[str], where: Stretch) -> list[str]:
    """The options that occur at all, whatever is said of them."""
    groups = _groups(_Way(_SPOKEN_OF, words_too=False), where.text, tuple(options))
    return [each.option for each in _each_once((each for group in groups for each in group), options, where.start)]


def _groups(way: _Way, text: str, options: tuple[str, ...]) -> Iterator[list[Named]]:
    """Options that are joined to one another, as they stand."""
    first, joined, at = _compiled(way.first, options), [_compiled(each, options) for each in _JOINED], 0
    while (found := first.search(text, at)) is not None:
        group: list[Named] = []
        while found is not None:
            at = found.end(1)
            if (way.words_too and not group) or not _WORD.match(text, found.start(1)):
                group.append(Named(found[1], found.start(1), at))
                found = next(filter(None, (each.match(text, at) for each in joined)), None)
            else:
                found = None
        if group and (way.after is None or way.after.match(text, group[-1].end)):
            yield group


@lru_cache(maxsize=256)
def _compiled(pattern: str, options: tuple[str, ...]) -> re.Pattern[str]:
    letters = "|".join(sorted(map(re.escape, {*options, *map(str.upper, options)}), key=len, reverse=True))
    return re.compile(pattern.replace("‹X›", letters).replace("‹x›", f"(?i:{letters})"), re.MULTILINE)


def _is_negated(text: str, start: int) -> bool:
    return _NEGATED.search(text, max(0, start - _LONGEST_NEGATION), start) is not None


def _each_once(found: Iterable[Named], options: Sequence[str], offset: int) -> list[Named]:
    by_letter = {option.upper(): option for option in options}
    last = {by_letter[each.option.upper()]: each for each in found}
    return [Named(option, offset + each.start, offset + each.end) for option, each in last.items()]
