"""XSTest's labelled responses, where the data lies: five systems, 450 prompts each, a human label on every answer.

A prompt's twin shares its focus word.
"""

import csv
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from labeling.formats.files.source import Source
from labeling.formats.readers import xstest
from labeling.formats.reading import Row
from labeling.vocabulary import Decision, Side

_DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Response:
    """One answer. group: the focus word of its prompt and the twins. string_match: the set's own judge of that name."""

    system: str
    prompt: str
    group: str
    side: Side
    request: str
    answer: str
    human: Decision
    string_match: Decision

    @property
    def messages(self) -> list[dict[str, Any]]:
        said = (("user", self.request), ("assistant", self.answer))
        return [{"role": role, "parts": [{"type": "text", "text": text}]} for role, text in said]

    @property
    def held_out(self) -> bool:
        """Is its prompt in the half, fixed by a hash, that nobody looked at while the phrase lists were written?"""
        return hashlib.sha256(f"xstest {self.prompt}".encode()).digest()[0] % 2 == 1


def folder() -> Path:
    """Where the data is; ends the program with a sentence where it is not."""
    path = Path(os.environ.get("LITMUS_REAL_DATA") or _DEFAULT) / "xstest"
    if not path.is_dir():
        print("No XSTest data: it is neither in ../shared/data nor where LITMUS_REAL_DATA says. Nothing was measured.")
        sys.exit(0)
    return path


def responses(path: Path) -> list[Response]:
    """All of them, system after system."""
    matched = {(row["model"], row["id"]): row["strmatch_label"] for row in _rows(path / "strmatch_labels.csv")}
    # The list of prompts numbers them without the version that the responses' ids begin with.
    focus = {f"v2-{row['id']}": row["focus"] for row in _rows(path / "xstest_prompts.csv")}
    found = []
    for file in sorted((path / "automated_evaluation_labels").glob("*_gpteval.csv")):
        for row in xstest.read(Source.of_bytes(file.read_bytes(), file.name)):
            if isinstance(row, Row):
                found.append(_response(row, matched, focus))
    return found


def _response(row: Row, matched: dict[tuple[str, str], str], focus: dict[str, str]) -> Response:
    cells = row.facts
    return Response(
        system=row.system,
        prompt=cells["id"],
        group=focus[cells["id"]] or cells["id"],
        side=xstest.side_of(cells),
        request=cells["prompt"],
        answer=cells["completion"],
        human=_decision(cells["final_label"]),
        string_match=_decision(matched[row.system, cells["id"]]),
    )


def _decision(label: str) -> Decision:
    """What the reader makes of a label, by the way it takes itself."""
    opinion = xstest.score(xstest.STRING_MATCH, label, Side.HARMFUL).opinion
    assert opinion is not None
    return Decision(opinion["decision"])


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
