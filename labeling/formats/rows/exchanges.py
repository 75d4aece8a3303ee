"""From one exchange with a chat API to rows: what its readers share, whichever API it was.

A case is known by what was asked, without the system prompt, which belongs to the system under test; only where a file
puts the same words under two prompts are they two cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from labeling.formats.files import documents
from labeling.formats.files.documents import Found
from labeling.formats.files.source import Source, Unread
from labeling.formats.mapping import ImportMapping
from labeling.formats.normal import Unreadable, digest
from labeling.formats.reading import Item, Row, System
from labeling.formats.rows.conversations import beyond_preamble, opening, role_of, said_by_others
from labeling.formats.rows.naming import Names, joined
from labeling.formats.rows.values import as_moment, as_object, small
from labeling.vocabulary import Kind

# What is set on a request and changes how the model answers.
_DECODING = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "max_completion_tokens",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "stop_sequences",
    "reasoning_effort",
    "thinking",
    "verbosity",
)
# What has a place of its own in a row.
_PLACED = {*_DECODING, "messages", "system", "tools", "functions"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the model; without a message it gave none. rest: what the API says beside it."""

    message: Any = None
    stop_reason: Any = None
    rest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what came of it.

    messages: what was asked or, in a transcript, everything that was said. request: its parameters. `case` and `id` are
    names the runner gave. rest: what has no place elsewhere.
    """

    model: str
    messages: list[Any]
    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    is_transcript: bool = False
    request: Mapping[str, Any] = field(default_factory=dict)
    system: Any = None
    tools: Any = None
    case: Any = None
    id: Any = None
    error: Any = None
    created: Any = None
    rest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asked(self) -> list[Any]:
        """What a case is known by."""
        return said_by_others(self.messages) if self.is_transcript else self.messages


class Batch:
    """The file as one batch of requests, put to one model; lines that failed do not name it."""

    def __init__(self, source: Source, model_in: Callable[[Any], str]) -> None:
        self._source = source
        self._model_in = model_in

    @cached_property
    def model(self) -> str:
        """The first model that is named; "" if none is."""
        found = (each for each in documents.values(self._source) if isinstance(each, Found))
        return next(filter(None, (self._model_in(each.value) for each in found)), "")


class Exchanges:
    """The exchanges of one file, one after the other."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._names = Names(mapping)

    def read(self, values: Iterable[Found | Unread], exchange_of: Callable[[Any], Exchange]) -> Iterator[Item]:
        """exchange_of raises Unreadable on what is none."""
        return documents.each(values, lambda found: self._rows(exchange_of(found.value), found))

    def _rows(self, exchange: Exchange, found: Found) -> Iterator[System | Row]:
        decoding = {name: exchange.request[name] for name in _DECODING if exchange.request.get(name) is not None}
        key = joined(exchange.model, digest(decoding)[:8] if decoding else "")
        yield from self._names.once(System(key, exchange.model, decoding=decoding))
        for number, answer in enumerate(exchange.answers):
            name = joined(exchange.id, number) if len(exchange.answers) > 1 else exchange.id
            yield self._row(exchange, answer, found, system=key, name=name)

    def _row(self, exchange: Exchange, answer: Answer, found: Found, *, system: str, name: Any) -> Row:
        rest = {name: value for name, value in exchange.request.items() if name not in _PLACED}
        rest |= {**exchange.rest, **answer.rest}
        facts = {**rest, "model": exchange.model, "id": exchange.id, "finish_reason": answer.stop_reason}
        case = self._case(exchange, found.number)
        line = {
            "external_id": self._names.row(system, name, found.number),
            "attempt": self._names.attempt(system, case["key"], facts),
            "system": exchange.system,
            "messages": [*exchange.messages, *([] if answer.message is None else [answer.message])],
            "tools": exchange.tools,
            "stop_reason": answer.stop_reason[:60] if isinstance(answer.stop_reason, str) else None,
            "error": exchange.error,
            "observed_at": as_moment(exchange.created),
            "metadata": small(rest),
        }
        return Row(
            place=found.place,
            system=system,
            line=line,
            case=case,
            facts=facts,
            raw=found.raw,
        )

    def _case(self, exchange: Exchange, number: int) -> dict[str, Any]:
        asked, kind = beyond_preamble(exchange.asked), _kind(exchange)
        by_words = f"request/{digest(asked)[:32]}" if asked else exchange.id or f"row {number}"
        identity = [exchange.system, exchange.asked, kind]
        key = self._names.case(by_words if exchange.case is None else exchange.case, identity)
        request = opening(beyond_preamble(exchange.messages)) if exchange.is_transcript else asked
        return {"key": key, "kind": kind.value, **({"request": request} if request else {})}


def transcript(value: Mapping[str, Any], **own: Any) -> Exchange:
    """A request that is the whole conversation. own: what its API says in a way of its own. Raises Unreadable."""
    return Exchange(
        model=model_of(value),
        messages=messages_of(value),
        is_transcript=True,
        request=value,
        system=value.get("system"),
        id=value.get("id"),
        **own,
    )


def model_of(given: Mapping[str, Any]) -> str:
    model = given.get("model")
    return model if isinstance(model, str) else ""


def body_of(given: Any) -> Mapping[str, Any]:
    """Batches wrap what was sent and what came back into an envelope."""
    body = as_object(given).get("body")
    return body if isinstance(body, dict) else as_object(given)


def response_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The response in a pair, or in a line of a batch, where it may be null. Raises Unreadable."""
    response = value.get("response")
    if response is not None and not isinstance(response, dict):
        raise Unreadable("", "has a response that is no object")
    return body_of(response)


def messages_of(request: Mapping[str, Any]) -> list[Any]:
    """The messages of a request; none, where it has none. Raises Unreadable."""
    messages = request.get("messages", [])
    if not isinstance(messages, list):
        raise Unreadable("", "has messages that are no list")
    return messages


def _kind(exchange: Exchange) -> Kind:
    """From what the runner chose alone: attempts on one case are of one kind, whatever the target did."""
    if exchange.tools:
        return Kind.TOOL_USE
    asked = [message for message in exchange.asked if role_of(message) == "user"]
    return Kind.MULTI_TURN if len(asked) > 1 else Kind.SINGLE_TURN
