"""Evidence in a text and in a transcript: marked where it stands, and the text is what it was without the marks."""

import random
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.template.loader import render_to_string

from audit.pages.evidence import Evidence, evidence_in, letters
from audit.pages.marking import Mark, Run, Stretch, marked
from audit.pages.transcript import PART_BYTES, transcript
from labeling.pages.visible import divides, visible
from labeling.tests import make

# Pieces that must stay whole, next to what is ordinary and to what attacks.
PALETTE = (
    *"abc <&\"'\n\r",
    *(
        "\r\n",
        "é",
        "e\u0301",
        "👩\u200d🚀",
        "👍🏽",
        "❤\ufe0f",
        "שלום",
        "مرحبا",
        "\u202e",
        "\u200b\u200b",
        "\u0645\u200c\u062e",
    ),
    *("🏴\U000e0067\U000e0062\U000e007f", "\U000e0041\U000e0042", "\ud800", "\x00", "中文", "```\n", "\ufeff"),
    "</mark><script>alert(1)</script>",
)


def mark(start: int, end: int, label: str = "A", voice: int = 0) -> Mark:
    return Mark(start, end, label, voice, f"judge {label}")


def runs_of(text: str, *marks: Mark) -> tuple[Run, ...]:
    (runs,) = marked([Stretch(0, text)], marks)
    return runs


def test_overlapping_stretches_become_runs_with_every_voice_on_them() -> None:
    runs = runs_of("0123456789", mark(1, 6, "A"), mark(4, 8, "B", 1))
    assert [(run.text, [each.label for each in run.marks]) for run in runs] == [
        ("0", []),
        ("123", ["A"]),
        ("45", ["A", "B"]),
        ("67", ["B"]),
        ("89", []),
    ]
    assert [(run.begins, run.ends) for run in runs] == [
        ((), ()),
        (("A",), ()),
        (("B",), ("A",)),
        ((), ("B",)),
        ((), ()),
    ]
    assert [run.tint for run in runs] == ["", "ev-1", "ev-many", "ev-2", ""]
    assert runs[2].title == "judge A, judge B"


def test_a_text_that_nobody_quotes_has_no_runs() -> None:
    assert marked([Stretch(0, "text")], []) == [()]
    assert runs_of("text", mark(4, 9), mark(2, 2), mark(50, 60)) == ()


def test_offsets_count_code_points() -> None:
    (_, run, _) = runs_of("👍🚀 yes, שלום.", mark(3, 6))
    assert run.text == "yes"


@pytest.mark.parametrize(
    ("text", "start", "end", "shown"),
    [
        ("one\r\ntwo", 0, 4, "one\r\n"),
        ("one\r\ntwo", 4, 8, "\r\ntwo"),
        ("go 👩\u200d🚀 on", 3, 4, "👩\u200d🚀"),
        ("go 👩\u200d🚀 on", 5, 6, "👩\u200d🚀"),
        ("ok 👍🏽.", 3, 4, "👍🏽"),
        ("cafe\u0301!", 0, 4, "cafe\u0301"),
        ("a\u200b\u200b\u200bb", 1, 2, "a\u200b\u200b\u200bb"),
    ],
)
def test_a_mark_never_ends_within_what_is_shown_as_one(text: str, start: int, end: int, shown: str) -> None:
    assert "".join(run.text for run in runs_of(text, mark(start, end)) if run.marks) == shown


def test_a_mark_over_several_stretches_begins_and_ends_once() -> None:
    first, gap, last = marked([Stretch(0, "look: "), Stretch(7, "```x```"), Stretch(15, " end")], [mark(3, 17)])
    assert [run.begins for run in first if run.marks] == [("A",)]
    assert [(run.begins, run.ends) for run in gap] == [((), ())]
    assert [run.ends for run in last if run.marks] == [("A",)]


