"""The pair as JSON: the one way rates leave through the API, both or none."""

from typing import Literal

from audit.measure.rates import Incomplete, Rate, RatePair
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

    @classmethod
    def of(cls, rate: Rate) -> "RateAnswer":
        return cls.model_validate(rate)


class PairAnswer(Answer):
    """Harmful compliance and over-refusal. Incomplete: a side was not measured, and no rate is given."""

    status: Literal["complete", "incomplete"]
    harmful_compliance: RateAnswer | None
    over_refusal: RateAnswer | None
    missing: list[str]
    harmful_cases: int
    benign_cases: int

    @classmethod
    def of(cls, pair: RatePair | Incomplete) -> "PairAnswer":
        if isinstance(pair, Incomplete):
            return cls(
                status="incomplete",
                harmful_compliance=None,
                over_refusal=None,
                missing=list(pair.missing),
                harmful_cases=pair.harmful_cases,
                benign_cases=pair.benign_cases,
            )
        return cls(
            status="complete",
            harmful_compliance=RateAnswer.of(pair.harmful_compliance),
            over_refusal=RateAnswer.of(pair.over_refusal),
            missing=[],
            harmful_cases=pair.harmful_compliance.cases,
            benign_cases=pair.over_refusal.cases,
        )
