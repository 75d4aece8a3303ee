"""Files made to hurt whoever reads them: each ends in a sentence, and costs neither the memory nor its neighbours."""

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from typing import Any

import pytest

from labeling.errors import DomainError
from labeling.formats import registry
from labeling.formats.files import elements, source, tables
from labeling.formats.files.source import Source, Unread
from labeling.formats.reading import Row

HEADER = b'{"version": 2, "eval": {"task": "t", "model": "m"}}'
SAMPLE = b'{"id": 1, "epoch": 1, "input": "hello", "messages": [{"role": "user", "content": "hello"}]}'


def archive(contents: dict[str, bytes] | None = None, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    entries = {"_journal/start.json": HEADER, "samples/1_epoch_1.json": SAMPLE} | (contents or {})
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return made.getvalue()


def items(content: bytes, name: str) -> list[Any]:
    return list(registry.named(name).read(Source.of_bytes(content)))


def reasons(content: bytes, name: str) -> list[str]:
    return [each.reason for each in items(content, name) if isinstance(each, Unread)]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_zip_ends_in_sentences_wherever_it_is_damaged(method: int) -> None:
    whole, chance = archive(method=method), random.Random(3)
    for _ in range(600):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 4))):
            damaged[chance.randrange(4, len(damaged))] = chance.randrange(256)
        try:
            found = items(bytes(damaged), "inspect")
        except DomainError:
            continue
        assert found


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_rare_ways_of_packing_are_not_unpacked(method: int) -> None:
    """LZMA asks for as much memory as its first bytes say."""
    assert all(
        reason.startswith(("It is packed in a way", "The log has no"))
        for reason in reasons(archive(method=method), "inspect")
    )


def test_a_zip_that_lists_more_than_can_be_held_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_LISTING_BYTES", 1000)
    content = archive({f"samples/{number}_epoch_1.json": SAMPLE for number in range(2, 30)})
    with pytest.raises(DomainError, match="pack fewer files into it"):
        registry.detected(Source.of_bytes(content))


def test_names_that_lead_out_of_the_archive_lead_nowhere() -> None:
    content = archive({"../../samples/2_epoch_1.json": SAMPLE, "/samples/3_epoch_1.json": SAMPLE})
    assert [each.place for each in items(content, "inspect") if isinstance(each, Row)] == ["samples/1_epoch_1.json"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_entries_of_one_name_the_last_one_counts() -> None:
    """A file that was written to an archive again takes the place of the one before."""
    about = {"suite_name": "s", "pipeline_name": "p", "user_task_id": "user_task_0", "messages": []}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for utility in (False, True):
            file.writestr("user_task_0/none/none.json", json.dumps({**about, "utility": utility}))
    assert [each.facts["utility"] for each in items(made.getvalue(), "agentdojo") if isinstance(each, Row)] == [True]


def test_a_zip_inside_a_zip_is_not_opened() -> None:
    assert reasons(archive({"samples/2_epoch_1.json": archive()}), "inspect") == ["It is no JSON object."]


@pytest.mark.parametrize("packed", [gzip.compress(b"a,b", mtime=0), bz2.compress(b"a,b"), lzma.compress(b"a,b")])
def test_a_packed_file_is_said_to_be_packed(packed: bytes) -> None:
    with pytest.raises(DomainError, match="Unpack it first"):
        registry.detected(Source.of_bytes(packed))


def test_values_that_would_fill_the_memory_cost_their_line_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "_MANY_VALUES", 1000)
    line = b'{"external_id": "%s", "case": {"key": "c", "side": "benign"}, "messages": [%s]}'
    found = items(b"\n".join((line % (b"a", b"[]," * 1000 + b"[]"), line % (b"b", b""))), "litmus")
    assert [each.reason for each in found if isinstance(each, Unread)] == ["It holds more than 1,000 values."]
    assert [each.line["external_id"] for each in found if isinstance(each, Row)] == ["b"]


def test_nesting_without_end_is_not_followed_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "_DEEPEST", 1000)
    assert reasons(b'[{"task_id": 1, "reward": 0, "info": {}, "traj": ' + b"[" * 5000, "tau-bench") == [
        "It is nested more than 1,000 levels deep."
    ]


def test_a_table_has_a_number_of_columns_that_can_be_held() -> None:
    names = b",".join(b"c%d" % number for number in range(tables.MAX_COLUMNS + 1))
    assert reasons(names + b"\n1\n", "table") == ["The first row has 10,001 names; a table may have 10,000."]


def test_so_many_names_that_comparing_each_with_each_would_never_end() -> None:
    assert len(tables.columns_of(b"," * 250_000)) == 250_001


def test_a_line_of_endless_cells_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MANY_CELLS", 1000)
    assert reasons(b"prompt,response\na,b\n" + b"x," * 2000, "table") == [
        "A line has more than 1,000 cells, which no table here may have."
    ]
