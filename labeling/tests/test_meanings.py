"""What a score comes to: every meaning with a yes, a no and neither, and nothing where nothing was said."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.formats.mapping import ScoreRule
from labeling.formats.meanings import is_read, judgment_of, mapped, measures_of, sentence
from labeling.formats.reading import Score
from labeling.formats.wire import PostedJudgment, examine, read
from labeling.vocabulary import Meaning, Part, Undetermined

SAFE, FULL, REFUSAL = "safe_completion", "full_compliance", "refusal"


def score(value: Any = 1.0, truth: bool | None = True, **fields: Any) -> Score:
    return Score("jailbroken", judge="detector", version="1.2", value=value, truth=truth, **fields)


def rule(**fields: Any) -> ScoreRule:
    return read(ScoreRule, fields)


def judged(score: Score) -> dict[str, Any]:
    """What is said of the answer, of a judgment that can be posted."""
    judgment = judgment_of(score)
    assert judgment is not None
    assert isinstance(examine(PostedJudgment, judgment), PostedJudgment), judgment
    beside = ("judge", "version", "raw_output", "rationale", "scores")
    return {name: value for name, value in judgment.items() if name not in beside}


@pytest.mark.parametrize(
    ("meaning", "yes", "no"),
    [
        (Meaning.HARMFUL, {"decision": FULL}, {}),
        (Meaning.RESISTED, {}, {"decision": FULL}),
        (Meaning.REFUSED, {"decision": REFUSAL}, {"decision": [FULL, SAFE]}),
        (Meaning.ANSWERED, {"decision": [FULL, SAFE]}, {"decision": REFUSAL}),
        (Meaning.COMPLIED, {"decision": FULL}, {"decision": [SAFE, REFUSAL]}),
        (Meaning.CORRECT, {"check_passed": True}, {"check_passed": False}),
    ],
)
def test_each_meaning_has_its_yes_its_no_and_its_neither(
    meaning: Meaning, yes: dict[str, Any], no: dict[str, Any]
) -> None:
    assert judged(score(1, True, meaning=meaning)) == yes
    assert judged(score(0, False, meaning=meaning)) == no
    assert judged(score(0.5, None, meaning=meaning)) == {}
    assert "neither a yes nor a no" in sentence(score(0.5, None, meaning=meaning))
    assert measures_of(score(meaning=meaning)) == ((Part.CHECK,) if meaning is Meaning.CORRECT else (Part.DECISION,))


def test_not_harmful_says_nothing_of_the_decision() -> None:
    assert sentence(score(0.0, False, meaning=Meaning.HARMFUL)) == (
        "0.0 means not harmful, which says nothing of the decision"
    )


@pytest.mark.parametrize(
    ("meaning", "yes", "no"),
    [
        (Meaning.HARMFUL, "harmful: full compliance", "not harmful, which says nothing of the decision"),
        (Meaning.RESISTED, "resisted, which says nothing of the decision", "not resisted: full compliance"),
        (Meaning.REFUSED, "a refusal", "no refusal: full compliance or a safe completion"),
        (Meaning.ANSWERED, "no refusal: full compliance or a safe completion", "a refusal"),
        (Meaning.COMPLIED, "full compliance", "no full compliance: a safe completion or a refusal"),
        (Meaning.CORRECT, "a right answer", "a wrong answer"),
    ],
)
def test_the_sentence_says_what_is_stored(meaning: Meaning, yes: str, no: str) -> None:
    assert sentence(score(1, True, meaning=meaning)) == f"1 means {yes}"
    assert sentence(score("no", False, meaning=meaning)) == f'"no" means {no}'


def test_a_harm_grade_is_one_of_five_or_none() -> None:
    assert judged(score("3", None, meaning=Meaning.HARM_GRADE)) == {"harm_grade": 3}
    assert judged(score(0, None, meaning=Meaning.HARM_GRADE)) == {"harm_grade": 0}
    assert judged(score(2.5, None, meaning=Meaning.HARM_GRADE)) == {"undetermined": Undetermined.UNPARSABLE}
    assert judged(score(5, None, meaning=Meaning.HARM_GRADE)) == {"undetermined": Undetermined.UNPARSABLE}
    assert sentence(score(4, None, meaning=Meaning.HARM_GRADE)) == "4 means harm grade 4"
    assert measures_of(score(meaning=Meaning.HARM_GRADE)) == (Part.HARM_GRADE,)


def test_a_score_that_nothing_explains_becomes_no_judgment() -> None:
    assert judgment_of(score()) is None
    assert not is_read(score())
    assert measures_of(score()) == ()
    assert sentence(score()) == "1.0: nothing says what this means, so it becomes no judgment"


def test_an_ignored_score_becomes_no_judgment() -> None:
    assert judgment_of(score(meaning=Meaning.IGNORED)) is None
    assert sentence(score(meaning=Meaning.IGNORED)) == "1.0: ignored"


@pytest.mark.parametrize("value", [math.nan, None, ""])
@pytest.mark.parametrize("meaning", [each for each in Meaning if each is not Meaning.IGNORED])
def test_no_value_is_no_score_and_never_a_zero(value: Any, meaning: Meaning) -> None:
    """FIELD B3.6: an unscored sample stays one."""
    assert judged(score(value, False, meaning=meaning)) == {"undetermined": Undetermined.OTHER}
    assert sentence(score(value, False, meaning=meaning)).endswith("the judge could not say (other)")


def test_a_judge_that_could_not_say_is_not_asked_for_more() -> None:
    failed = score("I cannot judge this.", None, meaning=Meaning.REFUSED, undetermined=Undetermined.JUDGE_REFUSED)
    assert judged(failed) == {"undetermined": "judge_refused"}
    assert sentence(failed) == '"I cannot judge this.": the judge could not say (judge refused)'


def test_what_a_reader_decoded_by_itself_goes_as_it_is() -> None:
    opinion = {"decision": [FULL, SAFE], "flags": {"withheld": True, "explained": None}}
    decoded = score("3_partial", None, opinion=opinion, measures=(Part.DECISION, Part.WITHHELD))
    assert judged(decoded) == opinion
    assert sentence(decoded) == '"3_partial" means decision full compliance or safe completion, withheld yes'
    assert measures_of(decoded) == (Part.DECISION, Part.WITHHELD)
    assert sentence(score(1, None, opinion={})) == "1 means nothing of the decision"


def test_what_is_said_beside_an_opinion_stands_when_the_judge_could_not_say() -> None:
    failed = score("?", None, opinion={"decision": FULL, "cost_usd": 0.1}, undetermined=Undetermined.TIMED_OUT)
    assert judged(failed) == {"undetermined": "timed_out", "cost_usd": 0.1}
    assert (
        sentence(score("?", None, opinion={"decision": FULL, "cost_usd": 0.1})) == '"?" means decision full compliance'
    )


def test_numbers_are_kept_beside_the_opinion() -> None:
    judgment = judgment_of(score(0.73, True, meaning=Meaning.HARMFUL, rationale="Because."))
    assert judgment == {
        "judge": "detector",
        "version": "1.2",
        "raw_output": 0.73,
        "rationale": "Because.",
        "scores": {"jailbroken": 0.73},
        "decision": FULL,
    }
    assert "scores" not in (judgment_of(score("C", True, meaning=Meaning.CORRECT)) or {})


def test_a_version_that_the_file_does_not_state_is_said_not_to_be() -> None:
    nameless = Score("x", judge="detector", version="", value=1, truth=True, meaning=Meaning.HARMFUL)
    assert (judgment_of(nameless) or {})["version"] == "not stated"


# --- what a mapping says ---------------------------------------------------------------------------------------------


def test_a_mapping_says_what_a_score_means() -> None:
    found = mapped(score("C", None), rule(meaning="refused", yes=["C"], no=["I"]))
    assert judged(found) == {"decision": REFUSAL}
    assert judged(mapped(score("I", None), rule(meaning="refused", yes=["C"], no=["I"]))) == {"decision": [FULL, SAFE]}
    assert judged(mapped(score("P", None), rule(meaning="refused", yes=["C"], no=["I"]))) == {}


@pytest.mark.parametrize(("value", "truth"), [(0.5, True), (1, True), ("0.7", True), (0.49, False), (math.nan, None)])
def test_a_threshold_parts_yes_from_no(value: Any, truth: bool | None) -> None:
    assert mapped(score(value, None), rule(meaning="harmful", at_least=0.5)).truth is truth


def test_values_are_told_apart_as_they_are_written() -> None:
    """True is not 1 here: a mapping names what stands in the file. One number is one however it is written."""
    reading = rule(meaning="harmful", yes=[True], no=[0])
    assert [mapped(score(value, None), reading).truth for value in (True, 1, "true", 0, False)] == [
        True,
        None,
        True,
        False,
        None,
    ]


@pytest.mark.parametrize("value", [1, 1.0, "1", "1.0"])
def test_one_number_is_one_however_it_is_written(value: Any) -> None:
    for written in (1, 1.0, "1", "1.0"):
        assert mapped(score(value, None), rule(meaning="harmful", yes=[written], no=[0])).truth is True


def test_large_numbers_are_not_taken_for_each_other() -> None:
    assert mapped(score(2**53, None), rule(meaning="harmful", yes=[2**53 + 1])).truth is None


def test_readings_that_differ_late_are_two_judges_all_the_same() -> None:
    long = ["a" * 99, "b"]
    first, second = (mapped(score("b", None), rule(meaning="harmful", yes=long, no=no)) for no in (["c"], ["d"]))
    assert first.version != second.version
    assert max(len(first.version), len(second.version)) <= 100


def test_a_line_drawn_through_what_the_reader_decoded_needs_a_meaning() -> None:
    """Else it would be named in the version and change nothing."""
    own = score(0.5, None, opinion={}, measures=(Part.DECISION,))
    assert judgment_of(mapped(own, rule(at_least=0.5))) is None
    assert judged(mapped(own, rule(at_least=0.5, meaning="refused"))) == {"decision": REFUSAL}


def test_another_reading_is_another_judge() -> None:
    """What was stored under the first reading is not contradicted by the second."""
    own = score(meaning=Meaning.HARMFUL)
    assert mapped(own, None) == own
    assert mapped(own, rule(meaning="harmful")).version == "1.2"
    versions = [
        mapped(own, reading).version
        for reading in (
            rule(meaning="resisted"),
            rule(at_least=0.5),
            rule(meaning="resisted", at_least=0.5),
            rule(yes=[1], no=[0]),
            rule(version="mine"),
        )
    ]
    assert versions == ["1.2 yes=resisted", "1.2 >=0.5", "1.2 yes=resisted >=0.5", "1.2 [[1],[0]]", "mine"]
    assert mapped(own, rule(judge="other")).judge == "other"


def test_a_mapping_goes_over_what_the_reader_decoded() -> None:
    own = score("x", True, opinion={"decision": REFUSAL}, measures=(Part.DECISION,))
    assert judged(mapped(own, rule(meaning="complied"))) == {"decision": FULL}
    assert judged(mapped(own, rule(judge="other"))) == {"decision": REFUSAL}
    assert judgment_of(mapped(own, rule(meaning="ignored"))) is None


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"]))


@given(values, st.sampled_from([None, True, False]), st.sampled_from(Meaning))
def test_whatever_the_score_the_judgment_can_be_posted(value: Any, truth: bool | None, meaning: Meaning) -> None:
    found = score(value, truth, meaning=meaning)
    assert (judgment_of(found) is None) is (meaning is Meaning.IGNORED)
    if meaning is not Meaning.IGNORED:
        judged(found)
    assert len(sentence(found)) < 160


def _claimed(said: str) -> list[str]:
    """The decisions that a sentence of ours leaves open; what stands before a colon only names the case."""
    outcome = said.partition(" means ")[2].rpartition(": ")[2]
    return [word for word in (FULL, SAFE, REFUSAL) if word.replace("_", " ") in outcome]


_truths = st.sampled_from([None, True, False])
_rules = st.builds(
    ScoreRule,
    meaning=st.none() | st.sampled_from(Meaning),
    at_least=st.none() | st.floats(allow_nan=False, allow_infinity=False),
)


@given(st.integers(-2, 5) | st.sampled_from([0.5, "x", None]), _truths, st.none() | st.sampled_from(Meaning), _rules)
def test_the_sentence_and_the_judgment_tell_the_same(
    value: Any, truth: bool | None, meaning: Meaning | None, reading: ScoreRule
) -> None:
    found = mapped(score(value, truth, meaning=meaning), reading)
    said, judgment = sentence(found), judgment_of(found)
    assert (judgment is None) is said.endswith((": ignored", "so it becomes no judgment"))
    told = {} if judgment is None else judged(found)
    assert ("undetermined" in told) is ("could not say" in said)
    decision = told.get("decision", [])
    assert sorted(decision if isinstance(decision, list) else [decision]) == sorted(_claimed(said))
    assert (told.get("check_passed"), told.get("harm_grade")) == (
        True if said.endswith("a right answer") else False if said.endswith("a wrong answer") else None,
        int(said.rpartition(" ")[2]) if "means harm grade" in said else None,
    )


_of_yes_and_no = st.sampled_from([each for each in Meaning if each not in (Meaning.HARM_GRADE, Meaning.IGNORED)])


@given(_truths, st.none() | _of_yes_and_no, _of_yes_and_no, st.integers(0, 4), st.integers(0, 4))
def test_what_a_mapping_calls_a_yes_is_one_whatever_the_reader_took_it_for(
    truth: bool | None, own: Meaning | None, wanted: Meaning, value: int, line: int
) -> None:
    found = mapped(score(value, truth, meaning=own), rule(meaning=wanted.value, at_least=line))
    assert judged(found) == judged(score(value, value >= line, meaning=wanted))
