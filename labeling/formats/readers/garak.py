"""garak's reports (`*.report.jsonl`): one entry a line, told apart by `entry_type`.

Tried on reports of garak 0.13.3 and 0.14.0. `start_run setup` names the target, `init` the version and the time. An
`attempt` is one prompt with every answer to it: written with status 1 when the answers are there and again with status
2 when the detectors have looked; the last one counts. Each of its `outputs` is an attempt of ours, with its whole
conversation where that is kept; in old reports prompts and outputs are plain text. `detector_results` has a number for
each output: from the threshold on (0.5, unless the setup says otherwise) the attack worked. The detectors that look for
a refusal count a missing one as such a hit, so for them a hit says no more than that nothing was refused; those that
hit on any answer at all (any.*), on a shield's word (shields.*) or always (always.*) say nothing until a mapping does.
The hit log (`*.hitlog.jsonl`) holds the hits alone, and every rate from it would be 1, so that it is refused.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

from labeling.formats.files import documents
from labeling.formats.files.documents import Found
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.mapping import ImportMapping, as_number
from labeling.formats.normal import digest
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.naming import Names, joined
from labeling.formats.rows.values import as_list, as_object, as_storable, as_time, as_word, small
from labeling.vocabulary import Meaning

_DEFAULT_THRESHOLD = 0.5
_OF_A_HIT = {"goal", "prompt", "output", "attempt_id", "detector", "probe"}
_HITS_ALONE = "This is a hit log, which leaves out every answer that was no hit; import the report beside it."
_EVALUATED = 2
# A hit is an answer in which no refusal was found.
_NOT_REFUSED = {
    "mitigation.MitigationBypass",
    "mitigation.ModernBERTRefusal",
    "judge.Refusal",
    "judge.RefusalOnlyAdversarial",
}
# What a hit means here has changed from one version to the next, so nothing is taken for granted.
_UNSETTLED = {"mitigation.Prefixes"}
# These hit on any answer at all, a refusal too; on what a shield said of the prompt; or whatever was answered.
_OF_OTHER_THINGS = ("any.", "shields.", "always.")


def recognises(sniff: Sniff) -> bool:
    first = as_object(documents.first(sniff))
    kind = first.get("entry_type")
    if first.keys() >= _OF_A_HIT:
        return True
    # The setup is the longest line of all and may be longer than what was looked at.
    return kind in ("start_run setup", "init", "attempt") or sniff.head.startswith(b'{"entry_type": "start_run setup"')


def read(source: Source) -> Iterator[Item]:
    last = _last_lines(source)
    report = _Report(source.mapping)
    for each in documents.objects(documents.values(source), "It is no entry of a report, which are JSON objects."):
        if isinstance(each, Unread):
            yield each
        elif each.value.keys() >= _OF_A_HIT:
            yield Unread(each.place, "", _HITS_ALONE, each.raw)
            return
        elif each.value.get("entry_type") != "attempt":
            report.note(each.value)
        elif last.get(_identity(each.value), each.number) == each.number:
            yield from report.rows(each.value, each)


def _last_lines(source: Source) -> dict[bytes, int]:
    """The line on which each attempt stands for the last time, evaluated if it ever was."""
    last: dict[bytes, int] = {}
    evaluated: set[bytes] = set()
    for each in documents.values(source):
        if isinstance(each, Found) and isinstance(each.value, dict) and each.value.get("entry_type") == "attempt":
            identity = _identity(each.value)
            if each.value.get("status") == _EVALUATED:
                evaluated.add(identity)
            elif identity in evaluated:
                continue
            last[identity] = each.number
    return last


def _identity(attempt: Mapping[str, Any]) -> bytes:
    """Aggregated reports give every attempt the run's uuid, so that it takes the probe and the number as well."""
    named = [attempt.get(name) for name in ("uuid", "probe_classname", "seq")]
    return blake2b(json.dumps(named).encode("ascii"), digest_size=16).digest()


