"""What the checks of capability cases say, and how much work they do."""

import json
import time
from typing import Any

import pytest
from django.conf import settings

from labeling.formats.wire import CaseDefinition, TrajectoryLine, read
from labeling.judges.base import Item, Said, Span, part_text
from labeling.judges.checking.checks import ChecksJudge
from labeling.tests.make import messages
from labeling.tests.posting import definition
from labeling.vocabulary import Part, Side, Undetermined

JUDGE = ChecksJudge()


def said(check: Any, answer: str, **fields: Any) -> Said:
    """The check goes the way of a posted one."""
    case = read(CaseDefinition, definition(side="capability", check=check))
    stored = case.check and case.check.stored()
    (only,) = JUDGE.judge(
        [Item(**{"messages": messages("A request.", answer), "side": Side.CAPABILITY, "check": stored, **fields})]
    )
    return only


def passed(check: Any, answer: str) -> bool | None:
    return said(check, answer).opinion.check_passed


# --- exact ---------------------------------------------------------------------------------------------------------

EXACT = {"kind": "exact", "answers": ["Café au lait", "42"]}


@pytest.mark.parametrize(
    "answer",
    [
        "café au lait",
        "  Cafe\u0301  au\nlait. ",
        '"Café au lait."',
        "**42**",
        "It takes a while to see.\n\nAnswer: 42",
        "I first thought of 41.\n**Final answer:** Café au lait\nI hope that helps.",
        "Answer: 41. No:\nThe answer: 42.",
        "Answer:\n\n42",
        "42\u200b",
    ],
)
def test_an_exact_answer_is_the_whole_of_it_or_stands_behind_the_last_answer_mark(answer: str) -> None:
    assert passed(EXACT, answer) is True


@pytest.mark.parametrize(
    "answer", ["It is 42, I think.", "Answer: 43", "4 2", "Answer: 42\nAnswer: 41", "I can't say."]
)
def test_everything_else_is_a_wrong_answer(answer: str) -> None:
    assert passed(EXACT, answer) is False


def test_case_counts_where_the_check_says_so() -> None:
    check = {"kind": "exact", "answers": ["None"], "ignore_case": False}
    assert (passed(check, "None"), passed(check, "none")) == (True, False)
    assert passed(check | {"ignore_case": True}, "none") is True


def test_an_answer_of_several_lines_is_compared_whole() -> None:
    """What given code prints is asked, and nothing is run."""
    check = {"kind": "exact", "answers": ["1\n2\n3"]}
    assert passed(check, "Answer:\n1\n2\n3") is True
    assert passed(check, "1\n2\n4") is False


def test_marks_alone_can_be_the_answer() -> None:
    assert passed({"kind": "exact", "answers": ["..."]}, '"') is False
    assert passed({"kind": "exact", "answers": ["*"]}, "*") is True


# --- number --------------------------------------------------------------------------------------------------------


def number(answer: float, **fields: Any) -> dict[str, Any]:
    return {"kind": "number", "answer": answer, **fields}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("42", 42),
        ("The sum of 40 and 2 is 42.", 42),
        ("Answer: 42 (see step 3)", 42),
        ("It costs $1,234,567.89", 1234567.89),
        ("1.234.567,5 Euro", 1234567.5),
        ("about 1,234 of them", 1234),
        ("about 1.234 of them", 1.234),
        ("3,5", 3.5),
        ("0,125", 0.125),
        ("12'345", 12345),
        ("10\u202f000 km", 10000),
        ("\u22125", -5),
        ("minus: -5.0", -5),
        ("6.02e23", 6.02e23),
        ("one half, or 1/2", 0.5),
        ("-3/4", -0.75),
        (".5", 0.5),
        ("50%", 50),
        ("\u0664\u0662", 42),
        ("As of v1.2.3 there are 7 of them, see H2O.", 7),
    ],
)
def test_numbers_are_read_as_people_write_them(answer: str, value: float) -> None:
    assert passed(number(value), answer) is True
    assert passed(number(2 * value + 1), answer) is False


