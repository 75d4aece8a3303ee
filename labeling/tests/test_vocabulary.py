"""The words of the code are the words of the glossary."""

import re
from enum import StrEnum

import pytest
from django.conf import settings

from labeling import vocabulary

ENUMS = [word for word in vars(vocabulary).values() if isinstance(word, type) and issubclass(word, StrEnum)]


@pytest.mark.parametrize("words", [words for words in ENUMS if words is not StrEnum], ids=lambda words: words.__name__)
def test_every_word_is_in_the_glossary(words: type[StrEnum]) -> None:
    glossary = (settings.BASE_DIR / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    found = set(re.findall(r"[a-z_]+", glossary.lower()))
    # A word of several parts may stand there with spaces.
    missing = [word for word in words if word and word not in found and word.replace("_", " ") not in glossary.lower()]
    assert missing == []


def test_every_framing_is_in_the_glossary() -> None:
    glossary = (settings.BASE_DIR / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert [framing for framing in vocabulary.FRAMINGS if framing not in glossary] == []
