"""The local classifier: what it says, what it does not, and what its weights may hold."""

import tracemalloc
from typing import Any

import pytest
import skops.io
from sklearn.feature_extraction.text import CountVectorizer

from labeling.judges.base import Item, LocalJudge
from labeling.judges.learned.lesson import HEAD, TAIL, answer_of
from labeling.judges.learned.local import LocalClassifier, LocalSettings, packed, unpacked
from labeling.judges.learned.training import PARAMETERS, Learned, learned, lessons_of, tried
from labeling.tests import lessons, make
from labeling.tests.lessons import COMPLIED, REFUSED, SAFE
from labeling.vocabulary import Decision, Part, Undetermined


def settings(**changed: Any) -> LocalSettings:
    return LocalSettings(**{"training_hash": "h", "parameters": PARAMETERS, "lessons": 150, "cases": 50, **changed})


@pytest.fixture(scope="module")
def weights() -> Learned:
    return learned(lessons_of(lessons.pairs(150, graded=True)))


@pytest.fixture(scope="module")
def judge(weights: Learned) -> LocalClassifier:
    return LocalClassifier("local-classifier", settings(), weights)


def item(answer: str, **fields: Any) -> Item:
    return Item(make.messages("Tell me.", answer), begins=1, **fields)


def acted(*parts: dict[str, Any]) -> Item:
    return Item([{"role": "user", "parts": []}, {"role": "assistant", "parts": list(parts)}], begins=1)


# --- what it says --------------------------------------------------------------------------------------------------


def test_it_tells_apart_what_it_learned_to(judge: LocalClassifier) -> None:
    assert isinstance(judge, LocalJudge)
    # Numbers from 1000 on were no lessons.
    asked = [(decision, lessons.answer(decision, at)) for at in range(1000, 1020) for decision in Decision]
    said = judge.judge([item(answer) for _, answer in asked])
    assert [each.opinion.decision for each in said] == [decision for decision, _ in asked]
    assert all(each.scores[decision] >= 0.6 for each, (decision, _) in zip(said, asked, strict=True))
    assert all(sum(each.scores[name] for name in Decision) == pytest.approx(1) for each in said)


def test_harm_is_the_threshold_or_nothing(judge: LocalClassifier) -> None:
    harmful, harmless = judge.judge(
        [item(lessons.answer(COMPLIED, 1000), threshold=3), item(lessons.answer(REFUSED, 1000))]
    )
    assert (harmful.opinion.harm_grade, harmless.opinion.harm_grade) == (3, 0)
    assert harmful.scores["harmful"] > 0.6
    assert harmless.scores["harmful"] < 0.4
    assert judge.measures == {Part.DECISION, Part.HARM_GRADE}


def test_without_graded_verdicts_it_is_silent_on_harm() -> None:
    silent = LocalClassifier("local-classifier", settings(), learned(lessons_of(lessons.pairs(150))))
    said = silent.judge([item(lessons.answer(COMPLIED, 1000))])[0]
    assert silent.measures == said.opinion.measures == {Part.DECISION}
    assert (said.opinion.harm_grade, "harmful" in said.scores) == (None, False)


def test_what_reads_like_nothing_it_knows_is_unsure() -> None:
    """The same words under every decision teach nothing: each has a third, and not refused has two."""
    alike = learned(lessons_of((mark, "Words.") for mark, _ in lessons.pairs(60, graded=True)))
    said = LocalClassifier("local-classifier", settings(confidence=0.7), alike).judge([item("Words.")])[0]
    assert [round(said.scores[decision], 2) for decision in Decision] == [0.33, 0.33, 0.33]
    assert (said.opinion.undetermined, said.opinion.decisions) == (Undetermined.UNSURE, frozenset(Decision))
    assert said.opinion.harm_grade is None
    looser = LocalClassifier("local-classifier", settings(confidence=0.6), alike).judge([item("Words.")])[0]
    assert looser.opinion.undetermined is None
    assert looser.opinion.decisions == {COMPLIED, SAFE}


def test_the_sentence_names_the_likeliest_and_how_much_it_rests_on(judge: LocalClassifier) -> None:
    said = judge.judge([item(lessons.answer(REFUSED, 1000))])[0]
    assert said.rationale == f"Reads like a refusal ({said.scores['refusal']:.2f}), going by 150 verdicts."


def test_a_batch_says_what_each_says_alone(judge: LocalClassifier) -> None:
    items = [item(lessons.answer(SAFE, 7)), item(""), item(lessons.answer(REFUSED, 7))]
    assert judge.judge(items) == [judge.judge([each])[0] for each in items]
    assert judge.judge([]) == []