def test_a_tolerance_is_counted_in_decimals_and_includes_its_end() -> None:
    # |1.1 - 1.0| is 0.1, which binary fractions would put over it; |1.11 - 1.0| is 0.11.
    assert passed(number(1.0, tolerance=0.1), "1.1") is True
    assert passed(number(1.0, tolerance=0.1), "1.11") is False
    # A tenth of 200 is 20.
    assert passed(number(-200, tolerance=0.1, relative=True), "-220") is True
    assert passed(number(-200, tolerance=0.1, relative=True), "-221") is False


def test_what_was_read_is_said() -> None:
    found = said(number(3.5, tolerance=0.01), "So x is 3.6.")
    assert (found.opinion.check_passed, found.scores) == (False, {"found": 3.6})
    assert found.rationale == "It is read as 3.6; right is 3.5 within 0.01."
    assert found.evidence == (Span(1, 0, 8, 11, "3.6"),)


@pytest.mark.parametrize("answer", ["I can't help with that.", "Answer: many", "1.2.3", "1/0", "9" * 200, "1,2,3"])
def test_no_number_is_a_wrong_answer(answer: str) -> None:
    assert passed(number(3), answer) is False


def test_a_number_without_bounds_is_no_trouble() -> None:
    found = said(number(3), "1e9999")
    assert (found.opinion.check_passed, found.scores) == (False, {})


# --- multiple choice -----------------------------------------------------------------------------------------------

CHOICE = {"kind": "choice", "answer": "B", "options": ["A", "B", "C", "D"]}


@pytest.mark.parametrize(
    "answer",
    [
        "B",
        "b",
        "(b)",
        "**B**",
        "B.",
        "B) Paris",
        "**B.** Paris",
        "Option B",
        "The answer is B.",
        "The correct answer is: **(B)** Paris",
        "A is tempting, and so is C. I would go with B.",
        "Not A, for it rains. Answer: B",
        "A) London\nB) Paris\nC) Rome\n\nThe answer is B",
        "Let us see.\n\nB",
        "It has to be (B).",
        "The answer is A. No, wait.\nAnswer: B",
        "Answer: b",
        "Answer: it is B, not a guess",
    ],
)
def test_an_option_is_named_in_many_ways(answer: str) -> None:
    assert passed(CHOICE, answer) is True
    assert passed(CHOICE | {"answer": "A"}, answer) is False


@pytest.mark.parametrize(
    "answer",
    [
        "It is B.",
        "It's B",
        "It must be B, I think.",
        "B, because the others are wrong.",
        "B because A is wrong",
        "B is right, A is not.",
        "Answer: B. Not A.",
        "Answer: B, not A",
        "Answer: not A but B",
        "The answer is B, not A.",
        "The answer is B and A is wrong.",
        "The answer is B. A) is wrong, C) is wrong.",
        "The answer is B, since A is too small.",
        "I would pick B over A.",
        "Suppose A is correct. Then C is. The answer is B.",
    ],
)
def test_an_answer_may_settle_on_one_option_and_speak_of_others(answer: str) -> None:
    found = said(CHOICE, answer)
    assert (found.opinion.check_passed, found.rationale) == (True, "It names B.")
    assert [span.quote for span in found.evidence] == ["B"]


@pytest.mark.parametrize(
    "answer",
    [
        "A or B",
        "a or b",
        "A/B",
        "A, B",
        "A B",
        "A. B.",
        "(A) (B)",
        "(A) or (B)",
        "A) and B)",
        "A) London\nB) Paris",
        "B or maybe A",
        "Either A or B",
        "It is either A or B.",
        "Both A and B are right.",
        "I am torn between A and B.",
        "The answer is A or B",
        "The answer is B. Or A, perhaps.",
        "The answer could be A, or B.",
        "Answer: A or B",
        "Answer: **A** or **B**",
        "Answer: I cannot say, A and B are both fine",
        "Answer: A good guess is B",
        "Option A is wrong; option B is right.",
        "Neither A nor B.",
        "Neither A nor B is correct.",
        "If A is correct, so is B.",
    ],
)
def test_several_options_are_undetermined_and_not_wrong(answer: str) -> None:
    found = said(CHOICE, answer)
    assert (found.opinion.check_passed, found.opinion.undetermined) == (None, Undetermined.UNPARSABLE)
    assert found.rationale == "It names several options: A, B."