def test_whatever_the_text_and_the_marks_the_runs_show_what_the_text_shows() -> None:
    chance = random.Random(7)
    for _ in range(400):
        text = "".join(chance.choices(PALETTE, k=chance.randint(1, 30)))
        places = [sorted(chance.choices(range(len(text) + 3), k=2)) for _ in range(chance.randint(1, 6))]
        marks = [mark(start, end, f"M{n}", n) for n, (start, end) in enumerate(places)]
        runs = runs_of(text, *marks)
        if runs:
            assert "".join(run.text for run in runs) == text
            assert "".join(visible(run.text) for run in runs) == visible(text)
        quoted = {each.label for run in runs for each in run.marks}
        assert quoted == {each.label for each in marks if each.start < min(each.end, len(text))}


def test_where_a_text_may_be_parted() -> None:
    assert [divides("a\r\nb", position) for position in range(5)] == [True, True, False, True, True]
    assert divides("", 0)


# --- in a transcript -------------------------------------------------------------------------------------------------


def span(message: int, part: int, start: int, text: str) -> tuple[str, dict[str, Any]]:
    return text, {"message": message, "part": part, "start": start, "end": start + len(text), "quote": text}


def found(messages: list[dict[str, Any]], *given: tuple[str, Any]) -> Evidence:
    return evidence_in(messages, [("judge", given)])


def test_letters_go_on_behind_z() -> None:
    assert [letters(n) for n in (0, 1, 25, 26, 27, 701, 702)] == ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]


def test_a_span_is_believed_where_its_words_stand_there() -> None:
    messages = make.messages("Please help.", "No. I will not help you.")
    evidence = found(messages, span(1, 0, 4, "I will not"))
    assert [(each.start, each.end, each.label) for each in evidence.marks[1, 0]] == [(4, 14, "A")]
    # Words that stand elsewhere are marked where they stand; words that stand nowhere are a quote and no more.
    moved = found(messages, ("I will not", {"message": 0, "part": 0, "start": 0, "end": 10, "quote": "I will not"}))
    assert list(moved.marks) == [(1, 0)]
    nowhere = found(messages, span(1, 0, 0, "Never said."))
    assert nowhere.marks == {}
    assert [(quote.text, quote.label, quote.message) for quote in nowhere.quotes[0]] == [("Never said.", "", None)]


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        ["x"],
        {},
        {"message": "1", "part": 0, "start": 0, "end": 3},
        {"message": True, "part": 0, "start": 0, "end": 1},
        {"message": 99, "part": 0, "start": 0, "end": 3},
        {"message": 1, "part": 0, "start": -3, "end": 3},
        {"message": 1, "part": 0, "start": 10**30, "end": 10**31},
    ],
)
def test_evidence_of_others_may_be_anything(odd: Any) -> None:
    assert found(make.messages("a", "No."), ("", odd)).marks == {}


def test_a_quote_is_looked_for_in_the_targets_messages_first() -> None:
    messages = make.messages("I can't do this", "You said: I can't do this")
    (quotes,) = found(messages, ("I can't", "I can't"), ("is", "is")).quotes
    assert [(quote.message, quote.start, quote.label) for quote in quotes] == [(1, 10, "A"), (None, 0, "")]


def test_words_of_a_tool_call_are_found_as_the_page_writes_them() -> None:
    arguments = {"to": "ann", "body": "two  words"}
    call = {"type": "tool_call", "name": "send_mail", "arguments": arguments, "parse_error": False}
    messages = [{"role": "assistant", "parts": [call]}]
    whole = 'send_mail({"to": "ann", "body": "two  words"})'
    inner = '"ann", "body"'
    evidence = found(messages, span(0, 0, 0, whole), span(0, 0, whole.index(inner), inner), span(0, 0, 0, "send_mail"))
    blocks = transcript(messages, marks=evidence.marks).head[0].parts[0].blocks
    text = blocks[0].text
    assert text == '{\n  "to": "ann",\n  "body": "two  words"\n}'
    places = {each.label: text[each.start : each.end] for each in evidence.marks[0, 0]}
    assert places == {"A1": text, "A2": '"ann",\n  "body"'}
    # Its name stands above the call: there is nothing to mark, and the card leads to the message.
    assert [(quote.label, quote.message) for quote in evidence.quotes[0]] == [("A1", 0), ("A2", 0), ("", 0)]


