"""GET /api/v1/runs/{id}/export/: a run to take along, as NDJSON or CSV, streamed page by page."""

import csv
import io
import json
from collections.abc import Collection, Iterator
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.exported import RowAnswer, csv_columns, csv_row, time_text
from audit.selectors import export
from audit.selectors.asking import holds_of, labels_for
from audit.services import viewing
from labeling.api.edge import AnyFormat, ApiView, responses
from labeling.api.scope import Caller, caller_on_run
from labeling.errors import DomainError, NotAllowed
from labeling.models import Membership, Run, Trajectory
from labeling.selectors.access import membership_of
from labeling.vocabulary import Role

NDJSON, CSV = "application/x-ndjson", "text/csv"
_SWITCH = {None: False, "": False, "0": False, "false": False, "1": True, "true": True}


class RunExport(ApiView):
    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="export_run",
        parameters=[
            OpenApiParameter("format", str, enum=["ndjson", "csv"], description="ndjson (the default) or csv."),
            OpenApiParameter("content", bool, description="1: with the text, for leads. Who opened it is recorded."),
            OpenApiParameter(
                "opinions",
                bool,
                description="1: also opinions on what you may yet be asked to judge; your verdicts on it will not "
                "count as blind then.",
            ),
        ],
        responses={
            **responses(400, success={}),
            (200, NDJSON): RowAnswer,
            (200, CSV): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, run_id: int) -> Response | StreamingHttpResponse:
        """Every trajectory of a run, one a line, with its label, every judgment and every verdict.

        Classifications only; with `content=1` also the text as posted. CSV holds classifications only.
        """
        content, chose = _switch(request, "content"), _switch(request, "opinions")
        wanted = request.query_params.get("format", "ndjson")
        if wanted not in ("ndjson", "csv"):
            raise DomainError("format must be ndjson or csv.", field="format")
        if wanted == "csv" and content:
            raise DomainError("CSV holds classifications only: leave content out, or take ndjson.", field="content")
        run, who = caller_on_run(request, run_id, at_least=Role.LEAD if content else Role.VIEWER)
        seat = _seat(run, who, content=content)
        rows = _rows(run, seat, content=content, chose=chose)
        lines = _as_csv(rows) if wanted == "csv" else _as_ndjson(rows, content=content)
        answer = StreamingHttpResponse(lines, content_type=f"{CSV}; charset=utf-8" if wanted == "csv" else NDJSON)
        answer["Content-Disposition"] = f'attachment; filename="run-{run.pk}.{wanted}"'
        answer["Cache-Control"] = "no-store"
        return answer


def _switch(request: Request, name: str) -> bool:
    raw = request.query_params.get(name)
    if raw not in _SWITCH:
        raise DomainError(f"{name} must be 1 or 0.", field=name)
    return _SWITCH[raw]


def _seat(run: Run, who: Caller, *, content: bool) -> Membership | None:
    """The person's membership, or None for a runner; refused to whoever it would tell too much."""
    if who.user is None:
        if content:
            raise NotAllowed("The text of a run is for leads: sign in. A runner key takes classifications along.")
        return None
    if holds_of(user_id=who.user.pk, measurement_id=run.measurement_id):
        raise NotAllowed("You are judging an item of this run: give your verdict or put it back, then export it.")
    return membership_of(who.user, run.project.key)


def _rows(run: Run, seat: Membership | None, *, content: bool, chose: bool) -> Iterator[export.ExportRow]:
    for page in export.pages_of(run, content=content):
        shown = _shown(seat, page, content=content, chose=chose)
        yield from export.rows_of_page(page, run=run, shown=shown, content=content)


def _shown(seat: Membership | None, page: list[Trajectory], *, content: bool, chose: bool) -> Collection[int]:
    """On which of these opinions are told; recorded before they are, and so is that the text was opened."""
    ids = [row.pk for row in page]
    if seat is None:
        return ids
    if content:
        viewing.record_views(trajectory_ids=ids, user=seat.user, showed_opinions=False)
    labels = labels_for(membership=seat, trajectory_ids=ids, chose_to_see=chose)
    return viewing.record_views(trajectory_ids=labels.shown, user=seat.user, showed_opinions=True)


def _as_ndjson(rows: Iterator[export.ExportRow], *, content: bool) -> Iterator[bytes]:
    """ASCII, in which lone surrogates are escapes; NaN is kept as it came."""
    encoder = json.JSONEncoder(separators=(",", ":"), default=time_text)
    for row in rows:
        yield encoder.encode(RowAnswer.of(row, content=content)).encode() + b"\n"


def _as_csv(rows: Iterator[export.ExportRow]) -> Iterator[bytes]:
    yield _line(csv_columns())
    for row in rows:
        yield _line(csv_row(row))


def _line(cells: Collection[Any]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode("utf-8", "backslashreplace")
