"""Numbers of a query string, or the sentence that mends them."""

from rest_framework.request import Request

from labeling.errors import DomainError


def number(request: Request, name: str, *, default: int, most: int) -> int:
    raw = request.query_params.get(name, str(default))
    if raw.isascii() and raw.isdigit() and len(raw) < 11 and int(raw) <= most:
        return int(raw)
    raise DomainError(f"{name} must be a whole number from 0 to {most}.", field=name)
