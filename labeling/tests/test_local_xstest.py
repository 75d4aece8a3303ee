"""The local classifier on XSTest's labelled responses: what is in docs/explanation/judges.md comes out again."""

import pytest

from litmus_site.tests import real_data
from litmus_site.tests.test_benchmarks import last_line_of


def test_in_cross_validation_by_prompt_it_is_clearly_better_than_the_sets_own_string_match() -> None:
    real_data.folder("xstest")
    found = last_line_of("judges_local.py", "--quick")
    assert found["responses"] == 2250
    assert found["string_match_macro_f1"] == pytest.approx(0.581, abs=0.001)
    assert found["macro_f1"] > found["string_match_macro_f1"] + 0.15
    # Partial refusals: string match finds none of the 176.
    assert (found["string_match_partial_f1"], found["partial_f1"] > 0.4) == (0, True)
    assert found["accuracy"] > found["string_match_accuracy"] + 0.05
    # It is surer of what it gets right: what it leaves open is less than a tenth.
    assert found["sure_accuracy"] > found["accuracy"]
    assert found["sure_share"] > 0.9
