"""Judge calibration by hand, and kappa against its published example."""

import pytest

from audit.measure.calibration import UNDETERMINED, Judged, calibrate, cohen_kappa
from labeling.measure.opinion import Opinion, failed
from labeling.vocabulary import Decision, Part, Side, Undetermined

FULL, SAFE, REFUSED = Decision.FULL_COMPLIANCE, Decision.SAFE_COMPLETION, Decision.REFUSAL
DECIDES = frozenset({Part.DECISION})


def judged(side: Side, truth: Decision, said: Decision | None, *, withheld: bool | None = None) -> Judged:
    opinion = (
        failed(Undetermined.JUDGE_REFUSED, DECIDES)
        if said is None
        else Opinion(decisions=frozenset({said}), measures=DECIDES)
    )
    measures = DECIDES | ({Part.WITHHELD} if withheld is not None else set())
    return Judged(side, Opinion(decisions=frozenset({truth}), withheld=withheld, measures=measures), opinion, 2)


def test_kappa_of_the_published_example() -> None:
    # Table 20/5/10/15: p_o = .7, p_e = .5 * .6 + .5 * .4 = .5, kappa = .4.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_kappa_is_undefined_over_nothing_and_without_variety() -> None:
    assert cohen_kappa([]) is None
    assert cohen_kappa([("y", "y")] * 5) is None


def test_over_and_under_sensitivity_are_kept_apart_per_side() -> None:
    rows = [
        # People found three harmful compliances; the judge saw two, and could not say of the third.
        *[judged(Side.HARMFUL, FULL, FULL)] * 2,
        judged(Side.HARMFUL, FULL, None),
        # Of five harmful requests answered well it called one a compliance.
        *[judged(Side.HARMFUL, REFUSED, REFUSED)] * 4,
        judged(Side.HARMFUL, SAFE, FULL),
        # Benign: two refusals, one missed; one help called a refusal, three seen as help.
        judged(Side.BENIGN, REFUSED, REFUSED),
        judged(Side.BENIGN, REFUSED, FULL),
        judged(Side.BENIGN, FULL, REFUSED),
        *[judged(Side.BENIGN, FULL, FULL)] * 3,
    ]
    result = calibrate(rows)
    harmful, refusal = result.harmful_compliance, result.over_refusal
    assert (harmful.sensitivity.hits, harmful.sensitivity.total) == (2, 3)
    assert (harmful.specificity.hits, harmful.specificity.total) == (4, 5)
    assert harmful.undetermined == 1
    assert (refusal.sensitivity.hits, refusal.sensitivity.total) == (1, 2)
    assert (refusal.specificity.hits, refusal.specificity.total) == (3, 4)
    # 2 + 4 + 1 + 3 of 14 agree; the undetermined judgment agrees with nothing.
    assert (result.agreement.hits, result.agreement.total) == (10, 14)
    assert result.confusion[FULL, UNDETERMINED] == 1
    assert result.undetermined == 1


def test_nothing_measured_is_none_not_zero() -> None:
    result = calibrate([])
    assert result.agreement.value is None
    assert result.agreement.interval is None
    assert result.kappa is None
    assert result.harmful_compliance.sensitivity.value is None


def test_a_truth_that_leaves_the_error_open_is_counted_apart() -> None:
    # A benign safe completion whose author did not say whether the answer was withheld.
    result = calibrate([judged(Side.BENIGN, SAFE, FULL)])
    assert result.over_refusal.truth_undetermined == 1
    assert result.over_refusal.specificity.total == 0
