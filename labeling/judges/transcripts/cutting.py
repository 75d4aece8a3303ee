"""How much of each piece of a transcript is shown where not all of it fits. Lengths only; nothing here reads a word.

The rule: the results of tools are shortened first, then what others wrote, then what the target said; within each of
the three the longest first, down to one common length and never below a floor. If that is not enough, whole pieces are
left out, from the middle outwards.
"""

from collections.abc import Collection, Sequence
from enum import IntEnum
from typing import NamedTuple

# What a piece costs beside its words: the line above it. Without it a million empty messages would fit.
HEADING = 40
_FLOORS = (100, 1_000)
# A floor lets so many pieces in before whole ones are left out.
_PIECES = 20


class Rank(IntEnum):
    """Who wrote a piece, in the order in which pieces are shortened."""

    TOOL = 0
    OTHERS = 1
    TARGET = 2


class Piece(NamedTuple):
    rank: Rank
    length: int


def fitted(pieces: Sequence[Piece], *, room: int, always: Collection[int]) -> list[int | None]:
    """The characters that are shown of each piece; None where the whole piece is left out.

    always: the places of pieces that stay whatever happens.
    """
    kept = [piece.length for piece in pieces]
    floor = min(max(room // _PIECES, _FLOORS[0]), _FLOORS[1])
    for rank in Rank:
        over = sum(kept) + HEADING * len(kept) - room
        if over <= 0:
            return list(kept)
        own = [piece.length for piece in pieces if piece.rank is rank]
        most = max(level(own, sum(own) - over), floor)
        kept = [min(length, most) if piece.rank is rank else length for piece, length in zip(pieces, kept, strict=True)]
    if sum(kept) + HEADING * len(kept) <= room:
        return list(kept)
    return _ends(kept, room=room, always=always)


def level(lengths: Sequence[int], room: int) -> int:
    """The greatest length to which all can be shortened so that together they take no more than the room."""
    left = room
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        if share < length:
            return share
        left -= length
    return max(lengths, default=0)


def _ends(kept: Sequence[int], *, room: int, always: Collection[int]) -> list[int | None]:
    """As many pieces as fit, taken in turn from the beginning and from the end."""
    chosen = set(always)
    left = room - sum(kept[place] + HEADING for place in chosen)
    for turn in range(len(kept)):
        place = turn // 2 if turn % 2 == 0 else len(kept) - 1 - turn // 2
        if place in chosen:
            continue
        left -= kept[place] + HEADING
        if left < 0:
            break
        chosen.add(place)
    return [length if place in chosen else None for place, length in enumerate(kept)]
