"""Transcripts of Inspect Scout as JSON: one a line, an array of them, or one alone.

Read at 63b481d6, by its types; no file of others was at hand. A transcript says where it comes from (`source_type`,
`source_id`), of which task (`task_set`, `task_id`, `task_repeat`), by which `agent` and `model`, and holds Inspect's
messages. `score` is the task's own, `success` the same as yes or no: what either means depends on the task.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.files import documents
from labeling.formats.files.documents import Found
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.normal import digest
from labeling.formats.readers.inspect_messages import asked, messages
from labeling.formats.readers.inspect_sample import truth_of
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.conversations import opening
from labeling.formats.rows.naming import Names, joined
from labeling.formats.rows.values import as_attempt, as_list, as_object, as_time, as_word, small

_KEYS = {"transcript_id", "messages"}


def recognises(sniff: Sniff) -> bool:
    value = documents.first(sniff)
    return isinstance(value, dict) and set(value) >= _KEYS


def read(source: Source) -> Iterator[Item]:
    names = Names(source.mapping)
    for found in documents.objects(documents.values(source), "It is no transcript: it has no messages.", "messages"):
        if isinstance(found, Unread):
            yield found
            continue
        system = _system(found.value)
        yield from names.once(system)
        yield _row(found.value, found, system=system.key, names=names)


def _system(transcript: Mapping[str, Any]) -> System:
    agent, model = as_word(transcript.get("agent"), 90), as_word(transcript.get("model"), 100)
    settings = {name: transcript.get(name) for name in ("agent", "agent_args") if transcript.get(name)}
    decoding = {**as_object(transcript.get("model_options")), **settings}
    return System(
        key=joined(model, agent, digest(decoding)[:8]),
        model=model,
        name=joined(model, agent),
        decoding=decoding,
    )


def _row(transcript: Mapping[str, Any], at: Found, *, system: str, names: Names) -> Row:
    facts = {name: value for name, value in transcript.items() if name not in ("messages", "events", "timelines")}
    said = messages(transcript["messages"])
    request = asked(opening(as_list(said)))
    repeat = transcript.get("task_repeat")
    case = names.case(joined(transcript.get("task_set"), transcript.get("task_id")), request)
    counted = names.attempt(system, case, facts)
    line = {
        "external_id": names.row(system, transcript.get("transcript_id"), at.number),
        "attempt": as_attempt(repeat, counted_from=1) if isinstance(repeat, int) else counted,
        "messages": said,
        "observed_at": as_time(transcript.get("date")),
        "error": transcript.get("error"),
        "metadata": small(
            as_object(transcript.get("metadata")) | {name: transcript.get(name) for name in ("source_id", "limit")}
        ),
    }
    return Row(
        place=at.place,
        system=system,
        line=line,
        case={"key": case, "category": as_word(transcript.get("task_set"), 100), "request": request},
        facts=facts,
        scores=tuple(_scores(transcript)),
        raw=at.raw,
    )


def _scores(transcript: Mapping[str, Any]) -> Iterator[Score]:
    version = as_word(transcript.get("source_type"), 100)
    for name in ("score", "success"):
        value = transcript.get(name)
        if value is not None:
            yield Score(
                name=name,
                judge=name,
                version=version,
                value=value,
                truth=truth_of(value),
                rationale=transcript.get("score_explanation") or "",
            )


FORMAT = Format("scout", "Inspect Scout transcripts", "inspect_scout 63b481d6, by its types", recognises, read)
