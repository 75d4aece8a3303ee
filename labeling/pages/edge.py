"""What every page shares: signing in, the project's border, errors in words, text that cannot break a page."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from labeling.errors import Conflict, DomainError, NotAllowed, NotFound, TooLarge, Unavailable
from labeling.models import Membership
from labeling.vocabulary import Role

P = ParamSpec("P")

# The statuses of pages, as `litmus_site.errors` gives them to the API.
_STATUS: dict[type[DomainError], int] = {NotAllowed: 403, NotFound: 404, Conflict: 409, TooLarge: 413, Unavailable: 503}


def page(
    request: HttpRequest, template: str, context: Mapping[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    """A rendered page. Text that is no valid Unicode is written as its escape instead of failing the page."""
    text = render_to_string(template, dict(context or {}), request=request)
    response = HttpResponse(text.encode("utf-8", "backslashreplace"), status=status)
    # Pages hold what only this person may see, and a page brought back from memory holds an item no longer theirs.
    response["Cache-Control"] = "no-store"
    return response


def person_page(view: Callable[Concatenate[HttpRequest, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """A page for people who are signed in; an error of the domain becomes a page that says what to do."""

    @wraps(view)
    def answer(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(_back_to(request))
        try:
            return view(request, *args, **kwargs)
        except DomainError as error:
            return error_page(request, error)

    return answer


def _back_to(request: HttpRequest) -> str:
    """Where to go on after signing in: this page, or the one whose form was sent."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    came_from = urlsplit(request.headers.get("Referer", ""))
    return came_from.path if came_from.netloc == request.get_host() else "/"


def error_page(request: HttpRequest, error: DomainError) -> HttpResponse:
    status = status_of(error)
    return page(request, f"{status}.html", {"message": error.message}, status=status)


def status_of(error: DomainError) -> int:
    """The status of a page that says this, be it a page of its own or the form again. The rest can be mended: 400."""
    return _STATUS.get(type(error), 400)


def person(request: HttpRequest) -> User:
    """Who is signed in; `person_page` has made sure that somebody is."""
    assert isinstance(request.user, User)
    return request.user


def whole_number(raw: str | None, default: int = 1) -> int:
    """A number from an address; nonsense means the default, because addresses are edited by hand."""
    return int(raw) if raw is not None and raw.isascii() and raw.isdigit() and len(raw) < 10 else default


def framed(membership: Membership, section: str, **context: Any) -> dict[str, Any]:
    """What the frame around every page of a project needs, and the page's own context."""
    return {
        "membership": membership,
        "project": membership.project,
        "is_lead": membership.may(Role.LEAD),
        "may_review": membership.may(Role.REVIEWER),
        "section": section,
        **context,
    }
