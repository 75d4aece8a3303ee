"""What the views of the API share."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.api.answers import Answer, ErrorAnswer

PROJECT = OpenApiParameter("project", str, description="The project's key; needed only without a runner key.")


class LosslessJSON(JSONRenderer):
    """What may be stored may be answered: NaN and lone surrogates, the latter as escapes."""

    ensure_ascii = True
    strict = False


class Unread(BaseParser):
    """Views read their bodies themselves (`bodies`), within limits; checking a session's CSRF token reads nothing."""

    media_type = "*/*"

    def parse(self, _stream: Any, _media_type: str | None = None, _context: Any = None) -> dict[str, Any]:
        return {}


class AnyFormat(BaseContentNegotiation):
    """Where `format` is a word of the route's own, and errors are JSON as everywhere."""

    def select_parser(self, _request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, _request: Any, renderers: Any, _format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class ApiView(APIView):
    renderer_classes = (LosslessJSON,)
    parser_classes = (Unread,)


def answered(answer: Answer, *, status: int = 200) -> Response:
    return Response(answer.model_dump(), status=status)


def responses(*statuses: int, success: dict[int, type[BaseModel]]) -> dict[int, Any]:
    """The documentation of a route's answers: its successes, and the errors it shares with every route."""
    errors = {status: OpenApiResponse(ErrorAnswer) for status in sorted({401, 403, 404, *statuses})}
    return {**success, **errors}


class RunnerKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the documentation describes runner keys."""

    target_class = "labeling.api.authentication.RunnerKeyAuthentication"
    name = "runnerKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002 - the library's signature
        return {"type": "http", "scheme": "bearer", "description": "A runner key, made by create_runner_key."}
