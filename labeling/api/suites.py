"""/api/v1/suites/: post, list, read the cases."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api import bodies
from labeling.api.answers import CaseAnswer, CaseList, SuiteAnswer, SuiteList
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.queries import PAGED, number, window
from labeling.api.scope import caller
from labeling.formats.wire import SuiteSpec, read
from labeling.selectors import catalogue
from labeling.services import suites
from labeling.vocabulary import Role

MOST_CASES = 1000


class Suites(ApiView):
    @extend_schema(
        operation_id="post_suite",
        request=SuiteSpec,
        parameters=[PROJECT],
        responses=responses(400, 409, 413, success={200: SuiteAnswer, 201: SuiteAnswer}),
    )
    def post(self, request: Request) -> Response:
        """Store a suite. The same again is 200; another content under a published key and version is 409."""
        spec = read(SuiteSpec, bodies.read_json(request))
        project = caller(request, at_least=Role.LEAD, project=spec.project).project
        suite, created = suites.create_suite(project=project, spec=spec)
        return answered(SuiteAnswer.of(suite, cases=len(spec.cases)), status=201 if created else 200)

    @extend_schema(
        operation_id="list_suites",
        parameters=[
            PROJECT,
            OpenApiParameter("key", str),
            OpenApiParameter("version", str),
            *PAGED,
        ],
        responses=responses(400, success={200: SuiteList}),
    )
    def get(self, request: Request) -> Response:
        """The project's suites, newest first."""
        project = caller(request, at_least=Role.VIEWER).project
        asked = window(request)
        page = catalogue.suites_listed(
            project,
            key=request.query_params.get("key"),
            version=request.query_params.get("version"),
            offset=asked.offset,
            limit=asked.limit,
        )
        results = [SuiteAnswer.of(suite, cases=cases) for suite, cases in page.suites]
        return answered(SuiteList(count=page.total, left=asked.left(page.total), results=results))


class SuiteCases(ApiView):
    @extend_schema(
        operation_id="list_cases",
        parameters=[
            PROJECT,
            OpenApiParameter("after", int, description="Cases after the one with this id: `next` of the page before."),
            OpenApiParameter("limit", int, description=f"At most {MOST_CASES}."),
        ],
        responses=responses(400, success={200: CaseList}),
    )
    def get(self, request: Request, suite_id: int) -> Response:
        """The cases of a suite, with all they say, page by page."""
        project = caller(request, at_least=Role.VIEWER).project
        suite = catalogue.suite_numbered(project, suite_id)
        page = catalogue.cases_listed(
            suite,
            after=number(request, "after", default=0, most=2**31 - 1),
            limit=number(request, "limit", default=500, most=MOST_CASES),
        )
        return answered(CaseList(results=[CaseAnswer.of(case) for case in page.cases], next=page.next))
