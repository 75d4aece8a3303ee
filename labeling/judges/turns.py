"""A transcript as classifiers know conversations: turns of a user and of an assistant, and the answer they are about.

The answer is all that the target said and did after the user's last words before its end: words, and calls of tools
as text. What tools gave back meanwhile stands before it, with the user's words: it is no word of the target's. System
prompts and tool results are named as such. Reasoning is no part of an answer and is left aside.
"""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from labeling.judges.base import Item, part_text, target_acted, target_messages

# What makes models take text for the frame around it. Broken up where it can be seen, after its first character.
_CONTROL = re.compile(
    r"<\||\|>|<｜|｜>|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk|mask)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\]",
    re.IGNORECASE,
)
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")
_NAMED = {"system": "[System prompt]\n", "developer": "[System prompt]\n", "tool": "[Result of a tool]\n"}
# A turn of which less than this is left tells nobody anything.
_LEAST = 200
_NO_WORDS = "[No words of the user]"


class Turn(NamedTuple):
    assistant: bool
    text: str


class Shown(NamedTuple):
    """before: turns in alternation, the user's first and last. left_out: characters that did not fit."""

    before: tuple[Turn, ...]
    answer: str
    left_out: int

    @property
    def request(self) -> str:
        return self.before[-1].text

    @property
    def conversation(self) -> str:
        """What came before the answer: the user's words alone, or who said what."""
        return self.request if len(self.before) == 1 else _as_text(self.before)

    @property
    def context(self) -> str:
        """What came before the last request."""
        return _as_text(self.before[:-1])

    def messages(self) -> list[dict[str, str]]:
        turns = (*self.before, Turn(True, self.answer))
        return [{"role": "assistant" if turn.assistant else "user", "content": turn.text} for turn in turns]


def _as_text(turns: Sequence[Turn]) -> str:
    return "\n\n".join(f"{'Assistant' if turn.assistant else 'User'}: {turn.text}" for turn in turns)


def shown(item: Item, *, characters: int) -> Shown | None:
    """The transcript within so many characters; None where the target neither said nor did anything.

    The answer may have half of them, and what the turns before it leave. These share the rest evenly, and what is
    too long keeps its head and its tail. Of more turns than there is room for, the first and the last are kept.
    """
    own = _own(item)
    if not own:
        return None
    asked = max((i for i in range(own[-1]) if item.messages[i].get("role") == "user"), default=-1)
    of_answer = [index for index in own if index > asked]
    before = _turns([item.messages[i] for i in range(own[-1]) if i not in set(of_answer)])
    answer = "\n\n".join(_text(item.messages[index]) for index in of_answer)
    room = max(characters // 2, characters - sum(len(turn.text) for turn in before))
    cut_answer, left_out = _cut(answer, room)
    fitted, also = _fitted(before, characters - min(len(answer), room))
    return Shown(
        tuple(Turn(turn.assistant, inert(turn.text)) for turn in fitted),
        inert(cut_answer),
        left_out + also,
    )


def is_alone(item: Item) -> bool:
    """Is the answer all that the target said, and did it do nothing?"""
    return len(_own(item)) == 1 and not target_acted(item)


def _own(item: Item) -> list[int]:
    """The target's messages that say or do anything."""
    return [index for index in target_messages(item) if _text(item.messages[index]).strip()]


def inert(text: str) -> str:
    """Without what no request can carry, and with the marks broken up that models take for their own frame."""
    return _CONTROL.sub(lambda mark: f"{mark[0][0]}·{mark[0][1:]}", _UNSENDABLE.sub("\ufffd", text))


def _turns(messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """In alternation, beginning and ending with the user, as the templates of such models demand it."""
    said = [
        Turn(message.get("role") == "assistant", _NAMED.get(str(message.get("role")), "") + text)
        for message in messages
        if (text := _text(message)).strip()
    ]
    turns = [
        Turn(assistant, "\n\n".join(turn.text for turn in group))
        for assistant, group in groupby(said, key=lambda turn: turn.assistant)
    ]
    if not turns or turns[0].assistant:
        turns.insert(0, Turn(False, _NO_WORDS))
    if turns[-1].assistant:
        turns.append(Turn(False, _NO_WORDS))
    return turns


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


def _fitted(turns: list[Turn], room: int) -> tuple[list[Turn], int]:
    kept, dropped = _kept(turns, most=max(1, room // _LEAST))
    share = _share([len(turn.text) for turn in kept], room)
    fitted = [(turn, *_cut(turn.text, share)) for turn in kept]
    return [Turn(turn.assistant, text) for turn, text, _ in fitted], dropped + sum(cut for _, _, cut in fitted)


def _kept(turns: list[Turn], *, most: int) -> tuple[list[Turn], int]:
    """The first and the last of too many turns, still in alternation."""
    if len(turns) <= most:
        return turns, 0
    first = most // 4 * 2
    last = max(1, (most - first - 1) // 2 * 2 + 1)
    gone = turns[first : len(turns) - last]
    after, *rest = turns[len(turns) - last :]
    note = f"[… {len(gone)} turns left out …]\n"
    return [*turns[:first], Turn(False, note + after.text), *rest], sum(len(turn.text) for turn in gone)


def _share(lengths: Sequence[int], room: int) -> int:
    """How long each may be, so that together they fit: what the short ones leave goes to the long ones."""
    left = room
    for count, length in zip(range(len(lengths), 0, -1), sorted(lengths), strict=True):
        if length * count > left:
            return left // count
        left -= length
    return room
