"""The option that an answer names.

From the plainest way of naming one to the least plain; the first that names any decides. Where it names several, none
is taken: an answer that cannot be read is not a wrong one.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labeling.judges.checking.reading import Stretch


class Named(NamedTuple):
    option: str
    start: int
    end: int


def named(options: Sequence[str], *, line: Stretch | None, end: Stretch) -> list[Named]:
    """The options named, each once. line: what stands after "Answer:", which goes before everything else."""
    letters = "|".join(sorted(map(re.escape, {*options, *map(str.upper, options)}), key=len, reverse=True))
    alone = rf"^[^\w\n]{{0,8}}(?i:(?:option|choice)[ \t]{{1,3}})?[^\w\n]{{0,8}}((?i:{letters}))[^\w\n]{{0,8}}$"
    begins = rf"^[^\w\n(\[]{{0,8}}({letters})[*_`]{{0,3}}[).:]"
    stated = (
        r"(?i:\b(?:answer|choice|option)(?:[ \t]{1,3}is)?|\b(?:choose|pick|select|go[ \t]{1,3}with))"
        rf"(?i:\W{{1,8}}(?:option|choice|answer))?\W{{1,8}}({letters})(?!\w)"
    )
    bracketed = rf"[(\[]((?i:{letters}))[)\]]"
    standing = rf"(?<!\w)({letters})(?!\w)"
    where = line or end
    for way in [alone, begins, stated, bracketed, standing] if line else [stated, alone, begins, bracketed]:
        if found := _each_once(re.finditer(way, where.text, re.MULTILINE), options, where.start):
            return found
    return []


def _each_once(found: Iterable[re.Match[str]], options: Sequence[str], offset: int) -> list[Named]:
    by_letter = {option.upper(): option for option in options}
    last = {by_letter[match[1].upper()]: match.span(1) for match in found}
    return [Named(option, offset + start, offset + end) for option, (start, end) in last.items()]
