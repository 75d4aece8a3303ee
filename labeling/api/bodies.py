"""Bodies as bytes: of a known type, of a limited size before and after decompression."""

import zlib
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.http import UnreadablePostError
from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.request import Request

from labeling.errors import TooLarge
from labeling.formats.lines import read_value
from labeling.formats.problems import Malformed, shown

JSON = ("application/json",)
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
_CHUNK = 1024 * 1024
# pigz and friends make one member or a few; a body of nothing but members is a burden, not data.
_GZIP_MEMBERS = 1000


class LengthRequired(APIException):
    status_code = 411
    default_code = "length_required"
    default_detail = "This server cannot read a body of unknown length; send Content-Length."


def media_type(request: Request) -> str:
    return str(request.content_type or "").partition(";")[0].strip().casefold()


def read(request: Request, *accepted: str) -> bytes:
    """The body, decompressed. Raises before more than the limit is held in memory."""
    if _is_empty(request):
        raise Malformed("The body is empty; send JSON.")
    given = media_type(request)
    if given not in accepted:
        raise UnsupportedMediaType(given, f"Send Content-Type: {' or '.join(accepted)}, not {shown(given) or 'none'}.")
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().casefold()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise UnsupportedMediaType(encoding, f"Send Content-Encoding: gzip, or none; not {shown(encoding)}.")
    body = _received(request)
    return _inflated(body) if encoding.endswith("gzip") else body


def read_json(request: Request, *, may_be_empty: bool = False) -> Any:
    """A body that is one JSON value; an empty one is {} where that is allowed."""
    return {} if may_be_empty and _is_empty(request) else read_value(read(request, *JSON))


def _is_empty(request: Request) -> bool:
    return request.META.get("CONTENT_LENGTH", "") in ("", "0") and not _is_chunked(request)


def _is_chunked(request: Request) -> bool:
    return bool(request.META.get("HTTP_TRANSFER_ENCODING", "").casefold() == "chunked")


def _received(request: Request) -> bytes:
    limit = settings.MAX_BODY_BYTES
    stream = cast("BinaryIO", request)
    if _is_chunked(request):
        # Django reads nothing without a length; a server that marks the end of the input lets us.
        if not request.META.get("wsgi.input_terminated"):
            raise LengthRequired
        stream = request.META["wsgi.input"]
    kept, size = bytearray(), 0
    try:
        # Read on past the limit without keeping anything: a client still sending would not hear the answer.
        while size <= 2 * limit and (chunk := stream.read(_CHUNK)):
            size += len(chunk)
            if size <= limit:
                kept += chunk
    except UnreadablePostError:
        raise Malformed("The body broke off before its end; send it again.") from None
    if size > limit:
        raise _too_large(max(size, int(request.META.get("CONTENT_LENGTH") or 0)))
    return bytes(kept)


def _inflated(body: bytes) -> bytes:
    """Every member of a gzip stream, stopping one byte past the limit."""
    limit = settings.MAX_BODY_BYTES
    inflated = bytearray()
    for _ in range(_GZIP_MEMBERS):
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            inflated += member.decompress(body, limit + 1 - len(inflated))
        except zlib.error:
            raise Malformed("The body is not gzip, though Content-Encoding says so.") from None
        if len(inflated) > limit:
            raise _too_large(None)
        if not member.eof:
            raise Malformed("The gzip stream of the body is cut off; send it again.")
        # Zeros after the last member are padding.
        body = member.unused_data.lstrip(b"\0")
        if not body:
            return bytes(inflated)
    raise Malformed(f"The body is gzip of more than {_GZIP_MEMBERS} members; compress it in one go.")


def _too_large(size: int | None) -> TooLarge:
    limit = settings.MAX_BODY_BYTES
    given = f"{size:,} bytes" if size is not None else "larger than that once it is decompressed"
    return TooLarge(
        f"A body may have {limit:,} bytes and this one is {given}; send fewer lines at a time.",
        limit_bytes=limit,
        size_bytes=size,
    )
