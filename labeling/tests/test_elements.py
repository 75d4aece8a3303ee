"""JSON read in pieces gives what JSON read at once gives, or says that it breaks off; never anything else."""

import io
import json
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.formats.files import elements
from labeling.formats.files.elements import Broken

texts = st.text(st.characters(), max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5), max_leaves=25
)
chunks = st.integers(1, 64)
layouts = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])


def written(value: Any, layout: dict[str, Any]) -> bytes:
    return json.dumps(value, **layout).encode("utf-8", "surrogatepass")


def same(left: Any, right: Any) -> bool:
    """Equal, and NaN is NaN."""
    return repr(left) == repr(right)


def taken(raw: bytes, *path: str, chunk: int = 7) -> list[elements.Element]:
    with patch.object(elements, "_CHUNK", chunk):
        return list(elements.elements(io.BytesIO(raw), *path))


@given(st.lists(documents, max_size=6), layouts, chunks)
def test_elements_of_a_list_are_those_of_the_whole(values: list[Any], layout: dict[str, Any], chunk: int) -> None:
    raw = written(values, layout)
    found = taken(raw, chunk=chunk)
    assert same([elements.loads(each.raw) for each in found], json.loads(raw))
    assert [each.number for each in found] == list(range(len(values)))
    # Exactly the bytes of the file, in its order.
    rest = raw
    for each in found:
        before, _, rest = rest.partition(each.raw)
        assert before.strip(b"[, \n") == b""


@given(st.dictionaries(texts, documents, max_size=5), layouts, chunks)
def test_members_of_an_object_are_those_of_the_whole(value: dict[str, Any], layout: dict[str, Any], chunk: int) -> None:
    raw = written(value, layout)
    assert same({each.key: elements.loads(each.raw) for each in taken(raw, chunk=chunk)}, value)
    with patch.object(elements, "_CHUNK", chunk):
        assert same(elements.members(io.BytesIO(raw)), value)


@given(st.lists(documents, max_size=4), documents, layouts, chunks)
def test_a_list_is_found_behind_anything(values: list[Any], before: Any, layout: dict[str, Any], chunk: int) -> None:
    raw = written({"a": before, "b": {"c": before, "d": values}, "e": before}, layout)
    assert same([elements.loads(each.raw) for each in taken(raw, "b", "d", chunk=chunk)], values)
    assert taken(raw, "b", "nothing", chunk=chunk) == []
    assert taken(raw, "b", "d", "deeper", chunk=chunk) == []


@settings(max_examples=200)
@given(st.lists(documents, max_size=6), layouts, chunks, st.data())
def test_a_list_cut_off_anywhere_gives_what_came_before(
    values: list[Any], layout: dict[str, Any], chunk: int, data: Any
) -> None:
    raw = written(values, layout)
    cut = raw[: data.draw(st.integers(0, len(raw) - 1))]
    found = []
    with patch.object(elements, "_CHUNK", chunk):
        try:
            for each in elements.elements(io.BytesIO(cut)):
                found.append(elements.loads(each.raw))
        except Broken:
            pass
        else:
            # Only a file cut off before its first byte says nothing of itself.
            assert cut == b""
    # A number at the very end may be cut short itself; nothing else may differ.
    whole = found[:-1] if found and isinstance(found[-1], int | float) else found
    assert same(whole, values[: len(whole)])
    assert len(found) <= len(values)


@given(st.binary(max_size=60), chunks)
def test_anything_at_all_is_read_or_broken(raw: bytes, chunk: int) -> None:
    with suppress(Broken):
        for each in taken(b"[" + raw, chunk=chunk):
            elements.loads(each.raw)
    assert elements.outline(raw).kind in ("", "array", "object")


@given(st.lists(documents.filter(lambda value: isinstance(value, dict | list)), max_size=5), layouts, chunks)
def test_documents_that_follow_each_other_are_told_apart(values: list[Any], layout: dict[str, Any], chunk: int) -> None:
    raw = b"\n".join(written(value, layout) for value in values)
    with patch.object(elements, "_CHUNK", chunk):
        assert same([elements.loads(each.raw) for each in elements.values(io.BytesIO(raw))], values)


def test_what_other_parsers_refuse_is_kept() -> None:
    raw = b'[NaN, -Infinity, "\\ud83d", 123456789012345678901234567890, "\\u0000"]'
    nan, infinite, surrogate, big, nul = (elements.loads(each.raw) for each in taken(raw))
    assert (repr(nan), infinite, surrogate, big, nul) == (
        "nan",
        float("-inf"),
        "\ud83d",
        123456789012345678901234567890,
        "\0",
    )
    # Some writers leave the surrogate itself in the file.
    assert elements.loads('"\ud83d"'.encode("utf-8", "surrogatepass")) == "\ud83d"


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"\xff", "It is not UTF-8."),
        (b"{1}", "It is not JSON: Expecting property name enclosed in double quotes, at character 1."),
        (b"[" * 100_000, "It is nested too deeply."),
        (b"1" * 5000, "It holds a number with more digits than can be read."),
    ],
)
def test_what_is_no_json_is_said_to_be_none(raw: bytes, sentence: str) -> None:
    with pytest.raises(Broken) as error:
        elements.loads(raw)
    assert error.value.message == sentence


def test_what_breaks_off_says_where() -> None:
    with pytest.raises(Broken, match="breaks off after byte 9"):
        taken(b'[1, {"a":')
    with pytest.raises(Broken, match=r"is not JSON: , or \] is missing after byte 3"):
        taken(b"[1 2]")


def test_one_element_cannot_fill_the_memory() -> None:
    with patch.object(elements, "MAX_ELEMENT_BYTES", 20):
        with pytest.raises(Broken, match="One element has more than 20 bytes"):
            taken(b'["' + b"x" * 100 + b'"]')
        with pytest.raises(Broken, match="Line 2 has more than 20 bytes"):
            list(elements.lines(io.BytesIO(b"1\n" + b"x" * 100)))


def test_what_is_skipped_is_not_held() -> None:
    with patch.object(elements, "MAX_ELEMENT_BYTES", 20):
        raw = b'{"long": "' + b"x" * 100 + b'", "short": 1}'
        assert elements.members(io.BytesIO(raw), skip=["long"]) == {"short": 1}


def test_lines_count_the_blank_ones() -> None:
    assert list(elements.lines(io.BytesIO(b"1\r\n\n  \n{}\n"))) == [(1, b"1"), (4, b"{}")]


def test_an_outline_needs_only_the_beginning() -> None:
    assert elements.outline(b'{"a": [1, 2], "b": {"c"') == elements.Outline("object", ("a", "b"))
    assert elements.outline(b'[{"a": 1}, {"b": 2}]') == elements.Outline("array", ("a",))
    assert elements.outline(b"[]") == elements.Outline("array", ())
    assert elements.outline(b"plain text") == elements.Outline("", ())
