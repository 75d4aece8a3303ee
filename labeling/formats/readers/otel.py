"""OpenTelemetry GenAI and OpenInference traces: conversations with a model, from the spans of its calls.

Written after the conventions of 2026-05 (7b0c0fe1e) and OpenInference 1fe497f1, both still changing; see `spans` for
the files and `span_messages` for the ways content is recorded. Every call repeats all that was said before it, so the
last call of a conversation is read, and not all of them one after the other. A conversation is gen_ai.conversation.id
or session.id, else the trace, for each agent by itself; calls made by an evaluator or a guardrail are none. Content is
recorded only where that was switched on: what has none is said to have none. Calls of a conversation that begin with
other words than its last one are counted, and not read.

Evaluations (the event gen_ai.evaluation.result, or OpenInference's annotation.*) are scores of the conversation; what
they mean is the mapping's to say, as is the side. One that differs from turn to turn is undetermined.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.mapping import as_text
from labeling.formats.normal import canonical, digest
from labeling.formats.readers.otel_messages import Choice, Said, indexed, said
from labeling.formats.readers.otel_spans import Span, spans
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.conversations import beyond_preamble, opening
from labeling.formats.rows.naming import Names, joined, storable
from labeling.formats.rows.values import as_list, as_object, as_word, parsed, small, truth_of
from labeling.vocabulary import Kind

_CALLS = {"chat", "text_completion", "generate_content"}
_AROUND = {"invoke_agent", "invoke_workflow"}
_JUDGES = {"EVALUATOR", "GUARDRAIL"}
_EVALUATION = "gen_ai.evaluation.result"
_NO_CONTENT = (
    "The spans of this conversation hold no messages: content is recorded only where the instrumentation is told to "
    "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, or no OPENINFERENCE_HIDE_INPUTS and _OUTPUTS)."
)
_APART = (
    "{count:,} other calls of this conversation begin with other words and are not read. Calls that have nothing to do "
    "with each other need an id each (gen_ai.conversation.id or session.id) or another agent's name."
)
_DECODING = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "frequency_penalty",
    "presence_penalty",
    "stop_sequences",
    "seed",
)
# Long, and read in another way.
_CONTENT = (
    "gen_ai.input.",
    "gen_ai.output.",
    "gen_ai.system_",
    "gen_ai.prompt.",
    "gen_ai.completion.",
    "gen_ai.tool.definitions",
    "llm.input_",
    "llm.output_",
    "llm.tools",
    "input.value",
    "output.value",
)

# The conversation, and the agent in it.
_Key = tuple[str, str]


def recognises(sniff: Sniff) -> bool:
    keys = set(sniff.outline.keys)
    if "resourceSpans" in keys:
        return True
    named = bool(keys & {"traceId", "trace_id", "context"}) and "attributes" in keys
    return named and any(word in sniff.head for word in (b"gen_ai", b"openinference", b"llm.", b'"llm"'))


def read(source: Source) -> Iterator[Item]:
    survey = _Survey()
    for span in spans(source):
        if isinstance(span, Span):
            survey.see(span)
    chosen = survey.chosen()
    names = Names(source.mapping)
    for each in spans(source):
        if isinstance(each, Unread):
            yield each
        elif (key := chosen.get(each.number)) is not None:
            content = said(each)
            if content is None:
                yield Unread(each.place, "attributes", _NO_CONTENT, each.raw)
                continue
            system = _system(each)
            yield from names.once(system)
            yield from _rows(each, content, key, survey.scores(key), system=system, names=names)
            if apart := survey.apart(key, content):
                yield Unread(each.place, "", _APART.format(count=apart))


@dataclass(slots=True)
class _Survey:
    """All spans once, of which only places and scores are kept: only at the end is it known which call was the last."""

    # By conversation, then by the span that made the call: rank and number of the last call.
    _last: dict[_Key, dict[str, tuple[tuple[bool, bool, str, int], int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    # By conversation, then by the span that made the calls: how many of them begin with the same words.
    _beginnings: dict[_Key, dict[str, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )
    _judges: set[tuple[str, str]] = field(default_factory=set)
    _scores: dict[str, list[Score]] = field(default_factory=lambda: defaultdict(list))
    # The traces of a conversation; evaluations often know the trace alone.
    _traces: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def see(self, span: Span) -> None:
        kind, conversation = _kind(span), _conversation(span)
        if scores := list(_evaluations(span)):
            self._scores[conversation] += scores
        if kind in _JUDGES:
            self._judges.add((span.trace, span.id))
        is_call = kind in (*_CALLS, "LLM")
        if not is_call and kind not in (*_AROUND, "AGENT", "CHAIN"):
            return
        if is_call:
            self._traces[conversation].add(span.trace)
        calls = self._last[conversation, _agent(span) if is_call else ""]
        content, parent = said(span), joined(span.trace, span.parent)
        rank = (content is not None, is_call, span.end or span.start, span.number)
        if content is not None and is_call:
            self._beginnings[conversation, _agent(span)][parent][_beginning(content)] += 1
        if parent not in calls or calls[parent][0] < rank:
            calls[parent] = (rank, span.number)

    def chosen(self) -> dict[int, _Key]:
        """The last call of each conversation, by its number."""
        judges = {joined(*judge) for judge in self._judges}
        best = {
            key: max(found for parent, found in calls.items() if parent not in judges)
            for key, calls in self._last.items()
            if not set(calls) <= judges
        }
        # What goes on around calls is of use only where no call was recorded.
        called = {conversation for (conversation, _), (rank, _) in best.items() if rank[1]}
        return {number: key for key, (rank, number) in best.items() if rank[1] or key[0] not in called}

    def scores(self, key: _Key) -> list[Score]:
        conversation, _ = key
        known_as = [conversation, *sorted(self._traces[conversation] - {conversation})]
        return _one_of_each([score for each in known_as for score in self._scores.get(each, ())])

    def apart(self, key: _Key, chosen: Said) -> int:
        """How many calls the chosen one does not go on from: they begin with other words than it."""
        judges = {joined(*judge) for judge in self._judges}
        beginnings = Counter[str]()
        for parent, counted in self._beginnings.get(key, {}).items():
            beginnings.update({} if parent in judges else counted)
        del beginnings[_beginning(chosen)]
        return beginnings.total()


def _beginning(content: Said) -> str:
    return digest(opening(beyond_preamble(content.asked)))[:16]


def _one_of_each(scores: list[Score]) -> list[Score]:
    """Each judge once. What differs from one turn to the next is no one value of the conversation."""
    found: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores:
        found.setdefault((score.name, score.judge, score.version), []).append(score)
    return [
        same[0]
        if len({canonical(each.value) for each in same}) == 1
        else replace(same[0], value=None, truth=None, undetermined=f"{len(same)} results for one conversation")
        for same in found.values()
    ]


def _kind(span: Span) -> str:
    given = span.attributes
    kind = as_text(given.get("openinference.span.kind")).upper() or as_text(given.get("gen_ai.operation.name"))
    if not kind and any(name.startswith(("gen_ai.request.", "gen_ai.prompt.", "llm.")) for name in given):
        return "chat"
    return kind


def _conversation(span: Span) -> str:
    given = span.attributes
    named = as_text(given.get("gen_ai.conversation.id")) or as_text(given.get("session.id"))
    return named or span.trace or span.id


def _agent(span: Span) -> str:
    return as_text(span.attributes.get("gen_ai.agent.name")) or as_text(span.attributes.get("agent.name"))


def _system(span: Span) -> System:
    given = span.attributes
    asked = _first(given, "gen_ai.request.model", "llm.request.model_name", "llm.model_name")
    answered = _first(given, "gen_ai.response.model", "llm.response.model_name")
    provider = _first(given, "gen_ai.provider.name", "gen_ai.system", "llm.provider")
    model = asked or answered
    settings = as_object(parsed(given.get("llm.invocation_parameters")))
    decoding = {
        key: value for key in _DECODING if (value := given.get(f"gen_ai.request.{key}", settings.get(key))) is not None
    }
    name = joined(as_text(span.resource.get("service.name")), _agent(span), model)
    return System(
        key=storable(joined(provider, name)) or "traces",
        model=as_word(model, 200),
        version=as_word(answered, 200) if answered != model else "",
        name=as_word(name, 200),
        decoding=decoding,
    )


def _rows(span: Span, content: Said, key: _Key, scores: list[Score], *, system: System, names: Names) -> Iterator[Row]:
    conversation, agent = key
    asked = beyond_preamble(content.asked)
    request = opening(asked)
    metadata = as_object(parsed(span.attributes.get("metadata")))
    facts = {
        "attributes": {name: value for name, value in span.attributes.items() if not name.startswith(_CONTENT)},
        "resource": span.resource,
        "metadata": metadata,
        "conversation": conversation,
    }
    several = len(content.choices) > 1
    for number, choice in enumerate(content.choices or [Choice([])]):
        case = names.case(None, request)
        wanted = joined(conversation, agent, number if several else "")
        line = {
            "external_id": names.row(system.key, wanted, span.number),
            "attempt": names.attempt(system.key, case, facts),
            "messages": [*content.asked, *choice.messages],
            "tools": _tools(span.attributes),
            "stop_reason": as_word(choice.stop_reason or _stop_reason(span.attributes, number), 60),
            "error": span.error or None,
            "observed_at": span.start,
            "metadata": small(
                {"trace": span.trace, "span": span.id, "conversation": conversation, "agent": agent, **metadata}
            ),
        }
        yield Row(
            span.place,
            system.key,
            line,
            {"key": case, "request": request, "kind": _shape(asked)},
            facts,
            # An evaluation does not say which of several answers it is of.
            () if several else tuple(scores),
            raw=span.raw,
        )


def _shape(asked: list[dict[str, Any]]) -> Kind:
    if any(message.get("role") == "tool" or "tool_calls" in message for message in asked):
        return Kind.TOOL_USE
    turns = sum(message.get("role") == "user" for message in asked)
    return Kind.MULTI_TURN if turns > 1 else Kind.SINGLE_TURN


def _tools(given: Mapping[str, Any]) -> list[Any]:
    listed = as_list(parsed(given.get("gen_ai.tool.definitions")))
    return listed or [parsed(each.get("tool.json_schema")) for each in indexed(given, "llm.tools")]


def _stop_reason(given: Mapping[str, Any], number: int) -> Any:
    reasons = as_list(parsed(given.get("gen_ai.response.finish_reasons")))
    return reasons[number] if number < len(reasons) else ""


def _evaluations(span: Span) -> Iterator[Score]:
    for event in span.events:
        if event.name == _EVALUATION:
            yield from _evaluation(event.attributes, "gen_ai.evaluation.", "score.value", "score.label")
    yield from _evaluation(span.attributes, "annotation.", "score", "label")


def _evaluation(given: Mapping[str, Any], prefix: str, value: str, label: str) -> Iterator[Score]:
    """The number where there is one, else the label."""
    name = as_word(given.get(f"{prefix}name"), 100)
    if not name:
        return
    number, words = given.get(prefix + value), given.get(prefix + label)
    by = as_word(given.get(f"{prefix}annotator_kind"), 40)
    found = words if number is None else number
    yield Score(
        name,
        judge=joined(name, by),
        version=as_word(given.get(f"{prefix}identifier"), 100),
        value=found,
        truth=truth_of(found),
        rationale=given.get(f"{prefix}explanation") or "",
    )


def _first(given: Mapping[str, Any], *names: str) -> str:
    return next((as_text(given[name]) for name in names if given.get(name)), "")


FORMAT = Format(
    "otel",
    "OpenTelemetry GenAI and OpenInference traces",
    "GenAI conventions at 7b0c0fe1e (2026-05), OpenInference at 1fe497f1, from their documents",
    recognises,
    read,
)
