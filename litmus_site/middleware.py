"""What is refused before any view sees it."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse


def refuse_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """NUL in an address: nothing of ours is called so, and PostgreSQL cannot even be asked for it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "%00" in request.META.get("QUERY_STRING", "") or "\0" in request.path:
            raise BadRequest("The address holds a NUL character.")
        return get_response(request)

    return middleware
