"""Docent's agent runs as JSON: one a line, an array of them, or one alone.

Read at 7ed31d28, by its types; no file of others was at hand. A run has one or more `transcripts` (those of an agent
and of the agents it called), in old files an object of them, with messages much like Inspect's. The run is one
trajectory, its transcripts one after the other, and `metadata.transcripts` tells where each begins. What is known of
the model, the task and the scores is in the run's own `metadata`, by the names its writers chose; a mapping can use any
of it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats import by_column
from labeling.formats.chats import opening
from labeling.formats.documents import Found, first, values
from labeling.formats.loose import as_list, as_object, as_time, as_word
from labeling.formats.mapping import ImportMapping, as_text
from labeling.formats.mapping import found as rule
from labeling.formats.naming import Names
from labeling.formats.readers.inspect_messages import asked, messages
from labeling.formats.readers.inspect_sample import truth_of
from labeling.formats.reading import Format, Item, Row, Score, Sniff, Source, System, Unread

_TASK = ("task_id", "sample_id")
_UNNAMED = "docent"


def recognises(sniff: Sniff) -> bool:
    value = first(sniff)
    return isinstance(value, dict) and {"transcripts", "metadata"} <= set(value)


def read(source: Source) -> Iterator[Item]:
    names, systems = Names(), set[str]()
    for each in values(source):
        if isinstance(each, Unread):
            yield each
        elif not isinstance(each.value, dict) or not _transcripts(each.value):
            yield Unread(each.place, "", "It is no agent run: it has no transcripts.", each.raw)
        else:
            model = as_word(as_object(each.value.get("metadata")).get("model"), 200)
            if model not in systems:
                systems.add(model)
                yield System(model or _UNNAMED, model)
            yield _row(each.value, each, system=model or _UNNAMED, names=names, mapping=source.mapping)


def _row(run: Mapping[str, Any], at: Found, *, system: str, names: Names, mapping: ImportMapping) -> Row:
    transcripts, about = _transcripts(run), as_object(run.get("metadata"))
    said = [as_list(messages(each.get("messages"))) for each in transcripts]
    request = asked(opening(said[0]))
    task = next((about[name] for name in _TASK if about.get(name) is not None), None)
    case = names.case(task, request)
    facts = {**about, "name": run.get("name"), "description": run.get("description")}
    mapped = rule(mapping.case.key, facts)
    begins = [
        {"name": each.get("name"), "first_message": sum(map(len, said[:index]))}
        for index, each in enumerate(transcripts)
    ]
    return Row(
        place=at.place,
        system=system,
        line={
            "external_id": names.row(system, run.get("id"), at.number),
            "attempt": names.attempt(system, as_text(mapped or case)),
            "messages": [message for each in said for message in each],
            "observed_at": as_time(transcripts[0].get("created_at")),
            "metadata": by_column.small(about) | ({"transcripts": begins} if len(begins) > 1 else {}),
        },
        case={"key": case, "request": request},
        facts=facts,
        scores=(*_scores(about), *by_column.scores(facts, mapping)),
        verdicts=tuple(by_column.verdicts(facts, mapping)),
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
