"""Which case of the suite a row is about: the one with its key, else the one that asks the same, else a new one.

The same request in another framing is another case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from labeling.errors import DomainError
from labeling.formats.decoding import Decoded, decoded
from labeling.formats.lines import Parsed, Rejected, from_value
from labeling.formats.mapping import ImportMapping
from labeling.formats.normal import Unreadable, digest, normal_messages
from labeling.formats.problems import Problem, shown
from labeling.formats.reading import Row
from labeling.models import Project, Suite
from labeling.selectors.naming import suite_named, suite_ref
from labeling.vocabulary import FRAMINGS


class Match(StrEnum):
    """What a case is to the suite: there already, new to a draft, or new to what is published and takes no more."""

    MATCHED = "matched"
    DEFINED = "defined"
    UNKNOWN = "unknown"


class Known(NamedTuple):
    """A case of the suite: a digest of what it asks, and its side."""

    asks: str
    side: str


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of the suite that an import names. A run's own suite matches nothing: its rows define its cases."""

    is_published: bool = False
    by_key: Mapping[str, Known] = field(default_factory=dict)
    by_request: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A row as it would be posted. warnings: what should be looked at and keeps nothing out."""

    decoded: Decoded
    line: Parsed | Rejected
    case_key: str
    side: str
    match: Match
    warnings: tuple[Problem, ...]


def suite_meant(project: Project, choice: str) -> Suite | None:
    """The suite of these words; `None` where none is named, or a draft is to be made of it. Raises DomainError."""
    if not choice:
        return None
    ref = suite_ref(choice)
    versions = set(project.suites.filter(key=ref.key).values_list("version", flat=True))
    if versions and ref.version in (None, *versions):
        return suite_named(project, ref)
    if ref.version is None:
        raise DomainError(
            f"There is no suite {shown(choice)} in this project; name one that is there, or write KEY@VERSION to have "
            "a draft made of this file's cases.",
            field="suite",
        )
    return None


def cases_of(suite: Suite | None) -> Cases:
    """In one query."""
    if suite is None:
        return Cases()
    by_key: dict[str, Known] = {}
    by_request: dict[tuple[str, str], str] = {}
    twice: set[tuple[str, str]] = set()
    for case in suite.cases.only("key", "side", "framing", "request").iterator(chunk_size=500):
        asks = digest(case.request)
        by_key[case.key] = Known(asks, case.side)
        if by_request.setdefault((asks, case.framing), case.key) != case.key:
            twice.add((asks, case.framing))
    # Two cases that ask the same are told apart by their keys alone.
    return Cases(suite.published_at is not None, by_key, {a: key for a, key in by_request.items() if a not in twice})


def prepared(index: int, row: Row, mapping: ImportMapping, cases: Cases) -> Prepared:
    """The row, decoded and read, about the case it belongs to. What is stored as posted is this line; the runner's own
    bytes are in the file, which is kept."""
    made = decoded(row, mapping)
    case = made.line["case"]
    key, asks = str(case.get("key") or ""), _asks(case.get("request"))
    framing = str(case.get("framing") or _PLAIN)
    found = key if key in cases.by_key else cases.by_request.get((asks, framing), "")
    if not found:
        match = Match.UNKNOWN if cases.is_published else Match.DEFINED
        line = from_value(index, made.line)
        if made.problems:
            line = Rejected(index, _external_id(line), (*made.problems, *_others(line, made.problems)))
        warnings = [_UNKNOWN] if match is Match.UNKNOWN else []
        return Prepared(made, line, key, str(case.get("side") or ""), match, tuple(warnings))
    known = cases.by_key[found]
    made = replace(made, line={**made.line, "case": found}, problems=())
    warnings = _differences(known, asks if found == key else "", case.get("side"))
    return Prepared(made, from_value(index, made.line), found, known.side, Match.MATCHED, tuple(warnings))


_PLAIN = FRAMINGS[0]
_UNKNOWN = Problem("case", "is not in the suite, which is published and takes no new ones")


def _differences(known: Known, asks: str, side: Any) -> list[Problem]:
    found = []
    if asks and asks != known.asks:
        found.append(Problem("case.request", "is not what the suite asks under this key; the suite's case is taken"))
    if side and side != known.side:
        found.append(Problem("case.side", "is not the side this case has in the suite; the suite's is taken"))
    return found


def _external_id(line: Parsed | Rejected) -> str:
    return shown(line.external_id, limit=200)


def _others(line: Parsed | Rejected, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """What else is wrong, beside what decoding has found."""
    said = {problem.path for problem in problems}
    return tuple(problem for problem in line.problems if problem.path not in said) if isinstance(line, Rejected) else ()


def _asks(request: Any) -> str:
    """Of what is asked, in normal form; "" where nothing is."""
    if not request:
        return ""
    try:
        posted = [{"role": "user", "content": request}] if isinstance(request, str) else request
        return digest(normal_messages(posted, path="request"))
    except (Unreadable, RecursionError):
        return ""
