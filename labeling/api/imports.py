"""/api/v1/imports/: upload a file whole or in parts, preview, commit, cancel, take the quarantine along."""

import json
from collections.abc import Iterator

from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import tasks
from labeling.api import bodies, uploading
from labeling.api.edge import PROJECT, AnyFormat, ApiView, answered, responses
from labeling.api.import_answers import ImportAnswer, ImportList, ImportRow, RejectedRow
from labeling.api.queries import PAGED, window
from labeling.api.scope import caller, caller_on_import
from labeling.errors import DomainError
from labeling.formats.packing import unpack
from labeling.formats.scalars import JsonObject, Name100, Word60, Word200
from labeling.formats.wire import Wire, read
from labeling.models import ImportJob, ImportRejection
from labeling.selectors import importing
from labeling.services.importing import claims, committing, options, showing, uploads
from labeling.vocabulary import Role

NDJSON = "application/x-ndjson"


class Imports(ApiView):
    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="post_import",
        request=uploading.BODY,
        parameters=uploading.WISHES,
        responses=responses(400, 409, 411, 413, 415, 503, success={200: ImportAnswer, 201: ImportAnswer}),
    )
    def post(self, request: Request) -> Response:
        """Upload a file, as the body or as `file` of a form with the same names; a worker then makes the preview.

        The same bytes with the same wishes again are 200 and the same import. With an empty body, `sha256` and `size`
        an upload in parts is opened, or found again with what has been received: go on with PATCH. A body may
        be gzip, a form may not.
        """
        job, created = uploading.received(request)
        tasks.request_import(job)
        return _answered(job, request, status=201 if created else 200)

    @extend_schema(
        operation_id="list_imports",
        parameters=[PROJECT, *PAGED],
        responses=responses(400, success={200: ImportList}),
    )
    def get(self, request: Request) -> Response:
        """The project's imports, newest first, without their previews."""
        project = caller(request, at_least=Role.LEAD).project
        asked = window(request)
        page = importing.jobs_listed(project, offset=asked.offset, limit=asked.limit)
        results = [ImportRow.model_validate(job) for job in page.jobs]
        return answered(ImportList(count=page.total, left=asked.left(page.total), results=results))


class OneImport(ApiView):
    @extend_schema(operation_id="get_import", responses=responses(success={200: ImportAnswer}))
    def get(self, request: Request, import_id: int) -> Response:
        """Where an import stands, with its preview once it is there.

        A person is not told in it what judges say of rows that they may yet be asked to judge, and no preview at all
        while they judge an item of its runs.
        """
        job, _ = caller_on_import(request, import_id, at_least=Role.LEAD)
        return _answered(job, request)

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
        offset = uploading.byte_count(request.query_params, "offset")
        if offset is None:
            raise DomainError("Say at which offset these bytes belong: ?offset=N.", field="offset")
        with uploading.heard_out(request) as chunks:
            job = uploads.append(job=job, offset=offset, chunks=chunks)
        tasks.request_import(job)
        return _answered(job, request)


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
        return _answered(job, request, status=202)


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
        return _answered(job, request, status=202)


class CancelImport(ApiView):
    @extend_schema(operation_id="cancel_import", request=None, responses=responses(success={200: ImportAnswer}))
    def post(self, request: Request, import_id: int) -> Response:
        """Stop. What was committed stays; a commit or a preview may be asked for again."""
        job, _ = caller_on_import(request, import_id, at_least=Role.LEAD)
        return _answered(claims.cancel(job=job), request)


class RejectedRows(ApiView):
    content_negotiation_class = AnyFormat

    @extend_schema(operation_id="list_rejected_rows", responses={**responses(success={}), (200, NDJSON): RejectedRow})
    def get(self, request: Request, import_id: int) -> StreamingHttpResponse:
        """The rows of the last commit that did not go in, one a line, with the reason and their text in the file.

        Who takes them along has seen what judges say in them: a verdict of theirs on such a row is not blind.
        """
        job, who = caller_on_import(request, import_id, at_least=Role.LEAD)
        if who.user is not None:
            # Whoever may take nothing along is told so, not sent half of it.
            showing.record_rows_taken(job, who.user, [])
        answer = StreamingHttpResponse(_lines(job, who.user), content_type=NDJSON)
        answer["Content-Disposition"] = f'attachment; filename="import-{job.pk}-rejected.ndjson"'
        answer["Cache-Control"] = "no-store"
        return answer


def _answered(job: ImportJob, request: Request, *, status: int = 200) -> Response:
    user = request.user if isinstance(request.user, User) else None
    shown = showing.shown_to(job, user)
    return answered(ImportAnswer.model_validate(shown), status=status)


def _lines(job: ImportJob, user: User | None) -> Iterator[bytes]:
    for page in importing.pages_of_rejections(job):
        if user is not None:
            showing.record_rows_taken(job, user, [row.external_id for row in page])
        yield from map(_line, page)


def _line(row: ImportRejection) -> bytes:
    told = {name: getattr(row, name) for name in ("place", "external_id", "status", "path", "reason")}
    return json.dumps({**told, "raw": _text(unpack(bytes(row.raw)))}).encode() + b"\n"


def _text(raw: bytes) -> str:
    """Bytes that are no UTF-8 become lone surrogates, from which they can be had back."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")
