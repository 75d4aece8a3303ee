"""How log records are written: an exception by its type and place, its message only where nobody else's text is in it.

A database quotes the row that it refused, a validator the value, a dictionary the key.
"""

import logging
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from kombu.exceptions import OperationalError as BrokerError

from labeling.errors import DomainError

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

# About this service, its settings and its machine.
_TOLD = (DomainError, OperationalError, BrokerError, ImproperlyConfigured, OSError)
_MOST_CAUSES = 20


class QuietFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # Celery puts the exception's own words into the message of the task that failed.
        if record.exc_info and isinstance(record.args, dict) and "exc" in record.args:
            error = record.exc_info[1]
            record.args = {**record.args, "exc": type(error).__name__, "traceback": ""}
        return super().format(record)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's own name
        return "\n\nthen:\n".join(_told(error) for error in reversed(list(_causes(ei[1]))))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception, and before it what it came of."""
    for _ in range(_MOST_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _told(error: BaseException) -> str:
    places = "".join(traceback.format_tb(error.__traceback__))
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    said = f": {error}" if isinstance(error, _TOLD) else _diagnosis(error)
    return f"Traceback (most recent call last):\n{places}{kind}{said}"


def _diagnosis(error: Any) -> str:
    """What PostgreSQL says of an error without quoting anything: its code, and the name of the constraint."""
    code, constraint = getattr(error, "sqlstate", None), getattr(getattr(error, "diag", None), "constraint_name", None)
    return f" ({', '.join(filter(None, (code, constraint)))})" if code else ""
