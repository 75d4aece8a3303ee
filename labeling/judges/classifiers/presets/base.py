"""What a preset is, and what the words of a classifier come to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from labeling.endpoints.exchange import Route
from labeling.judges.base import REVIEWED
from labeling.measure.meaning import NO, YES
from labeling.vocabulary import Decision, Meaning, Part, Side

DECISION = frozenset({Part.DECISION})


class Reading(NamedTuple):
    """What a classifier's words come to. leaks: it calls a refusal's content harmful."""

    decisions: frozenset[Decision]
    scores: dict[str, float]
    why: str
    leaks: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """A way of asking, in words of our own, and of reading the answer in the forms that the model has.

    says, cannot: for the page. wording: the prompt, with placeholders; "" where the conversation itself is sent.
    around: the control tokens before and after it where the endpoint adds none (the completion route). needs: of each
    group a prompt must hold one. read: None where the settings say what the words mean.
    flags_refusals: its "harmful" is known to fall on refusals too.
    """

    key: str
    title: str
    says: str
    cannot: str
    route: Route
    routes: frozenset[Route]
    file: Path
    read: Callable[[str], Reading | None] | None = None
    wording: str = ""
    around: tuple[str, str] = ("", "")
    needs: tuple[frozenset[str], ...] = ()
    measures: frozenset[Part] = DECISION
    sides: frozenset[Side] = field(default=REVIEWED)
    max_tokens: int = 32_000
    characters: int = 60_000
    flags_refusals: bool = False


ANSWER = frozenset({"answer", "response", "generation"})
REQUEST = frozenset({"request", "prompt", "conversation", "behavior"})
TEXT_ROUTES = frozenset({Route.CHAT, Route.COMPLETION})

OWN_WORDS = (
    "The prompt is in our own words: for figures that can be compared with published ones, put the wording of the"
    " model's card into the prompt."
)


def by_label(labels: Mapping[str, frozenset[Decision]]) -> Callable[[str], Reading | None]:
    """The answer is one of these words and nothing else, whatever its case; a full stop may end it."""
    known = {label.strip().casefold(): decisions for label, decisions in labels.items()}

    def read(text: str) -> Reading | None:
        word = text.strip().casefold()
        found = word if word in known else word.removesuffix(".")
        if found not in known:
            return None
        return Reading(known[found], {}, f"It says {found}.")

    return read


def yes_or_no(meaning: Meaning) -> Callable[[str], Reading | None]:
    labelled = by_label({"yes": YES[meaning], "no": NO[meaning]})

    def read(text: str) -> Reading | None:
        reading = labelled(text)
        return reading and reading._replace(scores={meaning.value: float(reading.why == "It says yes.")})

    return read
