"""XSTest v2's labelled completions (CSV): one file per system, with people's labels and a judge's.

Tried on the files of 2025-02-24. Columns: id, type, prompt, completion, annotation_1, annotation_2, final_label,
gpt4_label. A type that begins with `contrast_` is the harmful side, the rest of its name the category. The string
match labels come in a file of their own (model, id, strmatch_label) and the focus words, which pair the cases, in the
prompts file (id, focus).
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

from labeling.errors import DomainError
from labeling.vocabulary import Decision, Origin, Part, Side, Undetermined

# The files carry no times; this is the day they were published.
PUBLISHED = "2025-02-24T00:00:00+00:00"
GPT4 = {
    "name": "gpt-4",
    "version": "xstest-v2",
    "title": "GPT-4",
    "measures": [Part.DECISION, Part.WITHHELD],
}
STRING_MATCH = {
    "name": "string-match",
    "version": "xstest-v2",
    "title": "String match",
    "measures": [Part.DECISION],
}
_DECISIONS = {
    "1_full_compliance": Decision.FULL_COMPLIANCE,
    "2_full_refusal": Decision.REFUSAL,
    "3_partial_refusal": Decision.SAFE_COMPLETION,
}
_COLUMNS = {"id", "type", "prompt", "completion", "annotation_1", "annotation_2", "final_label"}
_PEOPLE = (("annotation_1", "XSTest annotator 1"), ("annotation_2", "XSTest annotator 2"))


class Imported(NamedTuple):
    """A trajectory line as a runner would post it, and the verdicts on it."""

    line: dict[str, Any]
    verdicts: list[dict[str, Any]]


def system_of(filename: str) -> str:
    """The system a file is about, from its name: xstest_v2_completions_SYSTEM[_gpteval].csv."""
    found = re.fullmatch(r"(?:xstest_v2_completions_)?(.+?)(?:_gpteval|_streval)?\.csv", PurePath(filename).name)
    if found is None:
        raise DomainError(f"{filename} is no CSV file of XSTest; name a file like xstest_v2_completions_gpt4.csv.")
    return found[1]


def read(
    stream: BinaryIO, *, string_match: Mapping[str, str] | None = None, focus: Mapping[str, str] | None = None
) -> Iterator[Imported]:
    """Every row of one system's file. `string_match` and `focus` map a row's id to its label and focus word."""
    for number, row in enumerate(_rows(stream, _COLUMNS), start=2):
        try:
            yield _imported(row, string_match=(string_match or {}).get(row["id"]), focus=(focus or {}).get(row["id"]))
        except KeyError as error:
            raise DomainError(f"Row {number}: {error.args[0]!r} is not a label of XSTest.") from None


def read_string_match(stream: BinaryIO, *, system: str) -> dict[str, str]:
    """The string match labels of one system, by id."""
    rows = _rows(stream, {"model", "id", "strmatch_label"})
    return {row["id"]: row["strmatch_label"] for row in rows if row["model"] == system}


def read_focus(stream: BinaryIO) -> dict[str, str]:
    """The focus word of each prompt, by the id its completions carry."""
    return {f"v2-{row['id'].removeprefix('v2-')}": row["focus"] for row in _rows(stream, {"id", "focus"})}


def _rows(stream: BinaryIO, needed: set[str]) -> Iterator[dict[str, str]]:
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        reader = csv.DictReader(text)
        if missing := needed - set(reader.fieldnames or ()):
            raise DomainError(f"This CSV file lacks the columns {', '.join(sorted(missing))}; is it one of XSTest's?")
        yield from reader
    finally:
        # The stream is the caller's to close.
        text.detach()


def _imported(row: Mapping[str, str], *, string_match: str | None, focus: str | None) -> Imported:
    harmful = row["type"].startswith("contrast_")
    side = Side.HARMFUL if harmful else Side.BENIGN
    judgments = [_judged(GPT4, row["gpt4_label"], side)] if row.get("gpt4_label") else []
    if string_match:
        judgments.append(_judged(STRING_MATCH, string_match, side))
    line = {
        "external_id": row["id"],
        "case": {
            "key": row["id"],
            "side": side,
            "category": row["type"].removeprefix("contrast_"),
            "origin": "" if harmful else Origin.PAIRED,
            "pair": focus or "",
            "request": row["prompt"],
        },
        "messages": [
            {"role": "user", "content": row["prompt"]},
            {"role": "assistant", "content": row["completion"]},
        ],
        "judgments": judgments,
    }
    verdicts = [_verdict(row, column, side, author=author, kind="review") for column, author in _PEOPLE]
    verdicts.append(_verdict(row, "final_label", side, author="XSTest adjudicated label", kind="adjudication"))
    return Imported(line, verdicts)


def _opinion(label: str, side: Side) -> dict[str, Any]:
    """A partial refusal is a safe completion; on the benign side it kept back the legitimate answer."""
    decision = _DECISIONS[label]
    if decision is Decision.SAFE_COMPLETION and side is Side.BENIGN:
        return {"decision": decision, "withheld": True}
    return {"decision": decision}


def _judged(judge: Mapping[str, Any], label: str, side: Side) -> dict[str, Any]:
    """A label off the scale is the judge's own prose: it could not say, and what it wrote is kept."""
    name = {"judge": judge["name"], "version": judge["version"]}
    if label not in _DECISIONS:
        return {**name, "decision": None, "undetermined": Undetermined.UNPARSABLE, "raw_output": label}
    opinion = _opinion(label, side)
    withheld = opinion.get("withheld") if Part.WITHHELD in judge["measures"] else None
    return {**name, "decision": opinion["decision"], "flags": {"withheld": withheld}, "raw_output": label}


def _verdict(row: Mapping[str, str], column: str, side: Side, *, author: str, kind: str) -> dict[str, Any]:
    return {
        "external_id": row["id"],
        "author": author,
        "kind": kind,
        "decided_at": PUBLISHED,
        **_opinion(row[column], side),
    }
