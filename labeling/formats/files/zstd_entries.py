"""Entries of a zip archive that are packed by zstd (method 93), which Python's own reader does not know yet."""

import struct
import zipfile
import zlib

import zstandard

from labeling.formats.files import elements
from labeling.formats.files.elements import Broken

METHOD = 93
DAMAGED = "It is damaged in the zip file; pack it again."
_ENCRYPTED = 0x1
# Of the header before an entry's bytes: how long its name and its extra field are.
_LENGTHS = struct.Struct("<26xHH")


def unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """All of the entry. Raises Broken where it is too large or damaged."""
    if info.flag_bits & _ENCRYPTED:
        raise Broken("It is packed with a password; pack it again without.")
    if max(info.file_size, info.compress_size) > elements.MAX_ELEMENT_BYTES:
        raise elements.too_large()
    try:
        # Long entries are several frames. One byte more than announced shows an entry that is not what it says.
        with zstandard.ZstdDecompressor().stream_reader(_packed(archive, info), read_across_frames=True) as reader:
            content = reader.read(info.file_size + 1)
    except (zstandard.ZstdError, struct.error, OSError, ValueError):
        raise Broken(DAMAGED) from None
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise Broken(DAMAGED)
    return content


def _packed(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    stream = archive.fp
    assert stream is not None
    stream.seek(info.header_offset)
    lengths = _LENGTHS.unpack(stream.read(_LENGTHS.size))
    stream.seek(sum(lengths), 1)
    return stream.read(info.compress_size)
