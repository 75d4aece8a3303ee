"""Files of any encoding as UTF-8, without the byte order mark that some writers put before it."""

import codecs
import io
import json
from typing import Any, BinaryIO, cast

from labeling.errors import DomainError

_CHUNK = 1024 * 1024


def as_utf8(stream: BinaryIO, encoding: str | None = None) -> BinaryIO:
    """The stream as UTF-8 without its byte order mark. Without an encoding, the first bytes tell UTF-16 and UTF-32."""
    start = stream.read(4)
    stream.seek(0)
    name = encoding or json.detect_encoding(start) if start else "utf-8"
    try:
        codec = codecs.lookup(name)
    except LookupError:
        raise DomainError(f"There is no encoding {name!r}; name one like utf-8, utf-16 or windows-1252.") from None
    if codec.name == "utf-8" or name == "utf-8-sig":
        stream.seek(3 if start.startswith(codecs.BOM_UTF8) else 0)
        return stream
    try:
        text = io.TextIOWrapper(stream, encoding=codec.name, errors="surrogatepass", newline="")
    except LookupError:
        raise DomainError(f"{name!r} is no encoding of text; name one like utf-8, utf-16 or windows-1252.") from None
    return cast("BinaryIO", io.BufferedReader(_Encoded(text), _CHUNK))


class _Encoded(io.RawIOBase):
    """Text as UTF-8 bytes."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            try:
                self._rest = self._text.read(_CHUNK).encode("utf-8", "surrogatepass")
            except UnicodeError:
                raise DomainError(f"The file is not {self._text.encoding}; name its encoding in the mapping.") from None
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        self._text.close()
        super().close()
