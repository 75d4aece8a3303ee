"""/api/v1/imports/: upload a file whole or in parts, preview, commit, cancel, take the quarantine along."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.http import StreamingHttpResponse
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import tasks
from labeling.api import bodies
from labeling.api.edge import PROJECT, AnyFormat, ApiView, answered, responses
from labeling.api.import_answers import ImportAnswer, ImportList, ImportRow, RejectedRow
from labeling.api.queries import number
from labeling.api.scope import Caller, caller, caller_on_import
from labeling.errors import DomainError
from labeling.formats.packing import unpack
from labeling.formats.problems import Malformed
from labeling.formats.scalars import JsonObject, Name100, Word60, Word200
from labeling.formats.wire import Wire, read
from labeling.models import ImportJob, ImportRejection, RunnerKey
from labeling.selectors import importing
from labeling.services.importing import claims, committing, files, options, uploads
from labeling.services.importing.options import Asked
from labeling.vocabulary import Role

LARGEST_PAGE = 500
NDJSON = "application/x-ndjson"
MULTIPART = "multipart/form-data"
# The other fields of a form, and the borders between its parts.
_AROUND = 1024 * 1024
_LARGEST_SIZE = 2**50
_UPLOAD = [
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
_BODY = {
    "application/octet-stream": OpenApiTypes.BINARY,
    MULTIPART: {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]},
}


class Imports(ApiView):
    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="post_import",
        request=_BODY,
        parameters=_UPLOAD,
        responses=responses(400, 409, 411, 413, 415, 503, success={200: ImportAnswer, 201: ImportAnswer}),
    )
    def post(self, request: Request) -> Response:
        """Upload a file, as the body or as `file` of a form with the same names; a worker then makes the preview.

        The same bytes with the same wishes again are 200 and the same import. With an empty body, `sha256` and `size`
        an upload in parts is opened, or found again with what has been received: go on with PATCH. A body may
        be gzip, a form may not.
        """
        if bodies.media_type(request) == MULTIPART:
            job, created = _received_form(request)
        else:
            who, wishes = caller(request, at_least=Role.LEAD), _Wishes(request.query_params)
            if bodies.is_empty(request):
                job, created = _opened(request, who, wishes)
            else:
                with _heard_out(request) as chunks:
                    job, created = uploads.receive(chunks=chunks, **wishes.upload(request, who))
        tasks.request_import(job)
        return _answered(job, status=201 if created else 200)

    @extend_schema(
        operation_id="list_imports",
        parameters=[
            PROJECT,
            OpenApiParameter("offset", int),
            OpenApiParameter("limit", int, description=f"At most {LARGEST_PAGE}."),
        ],
        responses=responses(400, success={200: ImportList}),
    )
    def get(self, request: Request) -> Response:
        """The project's imports, newest first, without their previews."""
        project = caller(request, at_least=Role.LEAD).project
        offset = number(request, "offset", default=0, most=2**31)
        limit = number(request, "limit", default=100, most=LARGEST_PAGE)
        page = importing.jobs_listed(project, offset=offset, limit=limit)
        results = [ImportRow.model_validate(job) for job in page.jobs]
        return answered(ImportList(count=page.total, left=max(0, page.total - offset - len(results)), results=results))


class OneImport(ApiView):
    @extend_schema(operation_id="get_import", responses=responses(success={200: ImportAnswer}))
    def get(self, request: Request, import_id: int) -> Response:
        """Where an import stands, with its preview once it is there."""
        job, _ = caller_on_import(request, import_id, at_least=Role.LEAD)
        return _answered(job)

    @extend_schema(
        operation_id="append_to_import",
        request={"application/octet-stream": OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("offset", int, required=True, description="Bytes sent before, decompressed.")],
        responses=responses(400, 409, 411, 413, 415, 503, success={200: ImportAnswer}),
    )
    def patch(self, request: Request, import_id: int) -> Response:
        """The next part of a file. With another offset than `received` it is 409, and `details.received` says where.

        Of a part that breaks off, what came is kept. After the last part the hash is checked and reading begins.
        """
        job, _ = caller_on_import(request, import_id, at_least=Role.LEAD)
        offset = _size(request.query_params, "offset")
        if offset is None:
            raise DomainError("Say at which offset these bytes belong: ?offset=N.", field="offset")
        with _heard_out(request) as chunks:
            job = uploads.append(job=job, offset=offset, chunks=chunks)
        tasks.request_import(job)
        return _answered(job)


class PreviewBody(Wire):
    """What is left out stays. mapping and saved_mapping replace the mapping; model and model_version go into it."""

    format: Word60 | None = None
    run: Word200 | None = None
    suite: Word200 | None = None
    mapping: JsonObject | None = None
    saved_mapping: Name100 | None = None
    save_as: Name100 | None = None
    model: Word200 | None = None
    model_version: Word200 | None = None


class PreviewImport(ApiView):
    @extend_schema(
        operation_id="preview_import",
        request=PreviewBody,
        responses=responses(400, 409, success={202: ImportAnswer}),
    )
    def post(self, request: Request, import_id: int) -> Response:
        """Change what is asked of the file, and have the preview made anew. `save_as` keeps the mapping."""
        job, who = caller_on_import(request, import_id, at_least=Role.LEAD)
        body = read(PreviewBody, bodies.read_json(request, may_be_empty=True)).model_dump()
        job = options.change(job=job, saved=body.pop("saved_mapping"), by=who.user, **body)
        tasks.request_import(job)
        return _answered(job, status=202)


class CommitBody(Wire):
    """blind: the people whose labels are in the file had seen no judge's opinion."""

    blind: bool = False