def test_only_what_is_on_the_page_is_marked_and_folds_that_hold_evidence_start_open() -> None:
    long = "x" * PART_BYTES + " the end"
    messages = [
        {"role": "system", "parts": [{"type": "text", "text": "Be kind."}]},
        {"role": "tool", "parts": [{"type": "tool_result", "text": "word " * 1000}]},
        {"role": "assistant", "parts": [{"type": "text", "text": long}]},
    ]
    evidence = found(messages, ("kind", "kind"), span(1, 0, 5, "word"), span(2, 0, PART_BYTES, " the end"))
    shown = transcript(messages, marks=evidence.marks)
    assert shown.labels == {"A1", "A2"}
    assert [message.is_quoted for message in shown.head] == [True, True, False]
    text = render_to_string("_transcript.html", {"transcript": shown, "transcript_url": "/x/"})
    assert text.count('<details class="fold" open>') == 2
    assert transcript(messages).labels == frozenset()
    assert "<mark" not in render_to_string("_transcript.html", {"transcript": transcript(messages)})


class _Text(HTMLParser):
    """What a reader sees of messages, without the labels of the marks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.labels, self._in_label = "", 0, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_label = tag == "a" and ("class", "ev-no") in attrs
        self.labels += self._in_label

    def handle_endtag(self, tag: str) -> None:
        self._in_label = self._in_label and tag != "a"

    def handle_data(self, data: str) -> None:
        self.text += "" if self._in_label else data


def seen(shown: Any) -> _Text:
    reader = _Text()
    reader.feed(render_to_string("_transcript.html", {"transcript": shown}))
    return reader


def test_a_page_with_marks_says_what_it_says_without_them() -> None:
    chance = random.Random(11)
    for _ in range(60):
        texts = ["".join(chance.choices(PALETTE, k=40)) for _ in range(3)]
        messages = [{"role": "assistant", "parts": [{"type": "text", "text": text} for text in texts]}]
        given = []
        for part, text in enumerate(texts):
            start = chance.randrange(len(text))
            given.append(span(0, part, start, text[start : start + chance.randint(1, 20)]))
        view = transcript(messages, marks=found(messages, *given).marks)
        assert seen(view).text == seen(transcript(messages)).text
        assert seen(view).labels == 3


def test_hostile_text_and_hostile_names_stay_text_in_a_mark() -> None:
    hostile = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    messages = make.messages("a", f"Look: {hostile} there")
    evidence = evidence_in(messages, [(hostile + "\u202e", [(hostile, hostile)])])
    text = render_to_string("_transcript.html", {"transcript": transcript(messages, marks=evidence.marks)})
    assert "<script>" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    (inside,) = re.findall(r"<mark [^>]*>(.*?)</mark>", text)
    assert inside == visible(hostile)


def test_a_page_of_nothing_but_marks_has_its_limits() -> None:
    """Thirty judges with ten overlapping quotes each, and names as long as they may be."""
    words = "harm " * 4000
    messages = make.messages("a", words)
    voices = [("&" * 200, [span(1, 0, 5 * n + k, words[5 * n + k : 19_000]) for n in range(10)]) for k in range(30)]
    view = transcript(messages, marks=evidence_in(messages, voices).marks)
    assert 10 < len(view.labels) < 300
    assert len(render_to_string("_transcript.html", {"transcript": view})) < 120_000


def test_evidence_that_stands_nowhere_is_not_looked_for_for_ever() -> None:
    messages = [{"role": "assistant", "parts": [{"type": "text", "text": "a" * 2_000_000}]}] * 4
    evidence = evidence_in(messages, [("judge", [("nowhere", "nowhere")] * 10)] * 30)
    assert evidence.marks == {}
