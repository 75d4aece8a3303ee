"""Text without its typography, and the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.judges.phrases.plain import original, origins, plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I CAN\u2019T", "i can't"),
        ("I\u00a0can\u02bct", "i can't"),
        ("sorry \u2014 but", "sorry but"),
        ("sorry\u2013but", "sorry but"),
        ("non\u2011profit", "non-profit"),
        ("c\u200ban\u2060not", "cannot"),
        ("**can** _not_", "can not"),
        ("\u201cso\u201d", '"so"'),
        ("désolé", "desole"),
        ("de\u0301sole\u0301", "desole"),
        ("Straße", "strasse"),
        ("ｃａｎ，ｎｏｔ", "can not"),
        ("لا أَسْتَطِيـــع", "لا استطيع"),
        ("我，不能", "我 不能"),
        ("  a \n\t b\u3000c ", "a b c"),
        ("\u200b\u200b", ""),
    ],
)
def test_typography_is_taken_away(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_the_way_back_leads_to_the_letters_as_they_came() -> None:
    # "x, I'm" -> "x i'm": the comma and the space after it are one space, which began at 1.
    assert origins("x, I\u2019m") == [0, 1, 3, 4, 5]
    assert original("x, I\u2019m so.", 2, 5) == (3, 6)
    # The accent over the last letter belongs to it.
    assert original("de\u0301ja\u0300!", 0, 4) == (0, 6)


@given(st.text(max_size=60))
def test_every_letter_comes_from_somewhere(text: str) -> None:
    came_from = origins(text)
    assert len(came_from) == len(plain(text))
    assert came_from == sorted(came_from)


@given(st.text(min_size=1, max_size=40))
def test_what_is_plain_stays_so(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(st.text(alphabet="aB\u00df\u2019 ,\u200b\u00e9\n\u0301_", max_size=30), st.data())
def test_a_stretch_of_the_original_comes_to_the_stretch_of_the_plain(text: str, data: st.DataObject) -> None:
    clean = plain(text)
    words = [at for at in range(len(clean)) if clean[at] != " "]
    if not words:
        return
    start = data.draw(st.sampled_from(words))
    end = data.draw(st.sampled_from([at for at in words if at >= start])) + 1
    first, last = original(text, start, end)
    assert clean[start:end] in plain(text[first:last])
