"""Files of any encoding come as UTF-8, or a sentence says what to do."""

import codecs
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.errors import DomainError
from labeling.formats.files.elements import loads
from labeling.formats.files.encoding import as_utf8

WORDS = '{"a": "é 👩‍👩‍👧 𝒳"}'


@pytest.mark.parametrize(
    "raw",
    [
        WORDS.encode(),
        codecs.BOM_UTF8 + WORDS.encode(),
        WORDS.encode("utf-16"),
        WORDS.encode("utf-16-le"),
        WORDS.encode("utf-16-be"),
        codecs.BOM_UTF16_BE + WORDS.encode("utf-16-be"),
        WORDS.encode("utf-32"),
        WORDS.encode("utf-32-le"),
        WORDS.encode("utf-32-be"),
    ],
)
def test_the_first_bytes_tell_the_encoding(raw: bytes) -> None:
    """FIELD B3.10: a byte order mark is no part of what follows."""
    assert as_utf8(io.BytesIO(raw)).read() == WORDS.encode()


def test_other_encodings_are_named() -> None:
    assert as_utf8(io.BytesIO("né".encode("windows-1252")), "windows-1252").read() == "né".encode()
    assert as_utf8(io.BytesIO(WORDS.encode("utf-16-le")), "utf-16-le").read() == WORDS.encode()
    assert as_utf8(io.BytesIO(codecs.BOM_UTF8 + b"a"), "utf-8").read() == b"a"
    assert as_utf8(io.BytesIO(codecs.BOM_UTF8 + b"a"), "utf-8-sig").read() == b"a"
    assert as_utf8(io.BytesIO(b"")).read() == b""


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        ("klingon", "There is no encoding 'klingon'; name one like utf-8, utf-16 or windows-1252."),
        ("rot13", "'rot13' is no encoding of text; name one like utf-8, utf-16 or windows-1252."),
    ],
)
def test_an_unknown_encoding_is_refused(encoding: str, sentence: str) -> None:
    with pytest.raises(DomainError) as error:
        as_utf8(io.BytesIO(b"abcd"), encoding)
    assert error.value.message == sentence


def test_bytes_of_another_encoding_say_what_to_do() -> None:
    with pytest.raises(DomainError, match="is not utf-16; name its encoding"):
        as_utf8(io.BytesIO(b"\xff\xfea"), "utf-16").read()


@given(st.text(st.characters(), max_size=12), st.sampled_from(["utf-16", "utf-32", "utf-8-sig"]))
def test_any_text_survives_its_encoding(text: str, encoding: str) -> None:
    raw = json.dumps(text, ensure_ascii=False).encode(encoding, "surrogatepass")
    assert loads(as_utf8(io.BytesIO(raw)).read()) == text
