"""What goes to a judge's endpoint and what comes back, as values."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from labeling.vocabulary import Undetermined


class Route(StrEnum):
    """How an endpoint is spoken to: the two OpenAI routes, or a plain POST of JSON to the address itself."""

    CHAT = "chat"
    COMPLETION = "completion"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is, and the key it wants. trusted: the operator named it, so it may be a private one.

    operator: the name under which the operator keeps it; its address is then nobody else's to see.
    """

    base_url: str
    key: str = field(default="", repr=False)
    trusted: bool = False
    operator: str = ""

    @property
    def place(self) -> str:
        """What sentences call it: its host and port, and nothing that may hold a secret."""
        if self.operator:
            return self.operator
        parts = urlsplit(self.base_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


@dataclass(frozen=True, slots=True)
class Question:
    """One call. body: the JSON that is sent, model included. nonce: what the transcript cannot know.

    tokens: what the call takes at most, by `tokens_of` and the longest answer; it is held against limits and ceilings.
    left_out: characters of the transcript that were not sent.
    """

    route: Route
    body: dict[str, Any]
    nonce: str
    tokens: int
    left_out: int = 0


def tokens_of(text: str) -> int:
    """How many tokens a text may come to; too many rather than too few, for a ceiling is held against it.

    Three letters of English are one; of scripts beyond ASCII each letter may be one or more.
    """
    letters = len(text.encode("ascii", "ignore"))
    beyond = len(text.encode("utf-8", "surrogatepass")) - letters
    return (letters + 2) // 3 + (beyond + 1) // 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. text: of an OpenAI route; refusal: what the API itself marks as one; document: a plain answer."""

    text: str
    refusal: str = ""
    finish_reason: str = ""
    document: Any = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """This one call came to nothing, for a reason of its own: another try would end in the same way.

    detail: in our own words, nothing of what the endpoint wrote.
    """

    reason: Undetermined
    detail: str
    latency_ms: int = 0


@dataclass(frozen=True, slots=True)
class Slow:
    """The endpoint did not answer in time, however often it was asked."""

    detail: str
    latency_ms: int = 0


class Mend(StrEnum):
    """What a person must change where an endpoint's trouble does not pass by itself."""

    KEY = "key"
    ACCOUNT = "account"
    MODEL = "model"
    ADDRESS = "address"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Down:
    """The endpoint itself cannot be used now. wait: seconds until it is worth asking again, where it said so.

    mend: None where it may pass by itself.

    perhaps_this_call: or it can, and fails over this very request; whoever sees other calls answered can tell.
    """

    detail: str
    wait: float | None = None
    perhaps_this_call: bool = False
    mend: Mend | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """The code itself broke on this call. detail: the kind of the exception and its place, never its text."""

    detail: str


Outcome = Answer | Failed | Slow | Down | Broken
