"""HELM: run folders as a zip (one or several), a scenario_state.json alone, or the files of one run in one object.

Read at 63754d05. A run folder holds run_spec.json, scenario_state.json (`adapter_spec`, and `request_states` with
instance, request, result and the judges' annotations) and per_instance_stats.json, joined on instance, trial and
perturbation. In one JSON object the files are members under their names: run_spec, scenario_state, per_instance_stats.

What the judges of HELM Safety say is in `helm_scores`. Keys that were null are missing in these files. A request with
success false has no completions: it was not run. Each folder is a run; trials and completions are attempts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from labeling.errors import DomainError
from labeling.formats.files import archives, documents, elements
from labeling.formats.files.documents import Found
from labeling.formats.files.elements import Broken
from labeling.formats.files.source import HEAD_BYTES, Sniff, Source, Unread
from labeling.formats.mapping import as_text
from labeling.formats.normal import canonical
from labeling.formats.readers import helm_scores
from labeling.formats.readers.helm_scores import Scenario
from labeling.formats.reading import Format, Item, Row, System
from labeling.formats.rows.naming import Names, joined, storable
from labeling.formats.rows.values import as_list, as_moment, as_object, as_word, small
from labeling.vocabulary import AttackKind

_STATE = "scenario_state.json"
_DECODING = ("temperature", "max_tokens", "stop_sequences", "top_p", "top_k_per_token", "presence_penalty")
_OF_OPTIONS = "One option of several, compared by likelihood: there is no answer in words to import."
# Costs and settings of a run, which say nothing of an answer.
_NO_SCORES = re.compile(
    r"num_|inference_|training_|prompt_|batch_size|finish_reason|estimated_|logprob|max_prob|.*_annotator_success"
)


@dataclass(frozen=True, slots=True)
class _Files:
    """Where the files of one run are: each a source, and the path of keys inside it."""

    name: str
    state: tuple[Source, tuple[str, ...]]
    spec: tuple[Source, tuple[str, ...]] | None = None
    stats: tuple[Source, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    system: System
    scenario: Scenario
    # What the cases of this scenario are called, whoever the model.
    prefix: str
    stats: Mapping[str, Mapping[str, Any]]
    names: Names


def recognises(sniff: Sniff) -> bool:
    keys = set(sniff.outline.keys)
    in_zip = any(PurePosixPath(name).name == _STATE for name in sniff.names)
    return in_zip or {"adapter_spec", "request_states"} <= keys or "scenario_state" in keys


def read(source: Source) -> Iterator[Item]:
    if not source.is_zip():
        yield from _read_run(_in_one_file(source), place="")
        return
    with source.archive() as archive:
        found = {
            entry.filename: entry for entry in archives.entries(archive, source, lambda name: name.endswith(".json"))
        }
        for name, entry in found.items():
            path = PurePosixPath(name)
            if path.name == _STATE:
                spec, stats = (
                    (found[each], ()) if (each := str(path.with_name(other))) in found else None
                    for other in ("run_spec.json", "per_instance_stats.json")
                )
                yield from _read_run(_Files(path.parent.name, (entry, ()), spec, stats), place=archives.named(entry))


def _in_one_file(source: Source) -> _Files:
    with source.text() as stream:
        keys = elements.outline(stream.read(HEAD_BYTES)).keys
    if {"adapter_spec", "request_states"} & set(keys):
        return _Files("", (source, ()))
    return _Files(
        "", (source, ("scenario_state",)), spec=(source, ("run_spec",)), stats=(source, ("per_instance_stats",))
    )


def _read_run(files: _Files, *, place: str) -> Iterator[Item]:
    source, path = files.state
    try:
        run = _run(files)
        yield run.system
        for found in documents.values(source, *path, "request_states"):
            at = ", ".join(filter(None, (place, found.place)))
            if isinstance(found, Unread):
                yield replace(found, place=at)
            else:
                yield from _rows(found._replace(place=at), run)
    except DomainError as error:
        yield Unread(place or "the file", "", error.message)


def _run(files: _Files) -> _Run:
    source, path = files.state
    with source.text() as stream:
        state = elements.members(stream, *path, skip=("request_states",))
    spec = {} if files.spec is None else _members(*files.spec)
    adapter = as_object(spec.get("adapter_spec")) or as_object(state.get("adapter_spec"))
    name = as_text(spec.get("name")) or files.name
    scenario = Scenario.of(
        as_text(as_object(spec.get("scenario_spec")).get("class_name")), state.get("annotator_specs"), name
    )
    model, deployment = as_text(adapter.get("model")), as_text(adapter.get("model_deployment"))
    system = System(
        key=storable(name or model) or "run",
        model=as_word(model, 200),
        version=as_word(deployment, 200) if deployment != model else "",
        name=as_word(name, 200),
        decoding={key: adapter[key] for key in (*_DECODING, "instructions") if adapter.get(key) not in (None, "", [])},
        attack={"kind": AttackKind.TEMPLATED} if scenario.framing else {},
    )
    stats = {} if files.stats is None else _stats(*files.stats)
    return _Run(system, scenario, _without_model(name), stats, Names(source.mapping))


def _members(source: Source, path: tuple[str, ...]) -> dict[str, Any]:
    with source.text() as stream:
        return elements.members(stream, *path)


def _stats(source: Source, path: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """The means of each instance by its statistics' names. A statistic that is not there was not a number."""
    found: dict[str, dict[str, Any]] = {}
    try:
        with source.text() as stream:
            for element in elements.elements(stream, *path):
                given = as_object(elements.loads(element.raw))
                perturbation = given.get("perturbation")
                identity = _identity(given.get("instance_id"), given.get("train_trial_index"), perturbation)
                for stat in as_list(given.get("stats")):
                    name = as_text(as_object(as_object(stat).get("name")).get("name"))
                    if name and not _NO_SCORES.match(name) and "mean" in stat:
                        found.setdefault(identity, {})[name] = stat["mean"]
    except Broken:
        # What came before the break is good; the answers themselves are in the other file.
        pass
    return found


