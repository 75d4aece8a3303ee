"""Transcripts as a page shows them: windows, folds, cuts, tool calls; nothing interpreted."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from audit.pages.transcript import (
    BEGINNING,
    FIRST_MESSAGES,
    HEAD_BYTES,
    LAST_MESSAGES,
    PART_BYTES,
    STRETCH_BYTES,
    TAIL_BYTES,
    Place,
    count_invisible,
    transcript,
    whole_message,
)
from labeling.pages.visible import Count


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def chat(length: int) -> list[dict[str, Any]]:
    return [said(("user", "assistant")[number % 2], f"message {number + 1}") for number in range(length)]


def test_a_short_transcript_is_shown_whole() -> None:
    shown = transcript(chat(4))
    assert [message.number for message in shown.head] == [1, 2, 3, 4]
    assert (shown.gap, shown.tail, shown.total) == (None, (), 4)
    assert shown.head[3].is_final


def test_a_long_transcript_shows_its_beginning_and_its_end() -> None:
    shown = transcript(chat(5000))
    assert len(shown.head) == FIRST_MESSAGES
    assert [message.number for message in shown.tail] == list(range(4981, 5001))
    assert shown.gap is not None
    assert (shown.gap.first, shown.gap.last, shown.gap.count) == (201, 4980, 4780)
    assert len(shown.tail) == LAST_MESSAGES


def test_the_last_answer_is_there_however_heavy_what_stands_before_it_is() -> None:
    shown = transcript([*[said("tool", "x" * 35_000)] * 30, said("assistant", "Done.")])
    assert shown.tail[-1].is_final
    assert shown.gap is not None
    assert shown.head[-1].number + shown.gap.count + len(shown.tail) == 31


def test_what_is_left_out_can_be_read_stretch_by_stretch() -> None:
    shown = transcript(chat(700), start=201, stop=680)
    assert [message.number for message in shown.head] == list(range(201, 401))
    assert shown.tail == ()
    assert shown.gap is not None
    assert (shown.gap.first, shown.gap.last) == (401, 680)
    last = transcript(chat(700), start=601, stop=680)
    assert last.gap is None
    assert last.head[-1].number == 680


def test_addresses_from_nowhere_show_something_all_the_same() -> None:
    assert transcript([], start=7).is_empty
    assert [message.number for message in transcript(chat(3), start=99).head] == [3]
    assert transcript(chat(3), start=2, stop=1).head[0].number == 2


def test_heavy_messages_end_the_page_early_and_never_stop_it() -> None:
    shown = transcript([said("user", "x" * 30_000)] * 10)
    assert 1 <= len(shown.head) < 10
    assert shown.gap is not None
    assert shown.head[-1].number + 1 == shown.gap.first
    one = transcript([said("assistant", "x" * 1_000_000)])
    assert one.head[0].parts[0].cut == 1_000_000 - PART_BYTES
    whole = whole_message([said("assistant", "x" * 1_000_000)], 1)
    assert whole is not None
    assert whole.parts[0].cut == 0


def test_a_very_long_message_is_read_in_stretches_that_lose_nothing() -> None:
    """Stretches end in the middle of a part and between parts; together they are the message."""
    parts = [{"type": "text", "text": text} for text in ("x" * 2_500_000, "", "\u200b<" * 9000, "last")]
    place: Place | None = BEGINNING
    read = []
    while place is not None:
        shown = whole_message([{"role": "tool", "parts": parts}], 1, start=place)
        assert shown is not None
        assert shown.weight < STRETCH_BYTES * 1.01
        read += [block.text for part in shown.parts for block in part.blocks]
        place = shown.rest
    assert len(read) > len(parts)
    assert "".join(read) == "".join(part["text"] for part in parts)
    assert whole_message([said("user", "short")], 1, start=Place(9, 9)) is not None


@pytest.mark.parametrize(
    "parts",
    [
        [{"type": "text", "text": "\u200b\u200c" * 500_000}],
        [{"type": "text", "text": "```\n" * 300_000}],
        [{"type": "text", "text": "'" * 1_000_000}],
        [{"type": "text", "text": ""}] * 100_000,
        [{"type": "tool_call", "name": "\u202e\u200b" * 10_000, "arguments": {}}] * 1000,
        [{"type": "unknown", "raw": [[[[[1] * 9] * 9] * 9] * 9] * 9}] * 20,
    ],
    ids=["marks", "fences", "escapes", "empty parts", "long names", "nested arguments"],
)
def test_a_page_stays_light_whatever_was_posted(parts: list[dict[str, Any]]) -> None:
    """B4.2: each message, and all of a page together, has its room; what is left out is said."""
    shown = transcript([{"role": "assistant", "parts": parts}] * 3)
    text = render_to_string("_transcript.html", {"transcript": shown, "transcript_url": "/x/"})
    assert len(text.encode("utf-8", "backslashreplace")) < 1.01 * (HEAD_BYTES + TAIL_BYTES)
    assert shown.gap or shown.head[0].rest or any(part.cut for part in shown.head[0].parts)
    assert "?message=1" in text or "?from=" in text


def test_system_prompts_and_long_results_are_folded_and_what_the_target_says_is_not() -> None:
    """B4.2."""
    long = "word " * 2000
    result = {"role": "tool", "parts": [{"type": "tool_result", "text": long, "is_error": True}]}
    system, user, tool, target = transcript(
        [said("system", "Be kind."), said("user", long), result, said("assistant", long)]
    ).head
    assert system.folded
    assert user.parts[0].folded
    assert tool.parts[0].folded
    assert tool.parts[0].warning == "The tool answered with an error."
    assert not target.folded
    assert not target.parts[0].folded


def test_arguments_are_pretty_where_they_parse_and_raw_where_they_do_not() -> None:
    """B4.8."""
    calls: list[dict[str, Any]] = [
        {"type": "tool_call", "name": "search", "arguments": {"q": "löcher"}, "parse_error": False},
        {"type": "tool_call", "name": "mail", "arguments": None, "arguments_raw": '{"to": ', "parse_error": True},
        {"type": "tool_call", "name": "", "arguments": None, "arguments_raw": "free text", "parse_error": False},
    ]
    pretty, broken, free = transcript([{"role": "assistant", "parts": calls}]).head[0].parts
    assert pretty.blocks[0].text == '{\n  "q": "löcher"\n}'
    assert (broken.blocks[0].text, broken.warning) == (
        '{"to": ',
        "The arguments are not valid JSON; shown as they came.",
    )
    assert (free.heading, free.blocks[0].text, free.warning) == ("unnamed tool", "free text", "")


def test_fenced_code_keeps_its_fences_and_loses_nothing() -> None:
    text = "Look:\n```python\nprint('<b>')\n```\nand ```inline``` too\n```\nnever closed"
    blocks = transcript([said("assistant", text)]).head[0].parts[0].blocks
    assert [(block.is_code, block.text) for block in blocks] == [
        (False, "Look:"),
        (True, "```python\nprint('<b>')\n```\n"),
        (False, "and ```inline``` too"),
        (True, "```\nnever closed"),
    ]


def test_invisible_characters_are_counted_over_the_whole_transcript() -> None:
    assert count_invisible([*chat(400), said("user", "a\u202eb\u200b")]) == Count(2, is_least=False)


def test_odd_parts_are_shown_as_data() -> None:
    odd = {"role": "robot", "parts": [{"type": "media", "raw": {"url": "http://example.org/x.png"}}, {"type": "new"}]}
    message = transcript([odd, {"role": "assistant", "parts": []}]).head[0]
    assert (message.role, message.words) == ("other", "robot")
    assert [part.heading for part in message.parts] == ["media, not shown", "unknown part"]
    assert "http://example.org/x.png" in message.parts[0].blocks[0].text
