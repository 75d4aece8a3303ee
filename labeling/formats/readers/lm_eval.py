"""lm-evaluation-harness: a samples_TASK_DATE.jsonl, or a model's folder as a zip with results_DATE.json beside it.

Read at 4e7e0d47. A line is one document under one filter: doc_id, doc, target, arguments {gen_args_0: {arg_0: prompt,
arg_1: settings}}, resps [[text, …]], filtered_resps, filter, metrics [names] and the value of each metric under its
name. Lines of several filters are the same answers scored again, and become one row with all their scores. The file is
opened to append, so a document may come again: that is another attempt. The model is in the results file alone.

What a metric means is the task's affair, so a mapping must say. Tasks that compare options by likelihood have no answer
in words and cannot be imported. The date in the names is a local time without a zone.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from labeling.errors import DomainError
from labeling.formats.files import archives, documents, elements
from labeling.formats.files.documents import Found
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.mapping import as_text
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.conversations import is_messages
from labeling.formats.rows.naming import Names, joined, storable
from labeling.formats.rows.values import as_list, as_object, as_storable, as_word, parsed, small, truth_of

_SAMPLES = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl")
_NO_METRICS = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
}
_LIKELIHOODS = (
    "The options were compared by likelihood, so there is no answer in words to import; the file has {count:,} lines "
    "like this one. Run a variant of the task that generates."
)

# One metric under one filter, and its value.
_Values = list[tuple[str, str, Any]]


def recognises(sniff: Sniff) -> bool:
    in_zip = any(_SAMPLES.fullmatch(PurePosixPath(name).name) for name in sniff.names)
    return in_zip or ({"doc_id", "doc"} <= set(sniff.outline.keys) and b'"resps"' in sniff.head)


def read(source: Source) -> Iterator[Item]:
    if not source.is_zip():
        yield from _Samples(source, {}, place="").read()
        return
    with source.archive() as archive:
        results = {
            PurePosixPath(entry.filename): entry
            for entry in archives.entries(archive, source, lambda name: PurePosixPath(name).match("results_*.json"))
        }
        samples = archives.entries(archive, source, lambda name: _SAMPLES.fullmatch(PurePosixPath(name).name))
        for entry in samples:
            try:
                yield from _Samples(entry, _results(entry, results), place=archives.named(entry)).read()
            except DomainError as error:
                yield Unread(archives.named(entry), "", error.message)


def _results(samples: Source, results: Mapping[PurePosixPath, Source]) -> dict[str, Any]:
    """Of the same date, else the last in the same folder. Without its samples, which may be in it as well."""
    path = PurePosixPath(samples.filename)
    beside = sorted(each for each in results if each.parent == path.parent)
    named = _SAMPLES.fullmatch(path.name)
    same = path.with_name(f"results_{named['date'] if named else ''}.json")
    found = same if same in results else beside[-1] if beside else None
    if found is None:
        return {}
    with results[found].text() as stream:
        return elements.members(stream, skip=("samples", "results", "configs"))


class _Samples:
    """One file of samples: one task, one system."""

    def __init__(self, source: Source, results: Mapping[str, Any], *, place: str) -> None:
        self._source = source
        self._results = results
        self._place = place
        self._names = Names(source.mapping)
        # How often a document has come so far, by its filter.
        self._seen: Counter[tuple[str, str]] = Counter()
        self._likelihoods = 0
        self._first_likelihood: Unread | None = None

    def read(self) -> Iterator[Item]:
        main, others = _by_filter(self._source)
        system: System | None = None
        for found in _lines(self._source):
            place = joined(self._place, found.place)
            if isinstance(found, Unread):
                yield replace(found, place=place)
            elif not _is_generated(found.value):
                self._likelihoods += 1
                self._first_likelihood = self._first_likelihood or Unread(place, "resps", "", found.raw)
            else:
                document, times = self._count(found.value)
                if _filter(found.value) != main and times <= self._seen[document, main]:
                    # The answers of a row that is out already, with the scores of this line.
                    continue
                system = system or self._system(found.value)
                yield from self._names.once(system)
                beside = others.get((document, times), [])
                yield from self._rows(found, beside, system=system, place=place, times=times)
        if self._first_likelihood is not None:
            first = self._first_likelihood
            yield Unread(first.place, first.path, _LIKELIHOODS.format(count=self._likelihoods), first.raw)

    def _count(self, given: Mapping[str, Any]) -> tuple[str, int]:
        document = as_text(given["doc_id"])
        self._seen[document, _filter(given)] += 1
        return document, self._seen[document, _filter(given)]

    def _named(self) -> tuple[str, str]:
        """The task, and when the file was begun."""
        named = _SAMPLES.fullmatch(PurePosixPath(self._source.filename).name)
        if named is None:
            return "", ""
        day, _, time = (named["date"] or "").partition("T")
        return named["task"], f"{day}T{time.replace('-', ':')}" if day else ""

    def _system(self, given: Mapping[str, Any]) -> System:
        config = as_object(self._results.get("config"))
        model = as_text(self._results.get("model_name")) or as_text(config.get("model_args"))
        task, _ = self._named()
        _, settings = _asked(given, 0)
        return System(
            key=storable(joined(model, task)) or "samples",
            model=as_word(model, 200),
            version=as_word(config.get("model_revision"), 200),
            name=as_word(joined(model, task), 200),
            system_prompt=as_storable(self._results.get("system_instruction")),
            decoding=settings,
        )

    def _rows(self, found: Found, beside: _Values, *, system: System, place: str, times: int) -> Iterator[Row]:
        given = found.value
        requests = [(number, text) for number, texts in enumerate(as_list(given["resps"])) for text in _texts(texts)]
        # A metric speaks of all the answers to a document; where there are several it is of none of them.
        alone = len(requests) == 1
        values = [*_values(given), *beside] if alone else []
        task, date = self._named()
        key = joined(task, given["doc_id"]) if task else joined(given["doc_id"], as_text(given.get("doc_hash"))[:12])
        facts = {name: value for name, value in given.items() if name not in ("arguments", "resps")} | {"task": task}
        for answer, (number, text) in enumerate(requests):
            asked, _ = _asked(given, number)
            case = self._names.case(joined(key, number or ""), asked)
            line = {
                "external_id": self._names.row(system.key, joined(key, times, "" if alone else answer), found.number),
                "attempt": self._names.attempt(system.key, case, facts),
                "messages": [*asked, {"role": "assistant", "content": text}],
                "observed_at": date,
                "metadata": small({name: value for name, value in facts.items() if name != "doc"}),
            }
            yield Row(
                place,
                system.key,
                line,
                {"key": case, "request": asked, "right_answer": as_storable(given.get("target"))},
                facts,
                tuple(_score(*each) for each in values),
                raw=found.raw,
            )


def _lines(source: Source) -> Iterator[Found | Unread]:
    return documents.objects(documents.values(source), "It is no sample of lm-evaluation-harness.", "doc_id")


def _by_filter(source: Source) -> tuple[str, dict[tuple[str, int], _Values]]:
    """The first filter, and what the others say: by document and how often it has come. Numbers alone are kept."""
    main: str | None = None
    seen: Counter[tuple[str, str]] = Counter()
    others: dict[tuple[str, int], _Values] = {}
    for found in _lines(source):
        if isinstance(found, Unread):
            continue
        document, name = as_text(found.value["doc_id"]), _filter(found.value)
        main = name if main is None else main
        seen[document, name] += 1
        if name != main:
            others.setdefault((document, seen[document, name]), []).extend(_values(found.value))
    return main or "", others


def _filter(given: Mapping[str, Any]) -> str:
    return as_text(given.get("filter"))


def _values(given: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    names = [as_text(name) for name in as_list(given.get("metrics"))] or [
        key for key in given if key not in _NO_METRICS
    ]
    for name in names:
        if name in given:
            yield name, _filter(given), given[name]


def _score(metric: str, by_filter: str, value: Any) -> Score:
    """Named as in the table of results: exact_match,strict-match."""
    name = ",".join(filter(None, (metric, by_filter)))
    return Score(as_word(name, 100), as_word(f"lm-eval {name}", 100), "", value, truth_of(value))


def _is_generated(given: Mapping[str, Any]) -> bool:
    """Generation has settings beside the prompt; a likelihood has the option's text, and a pair for an answer."""
    said = [text for texts in as_list(given.get("resps")) for text in _texts(texts)]
    return bool(said) and all(isinstance(text, str) for text in said) and not isinstance(_argument(given, 0, 1), str)


def _texts(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _argument(given: Mapping[str, Any], number: int, at: int) -> Any:
    arguments = given.get("arguments")
    if isinstance(arguments, dict):
        return as_object(arguments.get(f"gen_args_{number}")).get(f"arg_{at}")
    request = as_list(as_list(arguments)[number]) if number < len(as_list(arguments)) else []
    return request[at] if at < len(request) else None


def _asked(given: Mapping[str, Any], number: int) -> tuple[list[Any], dict[str, Any]]:
    """The prompt as messages, and the settings. To chat models the messages go as a text of JSON."""
    prompt = _argument(given, number, 0)
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    chat = parsed(prompt)
    messages = chat if is_messages(chat) else [{"role": "user", "content": as_text(prompt)}]
    return messages, as_object(_argument(given, number, 1))


FORMAT = Format("lm-eval", "lm-evaluation-harness samples", "4e7e0d47 (2026-08) from its source", recognises, read)
