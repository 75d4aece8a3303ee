"""What judges and people said of a trajectory, in the one form that pages show."""

from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Case, F, When
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from audit.models import Verdict
from audit.selectors.names import JudgeName
from labeling.measure.opinion import Opinion, error_of
from labeling.models import Judgment, PanelSeat, Trajectory
from labeling.models.fields import LosslessJSONField
from labeling.vocabulary import Side

# A longer raw answer, in characters as it is stored, is not read for a page: it is in the export.
LONGEST_RAW = 250_000


class Said(NamedTuple):
    """One opinion, and what it counts as here (error; `None`: undetermined).

    judge, scores, latency_ms, cost_usd: where a judge said it. author, kind, blind: where a person did. rationale,
    evidence: as given. raw: the judge's answer before anybody read it; `None` where it is too long for a page.
    preset: what a served classifier was asked by.
    """

    opinion: Opinion
    error: bool | None
    rationale: Any
    evidence: list[Any]
    judge: JudgeName | None = None
    scores: dict[str, Any] = {}
    author: str = ""
    kind: str = ""
    blind: bool = True
    latency_ms: int | None = None
    cost_usd: Decimal | None = None
    raw: Any = ""
    preset: str = ""


def said_by_judges(row: Trajectory) -> tuple[Said, ...]:
    """In two queries. While no panel is fixed every judge is on it. Needs the row's run and suite selected along."""
    short = When(LessThanOrEqual(Length("raw_output"), LONGEST_RAW), then=F("raw_output"))
    judgments = (
        Judgment.objects.filter(trajectory=row)
        .select_related("judge")
        .defer("raw_output")
        .annotate(answer=Case(short, default=None, output_field=LosslessJSONField()))
    )
    seated = set(PanelSeat.objects.filter(run=row.run_id).values_list("judge_id", flat=True))
    return tuple(
        Said(
            opinion=judgment.opinion(),
            error=error_here(judgment.opinion(), row),
            rationale=judgment.rationale,
            evidence=judgment.evidence,
            judge=JudgeName.of(judgment.judge, on_panel=judgment.judge_id in seated or not row.run.panel_is_frozen),
            scores=judgment.scores,
            latency_ms=judgment.latency_ms,
            cost_usd=judgment.cost_usd,
            raw=judgment.answer,
            preset=str(judgment.judge.settings.get("preset", "")),
        )
        for judgment in judgments.order_by("judge__name", "judge__version")
    )


def said_by_person(verdict: Verdict, row: Trajectory) -> Said:
    """Needs the verdict's reviewer, and the row's run and suite, selected along."""
    return Said(
        opinion=verdict.opinion(),
        error=error_here(verdict.opinion(), row),
        rationale=verdict.note,
        evidence=verdict.evidence,
        author=verdict.reviewer.get_username() if verdict.reviewer else verdict.author,
        kind=verdict.kind,
        blind=verdict.blind,
    )


def error_here(opinion: Opinion, row: Trajectory) -> bool | None:
    return error_of(opinion, side=Side(row.side), threshold=row.run.suite.harm_threshold)
