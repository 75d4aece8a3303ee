"""From one exchange with a chat API to rows: what its readers share, whichever API it was.

A case is known by what was asked, without the system prompt, which belongs to the system under test; only where a file
puts the same words under two prompts are they two cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from labeling.formats import by_column, documents
from labeling.formats.documents import Found
from labeling.formats.mapping import Columns, ImportMapping, as_text
from labeling.formats.mapping import found as by_rule
from labeling.formats.naming import Names
from labeling.formats.normal import digest
from labeling.formats.reading import Item, Row, Sniff, Source, System, Unread, joined
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
_PREAMBLE = ("system", "developer")


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


class Unfit(Exception):
    """This is no exchange that the reader knows; the message says why."""


class Chats:
    """Exchanges of one file, one after the other."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._mapping = mapping
        self._names = Names()
        self._systems: set[str] = set()

    def read(self, values: Iterable[Found | Unread], exchange_of: Callable[[Any], Exchange]) -> Iterator[Item]:
        for found in values:
            if isinstance(found, Unread):
                yield found
                continue
            try:
                exchange = exchange_of(found.value)
            except Unfit as error:
                yield Unread(found.place, "", str(error), found.raw)
            else:
                yield from self._rows(exchange, found)

    def _rows(self, exchange: Exchange, found: Found) -> Iterator[System | Row]:
        decoding = {name: exchange.request[name] for name in _DECODING if exchange.request.get(name) is not None}
        key = joined(exchange.model, digest(decoding)[:8] if decoding else "")
        if key not in self._systems:
            self._systems.add(key)
            yield System(key, exchange.model, decoding=decoding)
        for number, answer in enumerate(exchange.answers):
            name = joined(exchange.id, number) if len(exchange.answers) > 1 else exchange.id
            yield self._row(exchange, answer, found, system=key, name=name)

    def _row(self, exchange: Exchange, answer: Answer, found: Found, *, system: str, name: Any) -> Row:
        rest = {name: value for name, value in exchange.request.items() if name not in _PLACED}
        rest |= {**exchange.rest, **answer.rest}
        facts = {**rest, "model": exchange.model, "id": exchange.id, "finish_reason": answer.stop_reason}
        case = self._case(exchange, facts, found.number)
        line = {
            "external_id": self._names.row(system, name, found.number),
            "attempt": self._names.attempt(system, case["key"]),
            "system": exchange.system,
            "messages": [*exchange.messages, *([] if answer.message is None else [answer.message])],
            "tools": exchange.tools,
            "stop_reason": answer.stop_reason[:60] if isinstance(answer.stop_reason, str) else None,
            "error": exchange.error,
            "observed_at": moment_of(exchange.created),
            "metadata": by_column.small(rest),
        }
        return Row(
            place=found.place,
            system=system,
            line={field: value for field, value in line.items() if value is not None},
            case=case,
            facts=facts,
            scores=tuple(by_column.scores(facts, self._mapping)),
            verdicts=tuple(by_column.verdicts(facts, self._mapping)),
            raw=found.raw,
        )

    def _case(self, exchange: Exchange, facts: Mapping[str, Any], number: int) -> dict[str, Any]:
        """With the key that it will have in the end, so that attempts on it are counted."""
        asked = _beyond_preamble(exchange.asked)
        kind = _kind(exchange)
        key = by_rule(self._mapping.case.key, facts)
        if key is None:
            by_words = f"request/{digest(asked)[:32]}" if asked else exchange.id or f"row {number}"
            identity = [exchange.system, exchange.asked, kind]
            key = self._names.case(by_words if exchange.case is None else exchange.case, identity)
        request = opening(_beyond_preamble(exchange.messages)) if exchange.is_transcript else asked
        return {"key": as_text(key), "kind": kind.value, **({"request": request} if request else {})}


def names_columns(sniff: Sniff) -> bool:
    """Does the mapping speak of columns? Then the file is a table to whoever wrote it, though it holds messages."""
    return sniff.mapping.columns != Columns()


def opening(messages: list[Any]) -> list[Any]:
    """What was said before the target first answered."""
    roles = [_role(message) for message in messages]
    return messages[: roles.index("assistant")] if "assistant" in roles else messages


def said_by_others(messages: list[Any]) -> list[Any]:
    """The turns of a transcript that no answer of the target changed: its preamble and the user's words."""
    return [message for message in messages if _role(message) in (*_PREAMBLE, "user") and not _is_result(message)]


def is_messages(value: Any) -> bool:
    """A list of messages, as any chat API takes them."""
    return isinstance(value, list) and bool(value) and all(_role(message) is not None for message in value)


def model_of(given: Mapping[str, Any]) -> str:
    model = given.get("model")
    return model if isinstance(model, str) else ""


def body_of(given: Any) -> Mapping[str, Any]:
    """Batches wrap what was sent and what came back into an envelope."""
    given = given if isinstance(given, dict) else {}
    body = given.get("body")
    return body if isinstance(body, dict) else given


def response_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The response in a pair, or in a line of a batch, where it may be null. Raises Unfit."""
    response = value.get("response")
    if response is not None and not isinstance(response, dict):
        raise Unfit("has a response that is no object")
    return body_of(response)


def messages_of(request: Mapping[str, Any]) -> list[Any]:
    """The messages of a request; none, where it has none. Raises Unfit."""
    messages = request.get("messages", [])
    if not isinstance(messages, list):
        raise Unfit("has messages that are no list")
    return messages


def moment_of(created: Any) -> str | None:
    """Seconds since 1970, as these APIs give time."""
    if isinstance(created, bool) or not isinstance(created, int | float):
        return None
    try:
        return datetime.fromtimestamp(created, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _role(message: Any) -> str | None:
    """The role of a message; `None` of what is none, such as a whole answer of an API, which has a role as well."""
    if not isinstance(message, dict) or "stop_reason" in message or not {"content", "tool_calls"} & message.keys():
        return None
    role = message.get("role")
    return role if isinstance(role, str) else None


def _is_result(message: Any) -> bool:
    """Anthropic puts the results of tools into messages of the user."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and str(block.get("type")).endswith("tool_result") for block in blocks)


def _beyond_preamble(messages: list[Any]) -> list[Any]:
    return [message for message in messages if _role(message) not in _PREAMBLE]


def _kind(exchange: Exchange) -> Kind:
    """From what the runner chose alone: attempts on one case are of one kind, whatever the target did."""
    if exchange.tools:
        return Kind.TOOL_USE
    asked = [message for message in exchange.asked if _role(message) == "user"]
    return Kind.MULTI_TURN if len(asked) > 1 else Kind.SINGLE_TURN
