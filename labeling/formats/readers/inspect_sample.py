"""One sample of an Inspect log as a row: what was said, what its scorers found, and the header's word on the system."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from labeling.formats.mapping import ImportMapping, as_text
from labeling.formats.normal import digest
from labeling.formats.readers.inspect_messages import asked, messages
from labeling.formats.reading import Row, Score, System
from labeling.formats.rows import values
from labeling.formats.rows.naming import Names, joined
from labeling.formats.rows.values import as_attempt, as_list, as_object, as_storable, as_time, as_word, small
from labeling.vocabulary import Undetermined

# Letters of Inspect's own scorers. Half right (P) and no answer (N) are neither; a mapping may say otherwise.
_LETTERS = {"C": True, "I": False}
_INVALIDATED = "the sample was invalidated"
_REASONS = {
    "grader_failed": Undetermined.UNPARSABLE,
    "grader_parse_failure": Undetermined.UNPARSABLE,
    "invalid_response_format": Undetermined.UNREADABLE,
    "no_response": Undetermined.EMPTY,
}
# Settings of the connection, which change no answer.
_TRANSPORT = {
    "max_retries",
    "timeout",
    "attempt_timeout",
    "max_connections",
    "adaptive_connections",
    "batch",
    "cache",
}


@dataclass(frozen=True, slots=True)
class Log:
    """What the header says of every sample. versions: of each scorer, by its name."""

    system: System
    created: str = ""
    runner: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: Mapping[str, Any], plan: Mapping[str, Any]) -> "Log":
        """From a log's `eval` and `plan`; both may be empty."""
        task, model = as_word(spec.get("task"), 100), as_word(spec.get("model"), 200)
        packages = as_object(spec.get("packages"))
        runner = " ".join(filter(None, ("inspect_ai", as_word(packages.get("inspect_ai"), 40))))
        key = spec.get("eval_id") or joined(spec.get("run_id"), spec.get("task_id")) or joined(task, model)
        scorers = [each for each in as_list(spec.get("scorers")) if isinstance(each, dict)]
        return cls(
            system=System(
                key=as_word(key, 200) or "inspect",
                model=model,
                name=as_word(": ".join(filter(None, (task, model))), 200),
                decoding=_decoding(spec, plan),
            ),
            created=as_text(spec.get("created")),
            runner=runner,
            versions={as_text(each.get("name")): _judge_version(runner, each, spec) for each in scorers},
            facts={
                "task": task,
                "model": model,
                "eval": {
                    name: spec.get(name)
                    for name in ("task_args", "task_version", "solver", "dataset", "tags", "metadata", "revision")
                },
            },
        )


class Samples:
    """The samples of one log, one after the other."""

    def __init__(self, log: Log, mapping: ImportMapping) -> None:
        self._log = log
        self._names = Names(mapping)
        self._numbers = count(1)

    def row(self, sample: Mapping[str, Any], *, place: str, raw: bytes) -> Row:
        """The sample as a row; its attachments have their contents in place already."""
        log, number = self._log, next(self._numbers)
        epoch = as_attempt(sample.get("epoch"), counted_from=1)
        request = asked(sample.get("input"))
        output = as_object(sample.get("output"))
        facts = {
            **log.facts,
            **{name: value for name, value in sample.items() if name not in ("input", "messages", "output")},
            "stop_reason": _stop_reason(output),
            "answered_by": output.get("model"),
        }
        line = {
            "external_id": self._names.row(log.system.key, joined(sample.get("id"), epoch), number),
            "attempt": epoch,
            "messages": _transcript(sample, output),
            "stop_reason": as_word(_stop_reason(output), 60),
            "observed_at": as_time(sample.get("started_at")) or as_time(log.created),
            "error": error_of(sample.get("error")),
            "metadata": small(
                {
                    **as_object(sample.get("metadata")),
                    **{name: sample.get(name) for name in ("uuid", "limit", "invalidation", "total_time")},
                    "answered_by": output.get("model"),
                }
            ),
        }
        return Row(
            place=place,
            system=log.system.key,
            line=line,
            case={
                "key": self._names.case(sample.get("id"), request),
                "request": request,
                "right_answer": _target(sample.get("target")),
            },
            facts=facts,
            scores=tuple(_scores(sample, log)),
            raw=raw,
        )


def error_of(given: Any) -> Any:
    """What is said in words; the trace is in the raw bytes."""
    return given.get("message") or given if isinstance(given, dict) else given