class CommitImport(ApiView):
    @extend_schema(
        operation_id="commit_import", request=CommitBody, responses=responses(400, 409, success={202: ImportAnswer})
    )
    def post(self, request: Request, import_id: int) -> Response:
        """Put the rows into runs, in the background. Again, it tries again: what is there already is a duplicate."""
        job, _ = caller_on_import(request, import_id, at_least=Role.LEAD)
        body = read(CommitBody, bodies.read_json(request, may_be_empty=True))
        job = committing.request_commit(job=job, blind=body.blind)
        tasks.request_import(job)
        return _answered(job, status=202)


class CancelImport(ApiView):
    @extend_schema(operation_id="cancel_import", request=None, responses=responses(success={200: ImportAnswer}))
    def post(self, request: Request, import_id: int) -> Response:
        """Stop. What was committed stays; a commit or a preview may be asked for again."""
        job, _ = caller_on_import(request, import_id, at_least=Role.LEAD)
        return _answered(claims.cancel(job=job))


class RejectedRows(ApiView):
    content_negotiation_class = AnyFormat

    @extend_schema(operation_id="list_rejected_rows", responses={**responses(success={}), (200, NDJSON): RejectedRow})
    def get(self, request: Request, import_id: int) -> StreamingHttpResponse:
        """The rows of the last commit that did not go in, one a line, with the reason and their text in the file."""
        job, _ = caller_on_import(request, import_id, at_least=Role.LEAD)
        answer = StreamingHttpResponse(map(_line, importing.every_rejection(job)), content_type=NDJSON)
        answer["Content-Disposition"] = f'attachment; filename="import-{job.pk}-rejected.ndjson"'
        answer["Cache-Control"] = "no-store"
        return answer


class _Wishes(NamedTuple):
    """What was asked beside the bytes: in the query, or as fields of a form."""

    given: Any

    def asked(self, who: Caller, *, filename: str | None = None) -> Asked:
        words = {name: self.given.get(name, "") for name in ("format", "run", "suite", "model", "model_version")}
        filename = self.given.get("filename") or filename or ""
        return options.asked(project=who.project, filename=filename, saved=self.given.get("mapping", ""), **words)

    def upload(self, request: Request, who: Caller, *, filename: str | None = None) -> dict[str, Any]:
        return {
            "project": who.project,
            "asked": self.asked(who, filename=filename),
            "sha256": self.given.get("sha256", ""),
            "size": _size(self.given, "size"),
            "by": who.user,
            "key": request.auth if isinstance(request.auth, RunnerKey) else None,
        }


def _opened(request: Request, who: Caller, wishes: _Wishes) -> uploads.Received:
    announced = wishes.upload(request, who)
    if not announced["sha256"] or announced["size"] is None:
        raise Malformed("The body is empty: send the file, or sha256 and size to send it in parts.")
    return uploads.open_upload(**announced)


def _received_form(request: Request) -> uploads.Received:
    if isinstance(request.auth, RunnerKey) or "project" in request.query_params:
        # Who may not upload is told before the file is read.
        caller(request, at_least=Role.LEAD)
    fields, file = _form(request)
    with file:
        who = caller(request, at_least=Role.LEAD, project=fields.get("project"))
        upload = _Wishes(fields).upload(request, who, filename=file.name)
        return uploads.receive(chunks=file.chunks(), **upload)


def _form(request: Request) -> tuple[dict[str, str], UploadedFile]:
    """The fields, also those of the query, and the file, which is on disk if it is large."""
    length = bodies.declared_length(request)
    if not length:
        raise bodies.LengthRequired
    if length > settings.MAX_UPLOAD_BYTES + _AROUND:
        bodies.drain(bodies.pieces(request), most=settings.MAX_BODY_BYTES)
        raise files.too_large(length)
    try:
        stream = cast("BinaryIO", request)
        posted, sent = MultiPartParser(request.META, stream, request.upload_handlers, "utf-8").parse()
    except (MultiPartParserError, SuspiciousOperation):
        raise Malformed("The form cannot be read; send multipart/form-data with the file as `file`.") from None
    file = sent.get("file")
    if not isinstance(file, UploadedFile):
        raise Malformed("The form holds no file; send it as `file`.")
    return {**request.query_params.dict(), **{name: str(value) for name, value in posted.items()}}, file


@contextmanager
def _heard_out(request: Request) -> Iterator[Iterator[bytes]]:
    """The body in chunks. Where it is refused, some more is read: a client still sending would not hear the answer."""
    chunks = bodies.pieces(request)
    try:
        yield chunks
    except DomainError:
        bodies.drain(chunks, most=settings.MAX_BODY_BYTES)
        raise


def _size(given: Any, name: str) -> int | None:
    raw = given.get(name, "")
    if raw == "":
        return None
    if raw.isascii() and raw.isdigit() and len(raw) < 20 and int(raw) <= _LARGEST_SIZE:
        return int(raw)
    raise DomainError(f"{name} must be a number of bytes.", field=name)


def _answered(job: ImportJob, *, status: int = 200) -> Response:
    return answered(ImportAnswer.model_validate(importing.shown(job)), status=status)


def _line(row: ImportRejection) -> bytes:
    told = {name: getattr(row, name) for name in ("place", "external_id", "status", "path", "reason")}
    return json.dumps({**told, "raw": _text(unpack(bytes(row.raw)))}).encode() + b"\n"


def _text(raw: bytes) -> str:
    """Bytes that are no UTF-8 become lone surrogates, from which they can be had back."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")
