"""The rows of a file that a preview shows: five that show, between them, as many kinds of values as five can."""

from collections.abc import Iterable, Mapping
from typing import Any

from labeling.formats import meanings
from labeling.formats.lines import Parsed
from labeling.formats.normal import Message, Unreadable, canonical, normal_messages
from labeling.formats.problems import Problem, shown
from labeling.formats.reading import Row
from labeling.services.importing.matching import Prepared

_EXAMPLES = 5
_MOST_POOLED = 100
_MOST_POOLED_FOR_A_KIND = 300
_MOST_SCORES = 200
_CUT = 500
_CASE_FIELDS = ("key", "side", "category", "tier", "framing", "kind", "origin", "pair", "base_request", "right_answer")

# A score's name, with what its value says.
Kind = tuple[str, str]


class Examples:
    """Told of every row, it keeps a bounded number of them to choose from."""

    def __init__(self) -> None:
        # With each row, the kinds of values that its scores have.
        self._pool: list[tuple[frozenset[Kind], dict[str, Any]]] = []
        self._pooled: set[frozenset[Kind]] = set()
        self._kinds: set[Kind] = set()

    def row(self, row: Row, made: Prepared, problems: list[Problem], kinds: Iterable[Kind]) -> None:
        kinds = frozenset(kinds)
        if self._may_be_one(kinds):
            self._kinds |= kinds
            self._pooled.add(kinds)
            self._pool.append((kinds, _example(row, made, problems)))

    def _may_be_one(self, kinds: frozenset[Kind]) -> bool:
        count = len(self._pool)
        if not kinds <= self._kinds:
            return count < _MOST_POOLED_FOR_A_KIND
        return count < _EXAMPLES or (count < _MOST_POOLED and kinds not in self._pooled)

    def chosen(self) -> list[dict[str, Any]]:
        """In the file's order."""
        pool, wanted = self._pool, set(self._kinds)
        taken: list[int] = []
        while wanted and len(taken) < _EXAMPLES:
            best = max(range(len(pool)), key=lambda place: (len(pool[place][0] & wanted), -place))
            taken.append(best)
            wanted -= pool[best][0]
        taken += [place for place in range(len(pool)) if place not in taken][: _EXAMPLES - len(taken)]
        return [pool[place][1] for place in sorted(taken)]


def _example(row: Row, made: Prepared, problems: list[Problem]) -> dict[str, Any]:
    messages = made.line.messages if isinstance(made.line, Parsed) else _readable(row.line)
    case = {**row.case, **_definition(made)}
    answers = [message for message in messages if message["role"] == "assistant"]
    return {
        "place": shown(row.place, limit=200),
        "external_id": shown(str(made.decoded.line.get("external_id", "")), limit=200),
        "case": {name: _cut(case[name]) for name in _CASE_FIELDS if case.get(name) not in (None, "")},
        "request": _cut(_asked(case.get("request"), messages)),
        "answer": _ends(_text(answers[-1])) if answers else "",
        "stop_reason": str(made.decoded.line.get("stop_reason") or "")[:60],
        "scores": [
            {"name": shown(score.name, limit=200), "value": _cut(score.value), "taken_as": meanings.sentence(score)}
            for score in made.decoded.scores[:_MOST_SCORES]
        ],
        "problems": [problem._asdict() for problem in problems[:20]],
    }


def _definition(made: Prepared) -> Mapping[str, Any]:
    case = made.decoded.line["case"]
    return case if isinstance(case, dict) else {"key": case, "side": made.side}


def _readable(line: Mapping[str, Any]) -> list[Message]:
    try:
        return normal_messages(line.get("messages") or [])
    except (Unreadable, RecursionError):
        return []


def _asked(request: Any, messages: list[Message]) -> str:
    if isinstance(request, str) and request:
        return request
    posted = _readable({"messages": request}) if isinstance(request, list) else []
    asked = [message for message in posted or messages if message["role"] == "user"]
    return "\n".join(map(_text, asked if posted else asked[:1]))


def _ends(text: str) -> str:
    """How it begins, where most refusals are, and how it ends."""
    half = _CUT // 2
    return text if len(text) <= _CUT else f"{text[:half]}\n…\n{text[-half:]}"


def _text(message: Message) -> str:
    return "\n".join(map(_part, message["parts"]))


def _part(part: dict[str, Any]) -> str:
    if part["type"] == "tool_call":
        return f"[calls {part['name']}]"
    return str(part["text"]) if isinstance(part.get("text"), str) else f"[{part['type']}]"


def _cut(value: Any) -> Any:
    """Small values as they are; of the rest, the beginning."""
    if isinstance(value, str):
        return value if len(value) <= _CUT else f"{value[: _CUT - 1]}…"
    if isinstance(value, bool | float) or value is None or (isinstance(value, int) and abs(value) < 2**63):
        return value
    try:
        text = canonical(value)
    except (RecursionError, ValueError):
        return "…"
    return value if isinstance(value, dict | list) and len(text) <= _CUT else f"{text[: _CUT - 1]}…"
