"""Bodies as bytes: of a known type, of a limited size before and after decompression."""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from django.conf import settings
from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.request import Request

from labeling.errors import DomainError, TooLarge, Unavailable
from labeling.formats.lines import read_value
from labeling.formats.problems import BrokenOff, Malformed, shown

JSON = ("application/json",)
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
_CHUNK = 1024 * 1024
_IN_MEMORY = 4 * _CHUNK
_GZIP = zlib.MAX_WBITS | 16
# pigz and friends make one member or a few; a body of nothing but members is a burden, not data.
_GZIP_MEMBERS = 1000
_BROKEN_OFF = "The body broke off before its end; send it again."


class LengthRequired(APIException):
    status_code = 411
    default_code = "length_required"
    default_detail = "This server cannot read a body of unknown length; send Content-Length."


def media_type(request: Request) -> str:
    return str(request.content_type or "").partition(";")[0].strip().casefold()


def received(request: Request, *accepted: str) -> BinaryIO:
    """The body, decompressed, at its beginning: in memory while it is small, then on disk. Closing it is the caller's.

    Raises before more than the limit is kept.
    """
    if is_empty(request):
        raise Malformed("The body is empty; send JSON.")
    given = media_type(request)
    if given not in accepted:
        raise UnsupportedMediaType(given, f"Send Content-Type: {' or '.join(accepted)}, not {shown(given) or 'none'}.")
    is_packed = _is_packed(request)
    sent = _limited(_sent(request), most=settings.MAX_BODY_BYTES, length=declared_length(request))
    body = cast("BinaryIO", SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - the caller closes it
    try:
        for chunk in _within(_inflated(sent), settings.MAX_BODY_BYTES) if is_packed else sent:
            body.write(chunk)
    except OSError as error:
        body.close()
        raise disk_refuses(error) from None
    except BaseException:
        body.close()
        raise
    finally:
        # Read to the end without keeping anything: a client still sending would not hear the answer.
        drain(sent, most=2 * settings.MAX_BODY_BYTES)
    body.seek(0)
    return body


def disk_refuses(error: OSError) -> Unavailable:
    """What is large lies in the folder for temporary files while it comes in."""
    return Unavailable(
        f"The service cannot use its folder for temporary files ({error.strerror}); tell whoever runs it, then send "
        "this again."
    )


def pieces(request: Request) -> Iterator[bytes]:
    """The body as it comes, decompressed, of any type and size: whoever takes it counts. Raises BrokenOff."""
    sent = _sent(request)
    return _inflated(sent) if _is_packed(request) else sent


def read(request: Request, *accepted: str) -> bytes:
    """The body, decompressed. Raises before more than the limit is held in memory."""
    with received(request, *accepted) as body:
        return body.read()


def read_json(request: Request, *, may_be_empty: bool = False) -> Any:
    """A body that is one JSON value; an empty one is {} where that is allowed."""
    return {} if may_be_empty and is_empty(request) else read_value(read(request, *JSON))


def is_empty(request: Request) -> bool:
    return request.META.get("CONTENT_LENGTH", "") in ("", "0") and not _is_chunked(request)


def _is_chunked(request: Request) -> bool:
    return bool(request.META.get("HTTP_TRANSFER_ENCODING", "").casefold() == "chunked")


def declared_length(request: Request) -> int:
    """As the client declares it; 0 where it does not."""
    return int(request.META.get("CONTENT_LENGTH") or 0)


def _is_packed(request: Request) -> bool:
    encoding = str(request.META.get("HTTP_CONTENT_ENCODING", "")).strip().casefold()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise UnsupportedMediaType(encoding, f"Send Content-Encoding: gzip, or none; not {shown(encoding)}.")
    return encoding.endswith("gzip")


def _sent(request: Request) -> Iterator[bytes]:
    """What the client sends, in chunks."""
    stream = cast("BinaryIO", request)
    if _is_chunked(request):
        # Django reads nothing without a length; a server that marks the end of the input lets us.
        if not request.META.get("wsgi.input_terminated"):
            raise LengthRequired
        stream = request.META["wsgi.input"]
    size = 0
    for chunk in _read_until_it_breaks(stream):
        size += len(chunk)
        yield chunk
    # Whoever hangs up leaves a body that merely ends.
    if size < declared_length(request):
        raise BrokenOff(_BROKEN_OFF)


def _read_until_it_breaks(stream: BinaryIO) -> Iterator[bytes]:
    while True:
        try:
            chunk = stream.read(_CHUNK)
        except Exception:
            # Every server has an error of its own for chunks that are cut off or malformed.
            raise BrokenOff(_BROKEN_OFF) from None
        if not chunk:
            return
        yield chunk


def _limited(sent: Iterable[bytes], *, most: int, length: int) -> Iterator[bytes]:
    """What is sent, up to the limit. Then more is read, for nothing: who still sends does not hear the answer."""
    size = 0
    for chunk in sent:
        size += len(chunk)
        if size > 2 * most:
            break
        if size <= most:
            yield chunk
    if size > most:
        raise _too_large(max(size, length))


def _within(inflated: Iterable[bytes], most: int) -> Iterator[bytes]:
    for chunk in inflated:
        most -= len(chunk)
        if most < 0:
            raise _too_large(None)
        yield chunk


def drain(chunks: Iterable[bytes], *, most: int) -> None:
    with suppress(DomainError):
        for chunk in chunks:
            most -= len(chunk)
            if most < 0:
                return


def _inflated(packed: Iterable[bytes]) -> Iterator[bytes]:
    """Every member of a gzip stream, never much at a time."""
    members = 1
    member = zlib.decompressobj(wbits=_GZIP)
    for each in packed:
        chunk = each
        # Zeros after a member are padding.
        while chunk := chunk.lstrip(b"\0") if member.eof else chunk:
            if member.eof:
                member, members = zlib.decompressobj(wbits=_GZIP), members + 1
            if members > _GZIP_MEMBERS:
                raise Malformed(f"The body is gzip of more than {_GZIP_MEMBERS} members; compress it in one go.")
            yield _decompressed(member, chunk)
            chunk = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        raise Malformed("The gzip stream of the body is cut off; send it again.")


def _decompressed(member: Any, chunk: bytes) -> bytes:
    try:
        inflated: bytes = member.decompress(chunk, _CHUNK)
    except zlib.error:
        raise Malformed("The body is not gzip, though Content-Encoding says so.") from None
    return inflated


def _too_large(size: int | None) -> TooLarge:
    limit = settings.MAX_BODY_BYTES
    given = f"{size:,} bytes" if size is not None else "larger than that once it is decompressed"
    return TooLarge(
        f"A body may have {limit:,} bytes and this one is {given}; send fewer lines at a time.",
        limit_bytes=limit,
        size_bytes=size,
    )
