"""What a query string asks for: a number, a page of a list; or the sentence that mends it."""

from typing import NamedTuple

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from labeling.errors import DomainError

LARGEST_PAGE = 500
PAGED = (OpenApiParameter("offset", int), OpenApiParameter("limit", int, description=f"At most {LARGEST_PAGE}."))


class Window(NamedTuple):
    """The stretch of a list that is asked for."""

    offset: int
    limit: int

    def left(self, total: int) -> int:
        """How many there are after it."""
        return max(0, total - self.offset - self.limit)


def window(request: Request) -> Window:
    offset = number(request, "offset", default=0, most=2**31)
    return Window(offset, number(request, "limit", default=100, most=LARGEST_PAGE))


def number(request: Request, name: str, *, default: int, most: int) -> int:
    raw = request.query_params.get(name, str(default))
    if raw.isascii() and raw.isdigit() and len(raw) < 11 and int(raw) <= most:
        return int(raw)
    raise DomainError(f"{name} must be a whole number from 0 to {most}.", field=name)