# --- the system and its judges -----------------------------------------------------------------------------------


def _decoding(spec: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """What decides how the system answers: the settings of the model, those of the task over them, and its steps."""
    settings = {**as_object(spec.get("model_generate_config")), **as_object(plan.get("config"))}
    decoding = {name: value for name, value in settings.items() if name not in _TRANSPORT}
    arguments = as_object(spec.get("model_args"))
    decoding["model_args"] = {name: value for name, value in arguments.items() if value is not None}
    decoding["steps"] = [
        {"solver": each.get("solver"), "params": each.get("params") or {}}
        for each in as_list(plan.get("steps"))
        if isinstance(each, dict)
    ]
    return {name: value for name, value in decoding.items() if value not in (None, {}, [])}


def _judge_version(runner: str, scorer: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """The runner's version and, of a grader that is a model, which one; other options are another version."""
    options = as_object(scorer.get("options"))
    grader = options.get("model")
    if grader is None and as_text(scorer.get("name")).startswith("model_graded"):
        bound = as_object(spec.get("model_roles")).get("grader")
        first = bound[0] if isinstance(bound, list) and bound else bound
        # With no grader bound, Inspect lets the model under test grade itself.
        grader = as_object(first).get("model") or spec.get("model")
    chosen = f"options {digest(options)[:8]}" if options else ""
    return ", ".join(filter(None, (runner, as_word(grader, 30), chosen)))


# --- the answer -------------------------------------------------------------------------------------------------------


def _transcript(sample: Mapping[str, Any], output: Mapping[str, Any]) -> Any:
    """The conversation; of a sample that has none, the request and the answer."""
    if sample.get("messages"):
        return messages(sample["messages"])
    request = asked(sample.get("input"))
    if isinstance(request, str):
        request = [{"role": "user", "content": request}]
    answers = (as_object(choice).get("message") for choice in as_list(output.get("choices"))[:1])
    return [*request, *messages([answer for answer in answers if isinstance(answer, dict)])]


def _stop_reason(output: Mapping[str, Any]) -> str:
    choices = as_list(output.get("choices"))
    return as_text(as_object(choices[0]).get("stop_reason")) if choices else ""


# --- scores ------------------------------------------------------------------------------------------------------


def truth_of(value: Any) -> bool | None:
    """As Inspect reads a score, except for what is neither right nor wrong."""
    if isinstance(value, str) and value in _LETTERS:
        return _LETTERS[value]
    return values.truth_of(value)


def _scores(sample: Mapping[str, Any], log: Log) -> Iterable[Score]:
    given = sample.get("scores")
    # The first logs had one score, without its scorer's name.
    if given is None and sample.get("score") is not None:
        given = {next(iter(log.versions), "score"): sample["score"]}
    for name, each in as_object(given).items():
        score = each if isinstance(each, dict) else {"value": each}
        version = log.versions.get(name, log.runner)
        if any(as_object(edit).get("provenance") for edit in as_list(score.get("history"))):
            # What somebody changed afterwards is not the scorer's word.
            version = f"{version}, edited"
        for part, value in _values(score.get("value")):
            made = _score(f"{name}.{part}" if part else name, value, score, version=version)
            # Somebody said that this sample does not count; Inspect runs it again.
            yield replace(made, undetermined=_INVALIDATED) if sample.get("invalidation") else made


def _values(value: Any) -> Iterable[tuple[str, Any]]:
    """Each value of a scorer that gives several, with its name."""
    if isinstance(value, dict):
        return value.items()
    return ((str(index), each) for index, each in enumerate(value)) if isinstance(value, list) else (("", value),)


def _score(name: str, value: Any, score: Mapping[str, Any], *, version: str) -> Score:
    unscored = value is None or (isinstance(value, float) and math.isnan(value))
    name = as_word(name, 100) or "score"
    return Score(
        name=name,
        judge=name,
        version=version,
        value=value,
        truth=truth_of(value),
        undetermined=_why_unscored(score) if unscored else "",
        rationale=score.get("explanation") or "",
    )


def _why_unscored(score: Mapping[str, Any]) -> str:
    reason = score.get("reason") or as_object(score.get("metadata")).get("unscored_reason")
    return _REASONS.get(as_text(reason), Undetermined.OTHER)


def _target(given: Any) -> str:
    """The right answer; of several, each is right."""
    return as_storable("\n".join(map(as_text, given)) if isinstance(given, list) else given)
