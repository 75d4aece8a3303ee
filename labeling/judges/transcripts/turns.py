"""A transcript as classifiers know conversations: turns of a user and of an assistant, and the answer they are about.

The answer is all that the target said and did after the user's last words before its end: words, and calls of tools
as text. What tools gave back meanwhile stands before it, with the user's words: it is no word of the target's. System
prompts and tool results are named as such. Reasoning is no part of an answer and is left aside.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from labeling.judges.base import Item, part_text, shows, target_acted, target_messages
from labeling.judges.transcripts import showing
from labeling.judges.transcripts.cutting import level

_NAMED = {"system": "[System prompt]\n", "developer": "[System prompt]\n", "tool": "[Result of a tool]\n"}
# A message of which less than this is left tells nobody anything.
_LEAST = 200
_NO_WORDS = "[No words of the user]"


class Turn(NamedTuple):
    assistant: bool
    text: str


_Placed = tuple[int, Turn]


class Transcript(NamedTuple):
    """before: what led to the answer, in the order of the messages. asked: which of it is the user's last words.

    left_out: characters that did not fit.
    """

    before: tuple[Turn, ...]
    asked: int | None
    answer: str
    left_out: int

    @property
    def request(self) -> str:
        return _NO_WORDS if self.asked is None else self.before[self.asked].text

    @property
    def context(self) -> str:
        """What led to the answer beside the user's last words."""
        return _as_text(_alternating([turn for index, turn in enumerate(self.before) if index != self.asked]))

    @property
    def conversation(self) -> str:
        """What led to the answer: the user's words alone, or who said what."""
        turns = _alternating(self.before)
        return turns[0].text if len(turns) == 1 else _as_text(turns)

    def messages(self) -> list[dict[str, str]]:
        """In alternation, beginning with the user, as the templates of such models demand it."""
        turns = _alternating(self.before)
        if not turns or turns[0].assistant:
            turns.insert(0, Turn(False, _NO_WORDS))
        if turns[-1].assistant:
            turns.append(Turn(False, _NO_WORDS))
        turns.append(Turn(True, self.answer))
        return [{"role": "assistant" if turn.assistant else "user", "content": turn.text} for turn in turns]


def _alternating(turns: Iterable[Turn]) -> list[Turn]:
    grouped = groupby(turns, key=lambda turn: turn.assistant)
    return [Turn(assistant, "\n\n".join(turn.text for turn in group)) for assistant, group in grouped]


def _as_text(turns: Iterable[Turn]) -> str:
    return "\n\n".join(f"{'Assistant' if turn.assistant else 'User'}: {turn.text}" for turn in turns)


def transcript_of(item: Item, *, characters: int, whole: bool = True) -> Transcript | None:
    """The transcript within so many characters; None where the target neither said nor did anything.

    whole: with all that led to the answer, not the user's last words alone. The answer may have half of the
    characters, and what the messages before it leave. These share the rest evenly, and what is too long keeps its
    head and its tail. Of more messages than there is room for, the first and the last are kept. What does not show is
    written out, and marks that models take for their own frame are broken up.
    """
    own = _own(item)
    if not own:
        return None
    asked = max((i for i in range(own[-1]) if item.messages[i].get("role") == "user"), default=-1)
    of_answer = {index for index in own if index > asked}
    led = [i for i in range(own[-1]) if i not in of_answer and (whole or i == asked)]
    turns = [(i, turn) for i in led if (turn := _turn(item.messages[i])).text.strip()]
    answer = "\n\n".join(_text(item.messages[index]) for index in sorted(of_answer))
    room = max(characters // 2, characters - sum(len(turn.text) for _, turn in turns))
    cut_answer, left_out = _cut(answer, room)
    fitted, also = _fitted(turns, characters - min(len(answer), room), keep=asked)
    return Transcript(
        tuple(Turn(turn.assistant, showing.shown(turn.text)) for _, turn in fitted),
        next((place for place, (i, _) in enumerate(fitted) if i == asked), None),
        showing.shown(cut_answer),
        left_out + also,
    )


def is_alone(item: Item) -> bool:
    """Is the answer all that the target said, and did it do nothing?"""
    return len(_own(item)) == 1 and not target_acted(item)


def _own(item: Item) -> list[int]:
    """The target's messages that say or do anything."""
    return [index for index in target_messages(item) if shows(_text(item.messages[index]))]


def _turn(message: dict[str, Any]) -> Turn:
    text = _text(message)
    named = _NAMED.get(str(message.get("role")), "") if text.strip() else ""
    return Turn(message.get("role") == "assistant", named + text)


def _text(message: dict[str, Any]) -> str:
    return "\n".join(filter(None, map(_part, message.get("parts") or ())))


def _part(part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind == "reasoning":
        return ""
    if kind == "media":
        return "[A picture, sound or file]"
    return f"[Calls a tool] {part_text(part)}" if kind == "tool_call" else part_text(part)


# --- what fits -----------------------------------------------------------------------------------------------------


def _cut(text: str, room: int) -> tuple[str, int]:
    """Head and tail of what is too long, and how much of it was left out."""
    left_out = len(text) - room
    if left_out <= 0:
        return text, 0
    head = (room + 1) // 2
    tail = text[len(text) - room // 2 :] if room > 1 else ""
    return f"{text[:head]}\n[… {left_out:,} characters left out …]\n{tail}", left_out


def _fitted(turns: Sequence[_Placed], room: int, *, keep: int) -> tuple[list[_Placed], int]:
    most = max(1, room // _LEAST)
    if len(turns) > most:
        turns, dropped = _kept(turns, most=most, keep=keep)
    else:
        dropped = 0
    share = level([len(turn.text) for _, turn in turns], room)
    cut = [(i, turn.assistant, *_cut(turn.text, share)) for i, turn in turns]
    fitted = [(i, Turn(assistant, text)) for i, assistant, text, _ in cut]
    return fitted, dropped + sum(left_out for *_, left_out in cut)


def _kept(turns: Sequence[_Placed], *, most: int, keep: int) -> tuple[list[_Placed], int]:
    """The first and the last of too many, and the one to keep; with a line where others were."""
    first, last = turns[: most // 2], turns[len(turns) - (most - most // 2) :]
    between = turns[most // 2 : len(turns) - (most - most // 2)]
    kept = [each for each in between if each[0] == keep]
    note = Turn(False, f"[… {len(between) - len(kept)} messages left out …]")
    gone = sum(len(turn.text) for i, turn in between if i != keep)
    return [*first, (-1, note), *kept, *last], gone
