"""A mapping as people write it: what YAML would make of it by itself is not what they meant."""

from typing import Any

import pytest

from labeling.errors import DomainError
from labeling.formats.mapping_text import LONGEST, mapping_of, text_of

WRITTEN = """
case:
  side: {column: type, patterns: [{matches: "contrast_*", becomes: harmful}], otherwise: benign}
  key: {column: id, values: {1: one, 1.0: one point zero, true: yes}}
  category: 010
scores:
  grader:
    yes: [C, 1]
    no: [I, null]
verdicts:
  - {author: Grace, decided_at: 2024-02-01T10:00:00Z, decision: {column: label}}
"""


def test_yes_and_no_are_fields_and_nothing_becomes_a_date_or_an_octal_number() -> None:
    mapping = mapping_of(WRITTEN)
    assert mapping["scores"]["grader"] == {"yes": ["C", 1], "no": ["I", None]}
    assert mapping["case"]["key"]["values"] == {"1": "one", "1.0": "one point zero", "true": "yes"}
    assert mapping["case"]["category"] == "010"
    assert mapping["verdicts"][0]["decided_at"] == "2024-02-01T10:00:00Z"


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize(
    "mapping",
    [
        {},
        mapping_of(WRITTEN),
        {
            "a": "yes",
            "no": "010",
            "b": "1e5",
            "c": ".5",
            "d": "null",
            "e": "",
            "f": "# no comment: x",
            "g": "a\nb\n c ",
        },
        {"a": 0.5, "b": 1e20, "c": 1e-7, "d": -0.0, "e": 2**70, "f": True, "g": None, "h": [], "i": {}},
        {"a": "\u202eé\ud83d", "\u200b": "\x85\u2028"},
    ],
)
def test_what_is_written_is_read_back_equal(mapping: dict[str, Any], ascii_only: bool) -> None:
    text = text_of(mapping, ascii_only=ascii_only)
    assert mapping_of(text) == mapping
    assert text.isascii() or not ascii_only


def test_json_is_read_too_also_indented_by_tabs() -> None:
    assert mapping_of('{\n\t"case":\t{"side": "benign"}\n}') == {"case": {"side": "benign"}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("case:\n  side: [", "Line 2, column 10"),
        ("case:\n\tside: benign", "Line 2, column 1"),
        ("a: 1\na: 2", "Line 2, column 1 of the mapping: this key is already there"),
        ('{"a": 1,\n "a": 2}', "Line 2, column 2 of the mapping: this key is already there"),
        ("a: &x [1]\nb: *x", "Line 2, column 4 of the mapping: an alias"),
        ("a: !!python/object/apply:os.system [x]", "Line 1"),
        ("a: b\nc: \x01", "Line 2 of the mapping holds a character"),
        ("- a", "A mapping is an object"),
        ("just words", "A mapping is an object"),
        ("[" * 5000, "too deeply"),
        ("a: " + "9" * 5000, "too long"),
        ("a" * (LONGEST + 1), "at most"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text: str, says: str) -> None:
    with pytest.raises(DomainError, match=says.replace("(", r"\(")):
        mapping_of(text)
