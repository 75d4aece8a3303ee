"""What a preview says of a file: counted row by row, in memory that does not grow with it (but for a hash a case)."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from labeling.errors import DomainError
from labeling.formats import meanings
from labeling.formats.decoding import configuration
from labeling.formats.files.source import Unread
from labeling.formats.lines import Parsed, Rejected
from labeling.formats.mapping import ImportMapping, at_path
from labeling.formats.normal import normal_messages, outcome
from labeling.formats.problems import Problem, shown
from labeling.formats.reading import Row, Score, System
from labeling.formats.rows.naming import short
from labeling.formats.wire import CaseDefinition
from labeling.selectors.judges import RESERVED
from labeling.services.importing.columns import Columns
from labeling.services.importing.examples import Examples, Kind
from labeling.services.importing.matching import Match, Prepared
from labeling.vocabulary import Meaning, Outcome, Part, Side

MOST_SYSTEMS = 200
MOST_JUDGES = 500
_MOST_SCORES = 200
_MOST_PROBLEMS = 100
_SENTENCES = 6
_INDEX = re.compile(r"\[\d+\]")
_MEANINGS = ", ".join(meaning.value for meaning in Meaning)


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
        self._not_run = 0
        self._systems: dict[str, dict[str, Any]] = {}
        self._sides: Counter[str] = Counter()
        self._cases: dict[Match, set[int]] = {match: set() for match in Match}
        self._cases_without_side: set[int] = set()
        self._rows_without_side = 0
        self._scores: dict[tuple[Any, ...], _ScoreCount] = {}
        self._judges: dict[tuple[str, str], set[frozenset[Part]]] = {}
        self._verdicts = 0
        self._columns = Columns()
        # Columns that the mapping names and no row has had so far.
        self._missed = list(mapping.looked_up())
        self._problems: Counter[tuple[str, str]] = Counter()
        self._examples = Examples()

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
        self._missed = [(where, column) for where, column in self._missed if at_path(row.facts, column) is None]
        self._verdicts += len(made.decoded.verdicts)
        self._not_run += _is_not_run(made.line)
        problems = [*(made.line.problems if not isinstance(made.line, Parsed) else ()), *made.warnings]
        for problem in problems:
            self._problem(problem)
        self._examples.row(row, made, problems, [self._score(score) for score in made.decoded.scores])

    def _case(self, made: Prepared) -> None:
        if made.match is Match.DEFINED and not made.side:
            self._rows_without_side += 1
            self._cases_without_side.add(short(made.case_key))
        else:
            self._cases[made.match].add(short(made.case_key))

    def _problem(self, problem: Problem) -> None:
        known = (shown(_INDEX.sub("[]", problem.path)), shown(problem.reason, limit=300))
        if known not in self._problems and len(self._problems) >= _MOST_PROBLEMS:
            known = ("", "other problems, too many to be told apart here; the quarantine will say each")
        self._problems[known] += 1

    def _score(self, score: Score) -> Kind:
        """Count it; what is returned tells apart the kinds of values that examples should show."""
        is_read = meanings.is_read(score)
        if is_read and score.meaning is not Meaning.IGNORED and score.judge not in RESERVED:
            self._judge(score)
        identity = (score.name, score.judge, score.version, score.meaning)
        if identity not in self._scores and len(self._scores) >= _MOST_SCORES:
            self._problem(Problem("scores", f"are of more than {_MOST_SCORES} sorts; the others are not shown here"))
            return (score.name, "")
        counted = self._scores.setdefault(identity, _ScoreCount(*identity, is_read=is_read))
        kind = _kind(score)
        counted.counts[kind] += 1
        said = kind if kind != "other" else meanings.sentence(score)
        if said not in counted.sentences:
            if len(counted.sentences) == _SENTENCES:
                said = ""
            else:
                counted.sentences[said] = meanings.sentence(score)
        return (score.name, said)

    def _judge(self, score: Score) -> None:
        judge = meanings.judge_of(score)
        if len(self._judges) == MOST_JUDGES and judge not in self._judges:
            raise DomainError(
                f"The file holds more than {MOST_JUDGES} judges, by name and version, and each would be one of the "
                "project's. Name in the mapping what changes from row to row: `scores: {NAME: {judge: NAME, version: "
                "VERSION}}`; or leave scores out with `meaning: ignored`."
            )
        self._judges.setdefault(judge, set()).add(frozenset(meanings.measures_of(score)))

    # --- known ---------------------------------------------------------------------------------------------------

    def preview(self) -> dict[str, Any]:
        """As the API has it. judges: what each will be declared to measure, if it is the same in every row."""
        counted = {match: len(keys) for match, keys in self._cases.items()}
        return {
            "rows": self.rows,
            "unreadable": self.unreadable,
            "without_side": self._rows_without_side,
            "not_run": self._not_run,
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
            "examples": self._examples.chosen(),
            "unmapped": self._unmapped(),
            "problems": [
                {"path": path, "reason": reason, "count": count}
                for (path, reason), count in self._problems.most_common()
            ],
        }

    def _unmapped(self) -> list[dict[str, Any]]:
        return [*self._without_side(), *self._named_in_vain(), *self._without_meaning()]

    def _without_side(self) -> Iterator[dict[str, Any]]:
        if self._rows_without_side:
            yield _gap(
                "case.side",
                self._rows_without_side,
                "Nothing says what the right decision on these cases is. Put into the mapping `case: {side: harmful}`, "
                "or benign, or capability; or `case: {side: {column: NAME, values: {…}}}` where a column tells.",
            )

    def _named_in_vain(self) -> Iterator[dict[str, Any]]:
        """What the mapping names and no row has: with a slip there, every case would be on the side of `otherwise`."""
        if not self.rows:
            return
        for where, column in self._missed:
            say = f"No row has the column {shown(column)}, so `otherwise` counts in each, or nothing. Mend its name."
            yield _gap(f"mapping.{shown(where)}", self.rows, say)
        seen = {each.name for each in self._scores.values()}
        for name in (name for name in self._mapping.scores if name not in seen):
            say = f"No row has a score {shown(name)}, so what the mapping says of it counts nowhere. Mend its name."
            yield _gap(f"mapping.scores.{shown(name)}", self.rows, say)

    def _without_meaning(self) -> Iterator[dict[str, Any]]:
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
                f"`scores: {{{quoted}: {{meaning: MEANING}}}}`, with what a yes says: {_MEANINGS}."
            )
            yield _gap(f"scores.{shown(name)}", count, say)
        for (name, judge), count in reserved.items():
            quoted = json.dumps(shown(name), ensure_ascii=False)
            say = (
                f"{judge} is the name of a judge that runs here. Give this one another in the mapping: "
                f"`scores: {{{quoted}: {{judge: NAME}}}}`."
            )
            yield _gap(f"scores.{shown(name)}.judge", count, say)


def _gap(what: str, count: int, say: str) -> dict[str, Any]:
    return {"what": what, "count": count, "say": say}


def _is_not_run(line: Parsed | Rejected) -> bool:
    if isinstance(line, Rejected):
        return False
    posted = line.line
    given = normal_messages(posted.case.request) if isinstance(posted.case, CaseDefinition) else []
    return outcome(line.messages, error=posted.error, stop_reason=posted.stop_reason, given=given) is Outcome.NOT_RUN


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
