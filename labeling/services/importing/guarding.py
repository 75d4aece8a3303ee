"""What becomes of a job when the work on it fails: a sentence on the job, which is there for who uploaded."""

import contextlib
import logging
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError

from labeling.errors import DomainError
from labeling.models import ImportJob
from labeling.services.importing import claims
from labeling.services.importing.claims import Lost
from labeling.vocabulary import ImportStatus

logger = logging.getLogger(__name__)

_BROKEN = (
    "The file cannot be read: its reader stumbled ({kind}). What was committed before stays. Name another format or "
    "mapping; if this is the right one, whoever runs the service finds the place in its log."
)


@contextlib.contextmanager
def failures_kept(job: ImportJob) -> Iterator[None]:
    """Turn a failure of the work inside into the job's; a job that was lost is left alone."""
    try:
        try:
            yield
        except DomainError as error:
            claims.finish(job=job, status=ImportStatus.FAILED, error=error.message)
        except (OperationalError, InterfaceError):
            # It stays claimed until the sweep finds no sign of life in it.
            logger.exception("Import %d waits: the database did not answer.", job.pk)
        except Lost:
            raise
        except Exception as error:
            logger.exception("Import %d failed.", job.pk)
            claims.finish(job=job, status=ImportStatus.FAILED, error=_BROKEN.format(kind=type(error).__name__))
    except Lost:
        logger.info("Import %d is no longer this worker's.", job.pk)
