"""A file as its reader sees it: its bytes as often as needed, its beginning, and what of it cannot be read."""

import io
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, cast

from labeling.errors import DomainError
from labeling.formats.files import elements
from labeling.formats.files.encoding import as_utf8
from labeling.formats.mapping import Columns, ImportMapping

# How much of a file is looked at to tell its format.
HEAD_BYTES = 256 * 1024
# Of a zip file, the list of its entries: half a million and more of them, which take ten times as much memory.
MAX_LISTING_BYTES = 64 * 1024 * 1024
# What the standard reader raises on a zip file that is none, besides its own error.
_NO_ZIP = (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, EOFError, struct.error)


@dataclass(frozen=True, slots=True)
class Unread:
    """What is in the file and cannot be read; never a reason to lose its neighbours."""

    place: str
    path: str
    reason: str
    raw: bytes = b""


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
        return as_utf8(self.opener(), self.mapping.encoding)

    def is_zip(self) -> bool:
        with self.opener() as stream:
            return stream.read(4) == b"PK\x03\x04"

    def archive(self) -> zipfile.ZipFile:
        """The file as a zip archive. Raises DomainError where it is none, or lists more than can be held."""
        stream = self.opener()
        try:
            return _Archive(stream)
        except _NO_ZIP:
            stream.close()
            raise DomainError("This zip file is cut off or damaged; upload it again.") from None
        except DomainError:
            stream.close()
            raise


class _Archive(zipfile.ZipFile):
    """Closes the file it reads along with itself."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(cast("BinaryIO", _Listing(stream)))
        # The entries, unlike their list, are read in pieces.
        self.fp = stream

    def close(self) -> None:
        stream = self.fp
        super().close()
        if stream is not None:
            stream.close()


class _Listing:
    """A zip file while its list of entries is read, which is done at one go."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, size: int = -1) -> bytes:
        if size > MAX_LISTING_BYTES:
            raise DomainError(
                f"The list of what is in this zip file has more than {MAX_LISTING_BYTES:,} bytes; "
                "pack fewer files into it."
            )
        return self._stream.read(size)


class Sniff:
    """The beginning of a file, in the forms that tell formats apart: of a zip its names, of any other its text.

    Raises DomainError on a damaged zip and on an unknown encoding.
    """

    def __init__(self, source: Source) -> None:
        # Whoever names columns holds the file for a table, though it may hold messages as well.
        self.is_called_a_table = source.mapping.columns != Columns()
        self.names: tuple[str, ...] = ()
        self.head = b""
        if source.is_zip():
            with source.archive() as archive:
                self.names = tuple(archive.namelist())
        else:
            with source.text() as text:
                self.head = text.read(HEAD_BYTES).lstrip()

    @cached_property
    def outline(self) -> elements.Outline:
        """Of a JSON document: object or array, and the keys of its (first) object."""
        return elements.outline(self.head)
