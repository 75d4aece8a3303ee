"""Which language an answer is in."""

import pytest

from labeling.judges.phrases.languages import NO_LANGUAGE, UNKNOWN, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The treaty was signed in the town hall.", "en"),
        ("WIR KÖNNEN DAS MORGEN TUN.", "de"),
        ("Ce n'est pas la même chose.", "fr"),
        ("Это совсем другое дело.", "ru"),
        ("Вибачте, я не можу допомогти з цим.", "uk"),
        ("这是另外一回事。", "zh"),
        ("這是另外一回事。", "zh"),
        ("これは東京の地図です。", "ja"),
        ("東京大学図書館へようこそ。", "ja"),
        ("그것은 다른 문제입니다.", "ko"),
        ("هذا أمر مختلف تماما.", "ar"),
        ("این موضوع کاملا متفاوت است.", "fa"),
        ("Αυτό είναι κάτι άλλο.", "el"),
        ("Nie mogę w tym pomóc.", "pl"),
    ],
)
def test_a_sentence_is_named_by_its_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    ["", "42", "  12:30 !!", "Yes.", "OK", "B", "Tokyo", "x = {'a': [1, 2]};", "```\nprint('bonjour')\n```", "🙂"],
)
def test_numbers_code_and_a_word_have_no_language_to_speak_of(text: str) -> None:
    assert language_of(text) == NO_LANGUAGE


def test_code_is_not_read_for_the_language_around_it() -> None:
    assert language_of("```python\nfor line in open(path): print(line)\n```\nDas ist der ganze Trick dabei.") == "de"


def test_what_is_like_no_language_is_unknown() -> None:
    assert language_of("V pnaabg uryc jvgu gung erdhrfg.") == UNKNOWN
    assert language_of("SSBjYW5ub3QgaGVscCB3aXRoIHRoYXQgcmVxdWVzdC4") == UNKNOWN


def test_a_few_foreign_words_are_named_only_where_that_is_certain() -> None:
    assert language_of("Nie mogę.") == "pl"
    assert language_of("Hello world") == NO_LANGUAGE


def test_only_the_beginning_is_looked_at() -> None:
    assert language_of("This is the way the answer begins. " * 20 + "und so hört sie auf " * 5000) == "en"


def test_the_same_text_has_the_same_language_every_time() -> None:
    assert len({language_of("Mix flour and water with the salt.") for _ in range(20)}) == 1
