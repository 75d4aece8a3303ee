"""A transcript as a judging model is shown it: who wrote what, and what is left out where it is long."""

import json
import re
import time
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from labeling.judges.base import Item
from labeling.judges.transcripts.cutting import HEADING, Piece, Rank, fitted
from labeling.judges.transcripts.rendering import Transcript, mark, transcript
from labeling.judges.transcripts.showing import folded, shown
from labeling.tests.rubrics import NONCE, said_by, talk

CALL = {"type": "tool_call", "name": "transfer", "arguments": {"to": "A"}}


def shown_of(item: Item, room: int = 60_000) -> Transcript:
    return transcript(item, nonce=NONCE, room=room)


def headings(text: str) -> list[str]:
    return re.findall(rf"^\[{NONCE} \| (.*)\]$", text, re.MULTILINE)


def test_every_message_says_who_wrote_it_and_scripted_turns_are_not_the_targets() -> None:
    """FIELD B5.6."""
    item = Item(
        [
            said_by("developer", "Be brief."),
            said_by("user", "One"),
            said_by("assistant", "Scripted"),
            said_by("user", "Two"),
            said_by("assistant", CALL),
            said_by("tool", {"type": "tool_result", "text": "no", "is_error": True}),
            said_by("assistant"),
        ],
        begins=4,
    )
    assert [words for words in headings(shown_of(item).text) if not words.startswith("end of")] == [
        "message 1 of 7 | system prompt",
        "message 2 of 7 | user",
        "message 3 of 7 | scripted assistant turn, not the target's",
        "message 4 of 7 | user",
        "message 5 of 7 | target",
        "tool call",
        "message 6 of 7 | tool",
        "result of a tool, which reports an error",
        "message 7 of 7 | target",
        "nothing",
    ]
    assert 'transfer({"to": "A"})' in shown_of(item).text


def test_reasoning_is_no_part_of_the_answer_and_media_are_named() -> None:
    picture = {"type": "media", "raw": {"type": "image_url", "url": "data:image/png;base64," + "A" * 5_000}}
    item = Item(
        [
            said_by("user", "Look.", picture),
            said_by("assistant", {"type": "reasoning", "text": "Hm."}, "A cat.", {"type": "refusal", "text": "No."}),
        ]
    )
    text, left_out = shown_of(item)
    assert "data:image/png;base64,…" in text
    # The 5,000 letters of the picture are not there; one character stands for them.
    assert left_out == 4_999
    assert [words for words in headings(text) if "message" not in words] == [
        "media: what describes it, without its data",
        "reasoning of its author, no part of the answer",
        "text",
        "text that the interface marks as a refusal",
    ]


def test_what_does_not_show_is_written_out() -> None:
    assert shown("a\u200b\u200b\u200bb") == "a⟨U+200B×3⟩b"
    assert shown("\u202ecod\x00") == "⟨U+202E⟩cod⟨U+0000⟩"
    assert shown("\ud800") == "⟨U+D800⟩"
    assert shown("a\rb\r\nc") == "a⟨U+000D⟩b\r\nc"
    # Tag characters spell words for machines only.
    assert shown("x\U000e0068\U000e0069\U000e0020\U000e0079y") == "x⟨tags:hi␣y⟩y"


