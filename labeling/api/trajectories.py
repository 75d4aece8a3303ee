"""POST /api/v1/runs/{id}/trajectories/"""

from collections.abc import Iterable, Sequence

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import tasks
from labeling.api import bodies
from labeling.api.answers import BulkResult
from labeling.api.edge import ApiView, answered, responses
from labeling.api.scope import caller_on_run
from labeling.errors import Busy, Conflict
from labeling.formats.lines import Parsed, Rejected, read_chunks, split_json, split_ndjson
from labeling.formats.wire import TrajectoryLine
from labeling.models import Run
from labeling.selectors import backlog
from labeling.services import ingest
from labeling.vocabulary import Role


class TrajectoryBody(RootModel[TrajectoryLine | list[TrajectoryLine]]):
    """One trajectory, or an array of them."""


class Trajectories(ApiView):
    @extend_schema(
        operation_id="post_trajectories",
        request={"application/json": TrajectoryBody, "application/x-ndjson": OpenApiTypes.STR},
        parameters=[
            OpenApiParameter("Content-Encoding", str, OpenApiParameter.HEADER, enum=["gzip"], description="Or none.")
        ],
        responses=responses(400, 409, 411, 413, 415, 429, success={200: BulkResult, 201: BulkResult}),
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Store trajectories, one JSON object (`TrajectoryLine`), an array of them, or one a line (NDJSON).

        Repeating a post is harmless. Bad lines are rejected one by one, with path and reason; the good ones go in. A
        body goes in by parts: one that is broken off by an error is sent again, and what is there is a duplicate.
        """
        run, _ = caller_on_run(request, run_id, at_least=Role.LEAD)
        with bodies.received(request, *bodies.JSON, *bodies.NDJSON) as body:
            if backlog.is_full():
                raise Busy("Too many trajectories wait to be judged; send this again after the time in Retry-After.")
            is_ndjson = bodies.media_type(request) in bodies.NDJSON
            sent = split_ndjson(body) if is_ndjson else split_json(body.read())
            answer = _stored(run, read_chunks(sent))
        return answered(BulkResult.model_validate(answer), status=201 if answer.created else 200)


def _stored(run: Run, chunks: Iterable[Sequence[Parsed | Rejected]]) -> ingest.BulkAnswer:
    """A transaction a chunk (decision 0011)."""
    answers: list[ingest.BulkAnswer] = []
    lines = 0
    for chunk in chunks:
        try:
            answers.append(ingest.store_trajectories(run=run, lines=chunk))
        except Conflict as error:
            if not lines:
                raise
            # Somebody closed or voided the run meanwhile.
            sentence = f"{error.message} The first {lines:,} lines of the body were dealt with before."
            raise Conflict(sentence, **error.details, lines=lines) from None
        tasks.request_judging(answers[-1].owed)
        lines += len(chunk)
    return ingest.together(answers)
