"""/api/v1/runs/: create, list, progress, close, void, join."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import tasks
from labeling.api import bodies
from labeling.api.answers import MeasurementAnswer, RunAnswer, RunDetail, RunList
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.queries import PAGED, window
from labeling.api.scope import caller, caller_on_run
from labeling.errors import DomainError
from labeling.formats.scalars import Count, Text
from labeling.formats.wire import RunSpec, Wire, read
from labeling.models import Run
from labeling.selectors import progress
from labeling.selectors.naming import runs_listed
from labeling.services import runs
from labeling.vocabulary import Role, RunStatus


class Runs(ApiView):
    @extend_schema(
        operation_id="post_run",
        request=RunSpec,
        parameters=[PROJECT],
        responses=responses(400, 409, 413, success={200: RunAnswer, 201: RunAnswer}),
    )
    def post(self, request: Request) -> Response:
        """Create a run. The same external_id again is 200 and the same run; with another content it is 409."""
        spec = read(RunSpec, bodies.read_json(request))
        project = caller(request, at_least=Role.LEAD, project=spec.project).project
        run, created = runs.create_run(project=project, spec=spec)
        return answered(RunAnswer.of(run), status=201 if created else 200)

    @extend_schema(
        operation_id="list_runs",
        parameters=[
            PROJECT,
            OpenApiParameter("external_id", str),
            OpenApiParameter("status", str, enum=list(RunStatus)),
            *PAGED,
        ],
        responses=responses(400, success={200: RunList}),
    )
    def get(self, request: Request) -> Response:
        """The project's runs, newest first."""
        project = caller(request, at_least=Role.VIEWER).project
        asked = window(request)
        page = runs_listed(
            project,
            external_id=request.query_params.get("external_id"),
            status=_status(request),
            offset=asked.offset,
            limit=asked.limit,
        )
        results = [RunAnswer.of(run) for run in page.runs]
        return answered(RunList(count=page.total, left=asked.left(page.total), results=results))


class OneRun(ApiView):
    @extend_schema(operation_id="get_run", responses=responses(success={200: RunDetail}))
    def get(self, request: Request, run_id: int) -> Response:
        """A run's progress: who is owed what, per side, and which judges count."""
        run, _ = caller_on_run(request, run_id, at_least=Role.VIEWER)
        return answered(_detail(run))


class CloseBody(Wire):
    expected_count: Count | None = None
    audits_per_side: Count | None = None


class CloseRun(ApiView):
    @extend_schema(
        operation_id="close_run",
        request=CloseBody,
        responses=responses(400, 409, success={200: RunDetail}),
    )
    def post(self, request: Request, run_id: int) -> Response:
        """No more trajectories: fix the panel and draw the audit sample. Closing twice is harmless."""
        run, _ = caller_on_run(request, run_id, at_least=Role.LEAD)
        body = read(CloseBody, bodies.read_json(request, may_be_empty=True))
        run = runs.close_run(run=run, expected_count=body.expected_count, audits_per_side=body.audits_per_side)
        tasks.request_draw(run.pk)
        return answered(_detail(run))


class VoidBody(Wire):
    reason: Text


class VoidRun(ApiView):
    @extend_schema(operation_id="void_run", request=VoidBody, responses=responses(400, success={200: RunAnswer}))
    def post(self, request: Request, run_id: int) -> Response:
        """Take a run out of every report, for good, with the reason."""
        run, who = caller_on_run(request, run_id, at_least=Role.LEAD)
        body = read(VoidBody, bodies.read_json(request))
        return answered(RunAnswer.of(runs.void_run(run=run, by=who.user, reason=body.reason)))


class JoinBody(Wire):
    run: Count


class JoinRun(ApiView):
    @extend_schema(
        operation_id="join_run", request=JoinBody, responses=responses(400, 409, success={200: MeasurementAnswer})
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Compute one pair over this run and another. What must be equal and is not is named (409)."""
        run, _ = caller_on_run(request, run_id, at_least=Role.LEAD)
        body = read(JoinBody, bodies.read_json(request))
        other, _ = caller_on_run(request, body.run, at_least=Role.LEAD)
        measurement = runs.join_measurement(run=run, other=other)
        together = list(measurement.runs.order_by("pk").values_list("pk", flat=True))
        return answered(MeasurementAnswer(id=measurement.pk, runs=together))


def _detail(run: Run) -> RunDetail:
    return RunDetail.with_progress(run, progress=progress.run_progress(run), worker_seen_at=progress.worker_seen())


def _status(request: Request) -> RunStatus | None:
    raw = request.query_params.get("status")
    if raw in (None, *RunStatus):
        return RunStatus(raw) if raw else None
    raise DomainError(f"status must be one of {', '.join(RunStatus)}.", field="status")
