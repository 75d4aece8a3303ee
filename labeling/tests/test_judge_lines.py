"""A judge's settings as lines, and two versions of them line against line."""

import time

from labeling.models import Judge
from labeling.pages.judge_lines import Line, compared, difference, lines_of
from labeling.vocabulary import JudgeKind


def judge(kind: JudgeKind = JudgeKind.RUBRIC, **settings: object) -> Judge:
    return Judge(name="careful", version="1", kind=kind, settings=settings)


def test_settings_read_line_by_line() -> None:
    settings = {
        "service": {"model": "big", "temperature": 0.0, "extra": {}},
        "instructions": "Be fair.\n\n- Always.\n",
        "structured": None,
        "labels": ["a", "b"],
        "strict": True,
        "title": "",
    }
    assert lines_of(settings) == [
        "service:",
        "  model: big",
        "  temperature: 0.0",
        "  extra: none",
        "instructions:",
        "  Be fair.",
        "",
        "  - Always.",
        "structured: none",
        "labels: a, b",
        "strict: yes",
        "title: empty",
    ]


def test_what_is_the_same_is_folded_around_a_change() -> None:
    older = [f"line {number}" for number in range(10)]
    newer = [*older[:4], "another", *older[5:]]
    # 0 and 1 are folded, 2 and 3 stay beside the change, as do 5 and 6; 7 to 9 are folded.
    assert compared(older, newer) == [
        Line("", folded=2),
        Line("line 2"),
        Line("line 3"),
        Line("line 4", "−"),
        Line("another", "+"),
        Line("line 5"),
        Line("line 6"),
        Line("", folded=3),
    ]


def test_one_line_is_not_folded() -> None:
    older = ["a", "b", "c", "d"]
    assert compared(older, [*older[:3], "e"]) == [Line("a"), Line("b"), Line("c"), Line("d", "−"), Line("e", "+")]


def test_lines_that_are_the_same_all_over_take_no_longer() -> None:
    """Compared one with each other, these took three minutes of a web process."""
    started = time.monotonic()
    changed = compared(["same"] * 2_000, ["same", "other"] * 1_000)
    assert time.monotonic() - started < 5
    assert [line.text for line in changed if line.change == "−"].count("same") > 1_000
    assert compared(["a", *[""] * 9, "b"], ["a", *[""] * 9, "c"])[-2:] == [Line("b", "−"), Line("c", "+")]


def test_the_difference_is_a_sentence() -> None:
    before = judge(service={"base_url": "https://a", "model": "big", "max_tokens": 5}, instructions="x")
    after = judge(
        service={"base_url": "https://b", "model": "big", "max_tokens": 6}, instructions="y", structured="none"
    )
    assert difference(before, after) == (
        "What differs: the endpoint, how the endpoint is asked, the text of the rubric, structured."
    )
    assert difference(before, before).startswith("The settings are the same: what differs is the code")
    assert difference(before, judge(JudgeKind.IMPORTED)).startswith("An imported judge is what its runner calls it")


def test_very_long_settings_are_compared_in_bounded_time() -> None:
    same = ["a"] * 100_000
    assert compared(same, same) == [Line("", folded=2000)]


def test_the_words_that_changed_in_a_line_are_marked() -> None:
    older, newer = "Grade what stands there, not the tone.", "Grade what stands here, and not the tone."
    removed, added = compared([older], [newer])
    assert [piece.text for piece in removed.pieces if piece.is_new] == ["there"]
    assert [piece.text for piece in added.pieces if piece.is_new] == ["here", " and"]
    for line, text in ((removed, older), (added, newer)):
        assert "".join(piece.text for piece in line.pieces) == text == line.text
    # Two lines of which hardly a word is the same stand against each other as they are.
    assert compared([older], ["Something else altogether!"]) == [
        Line(older, "−"),
        Line("Something else altogether!", "+"),
    ]
    # Which of two stands against the one nobody knows.
    assert not any(line.pieces for line in compared([older], [newer, newer]))


def test_words_are_marked_in_bounded_time() -> None:
    started = time.monotonic()
    older = [f"{number} " + "a b " * 95 for number in range(1_000)]
    newer = [f"{number}x " + "b a a " * 60 for number in range(1_000)]
    compared(older, newer)
    long, also_long = "a b " * 5_000, "b a a " * 5_000
    assert not any(line.pieces for line in compared([long], [also_long]))
    assert time.monotonic() - started < 5
