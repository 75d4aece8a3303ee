"""Whether a call is sent again, and after how long. Pure: the clock and the chance are the caller's."""

from dataclasses import dataclass, field
from http import HTTPStatus

from labeling.endpoints.exchange import Down, Failed, Mend, Slow
from labeling.endpoints.faults import Fault, Forbidden, Late, Loss, Lost, Status, Unreadable
from labeling.vocabulary import Undetermined

# What seldom passes within seconds, and takes long to find out; it has nothing to do with the call.
_LASTING = frozenset({Loss.NAME, Loss.UNREACHED, Loss.TLS, Loss.CERTIFICATE})


@dataclass(frozen=True, slots=True)
class Pace:
    """sends: the most a call is sent; late_sends: where no answer or no connection comes. Waits are in seconds.

    most_asked: what an endpoint may ask a call to wait, all in all. least_asked: however little it asks.
    """

    sends: int = 4
    late_sends: int = 2
    first_wait: float = 0.5
    most_asked: float = 60.0
    least_asked: float = 0.5


@dataclass(slots=True)
class Tries:
    """What was tried for one call so far. asked: the seconds the endpoint asked it to wait, which count as no try."""

    pace: Pace = field(default_factory=Pace)
    sent: int = 0
    late: int = 0
    unmade: int = 0
    asked: float = 0.0


@dataclass(frozen=True, slots=True)
class Again:
    """Send it again after so many seconds. all_wait: so does every other call to this endpoint."""

    seconds: float
    all_wait: bool = False


def after(fault: Fault, tries: Tries) -> Again | Failed | Slow | Down:
    """What becomes of the call, and counted in `tries`."""
    match fault:
        case Status(status=HTTPStatus.TOO_MANY_REQUESTS | HTTPStatus.SERVICE_UNAVAILABLE, asked=float()):
            return _asked(fault, tries)
        case Status(blocked=True):
            return Failed(Undetermined.BLOCKED, f"the endpoint's policy forbids the content ({_said(fault)})")
        case Status() if not _passing(fault.status):
            return _refused(fault)
        case Unreadable():
            return Failed(Undetermined.UNPARSABLE, fault.detail)
        case Forbidden():
            return Down(
                "the address leads into a private network that LITMUS_JUDGE_HOSTS does not list", mend=Mend.ADDRESS
            )
    return _once_more(fault, tries)


def _asked(fault: Status, tries: Tries) -> Again | Down:
    assert fault.asked is not None
    seconds = max(fault.asked, tries.pace.least_asked)
    tries.asked += seconds
    if tries.asked > tries.pace.most_asked:
        return Down(f"the endpoint asks to be left alone for longer ({_said(fault)})", wait=seconds)
    return Again(seconds, all_wait=True)


def _once_more(fault: Status | Lost | Late, tries: Tries) -> Again | Slow | Down:
    tries.sent += 1
    tries.late += isinstance(fault, Late)
    tries.unmade += isinstance(fault, Lost) and fault.loss in _LASTING
    if tries.late >= tries.pace.late_sends:
        return Slow(f"no answer in time, asked {tries.late} times")
    if tries.sent < tries.pace.sends and tries.unmade < tries.pace.late_sends:
        return Again(tries.pace.first_wait * 2 ** (tries.sent - 1))
    match fault:
        case Status(status=HTTPStatus.TOO_MANY_REQUESTS):
            return Down(f"the endpoint lets no more requests through ({_said(fault)})")
        case Status():
            return Down(f"the endpoint fails ({_said(fault)})", perhaps_this_call=True)
        case Lost(loss, place):
            return Down(f"{loss} ({place})", perhaps_this_call=loss not in _LASTING)
    return Down("the endpoint gives no answer in time, or no connection", perhaps_this_call=True)


def _passing(status: int) -> bool:
    """Can another try of the same request end in another way?"""
    return status >= 500 or status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)


def _refused(fault: Status) -> Failed | Down:
    match fault.status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Down(f"the endpoint refuses the key ({_said(fault)})", mend=Mend.KEY)
        case HTTPStatus.PAYMENT_REQUIRED:
            return Down(f"the endpoint wants to be paid first ({_said(fault)})", mend=Mend.ACCOUNT)
        case HTTPStatus.NOT_FOUND | HTTPStatus.METHOD_NOT_ALLOWED:
            return Down(f"there is no such model or route ({_said(fault)})", mend=Mend.MODEL)
        case status if status < 400:
            detail = f"the endpoint sends us elsewhere, and redirects are not followed ({_said(fault)})"
            return Down(detail, mend=Mend.MOVED)
    return Failed(Undetermined.OTHER, f"the endpoint does not take the request ({_said(fault)})")


def _said(fault: Status) -> str:
    return f"HTTP {fault.status}, code {fault.code}" if fault.code else f"HTTP {fault.status}"