class _Report:
    """What was read so far of the run, and the rows of the attempts that come then."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._names = Names(mapping)
        self._setup: Mapping[str, Any] = {}
        self._init: Mapping[str, Any] = {}

    def note(self, entry: Mapping[str, Any]) -> None:
        if entry.get("entry_type") == "start_run setup":
            self._setup = entry
        elif entry.get("entry_type") == "init":
            self._init = entry

    def rows(self, attempt: Mapping[str, Any], at: Found) -> Iterator[System | Row]:
        system = self._system()
        yield from self._names.once(system)
        for index, messages in enumerate(_conversations(attempt)):
            yield self._row(attempt, at, system=system.key, index=index, messages=messages)

    def _system(self) -> System:
        """Until garak 0.13 the target was called the model."""
        setup = self._setup
        kind = setup.get("plugins.target_type") or setup.get("plugins.model_type")
        name = setup.get("plugins.target_name") or setup.get("plugins.model_name")
        seed, prompt = setup.get("run.seed"), setup.get("run.system_prompt")
        return System(
            key=as_word(joined(kind, name), 200) or "garak",
            model=as_word(name or kind, 200),
            name=as_word(joined(kind, name), 200),
            system_prompt=as_storable(prompt),
            decoding={} if seed is None else {"seed": seed},
        )

    def _row(self, attempt: Mapping[str, Any], at: Found, *, system: str, index: int, messages: list[Any]) -> Row:
        probe, request = attempt.get("probe_classname"), _turns(attempt.get("prompt"))
        facts = {
            **{name: value for name, value in attempt.items() if name not in ("outputs", "conversations")},
            "probe": probe,
            "output": index,
        }
        case = self._names.case(joined(as_word(probe, 100), digest(request)[:16]), request)
        name = joined(attempt.get("uuid"), probe, attempt.get("seq"), index)
        line: dict[str, Any] = {
            "external_id": self._names.row(system, name, at.number),
            "attempt": self._names.attempt(system, case, facts),
            "messages": messages,
            "observed_at": as_time(self._init.get("start_time") or self._setup.get("transient.starttime_iso")),
            "metadata": small({key: facts.get(key) for key in ("probe", "goal", "seq", "intent", "notes")}),
        }
        if not attempt.get("outputs"):
            line["error"] = "The report has no output for this attempt."
        return Row(
            place=f"{at.place}, output {index + 1}",
            system=system,
            line=line,
            case={"key": case, "category": as_word(probe, 100), "request": request},
            facts=facts,
            scores=tuple(self._scores(attempt, index)),
            raw=at.raw,
        )

    def _scores(self, attempt: Mapping[str, Any], index: int) -> Iterator[Score]:
        count = len(as_list(attempt.get("outputs")))
        for detector, given in as_object(attempt.get("detector_results")).items() if count else ():
            results = as_list(given)
            # Some detectors look at every turn of a conversation, and then nothing says which result is for which.
            unclear = f"{len(results)} results for {count} outputs" if len(results) != count else ""
            yield self._score(detector, None if unclear else results[index], undetermined=unclear)

    def _score(self, detector: str, value: Any, *, undetermined: str) -> Score:
        given = as_number(self._setup.get("run.eval_threshold"))
        threshold = _DEFAULT_THRESHOLD if given is None else given
        number = as_number(value)
        hit = None if number is None else number >= threshold
        words = ("garak", self._init.get("garak_version") or self._setup.get("_config.version"))
        chosen = "" if threshold == _DEFAULT_THRESHOLD else f">={threshold}"
        name = as_word(detector, 100) or "detector"
        return Score(
            name=name,
            judge=name,
            version=as_word(" ".join(str(word) for word in (*words, chosen) if word), 100),
            value=value,
            truth=hit,
            meaning=_meaning(detector),
            undetermined=undetermined,
        )


def _meaning(detector: str) -> Meaning | None:
    """What a hit of it means."""
    if detector in _UNSETTLED or detector.startswith(_OF_OTHER_THINGS):
        return None
    return Meaning.ANSWERED if detector in _NOT_REFUSED else Meaning.HARMFUL


def _conversations(attempt: Mapping[str, Any]) -> Iterator[list[Any]]:
    """One list of messages for each output: the whole conversation where it is kept, else the prompt and the answer."""
    outputs, prompt = as_list(attempt.get("outputs")), _turns(attempt.get("prompt"))
    kept = as_list(attempt.get("conversations"))
    if not outputs:
        yield prompt
    for output, conversation in zip_longest(outputs, kept if len(kept) == len(outputs) else ()):
        turns = _turns(conversation)
        answered = bool(turns) and turns[-1]["role"] == "assistant"
        yield turns if answered else [*prompt, *_said("assistant", output)]


def _turns(given: Any) -> list[dict[str, Any]]:
    """A prompt or a conversation as messages."""
    if not isinstance(given, dict) or "turns" not in given:
        return _said("user", given)
    turns = map(as_object, as_list(given["turns"]))
    return [message for turn in turns for message in _said(turn.get("role"), turn.get("content"))]


def _said(role: Any, given: Any) -> list[dict[str, Any]]:
    """A message, of text or with something attached that the report only names; no message where nothing came."""
    text, path = (given.get("text"), given.get("data_path")) if isinstance(given, dict) else (given, None)
    if path is None:
        return [] if text is None else [{"role": role, "content": text}]
    words = [] if text is None else [{"type": "text", "text": text}]
    return [{"role": role, "content": [*words, {"type": "file", "path": path, "media": given.get("data_type")}]}]


FORMAT = Format("garak", "garak report", "garak 0.13.3, 0.14.0", recognises, read)
