"""POST /api/v1/suites/"""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api import bodies
from labeling.api.answers import SuiteAnswer
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.scope import caller
from labeling.formats.wire import SuiteSpec, read
from labeling.services import suites
from labeling.vocabulary import Role


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
