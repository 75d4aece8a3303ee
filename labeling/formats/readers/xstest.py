"""XSTest v2's labelled completions (CSV): one file per system, with people's labels and a judge's.

Tried on the files of 2025-02-24 (d7bb5bd7). Columns: id, type, prompt, completion, annotation_1, annotation_2,
final_label, and gpt4_label or strmatch_label. A type that begins with `contrast_` is the harmful side, the rest of its
name the category. A partial refusal is a safe completion; on the benign side it kept back the legitimate answer.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from labeling.formats.files import tables
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.vocabulary import Decision, Origin, Part, Side, Undetermined

# The files carry no times; this is the day they were published.
PUBLISHED = "2025-02-24T00:00:00+00:00"
VERSION = "as published with XSTest v2"


class Judge(NamedTuple):
    """A judge whose labels come with the data; `column` holds them."""

    column: str
    name: str
    version: str
    title: str
    measures: tuple[Part, ...]


GPT4 = Judge("gpt4_label", "gpt-4", "xstest-v2", "GPT-4", (Part.DECISION, Part.WITHHELD))
STRING_MATCH = Judge("strmatch_label", "string-match", "xstest-v2", "String match", (Part.DECISION,))

_DECISIONS = {
    "1_full_compliance": Decision.FULL_COMPLIANCE,
    "2_full_refusal": Decision.REFUSAL,
    "3_partial_refusal": Decision.SAFE_COMPLETION,
}
_COLUMNS = {"id", "type", "prompt", "completion", "annotation_1", "annotation_2", "final_label"}
_PEOPLE = (
    ("annotation_1", "XSTest annotator 1", "review"),
    ("annotation_2", "XSTest annotator 2", "review"),
    ("final_label", "XSTest adjudicated label", "adjudication"),
)


def system_of(filename: str) -> str:
    """The system a file is about, from its name: xstest_v2_completions_SYSTEM[_gpteval].csv; "" from another name."""
    found = re.fullmatch(r"xstest_v2_completions_(.+?)(?:_gpteval|_streval)?\.csv", PurePath(filename).name)
    return "" if found is None else found[1]


def recognises(sniff: Sniff) -> bool:
    return set(tables.columns_of(sniff.head)) >= _COLUMNS


def read(source: Source) -> Iterator[Item]:
    system = system_of(source.filename)
    yield System(system, system, version=VERSION, name=f"XSTest {system}".strip())
    for record in tables.records(source):
        if isinstance(record, Unread):
            yield record
            continue
        missing = sorted(name for name in _COLUMNS if record.cells.get(name) is None)
        unknown = sorted(name for name, _, _ in _PEOPLE if (record.cells.get(name) or "") not in ("", *_DECISIONS))
        if missing:
            yield Unread(record.place, missing[0], "is missing; is this one of XSTest's files?", record.raw)
        elif unknown:
            yield Unread(record.place, unknown[0], "is not a label of XSTest", record.raw)
        else:
            yield _row(record, system)


def side_of(cells: Mapping[str, Any]) -> Side:
    return Side.HARMFUL if cells["type"].startswith("contrast_") else Side.BENIGN


def score(judge: Judge, label: str, side: Side) -> Score:
    """A judge's label. One off the scale is the judge's own prose: it could not say, and what it wrote is kept."""
    opinion = _opinion(label, side)
    withheld = opinion.pop("withheld", None)
    if withheld is not None and Part.WITHHELD in judge.measures:
        opinion["flags"] = {"withheld": withheld}
    return Score(
        judge.column,
        judge=judge.name,
        version=judge.version,
        value=label,
        opinion=opinion,
        measures=judge.measures,
        undetermined="" if label in _DECISIONS else Undetermined.UNPARSABLE,
    )


def _row(record: tables.Record, system: str) -> Row:
    cells = {name: cell or "" for name, cell in record.cells.items()}
    side = side_of(cells)
    return Row(
        place=record.place,
        system=system,
        line={
            "external_id": cells["id"],
            "messages": [
                {"role": "user", "content": cells["prompt"]},
                {"role": "assistant", "content": cells["completion"]},
            ],
        },
        case={
            "key": cells["id"],
            "side": side,
            "category": cells["type"].removeprefix("contrast_"),
            "origin": Origin.PAIRED if side is Side.BENIGN else "",
            "request": cells["prompt"],
        },
        facts=cells,
        scores=tuple(
            score(judge, cells[judge.column], side) for judge in (GPT4, STRING_MATCH) if cells.get(judge.column)
        ),
        verdicts=tuple(
            {"author": author, "kind": kind, "decided_at": PUBLISHED, **_opinion(cells[column], side)}
            for column, author, kind in _PEOPLE
            if cells[column]
        ),
        raw=record.raw,
    )


def _opinion(label: str, side: Side) -> dict[str, Any]:
    if label not in _DECISIONS:
        return {}
    decision = _DECISIONS[label]
    withheld = {"withheld": True} if decision is Decision.SAFE_COMPLETION and side is Side.BENIGN else {}
    return {"decision": decision.value, **withheld}


FORMAT = Format("xstest", "XSTest v2 labelled completions", "files of 2025-02-24 (d7bb5bd7)", recognises, read)
