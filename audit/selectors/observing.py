"""Rows of trajectories and judgments, turned into the observations that rates are made of."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from django.db.models import QuerySet

from audit.measure.comparing import Spoke
from audit.measure.rates import Incomplete, Observation, RatePair, pair_of
from labeling.measure.opinion import Opinion, error_of
from labeling.measure.routing import ruled
from labeling.models import Judgment, Trajectory
from labeling.models.fields import bits_to_decisions
from labeling.vocabulary import PEOPLE_SOURCES, LabelSource, Layer, Outcome, Part, Side, TrajectoryStatus


class Row(NamedTuple):
    """One trajectory as reports read it."""

    id: int
    run_id: int
    measurement_id: int
    suite_id: int
    threshold: int
    layer: str
    case_id: int
    side: str
    base_request: str
    category: str
    tier: int | None
    framing: str
    outcome: str
    status: str
    label_source: str
    label_error: bool | None
    label_harm_grade: int | None
    label_decisions: int
    label_explained: bool | None
    label_alternative_offered: bool | None

    @property
    def was_run(self) -> bool:
        return self.outcome != Outcome.NOT_RUN

    @property
    def is_human(self) -> bool:
        return self.label_source in PEOPLE_SOURCES

    @property
    def is_provisional(self) -> bool:
        """A machine label that a person is still asked about, or none yet."""
        return self.status != TrajectoryStatus.SETTLED and not self.is_human

    @property
    def cluster(self) -> str:
        return f"{self.suite_id}/{self.base_request}"


def rows_of(trajectories: QuerySet[Trajectory]) -> list[Row]:
    """In one query."""
    return [
        Row(*values)
        for values in trajectories.values_list(
            "pk",
            "run_id",
            "run__measurement_id",
            "run__suite_id",
            "run__suite__harm_threshold",
            "run__configuration__layer",
            "case_id",
            "side",
            "base_request",
            "category",
            "tier",
            "framing",
            "outcome",
            "status",
            "label_source",
            "label_error",
            "label_harm_grade",
            "label_decisions",
            "label_explained",
            "label_alternative_offered",
        )
    ]


class JudgeSaid(NamedTuple):
    """What one judgment counts as. graded: it grades harm here. reason: why it could not say; empty if it could.

    spoke: the same as two judges are compared by.
    """

    error: bool | None
    graded: bool
    reason: str
    spoke: Spoke


def judgments_of(
    trajectories: QuerySet[Trajectory], rows: Iterable[Row], *, judge_ids: Collection[int] | None = None
) -> dict[int, dict[int, JudgeSaid]]:
    """Per judge, every one or these, and trajectory what its opinion counts as. In one query."""
    facts = {row.id: (row.side, row.threshold) for row in rows}
    said: dict[int, dict[int, JudgeSaid]] = {}
    judgments = Judgment.objects.filter(trajectory__in=trajectories)
    if judge_ids is not None:
        judgments = judgments.filter(judge__in=judge_ids)
    parts = judgments.values_list(
        "judge_id", "trajectory_id", "decisions", "harm_grade", "withheld", "check_passed", "undetermined", "measures"
    )
    for judge, trajectory, bits, grade, withheld, passed, reason, measures in parts:
        side, threshold = facts[trajectory]
        said.setdefault(judge, {})[trajectory] = _said(
            bits=bits,
            grade=grade,
            withheld=withheld,
            passed=passed,
            reason=reason,
            measures=tuple(measures),
            side=side,
            threshold=threshold,
        )
    return said


@lru_cache(maxsize=4096)
def _said(
    *,
    bits: int,
    grade: int | None,
    withheld: bool | None,
    passed: bool | None,
    reason: str,
    measures: tuple[str, ...],
    side: str,
    threshold: int,
) -> JudgeSaid:
    """Opinions repeat: a few hundred different ones make up any number of judgments."""
    opinion = Opinion(
        decisions=bits_to_decisions(bits),
        harm_grade=grade,
        withheld=withheld,
        check_passed=passed,
        measures=frozenset(Part(part) for part in measures),
    )
    ungraded = replace(opinion, harm_grade=None, measures=opinion.measures - {Part.HARM_GRADE})
    error = error_of(opinion, side=Side(side), threshold=threshold)
    grades = Part.HARM_GRADE in opinion.measures
    spoke = Spoke(error, error_of(ungraded, side=Side(side), threshold=threshold), grades, opinion.decisions)
    return JudgeSaid(error, grades and grade is not None, reason, spoke)


def pair_as_labeled(rows: Iterable[Row]) -> RatePair | Incomplete:
    """The pair of the labels; a trajectory without one is undetermined in it (RULES 6)."""
    return _pair(
        (row.side, Observation(row.case_id, row.cluster, row.label_error, ungraded=_ungraded(row)))
        for row in rows
        if row.was_run
    )


def _ungraded(row: Row) -> bool:
    return (
        row.side == Side.HARMFUL
        and row.label_source != LabelSource.NONE
        and row.label_error is False
        and row.label_harm_grade is None
    )


def pair_by_judge(rows: Iterable[Row], said: dict[int, JudgeSaid]) -> RatePair | Incomplete:
    """One judge's raw pair. Where it has no judgment the trajectory is undetermined, unless a rule decides it."""
    observations = []
    for row in rows:
        if not row.was_run:
            continue
        rule = ruled(Outcome(row.outcome), side=Side(row.side), layer=Layer(row.layer))
        if rule is not None:
            observations.append((row.side, Observation(row.case_id, row.cluster, rule.error)))
            continue
        judged = said.get(row.id)
        ungraded = row.side == Side.HARMFUL and judged is not None and judged.error is False and not judged.graded
        error = judged.error if judged else None
        observations.append((row.side, Observation(row.case_id, row.cluster, error, ungraded=ungraded)))
    return _pair(observations)


def _pair(observations: Iterable[tuple[str, Observation]]) -> RatePair | Incomplete:
    sides: dict[str, list[Observation]] = {Side.HARMFUL: [], Side.BENIGN: [], Side.CAPABILITY: []}
    for side, observation in observations:
        sides[side].append(observation)
    return pair_of(sides[Side.HARMFUL], sides[Side.BENIGN])
