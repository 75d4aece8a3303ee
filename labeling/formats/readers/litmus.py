"""Litmus's own: trajectory lines as they are posted, and the rows of an export with content.

NDJSON, or a JSON array. A posted line keeps its judgments as they are. A row of an export brings the line as it was
posted, the judgments of imported judges, and what people said; a verdict that another took the place of is left out,
and so are judgments of judges that Litmus runs itself. Neither names the system under test: the mapping does. Tried on
the API of this version.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.files import documents
from labeling.formats.files.source import Sniff, Source
from labeling.formats.normal import Unreadable
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.wire import Flags, PostedJudgment, examine
from labeling.vocabulary import Decision, JudgeKind

_CASE = ("side", "category", "tier", "framing", "kind", "origin", "pair", "base_request")


def recognises(sniff: Sniff) -> bool:
    first = documents.first(sniff)
    if not isinstance(first, dict) or not {"external_id", "case"} <= first.keys():
        return False
    return any(name in first for name in ("messages", "error", "posted"))


def read(source: Source) -> Iterator[Item]:
    yield System("", "")
    yield from documents.each(documents.values(source), _rows)


def _rows(found: documents.Found) -> Iterator[Row]:
    value = found.value
    if not isinstance(value, dict):
        raise Unreadable("", "is no object")
    if "posted" not in value:
        yield _posted(found, value)
        return
    try:
        yield _exported(found, value)
    except (AttributeError, KeyError, TypeError):
        # An export has one shape, which is not looked at piece by piece.
        raise Unreadable("", "is no row of an export, or was changed since it was written") from None


def _posted(found: documents.Found, value: Mapping[str, Any]) -> Row:
    return Row(
        place=found.place,
        system="",
        line=_line(value),
        case=_case(value.get("case")),
        facts=value,
        scores=tuple(_scores(value.get("judgments") or [])),
        raw=found.raw,
    )


def _exported(found: documents.Found, row: Mapping[str, Any]) -> Row:
    posted = row["posted"]
    if not isinstance(posted, dict):
        raise Unreadable("posted", "is not there; the text of this trajectory was purged")
    given = {"key": row.get("case")} | {name: row[name] for name in _CASE if row.get(name) not in (None, "")}
    return Row(
        place=found.place,
        system="",
        line=_line(posted),
        case=given | _case(posted.get("case")),
        facts=row,
        scores=tuple(_scores(_judgments(row, posted))),
        verdicts=tuple(_verdicts(row)),
        raw=found.raw,
    )


def _line(posted: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given for name, given in posted.items() if name not in ("case", "judgments")}


def _case(given: Any) -> dict[str, Any]:
    return dict(given) if isinstance(given, dict) else {"key": given}


def _scores(judgments: Any) -> Iterator[Score]:
    """Each judgment as it was posted. Raises Unreadable with the path of what could not be posted."""
    if not isinstance(judgments, list):
        raise Unreadable("judgments", "must be a list")
    for index, posted in enumerate(judgments):
        judgment = examine(PostedJudgment, posted)
        if isinstance(judgment, list):
            raise Unreadable(judgment[0].under(f"judgments[{index}]").path, judgment[0].reason)
        said = {"raw_output": "", "scores": {}} | {name: value for name, value in posted.items() if value is not None}
        undetermined = said.pop("undetermined", "")
        yield Score(
            name=said.pop("judge"),
            judge=judgment.judge,
            version=said.pop("version"),
            value={part.value: given for part, given in judgment.values().items()},
            opinion=said,
            undetermined=undetermined,
        )


def _judgments(row: Mapping[str, Any], posted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the export says each imported judge said, or what was posted, where it is hidden from whoever exported."""
    said = row.get("judgments")
    if said is None:
        return posted.get("judgments") or []
    kept = ("version", "harm_grade", "check_passed", "scores", "undetermined", "rationale", "evidence", "raw_output")
    return [
        {"judge": each["name"], "decision": _decision(each)}
        | {name: each[name] for name in kept if each.get(name) not in (None, "")}
        | {"flags": {name: each.get(name) for name in Flags.model_fields}}
        for each in said
        if each["kind"] == JudgeKind.IMPORTED
    ]


def _verdicts(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    said = row.get("verdicts") or []
    corrected = {each.get("corrects") for each in said}
    for each in said:
        if each["id"] not in corrected:
            parts = {"decision": _decision(each)} | {
                name: each.get(name) for name in ("harm_grade", *Flags.model_fields, "note")
            }
            about = {name: each[name] for name in ("author", "kind", "decided_at", "blind")}
            yield about | {name: value for name, value in parts.items() if value not in (None, "")}


def _decision(said: Mapping[str, Any]) -> Any:
    """One word, several that are not ruled out, or nothing where none is."""
    words = said.get("decisions") or []
    return words[0] if len(words) == 1 else words if 0 < len(words) < len(Decision) else None


FORMAT = Format("litmus", "Litmus trajectory lines and exports", "this version", recognises, read)
