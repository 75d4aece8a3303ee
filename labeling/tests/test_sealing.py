"""Keys of endpoints at rest."""

from typing import Any

import pytest

from labeling.errors import DomainError
from labeling.services.sealing import seal, unseal


def test_a_sealed_key_opens_to_what_it_was_and_shows_nothing_of_it() -> None:
    sealed = seal("sk-ключ-1")
    assert unseal(sealed) == "sk-ключ-1"
    assert "sk-" not in sealed
    assert sealed.isascii()
    # The same key sealed twice does not look the same.
    assert seal("sk-ключ-1") != sealed


def test_a_key_sealed_with_another_secret_is_to_be_entered_again(settings: Any) -> None:
    sealed = seal("sk-1")
    settings.SECRET_KEY = "another secret of more than thirty-two characters"
    with pytest.raises(
        DomainError, match="cannot be opened, for the secret of this service has changed; enter it again"
    ):
        unseal(sealed)


@pytest.mark.parametrize("sealed", ["", "sk-1", "gAAAA", "ключ"])
def test_what_was_never_sealed_does_not_open(sealed: str) -> None:
    with pytest.raises(DomainError, match="enter it again"):
        unseal(sealed)
