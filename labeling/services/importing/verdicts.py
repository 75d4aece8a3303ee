"""Where people's labels in a file go: to the human side, which this side does not know and which names itself here."""

from collections.abc import Sequence
from typing import Protocol

from labeling.formats.lines import Rejected
from labeling.formats.wire import VerdictLine
from labeling.models import Run


class Entry(Protocol):
    """What became of a line that was not created."""

    @property
    def index(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def reason(self) -> str: ...


class Answer(Protocol):
    @property
    def created(self) -> int: ...
    @property
    def entries(self) -> Sequence[Entry]: ...


class Sink(Protocol):
    """Stores historic verdicts of a run, in a transaction of its own; what is there already is recognised."""

    def __call__(self, *, run: Run, lines: Sequence[VerdictLine | Rejected], blind: bool) -> Answer: ...


_sinks: list[Sink] = []


def register(sink: Sink) -> None:
    """The one sink from now on."""
    _sinks[:] = [sink]


def registered() -> Sink:
    return _sinks[0]
