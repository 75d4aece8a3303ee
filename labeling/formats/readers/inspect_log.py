"""Inspect AI's logs: `.eval`, a zip with an entry or a folder for every sample, and `.json`, one document.

Tried on logs of inspect_ai 0.3.41, 0.3.58, 0.3.95 and 0.3.133 that others wrote, and on ones made with 0.3.285, read
beside its own reader. `eval` says what was run (task, model, settings, scorers), `plan` by which steps. A sample has an
id and an epoch, which is the attempt; `input`, `target`, `messages`, `output`, `scores` by scorer, `error`, `metadata`
and `attachments`, long texts that are referred to from everywhere else. What a score means depends on the task. Events
are not read, nor are reductions, which are sums over epochs. A log that was cut short has its start and the samples so
far.
"""

import io
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from itertools import pairwise
from typing import Any

from labeling.errors import DomainError
from labeling.formats.files import archives, elements
from labeling.formats.files.elements import Broken
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.problems import shown
from labeling.formats.readers.inspect_attachments import attachments_in, with_attachments
from labeling.formats.readers.inspect_sample import Log, Samples
from labeling.formats.reading import Format, Item, Row
from labeling.formats.rows.values import as_object

_HEADERS = ("header.json", "_journal/start.json")
_WHOLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)
_SHELL = re.compile(r"(samples/.+_epoch_\d+)/sample\.json", re.DOTALL)
_CHUNK = re.compile(r"(samples/.+_epoch_\d+)/(messages|attachments)/(\d+)\.json", re.DOTALL)
_MAX_MESSAGES = 1_000_000
# What fills a sample and has no place in a trajectory.
_BULK = {"events", "events_data", "timelines", "transcript", "error_retries", "model_usage", "role_usage"}


def recognises(sniff: Sniff) -> bool:
    in_zip = any(name == _HEADERS[1] or _WHOLE.fullmatch(name) or _SHELL.fullmatch(name) for name in sniff.names)
    return in_zip or (sniff.outline.kind == "object" and {"version", "status", "eval"} <= set(sniff.outline.keys))


def read(source: Source) -> Iterator[Item]:
    yield from _archive(source) if source.is_zip() else _document(source)


def _document(source: Source) -> Iterator[Item]:
    with source.text() as stream:
        spec = elements.members(stream, "eval")
    with source.text() as stream:
        plan = elements.members(stream, "plan")
    if not spec:
        yield Unread("the log", "eval", "The log does not say what was run: `eval` is missing or cut off.")
        return
    log = Log.of(spec, plan)
    samples = Samples(log, source.mapping)
    yield log.system
    number = 0
    try:
        with source.text() as stream:
            for number, element in enumerate(elements.elements(stream, "samples"), start=1):
                yield _whole(samples, element.raw, place=f"sample {number}")
    except DomainError as error:
        yield Unread(f"after sample {number}", "samples", error.message)


def _archive(source: Source) -> Iterator[Item]:
    with source.archive() as archive:
        entries = _Entries(archive, source)
        header = yield from _header(entries)
        log = Log.of(as_object(header.get("eval")), as_object(header.get("plan")))
        samples = Samples(log, source.mapping)
        yield log.system
        for name in entries.names:
            if shell := _SHELL.fullmatch(name):
                yield _chunked(samples, entries, shell[1])
            elif _WHOLE.fullmatch(name):
                yield _entry(samples, entries, name)


class _Entries:
    """What is in the archive, by name. A log that was edited has a name more than once, and the last one counts.

    chunks: of each sample in pieces, where its chunks of messages and of attachments begin.
    """

    def __init__(self, archive: zipfile.ZipFile, source: Source) -> None:
        self._archive = archive
        self._source = source
        self.names = dict.fromkeys(archive.namelist())
        self.chunks: dict[str, dict[str, list[int]]] = defaultdict(lambda: {"messages": [], "attachments": []})
        for name in self.names:
            if chunk := _CHUNK.fullmatch(name):
                self.chunks[chunk[1]][chunk[2]].append(int(chunk[3]))

    def content(self, name: str) -> bytes:
        """Raises DomainError."""
        return archives.content(archives.entry(self._archive, self._source, self._archive.getinfo(name)))


