"""What goes to an endpoint, counted beforehand."""

import pytest

from labeling.endpoints.exchange import tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        # Ten letters of English: three thirds and a rest.
        ("I can't do.", 4),
        # Four characters of three bytes each: half of twelve.
        ("我不知道", 6),
        # Six letters of two bytes each.
        ("لايمكن", 6),
        # Three letters of one byte, and one of two bytes.
        ("caf\u00e9", 2),
        # One sign of four bytes; half of a pair, which has three.
        ("\U0001f600", 2),
        ("\ud800", 2),
    ],
)
def test_a_dense_script_has_more_tokens_than_letters_of_english(text: str, tokens: int) -> None:
    """Counted by characters alone, a call in Chinese costs three times what the ceiling was asked for."""
    assert tokens_of(text) == tokens
