"""The entries of a zip archive, each a file of its own that is read in pieces and never unpacked to disk."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from labeling.formats.files import elements, zstd_entries
from labeling.formats.files.elements import Broken
from labeling.formats.files.source import Source
from labeling.formats.problems import shown

# What packers on some systems put beside each file.
_NOT_MEANT = "__MACOSX/"
# The others are rare, and one of them may ask for any amount of memory before it gives a byte.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNREADABLE = "It is packed in a way that cannot be read, or with a password; pack it again without."
# What reading a damaged entry comes to: offsets that lead nowhere among them.
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, struct.error)


def entries(archive: zipfile.ZipFile, source: Source, wanted: Callable[[str], object]) -> Iterator[Source]:
    """Each entry whose name is wanted, in the order of the archive. Of those of one name the last one counts."""
    for info in archive.infolist():
        is_meant = not info.is_dir() and not info.filename.startswith(_NOT_MEANT)
        if is_meant and archive.getinfo(info.filename) is info and wanted(info.filename):
            yield entry(archive, source, info)


def entry(archive: zipfile.ZipFile, source: Source, info: zipfile.ZipInfo) -> Source:
    return Source(lambda: _opened(archive, info), info.filename, source.mapping)


def content(source: Source) -> bytes:
    """All of a file that holds one value, as UTF-8. Raises DomainError; one too big is not read at all."""
    with source.text() as stream:
        read = stream.read(elements.MAX_ELEMENT_BYTES + 1)
    if len(read) > elements.MAX_ELEMENT_BYTES:
        raise elements.too_large()
    return read


def named(source: Source) -> str:
    """The entry's name in a sentence of ours."""
    return shown(source.filename, limit=200)


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    if info.compress_type == zstd_entries.METHOD:
        return io.BytesIO(zstd_entries.unpacked(archive, info))
    if info.compress_type not in _METHODS:
        raise Broken(_UNREADABLE)
    try:
        stream = archive.open(info)
    except (NotImplementedError, RuntimeError):
        raise Broken(_UNREADABLE) from None
    except _DAMAGES:
        raise Broken(zstd_entries.DAMAGED) from None
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
        except _DAMAGES:
            raise Broken(zstd_entries.DAMAGED) from None
        buffer[: len(read)] = read
        return len(read)

    def close(self) -> None:
        self._stream.close()
        super().close()
