"""What the log of the service would say, for tests that nothing of a body is in it."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from litmus_site.logs import QuietFormatter


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """Every record of every logger, down to DEBUG, as the service writes it."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(QuietFormatter("%(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
