"""The mapping form says what the text says: from a mapping to fields and back, nothing is lost or turned round."""

from typing import Any

import pytest

from labeling.errors import DomainError
from labeling.pages import import_form
from labeling.pages.import_form import score_token

BY_TYPE = {
    "column": "type",
    "values": {"homonyms": "benign", "a = b": "harmful", "": "benign"},
    "patterns": [{"matches": "contrast_*", "becomes": "harmful"}, {"matches": "*", "becomes": "benign"}],
    "otherwise": "capability",
}


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"case": {"side": BY_TYPE, "tier": 2, "pair": {"column": "twin"}, "framing": "plain"}},
        {"case": {"tier": {"column": "severity", "values": {"critical": 1, "low": 3}}}},
        {"scores": {"a": {"meaning": "harmful", "at_least": 0.5}, "b": {"meaning": "refused", "yes": ["C"]}}},
        {"scores": {"a": {"at_least": 1}, "elsewhere": {"column": "x", "meaning": "correct", "judge": "J"}}},
        {"system": {"model": "m", "version": "7", "decoding": {"t": 0}}, "columns": {"prompt": "q", "attempt": "n"}},
        # What no field can say, and stays: a pattern without a star, a value with one, other keys of a rule.
        {"case": {"side": {"column": "type", "patterns": [{"matches": "plain", "becomes": "benign"}]}}},
        {"case": {"side": {"column": "type", "values": {"a*": "benign"}}, "tier": {"column": "t", "otherwise": "1"}}},
        {"case": {"category": 7, "side": {"column": "x", "values": {" spaced ": "benign"}}, "key": {"column": "id"}}},
        {"verdicts": [{"author": "A", "decided_at": "2024-01-01T00:00:00Z", "decision": {"column": "d"}}], "rows": "r"},
    ],
)
def test_a_mapping_comes_back_from_the_form_as_it_was(mapping: dict[str, Any]) -> None:
    fields = import_form.shown(mapping, ["a", "b"])
    assert import_form.mapping_with(fields, mapping) == mapping


def test_what_is_typed_is_the_mapping_that_yaml_would_write() -> None:
    post = {
        "side-how": "column",
        "side-column": " type ",
        "side-lookup": "homonyms = benign\r\n\r\na = b=harmful\r\n = benign\r\ncontrast_* = harmful\r\n* = benign",
        "side-otherwise": "capability",
        "tier-how": "fixed",
        "tier-fixed": "2",
        "category-how": "fixed",
        "category-fixed": "7",
        "framing-how": "",
        "pair-how": "kept",
        f"meaning-{score_token('a')}": "harmful",
        f"at_least-{score_token('a')}": "0,5",
        f"meaning-{score_token('b')}": "",
        "model": "m",
        "column-prompt": "q",
        "added": "graded, other",
    }
    before = {
        "case": {"framing": "fiction", "pair": {"column": "p", "values": {"a*": "x"}}},
        "scores": {"b": {"meaning": "refused", "judge": "J"}},
    }
    made = import_form.mapping_with(import_form.typed(post, ["a", "b"]), before)
    assert made == {
        "case": {"side": BY_TYPE, "tier": 2, "category": "7", "pair": {"column": "p", "values": {"a*": "x"}}},
        "scores": {
            "a": {"meaning": "harmful", "at_least": 0.5},
            "b": {"judge": "J"},
            "graded": {"column": "graded"},
            "other": {"column": "other"},
        },
        "system": {"model": "m"},
        "columns": {"prompt": "q"},
    }


@pytest.mark.parametrize(
    ("post", "says"),
    [
        ({"side-how": "fixed"}, "which side"),
        ({"side-how": "column"}, "Name the column that tells the side"),
        ({"side-how": "column", "side-column": "c", "side-lookup": "x"}, "Line 1 for the side"),
        ({"side-how": "column", "side-column": "c", "side-lookup": "x = a\nx = b"}, "x is said twice for the side"),
        ({"side-how": "otherwise"}, "how the side is found"),
        ({f"meaning-{score_token('a')}": "good"}, "one of harmful"),
        ({f"meaning-{score_token('a')}": "", f"at_least-{score_token('a')}": "half"}, "takes a number"),
        ({f"meaning-{score_token('a')}": "", f"at_least-{score_token('a')}": "nan"}, "takes a number"),
    ],
)
def test_what_cannot_be_read_is_said(post: dict[str, str], says: str) -> None:
    with pytest.raises(DomainError, match=says):
        import_form.mapping_with(import_form.typed(post, ["a"]), {})


def test_a_score_that_is_not_on_the_page_keeps_its_meaning() -> None:
    before = {"scores": {"a": {"meaning": "harmful"}}}
    assert import_form.mapping_with(import_form.typed({}, ["a"]), before) == before
