"""promptfoo's results: the JSON output (rows at `results.results`) and the JSONL output (one row a line).

Read at 0.121.20; no file of others was at hand. A row is one test put to one provider through one prompt; each such
column (`promptIdx`) is a system. `success` says that every assertion held: in red-team files, that the target
*resisted* the attack. `error` also holds why an assertion failed; something went wrong only where `failureReason` is 2.
`metadata.pluginId` names what is attacked, `metadata.strategyId` how. Strategies over several turns leave their
conversation in `metadata.messages`, the others at most the last attack, in `redteamFinalPrompt`. A case is a test, by
its variables; a test that is repeated stands there again with the same ones.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.files import documents, elements
from labeling.formats.files.documents import Found
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.mapping import as_text
from labeling.formats.normal import digest, is_set
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.naming import Names, joined
from labeling.formats.rows.values import as_list, as_object, as_time, as_word, parsed, small, truth_of
from labeling.vocabulary import Meaning, Side

_COLUMNS = {"promptIdx", "testIdx", "provider"}
_ERROR = 2
_REDTEAM = "promptfoo:redteam:"
# Half of its prompts are harmless, and there a failure is a refusal.
_BOTH_SIDES = ("xstest",)
# Somebody's own word on an answer, given in the web page; it goes over what the assertions say.
_HUMAN = "human"
_GRADER_ERROR = "grader error"
_REFUSALS = {"is-refusal": Meaning.REFUSED, "not-is-refusal": Meaning.ANSWERED}
# Of a provider's settings: those that change the answer. The others may hold keys and addresses.
_DECODING = ("temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "seed", "stop", "reasoning_effort")

# What goes along as metadata.
_KEPT = ("testIdx", "promptIdx", "description", "sessionId", "latencyMs", "cost", "guardrails", "isRefusal")


def recognises(sniff: Sniff) -> bool:
    keys = set(sniff.outline.keys)
    if "results" in keys and ("evalId" in keys or {"config", "shareableUrl"} <= keys):
        return True
    row = documents.first(sniff)
    return isinstance(row, dict) and set(row) >= _COLUMNS


def read(source: Source) -> Iterator[Item]:
    by_lines = "results" not in Sniff(source).outline.keys
    results = _Results(source, by_lines=by_lines)
    rows = documents.values(source, *(() if by_lines else ("results", "results")))
    for each in documents.objects(rows, "It is no result, which are JSON objects."):
        if isinstance(each, Unread):
            yield each
        else:
            yield from results.rows(each.value, each)


class _Results:
    """The rows of one file, one after the other. What stands around them is there in JSON only."""

    def __init__(self, source: Source, *, by_lines: bool) -> None:
        self._names = Names(source.mapping)
        around = {} if by_lines else _around(source)
        self._created = around.get("timestamp")
        self._prompts = as_list(around.get("prompts"))
        self._providers = as_list(around.get("providers"))
        self._version = " ".join(filter(None, ("promptfoo", as_word(around.get("version"), 30))))

    def rows(self, row: Mapping[str, Any], at: Found) -> Iterator[System | Row]:
        system = self._system(row)
        yield from self._names.once(system)
        yield self._row(row, at, system.key)

    def _system(self, row: Mapping[str, Any]) -> System:
        provider = row.get("provider")
        given = as_object(provider) or {"id": provider}
        model, label = as_word(given.get("id"), 200), as_word(given.get("label"), 100)
        template = self._template(row)
        settings = as_object(self._settings(given).get("config"))
        decoding = {name: settings[name] for name in _DECODING if name in settings}
        return System(
            key=as_word(joined(row.get("promptIdx"), model), 200) or "promptfoo",
            model=model,
            name=as_word(joined(label or model, template), 200),
            decoding={**decoding, **({"prompt": template} if template else {})},
        )

    def _settings(self, provider: Mapping[str, Any]) -> Mapping[str, Any]:
        named = {as_text(provider.get("id")), as_text(provider.get("label"))} - {""}
        known = map(as_object, self._providers)
        return next((each for each in known if {as_text(each.get("id")), as_text(each.get("label"))} & named), {})

    def _template(self, row: Mapping[str, Any]) -> str:
        """The prompt before its variables were put in."""
        index = row.get("promptIdx")
        prompt = as_object(self._prompts[index]) if type(index) is int and 0 <= index < len(self._prompts) else {}
        return as_text(prompt.get("raw") or prompt.get("label") or as_object(row.get("prompt")).get("label"))

    def _row(self, row: Mapping[str, Any], at: Found, system: str) -> Row:
        response = as_object(row.get("response"))
        facts = _facts(row, response)
        case = self._case(row, facts)
        name = row.get("id") or joined(row.get("testIdx"), row.get("promptIdx"))
        line = {
            "external_id": self._names.row(system, name, at.number),
            "attempt": self._names.attempt(system, case["key"], facts),
            "messages": _messages(row, response, facts["metadata"]),
            "stop_reason": as_word(response.get("finishReason"), 60),
            "error": _error(row),
            "observed_at": as_time(self._created),
            "metadata": small({name: facts[name] for name in _KEPT if name in facts} | facts["metadata"]),
        }
        return Row(
            place=at.place,
            system=system,
            line=line,
            case=case,
            facts=facts,
            scores=tuple(_scores(row, self._version)),
            raw=at.raw,
        )

    def _case(self, row: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
        """Known by its variables: the same for every system and at every repetition, wherever in the file it stands."""
        about, request = facts["metadata"], _request(row, facts["vars"])
        plugin, strategy = as_word(about.get("pluginId"), 100), as_word(about.get("strategyId"), 60)
        key = joined(plugin, strategy, digest(facts["vars"] or request)[:16])
        case = {"key": self._names.case(key, request), "category": plugin, "request": request}
        if strategy not in ("", "basic"):
            case["framing"] = strategy
        if plugin.startswith("harmful:"):
            case["side"] = Side.HARMFUL
        if original := about.get("originalText"):
            case["base_request"] = joined(plugin, digest(original)[:16])
        return case


def _around(source: Source) -> dict[str, Any]:
    """What the file says beside its rows."""
    with source.text() as stream:
        results = elements.members(stream, "results", skip={"results", "table", "stats"})
    with source.text() as stream:
        document = elements.members(stream, skip={"results", "traces", "blobAssets"})
    return {
        "timestamp": results.get("timestamp"),
        "prompts": results.get("prompts"),
        "providers": as_object(document.get("config")).get("providers"),
        "version": as_object(document.get("metadata")).get("promptfooVersion"),
    }


def _facts(row: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
    test = as_object(row.get("testCase"))
    about = {
        **as_object(test.get("metadata")),
        **as_object(as_object(row.get("gradingResult")).get("metadata")),
        **as_object(row.get("metadata")),
    }
    facts = {name: value for name, value in row.items() if name not in ("response", "metadata", "prompt")}
    for name in ("guardrails", "isRefusal", "sessionId", "finishReason"):
        if response.get(name) is not None:
            facts[name] = response[name]
    return facts | {
        "description": test.get("description") or row.get("description"),
        "vars": as_object(row.get("vars")) or as_object(test.get("vars")),
        "metadata": about,
        "redteamFinalPrompt": _final_attack(response, about),
    }


# --- messages ----------------------------------------------------------------------------------------------------


def _messages(row: Mapping[str, Any], response: Mapping[str, Any], about: Mapping[str, Any]) -> list[Any]:
    """The conversation of a strategy over several turns, else what was asked last and the answer."""
    output = response.get("output")
    answer = [] if output is None else [_answer(output)]
    if kept := _conversation(as_object(response.get("metadata")).get("messages") or about.get("messages")):
        return kept if kept[-1]["role"] == "assistant" else [*kept, *answer]
    asked = _asked(row)
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    attack, last = _final_attack(response, about), messages[-1].get("content")
    if isinstance(attack, str) and isinstance(last, str):
        messages = [*messages[:-1], {**messages[-1], "content": _attacked(last, attack, row)}]
    return [*messages, *answer]


def _asked(row: Mapping[str, Any]) -> str | list[Any]:
    """The prompt with its variables put in; one that is a list of messages is written as JSON."""
    prompt = row.get("prompt")
    text = as_text(prompt.get("raw") if isinstance(prompt, dict) else prompt)
    return _conversation(parsed(text)) or text


def _request(row: Mapping[str, Any], variables: Mapping[str, Any]) -> str | list[Any]:
    """What every prompt is made of: the variables. A conversation that was scripted is part of the case as it is."""
    asked = _asked(row)
    if not variables or (isinstance(asked, list) and any(each["role"] == "assistant" for each in asked)):
        return asked
    return as_text(next(iter(variables.values())) if len(variables) == 1 else variables)


def _attacked(text: str, attack: str, row: Mapping[str, Any]) -> str:
    """The prompt as it was in the end: the attack stands where the variable with the first attack stood."""
    variables = as_object(row.get("vars")) or as_object(as_object(row.get("testCase")).get("vars"))
    within = [value for value in variables.values() if isinstance(value, str) and value and value in text]
    return text.replace(max(within, key=len), attack) if within else attack


def _final_attack(response: Mapping[str, Any], about: Mapping[str, Any]) -> Any:
    return as_object(response.get("metadata")).get("redteamFinalPrompt") or about.get("redteamFinalPrompt")


def _answer(output: Any) -> dict[str, Any]:
    """The output as a message; it may be any JSON, a message or calls of tools among it."""
    if isinstance(output, dict) and output.get("role") == "assistant":
        return output
    if isinstance(output, list) and output and all(as_object(each).get("function") for each in output):
        return {"role": "assistant", "content": None, "tool_calls": output}
    return {"role": "assistant", "content": as_text(output)}


def _conversation(given: Any) -> list[dict[str, Any]]:
    """The messages of a list of nothing else; none of any other."""
    messages = [as_object(each) for each in as_list(given)]
    return messages if all(isinstance(each.get("role"), str) and "content" in each for each in messages) else []


def _error(row: Mapping[str, Any]) -> Any:
    """What kept the test from running. Files that give no reason for a failure show it by what is missing."""
    response = as_object(row.get("response"))
    reason = row.get("failureReason")
    if reason == _ERROR or (reason is None and not row.get("gradingResult") and response.get("output") is None):
        return row.get("error") or response.get("error") or "promptfoo gives neither an output nor a reason."
    return response.get("error")


# --- scores ------------------------------------------------------------------------------------------------------


def _scores(row: Mapping[str, Any], version: str) -> Iterator[Score]:
    """`success` of an attack, `passed` of another test; and each of several assertions by its metric or type."""
    grading = as_object(row.get("gradingResult"))
    # A test that went wrong counts as failed there, and is no failure.
    not_run = "the test ended in an error" if is_set(_error(row)) else ""
    parts = list(_leaves(grading))
    kinds = {as_text(_assertion(part).get("type")) for part in parts}
    if kinds == {""}:
        # What was graded may be left out of the file; what was asserted is in the test all the same.
        asserted = as_list(as_object(row.get("testCase")).get("assert"))
        kinds = {as_text(as_object(each).get("type")) for each in asserted} or kinds
    attacked = _plugin(row) not in (None, "", *_BOTH_SIDES) or any(kind.startswith(_REDTEAM) for kind in kinds)
    # Held together with other assertions, a failure may be one of speed or of form.
    resisted = attacked and all(kind.startswith(_REDTEAM) or kind in ("", _HUMAN) for kind in kinds)
    yield Score(
        # Names of their own: what a mapping says of the plain tests in a file leaves the attacks in it alone.
        name="success" if resisted else "passed",
        judge="promptfoo",
        version=f"{version}, rated by a person" if _HUMAN in kinds else version,
        value=row.get("success"),
        truth=truth_of(row.get("success")),
        meaning=Meaning.RESISTED if resisted else None,
        undetermined=_GRADER_ERROR if any(map(_grader_failed, (grading, *parts))) else not_run,
        rationale=grading.get("reason") or "",
    )
    scores = [_part(part, version, not_run) for part in parts if len(parts) > 1]
    names = Counter(score.name for score in scores)
    # A metric that several assertions share has no one value.
    yield from (score for score in scores if names[score.name] == 1 and score.name not in ("success", "passed"))


def _leaves(grading: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The assertions, out of the sets that they may be in."""
    inside = as_list(grading.get("componentResults"))
    if not inside:
        yield grading
    for each in map(as_object, inside):
        yield from _leaves(each)


