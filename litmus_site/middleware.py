"""What is refused before any view sees it."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse


def refuse_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """NUL in an address or a form: nothing of ours is called so, and PostgreSQL cannot even be asked for it.

    A reviewer's note may hold what they copied; it is kept as JSON.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if "%00" in request.META.get("QUERY_STRING", "") or "\0" in request.path:
            raise BadRequest("The address holds a NUL character.")
        return get_response(request)

    middleware.process_view = _refuse_nul_in_form  # type: ignore[attr-defined]
    return middleware


def _refuse_nul_in_form(request: HttpRequest, view: Callable[..., HttpResponse], *_arguments: Any) -> None:
    # The API reads its bodies itself, from the stream; and who uploads is asked who they are before a form is read.
    if request.method != "POST" or request.path.startswith("/api/") or getattr(view, "reads_its_form", False):
        return
    fields = (value for name, values in request.POST.lists() if name != "note" for value in values)
    if any("\0" in value for value in fields):
        raise BadRequest("The form holds a NUL character.")
