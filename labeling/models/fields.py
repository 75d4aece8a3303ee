"""Columns that keep what hostile text throws at them, and the small sets the domain is made of."""

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db import models

from labeling.vocabulary import Decision

# The bit of each decision in a stored decision set. The order is part of the stored data: append only.
_DECISION_BITS = {Decision.FULL_COMPLIANCE: 1, Decision.SAFE_COMPLETION: 2, Decision.REFUSAL: 4}
EVERY_DECISION = 7
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


def decisions_to_bits(decisions: Iterable[Decision]) -> int:
    return sum(_DECISION_BITS[decision] for decision in set(decisions))


def bits_to_decisions(bits: int) -> frozenset[Decision]:
    return frozenset(decision for decision, bit in _DECISION_BITS.items() if bits & bit)


def choices(words: type[StrEnum]) -> list[tuple[str, str]]:
    """The words of an enumeration as Django choices."""
    return [(word.value, word.value.replace("_", " ")) for word in words]


def one_of(field: str, words: type[StrEnum], *, blank: bool = False) -> models.CheckConstraint:
    """A constraint: the column holds one of the words, whoever writes it."""
    allowed = [word.value for word in words] + ([""] if blank else [])
    return models.CheckConstraint(
        name=f"%(app_label)s_%(class)s_{field}_known", condition=models.Q(**{f"{field}__in": allowed})
    )


if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]
else:
    _TextField = models.TextField


class LosslessJSONField(_TextField):
    """JSON kept as ASCII text, so that NUL, lone surrogates and NaN come back exactly as they went in.

    PostgreSQL's jsonb refuses the first two and SQLite's JSON functions the last. Not for querying.
    """

    # What the type checker takes for the values set and got.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, _expression: object, _connection: object) -> Any:
        return None if value is None else json.loads(value)

    def to_python(self, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else _ENCODER.encode(value)

    def value_to_string(self, obj: models.Model) -> str:
        return json.dumps(self.value_from_object(obj), ensure_ascii=True)
