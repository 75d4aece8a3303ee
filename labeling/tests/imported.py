"""What a reader makes of a file, as the import jobs take it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeling.formats import registry
from labeling.formats.decoding import Decoded, decoded
from labeling.formats.files.source import Source, Unread
from labeling.formats.lines import Parsed, Rejected, from_value
from labeling.formats.mapping import ImportMapping
from labeling.formats.reading import Row, System
from labeling.formats.wire import VerdictLine, examine, read

# The content of a file, or the file.
Content = bytes | str | Path


@dataclass(frozen=True)
class Imported:
    """Everything in a file, apart; `decoded` has an entry for each row."""

    systems: list[System]
    rows: list[Row]
    unread: list[Unread]
    decoded: list[Decoded]

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [each.line for each in self.decoded]

    @property
    def cases(self) -> list[dict[str, Any]]:
        return [line["case"] for line in self.lines]

    @property
    def judgments(self) -> list[dict[str, Any]]:
        return [judgment for line in self.lines for judgment in line["judgments"]]

    @property
    def reasons(self) -> list[tuple[str, str, str]]:
        return [(each.place, each.path, each.reason) for each in self.unread]

    def parsed(self) -> list[Parsed]:
        """Every row as it would be stored; fails on one that would be refused."""
        found = [from_value(index, line) for index, line in enumerate(self.lines)]
        refused = [each for each in found if isinstance(each, Rejected)]
        assert not refused, refused
        verdicts = [verdict for each in self.decoded for verdict in each.verdicts]
        wrong = [problems for each in verdicts if isinstance(problems := examine(VerdictLine, each), list)]
        assert not wrong, wrong
        assert not [each.problems for each in self.decoded if each.problems]
        return [each for each in found if isinstance(each, Parsed)]


def source_of(content: Content, filename: str = "upload", **mapping: Any) -> Source:
    rules = read(ImportMapping, mapping)
    if isinstance(content, Path):
        return Source(lambda: content.open("rb"), filename, rules)
    return Source.of_bytes(content if isinstance(content, bytes) else content.encode(), filename, rules)


def imported(content: Content, name: str, filename: str = "upload", **mapping: Any) -> Imported:
    """The file read with the reader of this name; fails unless its content shows that it is one of its own."""
    source = source_of(content, filename, **mapping)
    assert registry.detected(source).name == name
    systems: list[System] = []
    rows: list[Row] = []
    unread: list[Unread] = []
    for item in registry.named(name).read(source):
        if isinstance(item, System):
            systems.append(item)
        elif isinstance(item, Row):
            assert item.system in [system.key for system in systems], "a system comes before its rows"
            rows.append(item)
        else:
            unread.append(item)
    names = [(row.system, row.line["external_id"]) for row in rows]
    assert len(set(names)) == len(names), "two rows have one id"
    return Imported(systems, rows, unread, [decoded(row, source.mapping) for row in rows])


def jsonl(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def csv_text(*rows: Sequence[str]) -> str:
    """Every cell quoted, as spreadsheets may do."""
    return "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in rows)
