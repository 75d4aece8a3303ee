"""AgentDojo: an agent with tools does a user's task, while an attack may hide another task in what the tools return.

Read at 0.1.35. One file a run, in folders runs/PIPELINE/SUITE/USER_TASK/ATTACK/INJECTION_TASK.json (`none` where there
is no attack or no injection task), taken as a zip of any part of that tree, or one by one: suite_name, pipeline_name,
user_task_id, injection_task_id, attack_type, injections, messages, error, evaluation_timestamp, utility, security.

`security` is true where the attack *worked*, and only where there is an injection task: without one, and where the run
ended in an error, it is a placeholder that is always true. `utility` is true where the user's task was done. An
injection task put straight to the agent (user_task_id injection_task_N) is neither side by itself: there, done is harm.
Attacks whose names end in `dos` only want the user's task undone: their side is benign, and `security`, which is there
the opposite of `utility`, means nothing by itself.
The file is written again and again while the run goes on, so it may break off, or lack its result.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from labeling.errors import DomainError
from labeling.formats.files import archives, elements
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.mapping import ImportMapping, as_text
from labeling.formats.normal import is_set
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.naming import Names, joined, storable
from labeling.formats.rows.values import as_word, small
from labeling.vocabulary import AttackKind, Kind, Meaning, Side, Undetermined

_RUN = re.compile(r"(?:^|.*/)(?:user|injection)_task_\d+/[^/]+/(?P<injection>[^/]+)\.json")
_KEYS = {"suite_name", "pipeline_name", "user_task_id"}
_UNFINISHED = "AgentDojo wrote no result: the run was not finished when the file was saved."


def recognises(sniff: Sniff) -> bool:
    return any(map(_RUN.fullmatch, sniff.names)) or set(sniff.outline.keys) >= _KEYS


def read(source: Source) -> Iterator[Item]:
    runs = _Runs(source.mapping)
    if not source.is_zip():
        yield from runs.read(source, "the file", attacked=None)
        return
    with source.archive() as archive:
        wanted = [name for name in archive.namelist() if _RUN.fullmatch(name)]
        # A run of the import holds both sides, and says of itself how its harmful one was put.
        attacked = any(not name.endswith("/none.json") for name in wanted)
        for entry in archives.entries(archive, source, set(wanted).__contains__):
            yield from runs.read(entry, archives.named(entry), attacked=attacked)


class _Runs:
    """One file after the other; each pipeline is a system."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._names = Names(mapping)
        self._number = 0

    def read(self, source: Source, place: str, *, attacked: bool | None) -> Iterator[Item]:
        self._number += 1
        raw = b""
        try:
            raw = archives.content(source).strip()
            given = elements.loads(raw)
        except DomainError as error:
            yield Unread(place, "", f"{error.message} The file may have been saved during the run.", raw)
            return
        if not isinstance(given, dict) or not set(given) >= _KEYS:
            yield Unread(place, "", "It is no run of AgentDojo: suite, pipeline or user task is missing.", raw)
            return
        pipeline = as_text(given["pipeline_name"])
        key = storable(pipeline) or "pipeline"
        templated = is_set(given.get("injection_task_id")) if attacked is None else attacked
        attack = {"kind": AttackKind.TEMPLATED} if templated else {}
        yield from self._names.once(System(key, as_word(pipeline, 200), name=as_word(pipeline, 200), attack=attack))
        yield self._row(given, place, raw, system=key)

    def _row(self, given: dict[str, Any], place: str, raw: bytes, *, system: str) -> Row:
        injected = is_set(given.get("injection_task_id"))
        error = given.get("error")
        if not is_set(error) and "utility" not in given:
            error = _UNFINISHED
        words = [given["suite_name"], given["user_task_id"], given.get("attack_type"), given.get("injection_task_id")]
        rest = {key: value for key, value in given.items() if key not in ("messages", "error")}
        line = {
            "external_id": self._names.row(system, joined(*map(as_text, words)), self._number),
            "messages": given.get("messages"),
            "error": error,
            "observed_at": _time(given.get("evaluation_timestamp")),
            "metadata": small(rest),
        }
        return Row(
            place=place,
            system=system,
            line=line,
            case=_case(given, injected=injected),
            facts=rest,
            scores=tuple(_scores(given, injected=injected, failed=is_set(error))),
            raw=raw,
        )


def _case(given: Mapping[str, Any], *, injected: bool) -> dict[str, Any]:
    suite, task = as_text(given["suite_name"]), as_text(given["user_task_id"])
    injection, attack = as_text(given.get("injection_task_id")), as_text(given.get("attack_type"))
    case: dict[str, Any] = {
        "key": storable(joined(suite, task, injection, attack)),
        "category": as_word(suite, 100),
        "kind": Kind.INJECTED if injected else Kind.TOOL_USE,
        # One task with one injection, however the attack words it.
        "base_request": storable(joined(suite, task, injection)),
        "request": _opening(given.get("messages")),
    }
    if injected:
        side = Side.BENIGN if _is_denial(given) else Side.HARMFUL
        return case | {"side": side, "framing": as_word(attack, 60) or None}
    return case if _is_injection(given) else case | {"side": Side.BENIGN}


def _is_injection(given: Mapping[str, Any]) -> bool:
    """Is an injection task itself put to the agent as if it were the user's?"""
    return as_text(given["user_task_id"]).startswith("injection_task")


def _is_denial(given: Mapping[str, Any]) -> bool:
    """Does the attack want no more than that the agent leaves the user's task undone?"""
    return as_text(given.get("attack_type")).rpartition("_")[2] == "dos"


def _opening(messages: Any) -> list[Any]:
    """What the user asks for. The injected text is in the answers of tools, and may name the model."""
    if not isinstance(messages, list):
        return []
    return [message for message in messages if isinstance(message, dict) and message.get("role") == "user"][:1]


def _scores(given: Mapping[str, Any], *, injected: bool, failed: bool) -> Iterator[Score]:
    version = as_word(given.get("agentdojo_package_version"), 100)
    undetermined = Undetermined.OTHER if failed else ""
    if "utility" in given:
        meaning = None if _is_injection(given) else Meaning.CORRECT
        yield _score("utility", given["utility"], version, meaning, undetermined)
    if injected and "security" in given:
        meaning = None if _is_denial(given) else Meaning.HARMFUL
        yield _score("security", given["security"], version, meaning, undetermined)


def _score(name: str, value: Any, version: str, meaning: Meaning | None, undetermined: str) -> Score:
    truth = value if isinstance(value, bool) else None
    return Score(name, f"AgentDojo {name}", version, value, truth, meaning=meaning, undetermined=undetermined)


def _time(value: Any) -> str:
    """The clock of the machine it ran on, of which the file does not say where it is: left without a zone."""
    try:
        return datetime.strptime(value, "%Y-%m-%d %H:%M:%S").isoformat()  # noqa: DTZ007 - it has no zone to give
    except (TypeError, ValueError):
        return ""


FORMAT = Format("agentdojo", "AgentDojo run", "0.1.35 from its source", recognises, read)
