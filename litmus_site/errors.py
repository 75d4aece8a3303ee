"""Every error answer of the API has one shape: {"error": {"code", "message", "details"}}, and its status from here."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions

from labeling.errors import DomainError

logger = logging.getLogger(__name__)

# Each code with its status; docs/reference/errors.md says what to do about it.
STATUS = {
    "invalid": 400,
    "malformed": 400,
    "not_authenticated": 401,
    "not_allowed": 403,
    "csrf_failed": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "conflict": 409,
    "length_required": 411,
    "too_large": 413,
    "unsupported_media_type": 415,
    "throttled": 429,
    "busy": 429,
    "server_error": 500,
    "unavailable": 503,
}
_SENTENCES = {
    "not_authenticated": "Send a runner key as `Authorization: Bearer KEY`, or sign in.",
    "not_allowed": "You may not do this.",
    "csrf_failed": "The request lacks a valid CSRF token: send the csrftoken cookie's value as X-CSRFToken.",
    "not_found": "There is no such thing, or it is not in a project of yours.",
    "too_large": "The body is too large.",
    "server_error": "Something is broken on this side; the log of the service says what.",
    "unavailable": "The database did not answer in time. Send the request again; what is stored already is recognised.",
}
_KINDS: dict[type[Exception], str] = {
    exceptions.NotAuthenticated: "not_authenticated",
    exceptions.AuthenticationFailed: "not_authenticated",
    exceptions.PermissionDenied: "not_allowed",
    exceptions.NotFound: "not_found",
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.UnsupportedMediaType: "unsupported_media_type",
    exceptions.ParseError: "malformed",
    exceptions.Throttled: "throttled",
    Http404: "not_found",
    PermissionDenied: "not_allowed",
    RequestDataTooBig: "too_large",
    OperationalError: "unavailable",
}


def answer(error: Exception, _context: dict[str, Any]) -> HttpResponse | None:
    """REST framework's exception handler. None for a bug, which becomes `server_error` further out."""
    if isinstance(error, DomainError):
        return _with_headers(shaped(error.code, error.message, error.details), error)
    code = _code(error)
    if code is None:
        return None
    if code == "unavailable":
        logger.error("The database did not answer.", exc_info=error)
    return _with_headers(shaped(code, _message(code, error)), error)


def _with_headers(response: JsonResponse, error: Exception) -> JsonResponse:
    if challenge := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(int(wait))
    return response


def _code(error: Exception) -> str | None:
    if isinstance(error, exceptions.PermissionDenied) and str(error.detail).startswith("CSRF Failed"):
        return "csrf_failed"
    code = next((code for kind, code in _KINDS.items() if isinstance(error, kind)), None)
    if code is None and isinstance(error, exceptions.APIException):
        code = str(error.default_code)
    return code if code in STATUS else None


def _message(code: str, error: Exception) -> str:
    """REST framework's own sentence where it says something ours does not."""
    given = str(error.detail) if isinstance(error, exceptions.APIException) else ""
    if code in _SENTENCES and not isinstance(error, exceptions.AuthenticationFailed):
        return _SENTENCES[code]
    return given


def shaped(code: str, message: str = "", details: dict[str, Any] | None = None) -> JsonResponse:
    """The one shape. A code without a status of its own is the caller's to mend, so 400."""
    error = {"code": code, "message": message or _SENTENCES[code], "details": details or {}}
    return JsonResponse({"error": error}, status=STATUS.get(code, 400))


# --- Django's own handlers: the shape under /api/, pages elsewhere ----------------------------------------------


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not _is_api(request):
        return defaults.bad_request(request, exception)
    return answer(exception, {}) or shaped("invalid", "The request cannot be understood.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return shaped("not_allowed") if _is_api(request) else defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return shaped("not_found") if _is_api(request) else defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    return shaped("server_error") if _is_api(request) else defaults.server_error(request)


@csrf_exempt
def unknown_route(request: HttpRequest) -> HttpResponse:
    """What no route of the API matches. A missing slash is said, not redirected: a POST would arrive as a GET."""
    try:
        known = resolve(f"{request.path}/").func is not unknown_route
    except Resolver404:
        known = False
    hint = f"Write {request.path}/ with a slash at the end." if known else "See /api/v1/docs/ for what there is."
    return shaped("not_found", f"There is no such address in the API. {hint}")
