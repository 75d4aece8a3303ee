"""What a judge that runs here looks like."""

from dataclasses import dataclass
from typing import Any, Protocol

from labeling.measure.opinion import Opinion, failed
from labeling.vocabulary import JudgeKind, Part, Undetermined

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """An opinion with where in the transcript it comes from (message index, code point offsets)."""

    opinion: Opinion
    evidence: tuple[dict[str, Any], ...] = ()
    rationale: str = ""


class RunningJudge(Protocol):
    """A judge a worker can run on a transcript in normal form."""

    name: str
    title: str
    kind: JudgeKind
    measures: frozenset[Part]

    @property
    def version(self) -> str:
        """A hash of everything that can change an answer."""

    def judge(self, messages: list[Message]) -> Said:
        """Deterministic here; never raises on what a transcript may hold."""


def target_text(messages: list[Message]) -> tuple[int, str, bool] | None:
    """(message index, text, says refusal outside the text) of the target's last turn that says anything.

    What users, tools and attackers wrote is never read as the target's words.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.get("role") != "assistant":
            continue
        parts = [part for part in message.get("parts", ()) if part.get("type") in ("text", "refusal")]
        refused = any(part["type"] == "refusal" for part in parts)
        text = "\n".join(str(part.get("text") or "") for part in parts)
        if text.strip() or refused:
            return index, text, refused
    return None


def target_acted(messages: list[Message]) -> bool:
    """Did the target call a tool?"""
    return any(
        part.get("type") == "tool_call"
        for message in messages
        if message.get("role") == "assistant"
        for part in message.get("parts", ())
    )


def abstained(reason: Undetermined, measures: frozenset[Part]) -> Said:
    return Said(failed(reason, measures))
