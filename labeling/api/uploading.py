"""What comes with an upload: the file, as a body or in a form, and what is asked of it beside the bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.http import UnreadablePostError
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from labeling.api import bodies
from labeling.api.edge import PROJECT
from labeling.api.scope import Caller, caller
from labeling.errors import DomainError
from labeling.formats.problems import BrokenOff, Malformed
from labeling.models import RunnerKey
from labeling.services.importing import files, options, uploads
from labeling.vocabulary import Role

_MULTIPART = "multipart/form-data"
_FILE = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
BODY = {"application/octet-stream": OpenApiTypes.BINARY, _MULTIPART: _FILE}
WISHES = [
    OpenApiParameter("filename", str, description="What the file is called; some formats tell the system by it."),
    OpenApiParameter("format", str, description="A name of /formats/; left out, the content tells."),
    OpenApiParameter("run", str, description="What the run is called; left out, it is made of filename and hash."),
    OpenApiParameter("suite", str, description="KEY@VERSION, there or to be drafted; left out, the run's own."),
    OpenApiParameter("mapping", str, description="The name of a saved mapping."),
    OpenApiParameter("model", str, description="The system under test, where the file does not say it."),
    OpenApiParameter("model_version", str),
    OpenApiParameter("sha256", str, description="The file's hash; with an empty body it opens an upload in parts."),
    OpenApiParameter("size", int, description="The file's size in bytes."),
    PROJECT,
]
_LARGEST_SIZE = 2**50


def received(request: Request) -> uploads.Received:
    """The job of the file that is sent, or of one that is announced and will come in parts."""
    if bodies.media_type(request) == _MULTIPART:
        return _received_form(request)
    who = caller(request, at_least=Role.LEAD)
    if not bodies.is_empty(request):
        with heard_out(request) as chunks:
            return uploads.receive(chunks=chunks, **_upload(request, request.query_params, who))
    announced = _upload(request, request.query_params, who)
    if not announced["sha256"] or announced["size"] is None:
        raise Malformed("The body is empty: send the file, or sha256 and size to send it in parts.")
    return uploads.open_upload(**announced)


@contextmanager
def heard_out(request: Request) -> Iterator[Iterator[bytes]]:
    """The body in chunks. Where it is refused, some more is read: a client still sending would not hear the answer."""
    chunks = bodies.pieces(request)
    try:
        yield chunks
    except DomainError:
        bodies.drain(chunks, most=settings.MAX_BODY_BYTES)
        raise


def byte_count(given: Any, name: str) -> int | None:
    """A number of bytes among what is given, `None` where it is not."""
    raw = given.get(name, "")
    if raw == "":
        return None
    if raw.isascii() and raw.isdigit() and len(raw) < 20 and int(raw) <= _LARGEST_SIZE:
        return int(raw)
    raise DomainError(f"{name} must be a number of bytes.", field=name)


def _received_form(request: Request) -> uploads.Received:
    if isinstance(request.auth, RunnerKey) or "project" in request.query_params:
        # Who may not upload is told before the file is read.
        caller(request, at_least=Role.LEAD)
    fields, file = _form(request)
    with file:
        who = caller(request, at_least=Role.LEAD, project=fields.get("project"))
        fields["filename"] = fields.get("filename") or file.name or ""
        return uploads.receive(chunks=file.chunks(), **_upload(request, fields, who))


def _form(request: Request) -> tuple[dict[str, str], UploadedFile]:
    """The fields, also those of the query, and the file, which is on disk if it is large."""
    length = bodies.declared_length(request)
    if not length:
        raise bodies.LengthRequired
    if length > files.largest_form():
        bodies.drain(bodies.pieces(request), most=settings.MAX_BODY_BYTES)
        raise files.too_large(length)
    try:
        stream = cast("BinaryIO", request)
        posted, sent = MultiPartParser(request.META, stream, request.upload_handlers, "utf-8").parse()
    except (MultiPartParserError, SuspiciousOperation):
        raise Malformed("The form cannot be read; send multipart/form-data with the file as `file`.") from None
    except UnreadablePostError:
        raise BrokenOff("The form broke off before its end; send it again.") from None
    except OSError as error:
        raise bodies.disk_refuses(error) from None
    file = sent.get("file")
    if not isinstance(file, UploadedFile):
        raise Malformed("The form holds no file; send it as `file`.")
    return {**request.query_params.dict(), **{name: str(value) for name, value in posted.items()}}, file


def _upload(request: Request, given: Any, who: Caller) -> dict[str, Any]:
    """given: what is asked beside the bytes, in the query or in fields of a form."""
    words = {name: given.get(name, "") for name in ("filename", "format", "run", "suite", "model", "model_version")}
    return {
        "project": who.project,
        "asked": options.asked(project=who.project, saved=given.get("mapping", ""), **words),
        "sha256": given.get("sha256", ""),
        "size": byte_count(given, "size"),
        "by": who.user,
        "key": request.auth if isinstance(request.auth, RunnerKey) else None,
    }