def _identity(instance: Any, trial: Any, perturbation: Any) -> str:
    return canonical([instance, trial or 0, perturbation])


def _rows(found: Found, run: _Run) -> Iterator[Item]:
    given = found.value
    if not isinstance(given, dict) or not isinstance(given.get("instance"), dict):
        yield Unread(found.place, "instance", "It is no request to a model.", found.raw)
        return
    if given.get("reference_index") is not None or given.get("request_mode") is not None:
        yield Unread(found.place, "reference_index", _OF_OPTIONS, found.raw)
        return
    result = as_object(given.get("result"))
    completions = [each for each in as_list(result.get("completions")) if isinstance(each, dict)]
    error = None
    if result.get("success") is not True:
        error = result.get("error") or "HELM has no result of this request."
    trial = given.get("train_trial_index")
    first = (trial if isinstance(trial, int) and trial >= 0 else 0) * max(len(completions), 1)
    for index, completion in enumerate(completions or [None]):
        yield _row(found, run, completion, attempt=first + index + 1, error=error)


def _row(found: Found, run: _Run, completion: dict[str, Any] | None, *, attempt: int, error: Any) -> Row:
    given = found.value
    instance, result = given["instance"], as_object(given.get("result"))
    identity = _identity(instance.get("id"), given.get("train_trial_index"), instance.get("perturbation"))
    stats = run.stats.get(identity, {})
    scenario = run.scenario if run.scenario.name else Scenario.of_annotations(given.get("annotations"))
    references = [
        (as_text(as_object(each.get("output")).get("text")), [*map(as_text, as_list(each.get("tags")))])
        for each in as_list(instance.get("references"))
        if isinstance(each, dict)
    ]
    rest = {key: instance[key] for key in ("id", "split", "sub_split", "perturbation", "extra_data") if key in instance}
    line = {
        "external_id": run.names.row(run.system.key, joined(_key(instance, run), attempt), found.number),
        "attempt": attempt,
        "messages": [*_asked(as_object(given.get("request"))), *_answered(completion)],
        "stop_reason": as_word(_reason(completion), 60),
        "error": error,
        "observed_at": as_moment(result.get("request_datetime")),
        "metadata": small({**rest, "cached": result.get("cached"), "request_time": result.get("request_time")}),
    }
    answer = as_text((completion or {}).get("text"))
    # What was said of several completions at once is of none of them.
    is_judged = not error and len(as_list(result.get("completions"))) == 1
    scores = helm_scores.of(given.get("annotations"), stats, scenario, references, answer=answer) if is_judged else ()
    return Row(
        place=found.place,
        system=run.system.key,
        line=line,
        case=_case(instance, run, scenario) | scenario.case(references),
        facts={**rest, "references": [text for text, _ in references], "run": run.system.name, "stats": stats},
        scores=tuple(scores),
        raw=found.raw,
    )


def _key(instance: Mapping[str, Any], run: _Run) -> str:
    perturbation = as_object(instance.get("perturbation"))
    return joined(run.prefix, instance.get("id"), perturbation.get("name"), perturbation.get("seed"))


def _case(instance: Mapping[str, Any], run: _Run, scenario: Scenario) -> dict[str, Any]:
    """A perturbed instance is a variant of the one it was made of."""
    perturbation = as_object(instance.get("perturbation"))
    request = [{"role": "user", "content": as_object(instance.get("input")).get("text")}]
    return {
        "key": run.names.case(_key(instance, run), request),
        "base_request": storable(joined(run.prefix, instance.get("id"))) if perturbation else None,
        "framing": as_word(perturbation.get("name"), 60) or scenario.framing or None,
        "request": request,
        "right_answer": "",
    }


def _asked(request: Mapping[str, Any]) -> list[Any]:
    """Either a prompt or messages, and sometimes pictures between the words."""
    if request.get("messages"):
        return request["messages"] if isinstance(request["messages"], list) else []
    media = as_object(request.get("multimodal_prompt")).get("media_objects")
    if isinstance(media, list):
        parts = [
            {"type": "text", "text": each["text"]}
            if isinstance(as_object(each).get("text"), str)
            else {"type": "file", "file": each}
            for each in media
        ]
        return [{"role": "user", "content": parts}]
    return [{"role": "user", "content": request.get("prompt")}]


def _answered(completion: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    if completion is not None:
        thought = as_object(completion.get("thinking")).get("text")
        reasoning = {"reasoning_content": thought} if thought else {}
        yield {"role": "assistant", "content": completion.get("text"), **reasoning}


def _reason(completion: Mapping[str, Any] | None) -> Any:
    return as_object((completion or {}).get("finish_reason")).get("reason")


def _without_model(name: str) -> str:
    """A run's name without what only the model decides: bbq:subject=all,model=x → bbq:subject=all."""
    scenario, _, rest = name.partition(":")
    kept = [each for each in rest.split(",") if each and not each.startswith("model")]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


FORMAT = Format("helm", "HELM run", "63754d05 (2026-06) from its source", recognises, read)
