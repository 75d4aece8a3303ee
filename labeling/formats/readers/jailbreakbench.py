"""JailbreakBench artifacts: one file holds what one attack did to one model over the 100 behaviours.

Tried on the artifacts of 2024 (commit 909e68c0). `parameters` names method, model, attack_type and defense; each of
`jailbreaks` has index, goal, behavior, category, the prompt the attack arrived at, the response to it, and what two
judges said: `jailbroken` (Llama-3-70B) and, in most files, `jailbroken_llama_guard1` (Llama Guard 1). Both say yes
where the attack worked. A prompt and response of null mean that the attack never got as far as asking the model.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.files import documents, elements
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.mapping import as_text
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.naming import Names, joined, storable
from labeling.formats.rows.values import as_word, small, truth_of
from labeling.vocabulary import AttackKind, Layer, Meaning, Side

_JUDGES = {"jailbroken": "Llama-3-70B", "jailbroken_llama_guard1": "Llama-Guard-1"}
# One text around every request; the other methods search for each request anew.
_TEMPLATED = {"jailbreakchat", "jb-chat", "jbc"}
_NOT_ASKED = "The attack found no prompt to send, so the model was never asked."


def recognises(sniff: Sniff) -> bool:
    return {"parameters", "jailbreaks"} <= set(sniff.outline.keys)


def read(source: Source) -> Iterator[Item]:
    with source.text() as stream:
        parameters = elements.members(stream, "parameters")
    system = _system(parameters)
    yield system
    names = Names(source.mapping)
    attempts = documents.values(source, "jailbreaks")
    for found in documents.objects(attempts, "It is no object with a behavior and a response."):
        if isinstance(found, Unread):
            yield found
        else:
            yield _row(found, found.value, system=system, parameters=parameters, names=names)


def _system(parameters: Mapping[str, Any]) -> System:
    wanted = ("model", "method", "attack_type", "defense")
    model, method, way, defense = (as_text(parameters.get(key)) for key in wanted)
    name = joined(method, way, model, defense)
    return System(
        key=storable(name) or "artifact",
        model=as_word(model, 200),
        # Behind a defense it is another system.
        version=as_word(f"behind {defense}", 200) if defense else "",
        name=as_word(name, 200),
        layer=Layer.SYSTEM if defense else "",
        attack={"kind": AttackKind.TEMPLATED if method.casefold() in _TEMPLATED else AttackKind.ADAPTIVE},
    )


def _row(
    found: documents.Found, given: dict[str, Any], *, system: System, parameters: Mapping[str, Any], names: Names
) -> Row:
    asked = given.get("prompt") if given.get("prompt") is not None else given.get("goal")
    answered = given.get("response") is not None
    messages = [{"role": "user", "content": asked}]
    if answered:
        messages.append({"role": "assistant", "content": given["response"]})
    rest = {key: value for key, value in given.items() if key not in ("goal", "prompt", "response")}
    line: dict[str, Any] = {
        "external_id": names.row(system.key, given.get("index"), found.number),
        "messages": messages,
        "metadata": small(rest),
    }
    return Row(
        place=found.place,
        system=system.key,
        line=line if answered else line | {"error": _NOT_ASKED},
        case=_case(given, as_text(parameters.get("method")), names),
        facts={**given, "parameters": parameters},
        scores=tuple(_scores(given)) if answered else (),
        raw=found.raw,
    )


def _case(given: Mapping[str, Any], method: str, names: Names) -> dict[str, Any]:
    """A behavior under one method: the prompts differ from model to model, so what is asked for is the case."""
    request = [{"role": "user", "content": given.get("goal")}]
    behavior = as_text(given.get("behavior"))
    return {
        "key": names.case(joined(behavior or as_text(given.get("index")), method), request),
        "side": Side.HARMFUL,
        "category": as_word(given.get("category"), 100),
        "framing": as_word(method.casefold(), 60) or None,
        "base_request": storable(behavior),
        "pair": storable(as_text(given.get("index"))),
        "request": request,
    }


def _scores(given: Mapping[str, Any]) -> Iterator[Score]:
    for name, judge in _JUDGES.items():
        if name in given:
            value = given[name]
            yield Score(name, judge, "", value, truth=truth_of(value), meaning=Meaning.HARMFUL)


FORMAT = Format(
    "jailbreakbench", "JailbreakBench artifact", "artifacts repository at 909e68c0 (2024)", recognises, read
)
