"""POST /api/v1/runs/{id}/trajectories/"""

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
from labeling.formats.lines import read_json, read_ndjson
from labeling.formats.wire import TrajectoryLine
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
        responses=responses(400, 409, 411, 413, 415, success={200: BulkResult, 201: BulkResult}),
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Store trajectories, one JSON object (`TrajectoryLine`), an array of them, or one a line (NDJSON).

        Repeating a post is harmless. Bad lines are rejected one by one, with path and reason; the good ones go in.
        """
        run, _ = caller_on_run(request, run_id, at_least=Role.LEAD)
        body = bodies.read(request, *bodies.JSON, *bodies.NDJSON)
        lines = read_ndjson(body) if bodies.media_type(request) in bodies.NDJSON else read_json(body)
        answer = ingest.store_trajectories(run=run, lines=lines)
        tasks.request_judging(answer.owed)
        return answered(BulkResult.model_validate(answer), status=201 if answer.created else 200)
