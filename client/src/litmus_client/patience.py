"""Trying again: how often, and how long to wait in between."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TOO_MANY = 429
_WORTH_ANOTHER_TRY = {408, 425, TOO_MANY}


@dataclass(frozen=True, slots=True)
class Patience:
    """tries: of one request. busy_seconds: how long, in all, to wait for who says that it is busy."""

    tries: int = 7
    first_pause: float = 0.5
    longest_pause: float = 30.0
    busy_seconds: float = 900.0

    def pause(self, tried: int) -> float:
        """Twice as long each time, and never all at the same moment."""
        longest = min(self.longest_pause, self.first_pause * 2.0 ** min(tried - 1, 30))
        return random.uniform(longest / 2, longest)


def is_passing(status: int) -> bool:
    """May the same request succeed a little later?"""
    return status in _WORTH_ANOTHER_TRY or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds a Retry-After header asks for, given as a number or as a date."""
    given = headers.get("Retry-After", "").strip()
    if not given:
        return None
    try:
        return max(0.0, min(float(given), 86_400.0))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(given)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
