"""A run's trajectories with everything said of them, page by page, for whoever takes them along.

Classifications only, unless the text is asked for. No rate leaves this way (RULES 24).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any, NamedTuple

from audit.models import Verdict
from audit.selectors.trajectories import LabelView, label_of
from labeling.measure.opinion import Opinion
from labeling.models import Judgment, PanelSeat, Run, Trajectory
from labeling.selectors.posted import posted_lines

PAGE_SIZE = 500
# With the text: a page's opinions are in memory together, and they may quote a lot.
PAGE_SIZE_WITH_CONTENT = 20
_OPINIONS = ("judgments", "metadata")

_COLUMNS = tuple(field.name for field in Trajectory._meta.concrete_fields)


class SaidByJudge(NamedTuple):
    """on_panel: it makes labels. rationale, evidence, raw_output: only with the text."""

    judge: int
    name: str
    version: str
    kind: str
    on_panel: bool
    opinion: Opinion
    scores: dict[str, Any]
    rationale: Any = None
    evidence: Any = None
    raw_output: Any = None


class SaidByPerson(NamedTuple):
    """corrects: the verdict that this one takes the place of. note, evidence, case_problem: only with the text."""

    id: int
    author: str
    kind: str
    source: str
    blind: bool
    corrects: int | None
    opinion: Opinion
    confidence: int | None
    decided_at: datetime
    note: Any = None
    evidence: Any = None
    case_problem: str | None = None


class ExportRow(NamedTuple):
    """One trajectory. label, judgments and verdicts are None where `hidden`. posted: only with the text."""

    trajectory: Trajectory
    case: str
    hidden: bool
    label: LabelView | None
    judgments: tuple[SaidByJudge, ...] | None
    verdicts: tuple[SaidByPerson, ...] | None
    posted: Any


def pages_of(run: Run, *, content: bool) -> Iterator[list[Trajectory]]:
    """The run's rows in the order they came, one query a page, wherever in the run it is."""
    size = PAGE_SIZE_WITH_CONTENT if content else PAGE_SIZE
    rows = run.trajectories.select_related("case").only(*_COLUMNS, "case__key").order_by("pk")
    after = 0
    while page := list(rows.filter(pk__gt=after)[:size]):
        yield page
        after = page[-1].pk


def rows_of_page(page: Sequence[Trajectory], *, run: Run, shown: Collection[int], content: bool) -> Iterator[ExportRow]:
    """A page's rows in three queries, with the text in four. Of what is not `shown` nobody's opinion is told."""
    ids = [row.pk for row in page]
    told = [pk for pk in ids if pk in shown]
    judgments, verdicts = _by_judges(told, run, content=content), _by_people(told, content=content)
    lines: Iterable[tuple[int, Any]] = posted_lines(ids) if content else zip(ids, repeat(None), strict=False)
    for row, (_, line) in zip(page, lines, strict=True):
        hidden = row.pk not in shown
        yield ExportRow(
            trajectory=row,
            case=row.case.key,
            hidden=hidden,
            label=None if hidden else label_of(row),
            judgments=None if hidden else tuple(judgments[row.pk]),
            verdicts=None if hidden else tuple(verdicts[row.pk]),
            posted=_without_opinions(line) if hidden else line,
        )


def _without_opinions(line: Any) -> Any:
    """What of a line may be seen blind: judgments come along with it, and runners put theirs into its metadata."""
    return line and {name: value for name, value in line.items() if name not in _OPINIONS}


def _by_judges(told: Sequence[int], run: Run, *, content: bool) -> dict[int, list[SaidByJudge]]:
    seated = set(PanelSeat.objects.filter(run=run).values_list("judge_id", flat=True))
    rows = Judgment.objects.filter(trajectory__in=told).select_related("judge").order_by("pk")
    if not content:
        rows = rows.defer("rationale", "evidence", "raw_output")
    said: dict[int, list[SaidByJudge]] = defaultdict(list)
    for row in rows:
        said[row.trajectory_id].append(
            SaidByJudge(
                judge=row.judge_id,
                name=row.judge.name,
                version=row.judge.version,
                kind=row.judge.kind,
                on_panel=row.judge_id in seated or not run.panel_is_frozen,
                opinion=row.opinion(),
                scores=row.scores,
                **({name: getattr(row, name) for name in ("rationale", "evidence", "raw_output")} if content else {}),
            )
        )
    return said


def _by_people(told: Sequence[int], *, content: bool) -> dict[int, list[SaidByPerson]]:
    rows = Verdict.objects.filter(trajectory__in=told).select_related("reviewer").order_by("pk")
    if not content:
        rows = rows.defer("note", "evidence", "case_problem")
    said: dict[int, list[SaidByPerson]] = defaultdict(list)
    for row in rows:
        said[row.trajectory_id].append(
            SaidByPerson(
                id=row.pk,
                author=row.reviewer.get_username() if row.reviewer else row.author,
                kind=row.kind,
                source=row.source,
                blind=row.blind,
                corrects=row.corrects_id,
                opinion=row.opinion(),
                confidence=row.confidence,
                decided_at=row.decided_at,
                **({name: getattr(row, name) for name in ("note", "evidence", "case_problem")} if content else {}),
            )
        )
    return said
