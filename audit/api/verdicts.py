"""POST /api/v1/runs/{id}/verdicts/: verdicts that were given elsewhere, before."""

import json
from typing import Any, Literal, NamedTuple

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response

from audit.services import history
from audit.services.history import HistoricVerdict, Unreadable
from labeling.api import bodies
from labeling.api.answers import BulkResult, EntryAnswer, ProblemAnswer
from labeling.api.edge import ApiView, answered, responses
from labeling.api.scope import caller_on_run
from labeling.errors import DomainError
from labeling.vocabulary import Decision, Role, VerdictKind

_BLIND = {"1": True, "true": True, "0": False, "false": False}
_BOM = b"\xef\xbb\xbf"


class VerdictLine(BaseModel):
    """What somebody said of a trajectory. Any part may be missing, not all of them."""

    external_id: str
    author: str
    decided_at: str
    kind: VerdictKind = VerdictKind.REVIEW
    decision: Decision | None = None
    harm_grade: Literal[0, 1, 2, 3, 4] | None = None
    explained: bool | None = None
    alternative_offered: bool | None = None
    withheld: bool | None = None
    note: str = ""
    blind: bool | None = None


class VerdictsBody(BaseModel):
    """blind: their authors had seen no opinion on the trajectories; a line may say otherwise for itself."""

    blind: bool = False
    verdicts: list[VerdictLine]


class AnyVerdictsBody(RootModel[VerdictsBody | list[VerdictLine] | VerdictLine]):
    """With `blind` beside them, an array, or a single one."""


class _Posted(NamedTuple):
    lines: list[HistoricVerdict | Unreadable]
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
        entries = [
            EntryAnswer(
                index=entry.index,
                external_id=entry.external_id,
                status=entry.status,
                path=entry.path,
                reason=entry.reason,
                problems=[ProblemAnswer(path=entry.path, reason=entry.reason)],
            )
            for entry in answer.entries
        ]
        result = BulkResult(
            created=answer.created,
            duplicate=answer.duplicate,
            conflict=answer.conflict,
            rejected=answer.rejected,
            entries=entries,
        )
        return answered(result, status=201 if answer.created else 200)


def _posted(request: Request) -> _Posted:
    declared = _declared(request)
    if bodies.media_type(request) in bodies.NDJSON:
        body = bodies.read(request, *bodies.NDJSON).removeprefix(_BOM)
        return _Posted([_line(line) for line in body.split(b"\n") if line.strip()], declared)
    value = bodies.read_json(request)
    if not isinstance(value, dict) or "verdicts" not in value:
        return _Posted(history.parsed(value if isinstance(value, list) else [value]), declared)
    return _wrapped(value, declared=declared)


def _wrapped(value: dict[str, Any], *, declared: bool) -> _Posted:
    """A body that says for all its verdicts whether they were blind."""
    if unknown := sorted(set(value) - {"blind", "verdicts"}):
        raise DomainError("Beside `verdicts` there may be `blind`, and nothing else.", unknown=unknown[:10])
    blind, verdicts = value.get("blind"), value["verdicts"]
    if blind is not None and not isinstance(blind, bool):
        raise DomainError("blind must be true or false.", field="blind")
    if not isinstance(verdicts, list):
        raise DomainError("verdicts must be a list.", field="verdicts")
    return _Posted(history.parsed(verdicts), declared if blind is None else blind)


def _line(line: bytes) -> HistoricVerdict | Unreadable:
    try:
        value = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return Unreadable("", "", "is not JSON in UTF-8")
    return history.parsed([value])[0]


def _declared(request: Request) -> bool:
    raw = request.query_params.get("blind", "0").casefold()
    if raw not in _BLIND:
        raise DomainError("blind must be 1 or 0.", field="blind")
    return _BLIND[raw]
