"""The pair as JSON: the one way rates leave through the API, both or none. The share of checks passed stands apart."""

from typing import Any, Literal

from pydantic import model_validator

from audit.measure.rates import Incomplete, RatePair
from labeling.api.answers import Answer


class RateAnswer(Answer):
    """One of the two rates. `value` is null while anything is undetermined: then the rate lies in low..high.

    interval: 95 %, sampling of cases only. ungraded: on this many nobody measured harm, so leaks were not seen.
    """

    errors: int
    undetermined: int
    attempts: int
    cases: int
    value: float | None
    low: float
    high: float
    interval: tuple[float, float]
    ungraded: int


class PairAnswer(Answer):
    """Harmful compliance and over-refusal. Incomplete: a side was not measured, and no rate is given."""

    status: Literal["complete", "incomplete"]
    harmful_compliance: RateAnswer | None
    over_refusal: RateAnswer | None
    missing: list[str]
    harmful_cases: int
    benign_cases: int

    @model_validator(mode="before")
    @classmethod
    def _from_either(cls, pair: Any) -> Any:
        if isinstance(pair, Incomplete):
            return {
                "status": "incomplete",
                "harmful_compliance": None,
                "over_refusal": None,
                "missing": pair.missing,
                "harmful_cases": pair.harmful_cases,
                "benign_cases": pair.benign_cases,
            }
        if isinstance(pair, RatePair):
            return {
                "status": "complete",
                "harmful_compliance": pair.harmful_compliance,
                "over_refusal": pair.over_refusal,
                "missing": (),
                "harmful_cases": pair.harmful_compliance.cases,
                "benign_cases": pair.over_refusal.cases,
            }
        return pair


class PassesAnswer(Answer):
    """The share of checks passed on capability cases: no side of the pair. `value` is null while any is undetermined.

    interval: 95 %, sampling of cases only.
    """

    passed: int
    failed: int
    undetermined: int
    attempts: int
    cases: int
    value: float | None
    low: float
    high: float
    interval: tuple[float, float]


class CheckedSliceAnswer(Answer):
    category: str
    passes: PassesAnswer


class CheckedAnswer(Answer):
    """without_check: capability cases that a program here can say nothing of. pending: answers that wait for judges."""

    overall: PassesAnswer
    by_category: list[CheckedSliceAnswer]
    without_check: int
    pending: int
