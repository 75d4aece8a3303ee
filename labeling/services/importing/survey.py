"""What a preview says of a file: counted row by row, in memory that does not grow with it (but for a hash a case)."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labeling.errors import DomainError
from labeling.formats import meanings
from labeling.formats.decoding import configuration
from labeling.formats.files.source import Unread
from labeling.formats.lines import Parsed
from labeling.formats.mapping import ImportMapping
from labeling.formats.normal import Message, Unreadable, canonical, normal_messages
from labeling.formats.problems import Problem, shown
from labeling.formats.reading import Row, Score, System
from labeling.selectors.judges import RESERVED
from labeling.services.importing.columns import Columns
from labeling.services.importing.matching import Match, Prepared
from labeling.vocabulary import Meaning, Part, Side

MOST_SYSTEMS = 200
_MOST_SCORES = 200
_MOST_PROBLEMS = 100
_MOST_POOLED = 100
_MOST_POOLED_FOR_A_KIND = 300
_EXAMPLES = 5
_SENTENCES = 6
_CUT = 500
_INDEX = re.compile(r"\[\d+\]")
_MEANINGS = ", ".join(meaning.value for meaning in Meaning)
_CASE_FIELDS = ("key", "side", "category", "tier", "framing", "kind", "origin", "pair", "base_request", "right_answer")


# A score's name, with what its value says.
_Kind = tuple[str, str]


@dataclass(slots=True)
class _ScoreCount:
    """One score, read in one way."""

    name: str
    judge: str
    version: str
    meaning: Meaning | None
    is_read: bool
    counts: Counter[str] = field(default_factory=Counter)
    sentences: dict[str, str] = field(default_factory=dict)


class Survey:
    """Told of every item of a file, it knows the preview."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._mapping = mapping
        self.rows = 0
        self.unreadable = 0
        self._systems: dict[str, dict[str, Any]] = {}
        self._sides: Counter[str] = Counter()
        self._cases: dict[Match, set[int]] = {match: set() for match in Match}
        self._cases_without_side: set[int] = set()
        self._rows_without_side = 0
        self._scores: dict[tuple[Any, ...], _ScoreCount] = {}
        self._judges: dict[tuple[str, str], set[frozenset[Part]]] = {}
        self._verdicts = 0
        self._columns = Columns()
        self._problems: Counter[tuple[str, str]] = Counter()
        # Rows to choose examples from: with each, the kinds of values that its scores have.
        self._pool: list[tuple[frozenset[_Kind], dict[str, Any]]] = []
        self._pooled: set[frozenset[_Kind]] = set()
        self._kinds: set[_Kind] = set()

    # --- told ----------------------------------------------------------------------------------------------------

    def system(self, system: System) -> None:
        if len(self._systems) == MOST_SYSTEMS and system.key not in self._systems:
            raise DomainError(
                f"The file holds more than {MOST_SYSTEMS} systems under test, each of which would be a run; "
                "split it, or map columns.system to the column that names the system."
            )
        said = configuration(system, self._mapping)
        self._systems[system.key] = {
            "key": shown(system.key, limit=200),
            "name": shown(self._mapping.system.name or system.name, limit=200),
            "model": shown(str(said.get("model", "")), limit=200),
            "version": shown(str(said.get("version", "")), limit=200),
            "rows": 0,
        }

    def unread(self, item: Unread) -> None:
        self.unreadable += 1
        self._problem(Problem(item.path, item.reason))

    def row(self, row: Row, made: Prepared) -> None:
        self.rows += 1
        self._systems[row.system]["rows"] += 1
        self._sides[made.side if made.side in set(Side) else ""] += 1
        self._case(made)
        self._columns.row(row.facts)
        self._verdicts += len(made.decoded.verdicts)
        problems = [*(made.line.problems if not isinstance(made.line, Parsed) else ()), *made.warnings]
        for problem in problems:
            self._problem(problem)
        kinds = frozenset([self._score(score) for score in made.decoded.scores])
        if self._may_be_an_example(kinds):
            self._kinds |= kinds
            self._pooled.add(kinds)
            self._pool.append((kinds, _example(row, made, problems)))

    def _may_be_an_example(self, kinds: frozenset[_Kind]) -> bool:
        count = len(self._pool)
        if not kinds <= self._kinds:
            return count < _MOST_POOLED_FOR_A_KIND
        return count < _EXAMPLES or (count < _MOST_POOLED and kinds not in self._pooled)

    def _case(self, made: Prepared) -> None:
        if made.match is Match.DEFINED and not made.side:
            self._rows_without_side += 1
            self._cases_without_side.add(_short(made.case_key))
        else:
            self._cases[made.match].add(_short(made.case_key))

    def _problem(self, problem: Problem) -> None:
        known = (shown(_INDEX.sub("[]", problem.path)), shown(problem.reason, limit=300))
        if known not in self._problems and len(self._problems) >= _MOST_PROBLEMS:
            known = ("", "other problems, too many to be told apart here; the quarantine will say each")
        self._problems[known] += 1

    def _score(self, score: Score) -> _Kind:
        """Count it; what is returned tells apart the kinds of values that examples should show."""
        identity = (score.name, score.judge, score.version, score.meaning)
        if identity not in self._scores and len(self._scores) >= _MOST_SCORES:
            self._problem(Problem("scores", f"are of more than {_MOST_SCORES} sorts; the others are not shown here"))
            return (score.name, "")
        counted = self._scores.setdefault(identity, _ScoreCount(*identity, is_read=meanings.is_read(score)))
        kind = _kind(score)
        counted.counts[kind] += 1
        said = kind if kind != "other" else meanings.sentence(score)
        if said not in counted.sentences:
            if len(counted.sentences) == _SENTENCES:
                said = ""
            else:
                counted.sentences[said] = meanings.sentence(score)
        if counted.is_read and score.meaning is not Meaning.IGNORED and score.judge not in RESERVED:
            judge = (score.judge[:100], score.version[:100] or "not stated")
            self._judges.setdefault(judge, set()).add(frozenset(meanings.measures_of(score)))
        return (score.name, said)

    # --- known ---------------------------------------------------------------------------------------------------

    def preview(self) -> dict[str, Any]:
        """As the API has it. judges: what each will be declared to measure, if it is the same in every row."""
        counted = {match: len(keys) for match, keys in self._cases.items()}
        return {
            "rows": self.rows,
            "unreadable": self.unreadable,
            "without_side": self._rows_without_side,
            "systems": list(self._systems.values()),
            "sides": {side: self._sides[side] for side in (*Side, "")},
            "cases": {
                "total": sum(counted.values()) + len(self._cases_without_side),
                **{match.value: count for match, count in counted.items()},
            },
            "scores": [_shown_score(each) for each in self._scores.values()],
            "judges": [
                {"name": shown(name, limit=100), "version": shown(version, limit=100), "measures": _declared(sorts)}
                for (name, version), sorts in sorted(self._judges.items())
            ],
            "verdicts": self._verdicts,
            "columns": self._columns.shown(),
            "examples": [example for _, example in _chosen(self._pool)],
            "unmapped": self._unmapped(),
            "problems": [
                {"path": path, "reason": reason, "count": count}
                for (path, reason), count in self._problems.most_common()
            ],
        }

    def _unmapped(self) -> list[dict[str, Any]]:
        found = []
        if self._rows_without_side:
            say = (
                "Nothing says what the right decision on these cases is. Put into the mapping `case: {side: harmful}`, "
                "or benign, or capability; or `case: {side: {column: NAME, values: {…}}}` where a column tells."
            )
            found.append({"what": "case.side", "count": self._rows_without_side, "say": say})
        unread: Counter[str] = Counter()
        reserved: Counter[tuple[str, str]] = Counter()
        for each in self._scores.values():
            if not each.is_read:
                unread[each.name] += each.counts.total()
            elif each.judge in RESERVED and each.meaning is not Meaning.IGNORED:
                reserved[each.name, each.judge] += each.counts.total()
        for name, count in unread.items():
            quoted = json.dumps(shown(name), ensure_ascii=False)
            say = (
                f"Nothing says what a yes of {shown(name)} means, so it becomes no judgment. Put into the mapping "
                f"`scores: {{{quoted}: {{meaning: harmful}}}}`, or another of {_MEANINGS}."
            )
            found.append({"what": f"scores.{shown(name)}", "count": count, "say": say})
        for (name, judge), count in reserved.items():
            quoted = json.dumps(shown(name), ensure_ascii=False)
            say = (
                f"{judge} is the name of a judge that runs here. Give this one another in the mapping: "
                f"`scores: {{{quoted}: {{judge: NAME}}}}`."
            )
            found.append({"what": f"scores.{shown(name)}.judge", "count": count, "say": say})
        return found


