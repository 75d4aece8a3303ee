"""How hard a judge may be worked, as a form."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from labeling.errors import DomainError
from labeling.models import JudgeService
from labeling.services.judges import MOST, Working


class Limit(NamedTuple):
    """A number from least to the most there may be; places: digits after the point. may_be_empty: then no limit."""

    name: str
    label: str
    hint: str
    least: int
    places: int = 0
    may_be_empty: bool = True

    @property
    def most(self) -> int:
        return MOST[self.name]


LIMITS = (
    Limit("concurrency", "Calls at once", "Of this version, by all workers together.", 1, may_be_empty=False),
    Limit("timeout_seconds", "Seconds to wait for an answer", "", 1, may_be_empty=False),
    Limit("requests_per_minute", "Calls a minute", "Empty: as many as the endpoint takes.", 1),
    Limit("tokens_per_minute", "Tokens a minute", "Both ways together. Empty: no limit.", 1),
    Limit("input_usd", "US $ for a million tokens in", "As in 0.15. Empty: not known.", 0, places=6),
    Limit("output_usd", "US $ for a million tokens out", "As in 0.6. Empty: not known.", 0, places=6),
    Limit(
        "ceiling_usd",
        "Ceiling for each run, in US $",
        "Needs both prices. What is owed beyond it is undetermined for good: over budget. Empty: no ceiling.",
        0,
        places=2,
    ),
)


def shown(service: JudgeService) -> dict[str, str]:
    return {limit.name: _written(getattr(service, limit.name)) for limit in LIMITS}


def _written(value: Decimal | int | None) -> str:
    if value is None:
        return ""
    # 2.500000 is how the database writes 2.5.
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)


def typed(post: Mapping[str, str]) -> dict[str, str]:
    return {limit.name: post.get(limit.name, "").strip() for limit in LIMITS}


def working_of(texts: Mapping[str, str]) -> Working:
    """What was typed. Raises DomainError with every limit that is none."""
    if wrong := [sentence for limit in LIMITS if (sentence := _complaint(limit, texts[limit.name]))]:
        raise DomainError(wrong[0], complaints=wrong)
    return Working(**{limit.name: _number(limit, texts[limit.name]) for limit in LIMITS})  # type: ignore[arg-type]


def complaints(error: DomainError) -> list[str]:
    """All that is wrong, a sentence each."""
    return list(error.details.get("complaints") or [error.message])


def _complaint(limit: Limit, text: str) -> str:
    if not text and limit.may_be_empty:
        return ""
    if "," in text:
        # 1,234 is a thousand to one reader and little more than one to another.
        return f"{limit.label}: write it without a comma; decimals come after a point."
    number = _read(text)
    if number is None or not limit.least <= number <= limit.most or number != round(number, limit.places):
        what = f"a number with at most {limit.places} digits after the point" if limit.places else "a whole number"
        return f"{limit.label}: give {what}, from {limit.least} to {limit.most}."
    return ""


def _number(limit: Limit, text: str) -> Decimal | int | None:
    number = _read(text) if text else None
    return number if number is None or limit.places else int(number)


def _read(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if len(text) <= 20 and number.is_finite() else None


def key_of(post: Mapping[str, str]) -> str | None:
    """A new key, "" to take it away, None to leave it as it is."""
    if post.get("forget_key"):
        return ""
    return typed_key(post) or None


def typed_key(post: Mapping[str, str]) -> str:
    return post.get("key", "").strip()
