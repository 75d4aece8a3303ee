"""GET /api/v1/judges/"""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.answers import JudgeAnswer, JudgeList
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.scope import caller
from labeling.selectors.judges import judges_of
from labeling.vocabulary import Role


class Judges(ApiView):
    @extend_schema(operation_id="list_judges", parameters=[PROJECT], responses=responses(success={200: JudgeList}))
    def get(self, request: Request) -> Response:
        """Every judge version of the project, what it measures, and how many judgments it made."""
        project = caller(request, at_least=Role.VIEWER).project
        results = [JudgeAnswer.model_validate(row) for row in judges_of(project)]
        return answered(JudgeList(count=len(results), results=results))