def test_what_belongs_to_a_script_or_an_emoji_stays() -> None:
    for text in ("می\u200cخواهم", "क्\u200dष", "👩\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "مرحبا שלום"):
        assert shown(text) == text
    assert shown("👩\u200d\u200d") == "👩⟨U+200D×2⟩"
    assert shown("❤\ufe0f\ufe0f") == "❤\ufe0f⟨U+FE0F⟩"


def test_what_steers_the_templates_of_models_becomes_text() -> None:
    assert shown("<|im_end|>\n<|im_start|>system") == "<⟨⟩|im_end|>\n<⟨⟩|im_start|>system"
    assert shown("[/INST] </s> <<SYS>> <end_of_turn>") == "[⟨⟩/INST] <⟨⟩/s> <⟨⟩<SYS>> <⟨⟩end_of_turn>"
    assert shown("a <| b |> c, x[INSTANCE], <section>") == "a <| b |> c, x[INSTANCE], <section>"


@given(st.text(alphabet=st.characters(codec=None, categories=None), max_size=60))
def test_any_text_can_be_sent_and_its_folded_form_leads_back_to_it(text: str) -> None:
    json.dumps(shown(text), ensure_ascii=False).encode()
    form = folded(text)
    for at, character in enumerate(form.text):
        source = text[form.place(at)]
        assert character == source or (character == " " and not source.isprintable()) or source in "‘’ʼ´`“”„–—−\t\n "


# --- cutting -------------------------------------------------------------------------------------------------------


def test_tools_are_cut_first_then_others_then_the_target() -> None:
    pieces = [Piece(Rank.OTHERS, 3_000), Piece(Rank.TOOL, 20_000), Piece(Rank.TOOL, 900), Piece(Rank.TARGET, 5_000)]
    room = 12_000 + 4 * HEADING
    # 12,000 - 3,000 - 5,000 = 4,000 for the tools: the short one stays, the long one has 3,100.
    assert fitted(pieces, room=room, always=()) == [3_000, 3_100, 900, 5_000]
    # Room 6,500: tools down to the floor, 6,660 // 20 = 333; others to 6,500 - 666 - 5,000 = 834; the target is whole.
    assert fitted(pieces, room=6_500 + 4 * HEADING, always=()) == [834, 333, 333, 5_000]


def test_what_fits_is_whole() -> None:
    pieces = [Piece(Rank.TOOL, 400), Piece(Rank.TARGET, 600)]
    assert fitted(pieces, room=1_000 + 2 * HEADING, always=()) == [400, 600]


def test_whole_pieces_go_from_the_middle_and_what_must_stay_stays() -> None:
    pieces = [Piece(Rank.TARGET, 60)] * 20
    # Ten of them fit into 1,000, for each takes 60 + 40: the 8th, which must stay, and from the ends in turn the rest.
    kept = fitted(pieces, room=1_000, always={7})
    assert [place for place, length in enumerate(kept) if length is not None] == [0, 1, 2, 3, 4, 7, 16, 17, 18, 19]


def test_a_cut_stands_where_it_is_made_and_is_summed() -> None:
    text, left_out = shown_of(talk("Tell me.", "a" * 10_000), room=1_000)
    # 1,000 - 2 x 40 for the headings - 8 for the request leaves 912 characters of the answer, half from each end.
    assert left_out == 10_000 - 912
    assert f"{'a' * 456}\n{mark(NONCE, '9,088 characters left out for length')}\n{'a' * 456}\n" in text


def test_messages_left_out_are_one_line_that_says_which() -> None:
    turns = [f"{'user' if at % 2 == 0 else 'target'} {at} " + "x" * 200 for at in range(100)]
    text, left_out = shown_of(talk(*turns), room=1_000)
    # Nobody has more than 100 characters; at 140 each seven fit: three or four from either end.
    assert "user 0 " in text
    assert "target 99 " in text
    gaps = [words for words in headings(text) if "parts of messages" in words]
    assert len(gaps) == 1
    assert gaps[0].startswith("left out for length: 93 parts of messages 5 to 97, ")
    assert left_out == sum(map(len, turns)) - 7 * 100


def test_harm_in_the_first_or_the_last_hundredth_is_shown() -> None:
    """FORMATS D3, truncation: a judge that reads only one end misses the other."""
    filler = "Nothing of note. " * 60_000
    for answer in ("NEEDLE " + filler, filler + "NEEDLE", filler[:9_000] + "NEEDLE" + filler):
        assert "NEEDLE" in shown_of(talk("Go on.", answer)).text
    calls = [said_by("assistant", CALL), said_by("tool", {"type": "tool_result", "text": filler[:4_000]})] * 500
    for where in (2, 995):
        messages = [said_by("user", "Go on."), *calls, said_by("assistant", "Done.")]
        messages.insert(where, said_by("assistant", "NEEDLE"))
        text, left_out = shown_of(Item(messages))
        assert "NEEDLE" in text
        assert "Done." in text
        assert left_out > 1_000_000


def test_the_last_words_of_the_target_are_shown_also_where_tools_follow() -> None:
    calls = [said_by("assistant", CALL), said_by("tool", {"type": "tool_result", "text": "r" * 500})] * 300
    item = Item([*calls, said_by("assistant", "LAST WORDS"), *calls])
    assert "LAST WORDS" in shown_of(item, room=2_000).text


def test_messages_of_one_letter_do_not_fit_for_free() -> None:
    item = Item([said_by("user", "x"), said_by("assistant", "y")] * 5_000)
    text, left_out = shown_of(item, room=10_000)
    assert len(text) < 60_000
    assert left_out == 10_000 - 10_000 // 41


def test_hostile_lengths_take_time_that_grows_with_them_and_no_faster() -> None:
    for text in ("\u200b " * 100_000, "⟨tags:" * 30_000, "<|" * 100_000, "\U000e0041\ufe0f" * 50_000):
        started = time.process_time()
        shown_of(talk("?", text))
        folded(text)
        assert time.process_time() - started < 2


def test_a_run_of_a_million_unseen_characters_takes_no_memory_to_write_out() -> None:
    """It took a hundred bytes a character; a body of such characters ended the worker."""
    run = "\u200b" * 1_000_000
    tracemalloc.start()
    written = shown(run)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert written == "⟨U+200B×1000000⟩"
    assert most < 20_000_000
