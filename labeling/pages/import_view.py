"""What the pages of imports show: the list, one job with its forms, its quarantine."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from labeling.formats.mapping_text import text_of
from labeling.formats.registry import FORMATS
from labeling.models import ImportJob
from labeling.pages import import_form, import_words
from labeling.pages.visible import count_marked
from labeling.selectors import importing
from labeling.selectors.progress import is_missing
from labeling.services.importing import showing
from labeling.vocabulary import FRAMINGS, IMPORTS_OWED, ImportStatus

FORMAT_CHOICES = [{"name": each.name, "title": each.title} for each in FORMATS.values()]
_PROBLEMS = 30
_REJECTED = 20


def listed(jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    owed = [job for job in jobs if job["status"] in IMPORTS_OWED]
    return {"jobs": [_row(job) for job in jobs], **_worker(owed)}


def _row(job: Mapping[str, Any]) -> dict[str, Any]:
    progress = job["progress"]
    return {
        **job,
        "state": import_words.state_of(job["status"]),
        "format_title": title_of(job["detected_format"]),
        "rows": progress["rows_total"] or None,
        "refused": progress["rejected"] + progress["conflict"] if job["committed_at"] else 0,
    }


def title_of(name: str) -> str:
    return FORMATS[name].title if name in FORMATS else name


def job(row: ImportJob, *, reader: User, typed: Mapping[str, str] | None) -> dict[str, Any]:
    """typed: a form that could not be taken; it is shown again as it was."""
    shown = showing.shown_to(row, reader)
    preview, status, mapping = shown["preview"], shown["status"], shown["mapping"]
    at_work = status in IMPORTS_OWED or status == ImportStatus.RECEIVING
    return {
        "job": {**shown, "format_title": title_of(shown["detected_format"])},
        "preview": preview,
        "judging": showing.JUDGING if row.preview and not preview else "",
        "at_work": at_work,
        "is_table": bool(mapping.get("columns")),
        "may_change": not at_work and shown["received"] == shown["size"],
        "is_folded": status == ImportStatus.DONE and typed is None,
        "progress": _progress(row, shown),
        "counts_words": import_words.counts(shown),
        **_worker([shown] if status in IMPORTS_OWED else []),
        **_forms(shown, typed),
    }


def _forms(shown: Mapping[str, Any], typed: Mapping[str, str] | None) -> dict[str, Any]:
    preview, mapping = shown["preview"], shown["mapping"]
    names = import_words.score_names(preview)
    was_form = typed is not None and "side-how" in typed
    fields = import_form.typed(typed, names) if was_form and typed else import_form.shown(mapping, names)
    posted = (typed or {}).get("text")
    text = _written(mapping) if posted is None else posted
    context = {
        "fields": fields,
        "rules": import_words.rule_rows(fields),
        "table_columns": import_words.column_rows(fields),
        "framings": FRAMINGS,
        "meanings": import_words.MEANINGS,
        "options": typed if was_form else shown,
        "text_first": posted is not None or (preview is not None and not preview["rows"]),
        "text": text,
        "text_rows": min(max(text.count("\n") + 2, 8), 40),
        "typed": typed or {},
    }
    if preview is None:
        return context
    wrong = import_words.problems(preview)
    rows = list(import_words.score_rows(preview, fields, mapping))
    return context | {
        "scores": rows,
        "has_other": any(row.counts.get("other") for row in rows),
        "more_scores": len(preview["scores"]) - len(rows),
        "examples": import_words.examples(preview),
        "systems": import_words.systems(preview),
        "storable": import_words.storable(preview),
        "consequences": import_words.consequences(preview, shown),
        "columns": [{**each, "sample": ", ".join(each["values"])} for each in preview["columns"]],
        "unmapped": import_words.unmapped(preview),
        "problems": wrong[:_PROBLEMS],
        "more_problems": max(len(wrong) - _PROBLEMS, 0),
    }


def _written(mapping: dict[str, Any]) -> str:
    """The mapping as text; as escapes throughout where some of it would not show."""
    text = text_of(mapping)
    return text_of(mapping, ascii_only=True) if count_marked([text]).number else text


def _progress(row: ImportJob, shown: Mapping[str, Any]) -> import_words.Progress:
    said = shown["progress"]
    if shown["status"] == ImportStatus.RECEIVING:
        return import_words.progress(done=shown["received"], of=shown["size"])
    if shown["status"] == ImportStatus.COMMITTING and said["rows_total"]:
        done, of = said["rows"], said["rows_total"]
    else:
        done, of = said["bytes_read"], shown["size"]
    return import_words.progress(done=done, of=of, rows=said["rows"], before=row.rows_before, since=row.started_at)


def _worker(owed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Is there work, and nobody to do it?"""
    if not owed:
        return {"stuck": False}
    seen = owed[0]["worker_seen_at"]
    return {"stuck": is_missing(seen), "unseen_for": import_words.unseen_for(seen)}


def quarantine(row: ImportJob, *, after: int) -> dict[str, Any]:
    """Twenty rows that did not go in, after the one with this number."""
    found = importing.rejections(row, after=after, limit=_REJECTED + 1)
    return {
        "rejected": found[:_REJECTED],
        "rejected_count": importing.rejection_count(row) if found or after >= 0 else 0,
        "rejected_next": found[_REJECTED - 1].number if len(found) > _REJECTED else None,
        "rejected_after": after >= 0,
    }