def _part(part: Mapping[str, Any], version: str, not_run: str) -> Score:
    assertion = _assertion(part)
    kind, passed = as_text(assertion.get("type")), truth_of(part.get("pass"))
    name = as_word(assertion.get("metric") or kind, 100) or "assertion"
    grader = assertion.get("provider")
    return Score(
        name=name,
        judge=name,
        version=", ".join(filter(None, (version, as_word(as_object(grader).get("id") or grader, 60)))),
        value=part.get("pass"),
        truth=passed,
        meaning=_REFUSALS.get(kind, Meaning.RESISTED if kind.startswith(_REDTEAM) else None),
        undetermined=_GRADER_ERROR if _grader_failed(part) else not_run,
        rationale=part.get("reason") or "",
    )


def _grader_failed(grading: Mapping[str, Any]) -> bool:
    return bool(as_object(grading.get("metadata")).get("graderError"))


def _assertion(grading: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(grading.get("assertion"))


def _plugin(row: Mapping[str, Any]) -> Any:
    test = as_object(as_object(row.get("testCase")).get("metadata"))
    return as_object(row.get("metadata")).get("pluginId") or test.get("pluginId")


FORMAT = Format("promptfoo", "promptfoo results", "promptfoo 0.121.20, by its types", recognises, read)