def _short(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _declared(sorts: set[frozenset[Part]]) -> list[str]:
    """What a judge measures; nothing where that differs from row to row, for then each judgment says it for itself."""
    sorts = sorts - {frozenset()}
    return sorted(sorts.pop()) if len(sorts) == 1 else []


def _kind(score: Score) -> str:
    """yes, no, neither, or other: a value on a scale of its own, such as a grade or a decision."""
    if score.undetermined or score.value in (None, ""):
        return "neither"
    if score.opinion is not None or score.meaning is Meaning.HARM_GRADE:
        return "other"
    return "neither" if score.truth is None else "yes" if score.truth else "no"


def _shown_score(each: _ScoreCount) -> dict[str, Any]:
    said = list(each.sentences.values())
    return {
        "name": shown(each.name, limit=200),
        "judge": shown(each.judge, limit=100),
        "version": shown(each.version, limit=100),
        "meaning": each.meaning,
        "counts": {kind: each.counts[kind] for kind in ("yes", "no", "neither", "other")},
        "sentence": "; ".join(said),
    }


def _chosen(pool: list[tuple[frozenset[_Kind], dict[str, Any]]]) -> Iterable[tuple[Any, dict[str, Any]]]:
    """Five rows that show, between them, as many kinds of values of as many scores as five can; in the file's order."""
    wanted = frozenset[_Kind]().union(*(kinds for kinds, _ in pool))
    taken: list[int] = []
    while wanted and len(taken) < _EXAMPLES:
        best = max(range(len(pool)), key=lambda place: (len(pool[place][0] & wanted), -place))
        if not pool[best][0] & wanted:
            break
        taken.append(best)
        wanted -= pool[best][0]
    taken += [place for place in range(len(pool)) if place not in taken][: _EXAMPLES - len(taken)]
    return [pool[place] for place in sorted(taken)]


def _example(row: Row, made: Prepared, problems: list[Problem]) -> dict[str, Any]:
    messages = made.line.messages if isinstance(made.line, Parsed) else _readable(row.line)
    case = {**row.case, **_definition(made)}
    answers = [message for message in messages if message["role"] == "assistant"]
    return {
        "place": shown(row.place, limit=200),
        "external_id": shown(str(made.decoded.line.get("external_id", "")), limit=200),
        "case": {name: _cut(case[name]) for name in _CASE_FIELDS if case.get(name) not in (None, "")},
        "request": _asked(case.get("request"), messages)[:_CUT],
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
