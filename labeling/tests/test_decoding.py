"""From a row and a mapping to what is posted."""

from typing import Any

import pytest

from labeling.formats.decoding import attack, configuration, decoded
from labeling.formats.lines import Parsed, from_value
from labeling.formats.mapping import ImportMapping
from labeling.formats.problems import Problem
from labeling.formats.reading import Row, Score, System
from labeling.formats.wire import ConfigurationSpec, read
from labeling.vocabulary import Layer, Meaning

LINE = {"external_id": "a", "messages": [{"role": "assistant", "content": "No."}]}


def row(*scores: Score, **fields: Any) -> Row:
    given: dict[str, Any] = {"line": LINE, "case": {"key": "c", "side": "harmful"}, **fields}
    return Row("row 1", "s", scores=scores, **given)


def mapping(**fields: Any) -> ImportMapping:
    return read(ImportMapping, fields)


def test_a_row_becomes_a_line_with_its_case_and_judgments() -> None:
    harmful = Score("toxic", judge="d", version="1", value=1, truth=True, meaning=Meaning.HARMFUL)
    silent = Score("length", judge="d", version="1", value=7)
    found = decoded(row(harmful, silent), mapping())
    assert found.problems == ()
    assert [judgment["decision"] for judgment in found.line["judgments"]] == ["full_compliance"]
    assert found.scores == (harmful, silent)
    parsed = from_value(0, found.line)
    assert isinstance(parsed, Parsed)
    assert parsed.line.case_key == "c"


def test_a_side_that_the_file_does_not_say_is_the_mapping_s_to_say() -> None:
    sideless = row(case={"key": "c"}, facts={"label": "Unsafe"})
    found = decoded(sideless, mapping())
    assert found.problems == (Problem("case.side", "is not in the file; the mapping must say it"),)
    rules = mapping(case={"side": {"column": "label", "values": {"Unsafe": "harmful"}}})
    assert decoded(sideless, rules).problems == ()
    assert decoded(sideless, rules).line["case"]["side"] == "harmful"


def test_the_mapping_goes_over_the_file() -> None:
    found = decoded(row(facts={"topic": "fraud"}), mapping(case={"side": "benign", "category": {"column": "topic"}}))
    assert found.line["case"] == {"key": "c", "side": "benign", "category": "fraud"}


@pytest.mark.parametrize(
    ("field", "given", "kept"),
    [
        ("side", " Harmful ", "harmful"),
        ("kind", "Single_Turn", "single_turn"),
        ("tier", "2", 2),
        ("tier", "two", "two"),
        ("category", 7, "7"),
        ("key", 12, "12"),
        ("pair", True, "true"),
    ],
)
def test_a_table_holds_words_and_numbers_as_text(field: str, given: Any, kept: Any) -> None:
    assert decoded(row(case={"key": "c", "side": "harmful", field: given}), mapping()).line["case"][field] == kept


def test_a_mapping_finds_scores_and_peoples_labels_in_the_facts_of_any_format() -> None:
    rules = mapping(
        scores={"mine": {"column": "meta.mine", "meaning": "refused"}, "unmapped": {"column": "meta.other"}},
        verdicts=[{"author": "A", "decided_at": "2025-01-01T00:00:00Z", "decision": {"column": "meta.said"}}],
    )
    facts = {"meta": {"mine": 1, "other": 0, "said": "refusal"}}
    found = decoded(row(Score("of the file", "J", "1", True, True, Meaning.HARMFUL), facts=facts), rules)
    assert [(each["judge"], each["decision"]) for each in found.line["judgments"]] == [
        ("J", "full_compliance"),
        ("mine", "refusal"),
    ]
    assert [score.name for score in found.scores] == ["of the file", "mine", "unmapped"]
    assert [(each["external_id"], each["decision"]) for each in found.verdicts] == [("a", "refusal")]


def test_verdicts_belong_to_their_line() -> None:
    verdict = {"author": "A", "kind": "review", "decided_at": "2025-01-01T00:00:00Z", "decision": "refusal"}
    assert decoded(row(verdicts=(verdict,)), mapping()).verdicts == ({"external_id": "a", **verdict},)


def test_what_a_file_does_not_state_of_its_system_is_said_to_be_not_stated() -> None:
    assert configuration(System("", ""), mapping()) == {"model": "not stated", "version": "not stated"}
    read(ConfigurationSpec, configuration(System("", ""), mapping()))


def test_a_mapping_goes_over_what_the_file_says_of_its_system() -> None:
    system = System("s", "gpt-4", "0613", system_prompt="Be safe.", decoding={"temperature": 1}, layer=Layer.SYSTEM)
    assert configuration(system, mapping()) == {
        "model": "gpt-4",
        "version": "0613",
        "system_prompt": "Be safe.",
        "decoding": {"temperature": 1},
        "layer": "system",
    }
    rules = mapping(system={"model": "other", "version": "2", "system_prompt": "", "decoding": {}, "layer": "model"})
    assert configuration(system, rules) == {"model": "other", "version": "2", "layer": "model"}


def test_the_attack_is_the_file_s_or_the_mapping_s() -> None:
    system = System("s", "m", attack={"kind": "adaptive", "attempts": 3})
    assert attack(system, mapping()) == {"kind": "adaptive", "attempts": 3}
    said = attack(system, mapping(system={"attack": {"kind": "templated"}}))
    assert said == {"kind": "templated", "attempts": 1, "turns": 1}


def test_a_system_can_be_stored_whatever_its_file_calls_it() -> None:
    odd = System("key", model="a\0b\ud83d" * 99, version="\x07")
    read(ConfigurationSpec, configuration(odd, ImportMapping()))