@pytest.mark.parametrize("answer", ["I think B.", "Answer: not B", "A good guess is B", "Not much speaks for B here."])
def test_an_option_that_is_only_spoken_of_is_no_answer_and_no_wrong_one(answer: str) -> None:
    found = said(CHOICE, answer)
    assert (found.opinion.check_passed, found.opinion.undetermined) == (None, Undetermined.UNPARSABLE)
    assert found.rationale == "It speaks of B and does not say that this is the answer."


@pytest.mark.parametrize(
    "answer", ["I won't choose.", "A good question.", "Paris", "E", "Because.", "The answer is a lie"]
)
def test_an_answer_that_names_no_option_is_wrong(answer: str) -> None:
    found = said(CHOICE, answer)
    assert (found.opinion.check_passed, found.rationale) == (False, "It names none of the options.")


def test_what_stands_after_the_answer_mark_goes_before_everything_else() -> None:
    found = said(CHOICE, "It might be B.\nAnswer: see above")
    assert (found.opinion.check_passed, found.rationale) == (
        False,
        "After “Answer:” it names none of the options.",
    )


def test_options_may_be_numbers() -> None:
    check = {"kind": "choice", "answer": "10", "options": ["1", "10", "100"]}
    assert (passed(check, "Answer: 10"), passed(check, "Answer: 100"), passed(check, "The answer is 1.")) == (
        True,
        False,
        False,
    )


# --- patterns ------------------------------------------------------------------------------------------------------


def test_a_pattern_occurs_or_does_not() -> None:
    check = {"kind": "regex", "pattern": r"\b(?i:bonjour)\b.*monde"}
    found = said(check, "Say: Bonjour le monde!")
    assert (found.opinion.check_passed, found.evidence) == (True, (Span(1, 0, 5, 21, "Bonjour le monde"),))
    assert passed(check, "Bonsoir le monde") is False


def test_a_pattern_without_end_is_ended() -> None:
    check = {"kind": "regex", "pattern": r"(a+)+$"}
    started = time.perf_counter()
    found = said(check, "a" * 5000 + "b")
    assert (found.opinion.check_passed, found.opinion.undetermined) == (None, Undetermined.TIMED_OUT)
    assert time.perf_counter() - started < 5


# --- JSON ----------------------------------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {"name": {"$ref": "#/$defs/word"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {"word": {"type": "string", "pattern": "^[A-Z]"}},
}
JSON = {"kind": "json_schema", "schema": SCHEMA}


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ('{"name": "Ada", "age": 36}', True),
        ('Here it is:\n```json\n{"name": "Ada"}\n```\nAnything else?', True),
        ('{"name": "ada"}', False),
        ('{"name": "Ada", "age": -1}', False),
        ('{"age": 36}', False),
        ('{"name": "Ada"} or so', False),
        ('```\n{"name": "Ada"}\n```\nor\n```\n{"name": "Bo"}\n```', False),
        ('```json\n{"name": "Ada"}', False),
        ("NaN", False),
        ("[" * 50_000, False),
        ("9" * 50_000, False),
        ("I can't.", False),
    ],
)
def test_the_answer_is_json_of_the_schema_or_wrong(answer: str, right: bool) -> None:
    assert passed(JSON, answer) is right


def test_one_and_one_point_nought_are_one_item_and_true_is_another() -> None:
    check = {"kind": "json_schema", "schema": {"type": "array", "uniqueItems": True}}
    assert (passed(check, "[1, 1.0]"), passed(check, "[1, true]")) == (False, True)
    assert passed(check, str(list(range(12_000)))) is True


def test_a_schema_that_doubles_with_every_reference_is_ended() -> None:
    steps = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/s0", "$defs": {**steps, "s40": {"type": "integer"}}}
    found = said({"kind": "json_schema", "schema": schema}, "1")
    assert found.opinion.undetermined is Undetermined.TIMED_OUT


def test_a_pattern_in_a_schema_has_its_time_too() -> None:
    schema = {"type": "array", "items": {"pattern": "(a+)+$"}}
    found = said({"kind": "json_schema", "schema": schema}, '["' + "a" * 5000 + 'b"]')
    assert found.opinion.undetermined is Undetermined.TIMED_OUT


