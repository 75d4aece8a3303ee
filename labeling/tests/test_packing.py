"""Raw bytes come back as they went in, whenever they were packed."""

import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from labeling.formats.packing import pack, unpack


@pytest.mark.parametrize("raw", [b"", b"x", b"\0\xff" * 10, b'{"a": 1}' * 10_000])
def test_what_was_packed_comes_back(raw: bytes) -> None:
    assert unpack(pack(raw)) == raw


def test_rows_of_earlier_versions_are_read_and_purged_ones_are_empty() -> None:
    assert unpack(zlib.compress(b'{"a": 1}')) == b'{"a": 1}'
    assert unpack(b"") == b""


def test_threads_pack_at_the_same_time() -> None:
    raws = [bytes([number]) * 50_000 for number in range(40)]
    with ThreadPoolExecutor(4) as threads:
        assert [unpack(packed) for packed in threads.map(pack, raws)] == raws
