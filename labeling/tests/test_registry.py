"""Formats by name, and from what a file holds."""

import zipfile
from io import BytesIO

import pytest

from labeling.errors import DomainError
from labeling.formats import registry
from labeling.formats.files import documents, tables
from labeling.formats.files.source import Sniff, Source
from labeling.formats.rows.naming import joined


def sniff(content: bytes) -> Sniff:
    return Sniff(Source.of_bytes(content))


def zipped(*names: str) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, b"{}")
    return stream.getvalue()


def test_a_format_goes_by_its_name() -> None:
    assert all(registry.named(name).name == name for name in registry.FORMATS)
    with pytest.raises(DomainError, match=r"There is no format of that name; there are .*table") as error:
        registry.named("nonsense")
    assert error.value.details["formats"] == list(registry.FORMATS)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"\xff\xfe",
        b"\0\0\0\0",
        b"Words that say nothing.",
        b"a,b\n1,2\n",
        b"{",
        b"[",
        b"[]",
        b"{}",
        b"null",
        b"[1, 2]",
        b'{"a": 1}\n{"a": 2}\n',
        b"\x7fELF\x02\x01\x01\x00",
        b'"' + b"x" * 500_000,
        zipped("readme.txt"),
    ],
)
def test_what_shows_no_format_is_said_to_show_none(content: bytes) -> None:
    with pytest.raises(DomainError, match="The content shows no format that is known here; name one of "):
        registry.detected(Source.of_bytes(content))


def test_a_damaged_archive_says_so() -> None:
    with pytest.raises(DomainError, match="This zip file is cut off or damaged; upload it again"):
        registry.detected(Source.of_bytes(zipped("a")[:40]))


def test_the_beginning_of_a_file_is_seen_in_the_forms_that_tell_formats_apart() -> None:
    assert sniff(b'\xef\xbb\xbf\n {"a": 1}\n{"b": 2}').outline.keys == ("a",)
    assert documents.first(sniff(b'{"a": 1}\n{"b"')) == {"a": 1}
    assert documents.first(sniff(b'{"a": [\n1]}')) == {"a": [1]}
    assert sniff(zipped("header.json", "samples/1.json")).names == ("header.json", "samples/1.json")


def test_the_names_of_columns_are_seen_whatever_comes_before_and_after() -> None:
    """FIELD B3.10: a byte order mark is no part of the first name."""
    assert tables.columns_of(sniff(b'\xef\xbb\xbfid,"a, b", c \n1,2,3').head) == ("id", "a, b", "c")
    assert tables.columns_of(sniff("id,b\n".encode("utf-16")).head) == ("id", "b")
    assert tables.columns_of(sniff(b"").head) == ()
    assert tables.columns_of(sniff(b"a\rb\n").head) == ("a",)


def test_words_are_joined_without_those_that_are_not_there() -> None:
    assert joined("a", None, "", 0, "b") == "a/0/b"
