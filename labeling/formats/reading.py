"""What a reader of a runner's files takes and what it yields.

A reader is a generator: from a source it yields each `System` before the first `Row` of it, and an `Unread` for what it
cannot read, so that one bad row costs nothing but itself. A row is not a line yet: what the file does not say (often
the side, sometimes what a score means) is a mapping's to say; see `mapping`.
"""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple

from labeling.errors import DomainError
from labeling.formats import elements
from labeling.formats.mapping import ImportMapping
from labeling.vocabulary import Meaning, Part

# How much of a file is looked at to tell its format.
HEAD_BYTES = 256 * 1024


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

    place: where in the file, in words. line: a posted trajectory line without case and judgments.
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


@dataclass(frozen=True, slots=True)
class Unread:
    """What is in the file and cannot be read; never a reason to lose its neighbours."""

    place: str
    path: str
    reason: str
    raw: bytes = b""


Item = System | Row | Unread


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, as often as needed. `opener` gives its bytes from the start, seekable."""

    opener: Callable[[], BinaryIO]
    filename: str
    mapping: ImportMapping = field(default_factory=ImportMapping)

    @classmethod
    def of_bytes(cls, content: bytes, filename: str = "upload", mapping: ImportMapping | None = None) -> "Source":
        return cls(lambda: io.BytesIO(content), filename, mapping or ImportMapping())

    def text(self) -> BinaryIO:
        """The file as UTF-8 without a byte order mark, from the start. Raises DomainError on an unknown encoding."""
        return elements.as_utf8(self.opener(), self.mapping.encoding)

    def archive(self) -> zipfile.ZipFile:
        """The file as a zip archive. Raises DomainError where it is none."""
        stream = self.opener()
        try:
            return _Archive(stream)
        except zipfile.BadZipFile:
            stream.close()
            raise DomainError("This zip file is cut off or damaged; upload it again.") from None


class _Archive(zipfile.ZipFile):
    """Closes the file it reads along with itself."""

    def close(self) -> None:
        stream = self.fp
        super().close()
        if stream is not None:
            stream.close()


class Sniff:
    """The beginning of a file, in the forms that tell formats apart. Nothing here raises."""

    def __init__(self, source: Source) -> None:
        self.filename = source.filename
        self.mapping = source.mapping
        with source.opener() as stream:
            start = stream.read(4)
            self.is_zip = start == b"PK\x03\x04"
        self.names: tuple[str, ...] = ()
        if self.is_zip:
            with source.archive() as archive:
                self.names = tuple(archive.namelist())
        self.head = b""
        if not self.is_zip:
            with source.text() as text:
                self.head = text.read(HEAD_BYTES).lstrip()

    @cached_property
    def outline(self) -> elements.Outline:
        """Of a JSON document: object or array, and the keys of its (first) object."""
        return elements.outline(self.head)

    @cached_property
    def first_line(self) -> Any:
        """The first line as JSON; `None` where it is none, or is longer than the head."""
        line, end, _ = self.head.partition(b"\n")
        if not end and len(self.head) >= HEAD_BYTES:
            return None
        try:
            return json.loads(line.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            return None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names in the first line, read as CSV."""
        try:
            first = next(csv.reader(io.StringIO(self.head.decode("utf-8", "replace"), newline="")), [])
        except csv.Error:
            return ()
        return tuple(name.strip() for name in first)


class Format(NamedTuple):
    """A kind of file: how it is known, how it is read, and on which versions of its runner that was tried."""

    name: str
    title: str
    versions: str
    recognises: Callable[[Sniff], bool]
    read: Callable[[Source], Iterator[Item]]


def joined(*words: Sequence[object] | object) -> str:
    """The words that are there, one key of them: for external ids and keys of systems."""
    return "/".join(str(word) for word in words if word not in (None, ""))