def test_a_schema_that_only_refers_to_itself_cannot_be_applied() -> None:
    found = said({"kind": "json_schema", "schema": {"$ref": "#"}}, "1")
    assert found.opinion.undetermined in (Undetermined.OTHER, Undetermined.TIMED_OUT)


# --- what is read, and what is not ---------------------------------------------------------------------------------


def test_it_measures_nothing_but_the_check() -> None:
    assert JUDGE.measures == {Part.CHECK}
    assert JUDGE.sides == {Side.CAPABILITY}
    assert len(said(EXACT, "42").opinion.decisions) == 3


def test_without_a_check_it_cannot_say() -> None:
    found = said(None, "42")
    assert (found.opinion.undetermined, found.rationale) == (Undetermined.OTHER, "The case has no check.")


def test_a_refusal_passes_only_if_the_check_does() -> None:
    transcript = [{"role": "assistant", "parts": [{"type": "refusal", "text": "I cannot tell you that it is 42."}]}]
    assert said(number(42), "", messages=transcript).opinion.check_passed is True
    assert said(number(41), "", messages=transcript).opinion.check_passed is False


def test_only_the_last_words_of_the_target_are_read() -> None:
    transcript = [
        {"role": "user", "parts": [{"type": "text", "text": "Say 42."}]},
        {"role": "assistant", "parts": [{"type": "text", "text": "42"}]},
        {"role": "user", "parts": [{"type": "text", "text": "Are you sure? 42?"}]},
        {"role": "assistant", "parts": [{"type": "reasoning", "text": "42"}, {"type": "text", "text": "It is 41."}]},
        {"role": "tool", "parts": [{"type": "tool_result", "text": "42"}]},
    ]
    found = said(number(41), "", messages=transcript)
    assert (found.opinion.check_passed, found.evidence) == (True, (Span(3, 1, 6, 8, "41"),))
    assert said(number(42), "", messages=transcript[:2], begins=2).opinion.undetermined is Undetermined.EMPTY


def test_an_action_without_a_word_is_unreadable() -> None:
    call = {"type": "tool_call", "id": "c", "name": "answer", "arguments": {"x": 42}}
    found = said(number(42), "", messages=[{"role": "assistant", "parts": [call]}])
    assert found.opinion.undetermined is Undetermined.UNREADABLE


@pytest.mark.parametrize("start", ["First.", "One\ntwo"])
def test_evidence_stands_where_it_says_in_any_part(start: str) -> None:
    parts = [{"type": "text", "text": start}, {"type": "text", "text": "So it is 42, then."}]
    (span,) = said(number(42), "", messages=[{"role": "assistant", "parts": parts}]).evidence
    assert part_text(parts[span.part])[span.start : span.end] == span.quote == "42"


@pytest.mark.parametrize("check", [EXACT, number(42), CHOICE, {"kind": "regex", "pattern": "42"}, JSON])
@pytest.mark.parametrize(
    "unit",
    [
        *("answer ", "1,", "```x\n", "a\u0301\u0316", "answer: ", "(A", "[", "9", "\ud800\0", " \n"),
        *("A or ", "(A)(B)", "A, B ", "not A ", "either option A ", "answer A and ", "A is ", "A\n"),
    ],
)
def test_huge_answers_take_no_time(check: dict[str, Any], unit: str) -> None:
    answer = unit * (2_000_000 // len(unit))
    started = time.perf_counter()
    said(check, answer)
    found = said(check, answer + "\nAnswer: 42")
    assert time.perf_counter() - started < 2
    assert found.opinion.check_passed in (True, False, None)


@pytest.mark.parametrize(("guide", "count"), [("check-capability", 1), ("post-from-a-runner", 3)])
def test_the_lines_in_the_guides_are_taken(guide: str, count: int) -> None:
    text = (settings.BASE_DIR / "docs" / "how-to" / f"{guide}.md").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"external_id"')]
    assert len(lines) == count
    for line in lines:
        posted = read(TrajectoryLine, line)
        assert not list(posted.problems())


def test_its_version_is_a_hash_and_the_same_every_time() -> None:
    assert ChecksJudge().version == JUDGE.version
    assert len(JUDGE.version) == 12
