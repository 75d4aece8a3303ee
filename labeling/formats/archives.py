"""The entries of a zip archive, each a file of its own that is read in pieces and never unpacked to disk."""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from labeling.errors import DomainError
from labeling.formats import elements, zstd_entries
from labeling.formats.elements import Broken
from labeling.formats.problems import shown
from labeling.formats.reading import Source, Unread

# What packers on some systems put beside each file.
_NOT_MEANT = "__MACOSX/"


def entries(archive: zipfile.ZipFile, source: Source, wanted: Callable[[str], object]) -> Iterator[Source]:
    """Each entry whose name is wanted, in the order of the archive."""
    for info in archive.infolist():
        if not info.is_dir() and not info.filename.startswith(_NOT_MEANT) and wanted(info.filename):
            yield entry(archive, source, info)


def entry(archive: zipfile.ZipFile, source: Source, info: zipfile.ZipInfo) -> Source:
    return Source(lambda: _opened(archive, info), info.filename, source.mapping)


def content(source: Source) -> bytes:
    """All of a file that holds one value, as UTF-8. Raises DomainError; one too big is not read at all."""
    with source.text() as stream:
        read = stream.read(elements.MAX_ELEMENT_BYTES + 1)
    if len(read) > elements.MAX_ELEMENT_BYTES:
        raise Broken(f"It has more than {elements.MAX_ELEMENT_BYTES:,} bytes.")
    return read


def is_zip(source: Source) -> bool:
    with source.opener() as stream:
        return stream.read(4) == b"PK\x03\x04"


def named(source: Source) -> str:
    """The entry's name in a sentence of ours."""
    return shown(source.filename, limit=200)


def unread(source: Source, error: DomainError) -> Unread:
    return Unread(named(source), "", error.message)


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    if info.compress_type == zstd_entries.METHOD:
        return io.BytesIO(zstd_entries.unpacked(archive, info))
    try:
        stream = archive.open(info)
    except (NotImplementedError, RuntimeError):
        raise Broken("It is packed in a way that cannot be read, or with a password; pack it again without.") from None
    except (zipfile.BadZipFile, EOFError):
        raise Broken("It is damaged in the zip file; pack it again.") from None
    return cast("BinaryIO", io.BufferedReader(_Entry(stream)))


class _Entry(io.RawIOBase):
    """An entry, unpacked as it is read; where it is damaged it says so like any other broken file."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def readinto(self, buffer: Any) -> int:
        try:
            read = self._stream.read(len(buffer))
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise Broken("It is damaged in the zip file; pack it again.") from None
        buffer[: len(read)] = read
        return len(read)

    def close(self) -> None:
        self._stream.close()
        super().close()
