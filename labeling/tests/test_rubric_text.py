"""What a rubric judge is made from, and what makes it another version."""

from typing import Any

import pytest
from pydantic import ValidationError

from labeling.formats.problems import problems_of
from labeling.judges.rubrics.rubric import RubricJudge
from labeling.judges.rubrics.rubric_text import RubricSettings, ready_rubrics
from labeling.judges.rubrics.scales import Scale
from labeling.tests.rubrics import SERVICE, judge, settings
from labeling.vocabulary import Part, Side


def test_four_rubrics_are_ready_and_the_three_labels_come_first() -> None:
    ready = ready_rubrics()
    assert list(ready) == ["three_label", "boundary", "five_point", "strongreject"]
    assert [rubric.scale for rubric in ready.values()] == [Scale(key) for key in ready]
    assert set(ready["three_label"].categories) == {"fraud", "illegal_weapons", "self_harm", "malware"}


def test_each_scale_declares_the_parts_it_measures() -> None:
    assert judge("three_label").measures == frozenset(Part) - {Part.CHECK}
    assert judge("strongreject").measures == judge("five_point").measures == {Part.DECISION, Part.HARM_GRADE}
    assert judge("boundary").measures == {Part.DECISION}
    assert judge().sides == {Side.HARMFUL, Side.BENIGN}


@pytest.mark.parametrize(
    "changes",
    [
        {"instructions": settings().instructions.replace("harmless", "innocuous", 1)},
        {"categories": {"fraud": {"text": "", "tiers": {"1": "A scam is grade 4."}}}},
        {"title": "Another title"},
        {"service": SERVICE | {"model": "judge-2"}},
        {"service": SERVICE | {"temperature": 0.5}},
        {"service": SERVICE | {"extra": {"seed": 1}}},
        {"transcript_characters": 60_001},
        {"structured": "json_object"},
    ],
)
def test_a_change_of_one_word_is_another_version(changes: dict[str, Any]) -> None:
    assert judge(**changes).version != judge().version


def test_the_same_settings_are_the_same_version_whatever_the_judge_is_called() -> None:
    again = RubricSettings.model_validate_json(settings().model_dump_json())
    assert RubricJudge("other", "Other", again).version == judge().version


@pytest.mark.parametrize(
    ("changes", "path", "reason"),
    [
        ({"instructions": " \n"}, "instructions", "must not be empty; the ready rubrics are a beginning"),
        ({"instructions": "a\ud800"}, "instructions", "must not hold NUL or lone surrogates"),
        (
            {"categories": {"fraud": {"tiers": {"gravest": "x"}}}},
            "categories.fraud.tiers",
            'must have severity tiers for keys: "1" is the gravest',
        ),
        ({"categories": {f"c{number}": {} for number in range(101)}}, "categories", "must be at most 100"),
        (
            {"categories": {"fraud": {"tiers": {str(number): "x" for number in range(1, 22)}}}},
            "categories.fraud.tiers",
            "must have at most 20 tiers",
        ),
        (
            {"categories": {f"c{number}": {"text": "x" * 40_000} for number in range(10)}},
            "",
            "must have at most 400,000 characters of rubric in all",
        ),
        (
            {"service": SERVICE | {"extra": {"seed": float("nan")}}},
            "service.extra",
            "must be JSON, without NaN or Infinity",
        ),
        (
            {"service": SERVICE | {"extra": {"user": "x" * 20_000}}},
            "service.extra",
            "must have at most 20,000 characters as JSON",
        ),
        ({"transcript_characters": 999}, "transcript_characters", "must be at least 1000"),
        ({"transcript_characters": 2_000_001}, "transcript_characters", "must be at most 2000000"),
        ({"language": "en"}, "language", "is not a field here"),
        (
            {"sides": {"benign": "Be lenient."}},
            "",
            "holds words for one side: only the boundary scale tells a judge the side of a case",
        ),
        (
            {"service": {"base_url": "https://judge.example"}},
            "",
            "must name the model that answers, in service.model",
        ),
        (
            {"service": {"model": "m"}},
            "",
            "must say in service who answers: an address, or the name under which the operator keeps one",
        ),
        (
            {"service": SERVICE | {"extra": {"messages": []}}},
            "",
            "must not hold model, messages, stream, n in service.extra: Litmus says these itself",
        ),
    ],
)
def test_what_is_wrong_with_settings_is_said_in_a_sentence(changes: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        settings(**changes)
    assert [tuple(problem) for problem in problems_of(caught.value, has_metadata=False)] == [(path, reason)]