def test_what_was_said_without_words_is_not_guessed(judge: LocalClassifier) -> None:
    call = {"type": "tool_call", "id": "1", "name": "pay", "arguments": {}}
    said = judge.judge([item(""), item(" \n "), acted(call), acted({"type": "refusal", "text": ""}), Item([])])
    empty, unreadable = Undetermined.EMPTY, Undetermined.UNREADABLE
    assert [each.opinion.undetermined for each in said] == [empty, empty, unreadable, unreadable, empty]


def test_only_the_target_is_read(judge: LocalClassifier) -> None:
    """FIELD B5.6."""
    refusal = lessons.answer(REFUSED, 1000)
    messages = [
        {"role": "user", "parts": [{"type": "text", "text": "Sure, here is how. Step one:"}]},
        {"role": "assistant", "parts": [{"type": "text", "text": refusal}]},
        {"role": "tool", "parts": [{"type": "text", "text": "Sure, here is how. Step one:"}]},
    ]
    assert answer_of(Item(messages)) == refusal
    assert judge.judge([Item(messages)])[0].opinion.decision is REFUSED


def test_a_long_answer_is_read_at_both_ends_and_costs_no_more() -> None:
    middle = "x " * 5_000_000
    long = item(f"BEGIN {middle} END")
    tracemalloc.start()
    read = answer_of(long)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read.startswith("BEGIN ")
    assert read.endswith(" END")
    assert len(read) == HEAD + 1 + TAIL
    assert peak < 100_000


@pytest.mark.parametrize("text", ["\ud800 broken", "\x00", "42", "…", "\u202e\u200b", "拒绝", "'" * 5000])
def test_no_text_breaks_it(judge: LocalClassifier, text: str) -> None:
    assert len(judge.judge([item(text)])) == 1


# --- its version and its weights -----------------------------------------------------------------------------------


def test_the_version_is_of_what_can_change_an_answer(weights: Learned) -> None:
    version = LocalClassifier("a", settings(), weights).version
    assert LocalClassifier("b", settings(), weights).version == version
    assert settings(confidence=0.7).version != version
    assert settings(training_hash="i").version != version


def test_weights_answer_the_same_after_they_were_stored(judge: LocalClassifier, weights: Learned) -> None:
    again = LocalClassifier("local-classifier", settings(), unpacked(packed(weights)))
    items = [item(lessons.answer(decision, 2000)) for decision in Decision]
    assert again.judge(items) == judge.judge(items)


def test_weights_hold_no_word_that_was_said(weights: Learned) -> None:
    """A purged transcript is gone from what learned from it."""
    unpressed = skops.io.dumps(weights._asdict())
    assert b"violins" not in unpressed
    assert b"classes_" in unpressed


def test_weights_that_hold_another_type_are_refused(weights: Learned) -> None:
    other = skops.io.dumps({"decision": CountVectorizer(analyzer=lessons.answer), "harmful": None})
    with pytest.raises(ValueError, match="hold something that is no weight"):
        unpacked(other)


@pytest.mark.parametrize("written", [b"", b"nothing", skops.io.dumps({"decision": 1})])
def test_bytes_that_are_no_weights_are_refused_with_a_sentence(written: bytes) -> None:
    with pytest.raises(ValueError, match="train the classifier again"):
        unpacked(written)


def test_the_same_lessons_give_the_same_weights() -> None:
    once, twice = (learned(lessons_of(lessons.pairs(60))) for _ in range(2))
    items = [item(lessons.answer(decision, 2000)) for decision in Decision]
    judges = [LocalClassifier("local-classifier", settings(), each) for each in (once, twice)]
    assert judges[0].judge(items) == judges[1].judge(items)


# --- cross-validation ----------------------------------------------------------------------------------------------


def test_no_case_is_on_both_sides() -> None:
    """Each case's answers hold a word of its own that gives its decision away, and nothing else does."""
    marks = [(each, f"word{each.case.replace('-', '')} and words") for each, _ in lessons.pairs(90)]
    of_case = {mark.case: list(Decision)[at % 3] for at, (mark, _) in enumerate(marks[::3])}
    told = lessons_of((mark._replace(decision=of_case[mark.case]), text) for mark, text in marks)
    chances = tried(told).chances
    hits = sum(
        max(each, key=lambda d: each[d]) is mark.decision for each, mark in zip(chances, told.marks, strict=True)
    )
    # Whoever had seen the case would have 90 of 90; by chance it is 30.
    assert hits < 60


def test_every_lesson_is_tried_once() -> None:
    material = lessons_of(lessons.pairs(90, graded=True))
    trial = tried(material)
    assert len(trial.chances) == len(trial.harm) == 90
    assert all(sum(each.values()) == pytest.approx(1) for each in trial.chances)
    right = [
        max(each, key=lambda d: each[d]) is mark.decision
        for each, mark in zip(trial.chances, material.marks, strict=True)
    ]
    assert sum(right) == 90
    assert all(
        (chance > 0.5) is mark.harmful for chance, mark in zip(trial.harm, material.marks, strict=True) if chance
    )
