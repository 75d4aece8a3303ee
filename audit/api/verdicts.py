"""POST /api/v1/runs/{id}/verdicts/: verdicts that were given elsewhere, before."""

from io import BytesIO
from typing import Annotated, NamedTuple

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import RootModel, WrapValidator
from rest_framework.request import Request
from rest_framework.response import Response

from audit.services import history
from labeling.api import bodies
from labeling.api.answers import BulkResult
from labeling.api.edge import ApiView, answered, responses
from labeling.api.scope import caller_on_run
from labeling.errors import DomainError
from labeling.formats.lines import Rejected, Sent, read_values, split_ndjson
from labeling.formats.wire import VerdictLine, Wire, read
from labeling.vocabulary import Role

# Described as what it is, and kept as it came: each line is read, or rejected, by itself.
_LATER = WrapValidator(lambda value, _: value)
_BLIND = {"1": True, "true": True, "0": False, "false": False}


class VerdictsBody(Wire):
    """blind: their authors had seen no opinion on the trajectories; a line may say otherwise for itself."""

    blind: bool | None = None
    verdicts: list[Annotated[VerdictLine, _LATER]]


class AnyVerdictsBody(RootModel[VerdictsBody | list[VerdictLine] | VerdictLine]):
    """With `blind` beside them, an array, or a single one."""


class _Posted(NamedTuple):
    lines: list[VerdictLine | Rejected]
    blind: bool


class HistoricVerdicts(ApiView):
    @extend_schema(
        operation_id="post_verdicts",
        request={"application/json": AnyVerdictsBody, "application/x-ndjson": OpenApiTypes.STR},
        parameters=[
            OpenApiParameter(
                "blind", bool, description="For an array or NDJSON: the authors had seen no opinion. Default false."
            )
        ],
        responses=responses(400, 409, 411, 413, 415, success={200: BulkResult, 201: BulkResult}),
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Store historic verdicts and bring the labels in line. Repeating a post is harmless.

        A verdict is known by trajectory, author, kind and time. Closed runs take them too, voided ones do not.
        """
        run, _ = caller_on_run(request, run_id, at_least=Role.LEAD)
        lines, blind = _posted(request)
        answer = history.store_verdicts(run=run, lines=lines, blind=blind)
        return answered(BulkResult.model_validate(answer), status=201 if answer.created else 200)


def _posted(request: Request) -> _Posted:
    declared = _declared(request)
    if bodies.media_type(request) in bodies.NDJSON:
        lines = split_ndjson(BytesIO(bodies.read(request, *bodies.NDJSON)))
        values = (line.value if isinstance(line, Sent) else line for line in lines)
        return _Posted(read_values(VerdictLine, values), declared)
    value = bodies.read_json(request)
    if isinstance(value, dict) and "verdicts" in value:
        body = read(VerdictsBody, value)
        value, declared = body.verdicts, declared if body.blind is None else body.blind
    return _Posted(read_values(VerdictLine, value if isinstance(value, list) else [value]), declared)


def _declared(request: Request) -> bool:
    raw = request.query_params.get("blind", "0").casefold()
    if raw not in _BLIND:
        raise DomainError("blind must be 1 or 0.", field="blind")
    return _BLIND[raw]
