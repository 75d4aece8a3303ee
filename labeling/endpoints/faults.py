"""What can go wrong with one sending of a request. What becomes of the call is decided elsewhere (`retrying`)."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Status:
    """An answer with a status other than 2xx.

    code: the endpoint's own short code, where it gives one of plain letters. asked: seconds it asks to wait.
    blocked: it says that its policy on content forbids the request.
    """

    status: int
    code: str = ""
    asked: float | None = None
    blocked: bool = False


class Loss(StrEnum):
    """Where a connection failed, as it is said."""

    NAME = "no machine is found under the endpoint's name"
    REFUSED = "nothing listens where the endpoint should be"
    UNREACHED = "the endpoint takes no connection"
    TLS = "the endpoint does not answer in TLS; if it has none, its address begins with http://"
    CERTIFICATE = "the endpoint shows no certificate that is valid for its name"
    DROPPED = "the endpoint drops the connection before its answer is whole"


@dataclass(frozen=True, slots=True)
class Lost:
    """No connection could be made in time, or it was lost before the answer was whole. place: as `Address.place`."""

    loss: Loss
    place: str


@dataclass(frozen=True, slots=True)
class Late:
    """No whole answer within the time given."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The address leads into a private network."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer came, and it is none. detail: in our own words."""

    detail: str


Fault = Status | Lost | Late | Forbidden | Unreadable
