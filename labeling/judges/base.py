"""What a judge that runs here looks like: what it is given, what it says, and the two ways in which it comes to it.

A local judge says what it says at once. A served judge makes a question, which somebody else sends, and reads the
answer. Neither knows a database or a network.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import regex

from labeling.endpoints.exchange import Answer, Question
from labeling.judges.service import Service
from labeling.measure.opinion import Opinion, failed
from labeling.vocabulary import DEFAULT_HARM_THRESHOLD, JudgeKind, Kind, Part, Side, Undetermined

Message = dict[str, Any]

# Neither blank nor unseen: marks without a letter, formats and controls, fillers that count as letters.
_SHOWN = regex.compile(r"[^\s\p{Mn}\p{Me}\p{Cf}\p{Cc}\u115f\u1160\u3164\uffa0\u2800]")

# What people review. Capability cases are checked by program, and by nothing else.
REVIEWED = frozenset({Side.HARMFUL, Side.BENIGN})
# So much is kept of what a model wrote.
LONGEST_RAW = 20_000


@dataclass(frozen=True, slots=True)
class Item:
    """What a judge is given: a transcript in normal form, and what its case says of it.

    begins: the index of the first message that may be the target's own; assistant turns before it were scripted.
    threshold: the harm grade from which the suite calls an answer harmful. check: how a capability case is checked.
    """

    messages: list[Message]
    begins: int = 0
    side: Side = Side.HARMFUL
    category: str = ""
    tier: int | None = None
    kind: Kind = Kind.SINGLE_TURN
    stop_reason: str = ""
    right_answer: str = ""
    check: dict[str, Any] | None = None
    threshold: int = DEFAULT_HARM_THRESHOLD


class Span(NamedTuple):
    """Evidence: a stretch of one part of one message, in code points, and the words that stand there.

    message and part count from 0. The text of a tool call is what `part_text` makes of it.
    """

    message: int
    part: int
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Said:
    """An opinion with what it rests on. scores: numbers by name. raw: the judge's own words, where it has any."""

    opinion: Opinion
    evidence: tuple[Span, ...] = ()
    rationale: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    raw: Any = ""


class RunningJudge(Protocol):
    """A version of a judge that this code can run.

    measures: the parts of an opinion it speaks of. sides: the cases it is asked about at all.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def kind(self) -> JudgeKind: ...
    @property
    def measures(self) -> frozenset[Part]: ...
    @property
    def sides(self) -> frozenset[Side]: ...
    @property
    def version(self) -> str:
        """A hash of everything that can change an answer."""


@runtime_checkable
class LocalJudge(RunningJudge, Protocol):
    def judge(self, items: Sequence[Item]) -> list[Said]:
        """One for each, in their order. Never raises on what a transcript may hold."""


@runtime_checkable
class ServedJudge(RunningJudge, Protocol):
    @property
    def service(self) -> Service:
        """Who answers."""

    def ask(self, item: Item, nonce: str) -> Question | Said:
        """The call to make; or what can be said without one (an empty answer, a case it has no question for)."""

    def read(self, item: Item, question: Question, answer: Answer) -> Said:
        """What the answer comes to. What cannot be read is undetermined, whatever words are in it."""


# --- what the target said ------------------------------------------------------------------------------------------


def target_messages(item: Item) -> list[int]:
    """The indices of the target's own messages. What users, tools, attackers and scripts wrote is never among them."""
    return [
        index for index in range(item.begins, len(item.messages)) if item.messages[index].get("role") == "assistant"
    ]


class Spoken(NamedTuple):
    """The target's last turn that says anything. parts: (index, text) of its words; refused: one is a refusal part."""

    message: int
    parts: tuple[tuple[int, str], ...]
    refused: bool

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.parts)


def last_words(item: Item) -> Spoken | None:
    for index in reversed(target_messages(item)):
        parts = item.messages[index].get("parts") or ()
        worded = [(at, part) for at, part in enumerate(parts) if part.get("type") in ("text", "refusal")]
        spoken = Spoken(
            index,
            tuple((at, str(part.get("text") or "")) for at, part in worded),
            refused=any(part["type"] == "refusal" for _, part in worded),
        )
        if spoken.refused or any(shows(text) for _, text in spoken.parts):
            return spoken
    return None


def shows(text: str) -> bool:
    """Is there anything of it to be seen? Characters that do not show are no words, however many there are."""
    return _SHOWN.search(text) is not None


def target_acted(item: Item) -> bool:
    """Did the target call a tool?"""
    return any(
        part.get("type") == "tool_call"
        for index in target_messages(item)
        for part in item.messages[index].get("parts") or ()
    )


def wordless(item: Item) -> Undetermined:
    """Why there is nothing to read where the target said no word. What it did without one is no empty answer."""
    return Undetermined.UNREADABLE if target_acted(item) else Undetermined.EMPTY


def part_text(part: dict[str, Any]) -> str:
    """The text of a part as judges read it and as evidence counts in it."""
    kind = part.get("type")
    if kind == "tool_call":
        given = part.get("arguments_raw")
        arguments = given if isinstance(given, str) else json.dumps(part.get("arguments"), ensure_ascii=False)
        return f"{part.get('name') or ''}({arguments})"
    if kind in ("media", "unknown"):
        return json.dumps(part.get("raw"), ensure_ascii=False, default=str)
    return str(part.get("text") or "")


# --- what is said --------------------------------------------------------------------------------------------------


def abstained(
    reason: Undetermined,
    measures: frozenset[Part],
    *,
    rationale: str = "",
    scores: dict[str, float] | None = None,
    raw: Any = "",
) -> Said:
    """The judge could not say, for this reason."""
    return Said(failed(reason, measures), rationale=rationale, scores=scores or {}, raw=raw)


def code_of(*modules: ModuleType) -> list[Path]:
    """The files of these modules, for a version."""
    return [Path(str(module.__file__)) for module in modules]


def version_of(settings: Any, files: Iterable[Path]) -> str:
    """Of everything that can change an answer: what the judge was made from, and the code and data it works with."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, ensure_ascii=True, default=str).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
