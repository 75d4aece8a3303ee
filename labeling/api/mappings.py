"""/api/v1/mappings/ and /api/v1/formats/: what a project says of columns, and what can be read."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api import bodies
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.import_answers import FormatAnswer, FormatList, MappingAnswer, MappingList
from labeling.api.scope import caller
from labeling.formats.mapping import ImportMapping
from labeling.formats.registry import FORMATS
from labeling.models import SavedMapping
from labeling.selectors import importing
from labeling.services.importing import options
from labeling.vocabulary import Role


class Mappings(ApiView):
    @extend_schema(
        operation_id="list_mappings", parameters=[PROJECT], responses=responses(400, success={200: MappingList})
    )
    def get(self, request: Request) -> Response:
        """The mappings that the project keeps, by name."""
        project = caller(request, at_least=Role.LEAD).project
        return answered(MappingList(results=[_shown(each) for each in importing.saved_mappings(project)]))


class OneMapping(ApiView):
    @extend_schema(
        operation_id="get_mapping", parameters=[PROJECT], responses=responses(400, success={200: MappingAnswer})
    )
    def get(self, request: Request, name: str) -> Response:
        """A mapping of this name."""
        project = caller(request, at_least=Role.LEAD).project
        return answered(_shown(importing.saved_mapping(project, name)))

    @extend_schema(
        operation_id="put_mapping",
        request=ImportMapping,
        parameters=[PROJECT],
        responses=responses(400, 409, 413, 415, success={200: MappingAnswer}),
    )
    def put(self, request: Request, name: str) -> Response:
        """Keep a mapping under this name, over the one before. Imports that used that one keep it."""
        who = caller(request, at_least=Role.LEAD)
        content = bodies.read_json(request)
        return answered(_shown(options.save_mapping(project=who.project, name=name, content=content, by=who.user)))


class Formats(ApiView):
    @extend_schema(operation_id="list_formats", responses=responses(success={200: FormatList}))
    def get(self, _request: Request) -> Response:
        """What files can be read, and on which versions of its runner each reader was tried."""
        results = [FormatAnswer(name=each.name, title=each.title, versions=each.versions) for each in FORMATS.values()]
        return answered(FormatList(results=results))


def _shown(saved: SavedMapping) -> MappingAnswer:
    return MappingAnswer(name=saved.name, mapping=saved.content, updated_at=saved.updated_at)