class _Pieces:
    """The entries of one sample, as far as they are read. raw: what was, one after the other."""

    def __init__(self, entries: _Entries) -> None:
        self._entries = entries
        self.raw = b""

    def content(self, name: str) -> bytes:
        """Raises DomainError."""
        found = self._entries.content(name)
        if len(self.raw) + len(found) > elements.MAX_ELEMENT_BYTES:
            raise elements.too_large()
        self.raw += found + b"\n"
        return found


def _header(entries: _Entries) -> Generator[Unread, None, Mapping[str, Any]]:
    for name in _HEADERS:
        if name in entries.names:
            try:
                return _members(entries.content(name))
            except DomainError as error:
                yield Unread(name, "", error.message)
    yield Unread("the log", "", "The log has no header, so that neither task nor model is known.")
    return {}


def _entry(samples: Samples, entries: _Entries, name: str) -> Row | Unread:
    try:
        raw = entries.content(name)
    except DomainError as error:
        return Unread(_place(name), "", error.message)
    return _whole(samples, raw, place=_place(name))


def _whole(samples: Samples, raw: bytes, *, place: str) -> Row | Unread:
    """A sample that is one JSON object."""
    try:
        sample = _members(raw)
        return _row(samples, sample, as_object(sample.pop("attachments", None)), place=place, raw=raw)
    except Broken as error:
        return Unread(place, "", error.message, raw)


def _chunked(samples: Samples, entries: _Entries, prefix: str) -> Row | Unread:
    """A sample in pieces: a shell, its metadata, and lists of messages and attachments that it refers to by number."""
    chunks, pieces = entries.chunks[prefix], _Pieces(entries)
    try:
        sample = _members(pieces.content(f"{prefix}/sample.json"))
        if f"{prefix}/metadata.json" in entries.names:
            sample["metadata"] = elements.loads(pieces.content(f"{prefix}/metadata.json"))
        wanted = _numbers(sample.pop("message_refs", None))
        pool = _numbered(pieces, f"{prefix}/messages", chunks["messages"], set(wanted))
        sample["messages"] = [pool[number] for number in wanted if number in pool]
        named = {int(name) for name in attachments_in(sample) if name.isascii() and name.isdigit()}
        found = _numbered(pieces, f"{prefix}/attachments", chunks["attachments"], named)
        attachments = {str(number): text for number, text in found.items()}
        return _row(samples, sample, attachments, place=_place(prefix), raw=pieces.raw)
    except DomainError as error:
        return Unread(_place(prefix), "", error.message, pieces.raw)


def _row(samples: Samples, sample: Any, attachments: Mapping[str, Any], *, place: str, raw: bytes) -> Row:
    return samples.row(with_attachments(sample, attachments), place=place, raw=raw)


def _members(raw: bytes) -> dict[str, Any]:
    """An object without its bulk. Raises Broken."""
    if not raw.lstrip().startswith(b"{"):
        raise Broken("It is no JSON object.")
    members = elements.elements(io.BytesIO(raw))
    return {each.key: elements.loads(each.raw) for each in members if each.key not in _BULK}


def _numbered(pieces: _Pieces, folder: str, starts: list[int], wanted: set[int]) -> dict[int, Any]:
    """Those of a list's elements that are wanted, from the chunks that hold any."""
    found: dict[int, Any] = {}
    for start, end in pairwise([*sorted(starts), sys.maxsize]):
        if any(start <= number < end for number in wanted):
            chunk = elements.elements(io.BytesIO(pieces.content(f"{folder}/{start}.json")))
            found |= {number: elements.loads(each.raw) for number, each in enumerate(chunk, start) if number in wanted}
    return found


def _numbers(refs: Any) -> list[int]:
    """From pairs of a first number and one past the last. Raises Broken on what no sample has."""
    pairs = refs if isinstance(refs, list) else []
    for pair in pairs:
        whole = isinstance(pair, list) and len(pair) == 2 and all(type(each) is int for each in pair)
        if not whole or not 0 <= pair[0] <= pair[1]:
            raise Broken("Its list of messages is not one.")
    if sum(end - start for start, end in pairs) > _MAX_MESSAGES:
        raise Broken(f"It has more than {_MAX_MESSAGES:,} messages.")
    return [number for start, end in pairs for number in range(start, end)]


def _place(name: str) -> str:
    return shown(name, limit=200)


FORMAT = Format("inspect", "Inspect AI log", "inspect_ai 0.3.41 to 0.3.285", recognises, read)
