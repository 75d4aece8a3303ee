"""Docent's agent runs as JSON: one a line, an array of them, or one alone.

Read at 7ed31d28, by its types; no file of others was at hand. A run has one or more `transcripts` (those of an agent
and of the agents it called), in old files an object of them, with messages much like Inspect's. The run is one
trajectory, its transcripts one after the other, and `metadata.transcripts` tells where each begins. What is known of
the model, the task and the scores is in the run's own `metadata`, by the names its writers chose; a mapping can use any
of it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.files import documents
from labeling.formats.files.documents import Found
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.readers.inspect_messages import asked, messages
from labeling.formats.readers.inspect_sample import truth_of
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.conversations import opening
from labeling.formats.rows.naming import Names
from labeling.formats.rows.values import as_list, as_object, as_time, as_word, small

_TASK = ("task_id", "sample_id")
_NO_RUN = "It is no agent run: it has no transcripts."


def recognises(sniff: Sniff) -> bool:
    value = documents.first(sniff)
    return isinstance(value, dict) and {"transcripts", "metadata"} <= set(value)


def read(source: Source) -> Iterator[Item]:
    names = Names(source.mapping)
    for found in documents.objects(documents.values(source), _NO_RUN):
        if isinstance(found, Unread):
            yield found
        elif not _transcripts(found.value):
            yield Unread(found.place, "", _NO_RUN, found.raw)
        else:
            model = as_word(as_object(found.value.get("metadata")).get("model"), 200)
            system = System(model or "docent", model)
            yield from names.once(system)
            yield _row(found.value, found, system=system.key, names=names)


def _row(run: Mapping[str, Any], at: Found, *, system: str, names: Names) -> Row:
    transcripts, about = _transcripts(run), as_object(run.get("metadata"))
    said = [as_list(messages(each.get("messages"))) for each in transcripts]
    request = asked(opening(said[0]))
    task = next((about[name] for name in _TASK if about.get(name) is not None), None)
    case = names.case(task, request)
    facts = {**about, "name": run.get("name"), "description": run.get("description")}
    begins = [
        {"name": each.get("name"), "first_message": sum(map(len, said[:index]))}
        for index, each in enumerate(transcripts)
    ]
    return Row(
        place=at.place,
        system=system,
        line={
            "external_id": names.row(system, run.get("id"), at.number),
            "attempt": names.attempt(system, case, facts),
            "messages": [message for each in said for message in each],
            "observed_at": as_time(transcripts[0].get("created_at")),
            "metadata": small(about) | ({"transcripts": begins} if len(begins) > 1 else {}),
        },
        case={"key": case, "request": request},
        facts=facts,
        scores=tuple(_scores(about)),
        raw=at.raw,
    )


def _transcripts(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = run.get("transcripts")
    found = list(given.values()) if isinstance(given, dict) else as_list(given)
    return [each for each in found if isinstance(each, dict)]


def _scores(about: Mapping[str, Any]) -> Iterator[Score]:
    for name, value in as_object(about.get("scores")).items():
        judge = as_word(name, 100) or "score"
        yield Score(name=judge, judge=judge, version="", value=value, truth=truth_of(value))


FORMAT = Format("docent", "Docent agent runs", "docent 7ed31d28, by its types", recognises, read)
