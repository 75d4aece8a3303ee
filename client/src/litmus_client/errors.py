"""What can go wrong, each as a sentence that says what to do."""

import json
from typing import Any

import httpx

Json = dict[str, Any]


class LitmusError(Exception):
    """The work ends here; the message says why and what to do."""


class Unreachable(LitmusError):
    """Nobody answered, however often it was tried."""


class NoWorker(LitmusError):
    """The service takes things in, and nobody there works on them."""


class ServiceError(LitmusError):
    """The service answered with an error. `code` and `details` are as it gave them."""

    def __init__(self, message: str, *, status: int, code: str = "", details: Json | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.details = details or {}


class NotAuthenticated(ServiceError):
    """The runner key is missing, unknown or revoked."""


class NotAllowed(ServiceError):
    """Whoever this is may not do it."""


class NotFound(ServiceError):
    """There is no such thing, or it is in another project."""


class Conflict(ServiceError):
    """It contradicts what is there."""


class TooLarge(ServiceError):
    """The body is over the service's limit."""


class Busy(ServiceError):
    """The service asked to wait, for longer than this client does."""


_OF_STATUS: dict[int, type[ServiceError]] = {
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: Busy,
}


def error_of(response: httpx.Response) -> ServiceError:
    """The error in an answer that was read. What is not of the service's own shape is said to be so."""
    kind = _OF_STATUS.get(response.status_code, ServiceError)
    error = _given(response.content)
    if error is None:
        where = f"HTTP {response.status_code} from {response.request.url.copy_with(query=None)}"
        if moved := response.headers.get("Location"):
            return kind(f"{where}, which points to {moved}: give that service as --url.", status=response.status_code)
        return kind(f"{where}, and not in the words of Litmus: is --url right?", status=response.status_code)
    return kind(
        str(error["message"]),
        status=response.status_code,
        code=str(error.get("code", "")),
        details=error["details"] if isinstance(error.get("details"), dict) else {},
    )


def _given(content: bytes) -> Json | None:
    try:
        error = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        return None
    return error if isinstance(error, dict) and "message" in error else None
