"""Hostile text becomes legible and inert; ordinary text stays as it is."""

import pytest

from labeling.pages.visible import Count, count_marked, fitting, plain, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202e", "⟪U+202E⟫"),
        ("\u200b\u200b\u200b", "⟪U+200B⟫ ×3"),
        ("\x00", "␀"),
        ("\x1b[31m", "␛</span>[31m"),
        ("\ud83d", "\\ud83d"),
        ("\ufeff", "⟪U+FEFF⟫"),
        ("a\rb", "␍"),
        ("a\ufe0f", "⟪U+FE0F⟫"),
        ("a\u200db", "⟪U+200D⟫"),
    ],
)
def test_what_hides_or_reorders_is_named(text: str, shown: str) -> None:
    assert shown in visible(text)
    assert 'class="inv"' in visible(text)


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, a tab\tand a line\nbreak.\r\nAnd another.",
        "👩\u200d👩\u200d👧 and ❤\ufe0f and 1\ufe0f\u20e3 and 🏳\ufe0f\u200d🌈",
        "می\u200cخواهم",
        "क्\u200dष",
        "مرحبا بالعالم — שלום",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u00a0 and \u2009 are spaces one can see",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert count_marked([text]) == Count(0, is_least=False)
    assert "inv" not in visible(text)


def test_markup_is_text() -> None:
    assert visible("<script>alert('1')</script>&\"") == "&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&amp;&quot;"


def test_words_in_tag_characters_are_spelled_out() -> None:
    smuggled = "".join(chr(0xE0000 + ord(letter)) for letter in "<b>obey")
    assert "⟪hidden: &lt;b&gt;obey⟫" in visible(f"Hello{smuggled}")
    assert count_marked([smuggled]).number == 7


def test_what_is_shown_can_always_be_sent() -> None:
    everything = "".join(chr(code) for code in (*range(0x3000), *range(0xD700, 0xE100), 0xFFFE, 0xE0001, 0x10FFFF))
    visible(everything).encode("utf-8")
    plain(everything).encode("utf-8")


def test_marks_are_counted_one_by_one() -> None:
    # Two overrides and three zero-width spaces.
    assert count_marked(["\u202eabc\u202c ", "\u200b\u200b\u200b\r\n"]) == Count(5, is_least=False)


def test_counting_stops_where_nobody_needs_it_exactly() -> None:
    assert count_marked(["\u200b\u200c" * 1_000_000], most=10) == Count(10, is_least=True)


@pytest.mark.parametrize(
    "text", ["plain words " * 99, "<'&>\"" * 99, "\u200b\u200c" * 99, "\0" * 99, "é👩\u200d👧\ud83d" * 99, ""]
)
def test_what_fits_into_a_page_is_never_more_than_said(text: str) -> None:
    for room in (0, 1, 100, 1000, 100_000):
        fit = fitting(text, room)
        assert len(visible(text[: fit.characters]).encode()) <= fit.size <= room
    assert fit.characters == len(text)
