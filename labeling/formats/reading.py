"""What a reader of a runner's files yields.

A reader is a generator: from a source it yields each `System` before the first `Row` of it, and an `Unread` for what it
cannot read, so that one bad row costs nothing but itself. A row is not a line yet: what the file does not say (often
the side, sometimes what a score means) is a mapping's to say; see `mapping`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from labeling.formats.files.source import Sniff, Source, Unread
from labeling.vocabulary import Meaning, Part

# What a file does not say of its system or judge is said to be so, never guessed.
NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class System:
    """The system under test as the file names it: one run of the import. `key` tells it from others in the file."""

    key: str
    model: str
    version: str = ""
    name: str = ""
    system_prompt: str = ""
    decoding: Mapping[str, Any] = field(default_factory=dict)
    layer: str = ""
    # As in `wire.AttackSpec`; empty: direct.
    attack: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """What the runner itself says of an answer.

    name: what a mapping calls it. truth: the value as yes or no; `None`: neither (half, unscored, of another kind).
    meaning: what yes says; `None`: the format does not tell, so the mapping must.
    opinion: parts of a posted judgment, where the reader decodes them itself; then truth and meaning are not needed.
    measures: the parts this judge measures, with `opinion`. undetermined: why the judge could not say, if it could not.
    """

    name: str
    judge: str
    version: str
    value: Any
    truth: bool | None = None
    meaning: Meaning | None = None
    opinion: Mapping[str, Any] | None = None
    measures: tuple[Part, ...] = ()
    undetermined: str = ""
    rationale: Any = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One attempt on one case, as the file has it.

    place: where in the file, in words. line: a posted trajectory line without case and judgments; null is absent there.
    case: what the file says of the case; at least its key, with the request where it is known.
    facts: what a mapping may refer to, by dotted path: columns, metadata.
    verdicts: people's labels as posted verdict lines without external_id. raw: the bytes of this row in the file.
    """

    place: str
    system: str
    line: Mapping[str, Any]
    case: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    verdicts: tuple[Mapping[str, Any], ...] = ()
    raw: bytes | None = None


Item = System | Row | Unread


class Format(NamedTuple):
    """A kind of file: how it is known, how it is read, and on which versions of its runner that was tried."""

    name: str
    title: str
    versions: str
    recognises: Callable[[Sniff], bool]
    read: Callable[[Source], Iterator[Item]]
