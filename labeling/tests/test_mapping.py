"""A mapping's rules: what is looked up, what is exchanged, and what stays as it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.errors import DomainError
from labeling.formats.mapping import CaseRules, ImportMapping, Rule, as_number, as_text, at_path, found
from labeling.formats.wire import examine, read

FACTS = {"type": "contrast_drugs", "n": 2, "metadata": {"tags": ["a", {"b": True}], "x.y": "dotted"}, "flat.name": 7}


def rule(**fields: Any) -> Rule:
    return read(Rule, {"column": "type", **fields})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("type", "contrast_drugs"),
        ("metadata.tags.0", "a"),
        ("metadata.tags.1.b", True),
        ("metadata.x.y", "dotted"),
        ("flat.name", 7),
        ("metadata.tags.2", None),
        ("metadata.tags.-1", None),
        ("metadata.tags.²", None),
        ("type.0", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_paths_go_through_objects_and_lists(path: str, value: Any) -> None:
    assert at_path(FACTS, path) == value


def test_a_column_stands_for_itself_or_for_what_is_said_of_it() -> None:
    assert rule().of(FACTS) == "contrast_drugs"
    assert rule(values={"contrast_drugs": "harmful"}).of(FACTS) == "harmful"
    assert rule(column="n", values={"2": "gravest"}).of(FACTS) == "gravest"
    assert rule(column="nothing").of(FACTS) is None
    assert rule(column="nothing", otherwise="plain").of(FACTS) == "plain"
    # What nothing is said of is not carried over, once anything is said.
    assert rule(values={"safe": "benign"}).of(FACTS) is None
    assert rule(values={"safe": "benign"}, otherwise="harmful").of(FACTS) == "harmful"


def test_values_go_before_patterns_and_the_first_pattern_counts() -> None:
    patterns = [{"matches": "contrast_*", "becomes": "harmful"}, {"matches": "*", "becomes": "benign"}]
    assert rule(patterns=patterns).of(FACTS) == "harmful"
    assert rule(patterns=patterns).of({"type": "homonyms"}) == "benign"
    assert rule(patterns=patterns, values={"contrast_drugs": "benign"}).of(FACTS) == "benign"
    assert rule(patterns=[{"matches": "contrast_????", "becomes": "x"}]).of(FACTS) is None
    # A line break is a character like any other, and so is a bracket of a pattern that is none.
    assert rule(patterns=[{"matches": "a*z", "becomes": "x"}]).of({"type": "a\nz"}) == "x"


def test_a_plain_value_is_one_for_every_row() -> None:
    assert found("plain", FACTS) == "plain"
    assert found(rule(), FACTS) == "contrast_drugs"
    rules = read(
        CaseRules, {"side": {"column": "type", "otherwise": "benign"}, "framing": "fiction", "tier": {"column": "q"}}
    )
    assert rules.of(FACTS) == {"side": "contrast_drugs", "framing": "fiction"}


def test_a_mapping_is_read_strictly() -> None:
    mapping = {"case": {"side": {"colum": "type"}}, "scores": {"refusal": {"meaning": "maybe"}}, "rule": 1}
    problems = examine(ImportMapping, mapping)
    assert isinstance(problems, list)
    assert {problem.path for problem in problems} == {
        "case.side.column",
        "case.side.colum",
        "scores.refusal.meaning",
        "rule",
    }


def test_a_score_is_read_by_a_threshold_or_by_values() -> None:
    with pytest.raises(DomainError, match=r"scores\.x says both at_least and yes or no; keep one of them"):
        read(ImportMapping, {"scores": {"x": {"meaning": "harmful", "at_least": 1, "no": [0]}}})


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"meaning": "harmful", "yes": [1], "no": ["1.0"]}, "counts the same value as a yes and as a no"),
        ({"meaning": "harmful", "at_least": float("nan")}, "is no number"),
        ({"meaning": "harm_grade", "at_least": 1}, "is a harm grade, which is the number itself"),
    ],
)
def test_a_rule_that_could_be_read_two_ways_is_refused(rule: dict[str, Any], reason: str) -> None:
    with pytest.raises(DomainError, match=reason):
        read(ImportMapping, {"scores": {"x": rule}})


@pytest.mark.parametrize("given", [1, 1.0, "1", "1.0"])
def test_a_number_is_looked_up_however_it_is_written(given: Any) -> None:
    """Else it would be `otherwise`, which may be the other side."""
    rules = {"case": {"side": {"column": "label", "values": {"1": "harmful"}, "otherwise": "benign"}}}
    assert read(ImportMapping, rules).case.of({"label": given}) == {"side": "harmful"}
    assert read(ImportMapping, rules).case.of({"label": True}) == {"side": "benign"}


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), ("0.5", 0.5), (" 2 ", 2.0), ("inf", float("inf")), (-0.0, 0.0)],
)
def test_numbers_may_be_text(value: Any, number: float) -> None:
    assert as_number(value) == number


@pytest.mark.parametrize("value", [True, None, "", "one", float("nan"), "nan", [1], {"a": 1}, 10**400])
def test_what_is_no_number_is_none(value: Any) -> None:
    assert as_number(value) is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_every_value_can_be_named_in_a_mapping(value: Any) -> None:
    """A rule that gives the text of a value finds it, whatever it is."""
    assert rule(values={as_text(value): "found"}).of({"type": value}) == "found"
