"""Rows made of what was posted, not stored yet. Steps of the services that store them."""

from decimal import Decimal

from labeling.formats.lines import Parsed
from labeling.formats.normal import normal_messages, outcome
from labeling.formats.wire import CaseDefinition, PostedJudgment
from labeling.models import Case, Judge, Judgment, Run, Suite, Trajectory, TrajectoryContent
from labeling.models.fields import decisions_to_bits
from labeling.vocabulary import Part, Undetermined


def new_case(suite: Suite, definition: CaseDefinition) -> Case:
    """Its request is kept in normal form."""
    columns = definition.model_dump() | {
        "origin": definition.origin or "",
        "request": normal_messages(definition.request),
    }
    return Case(suite=suite, definition_hash=definition.identity(), **columns)


def new_trajectory(run: Run, case: Case, parsed: Parsed) -> Trajectory:
    line = parsed.line
    return Trajectory(
        run=run,
        case=case,
        external_id=line.external_id,
        attempt=line.attempt,
        content_hash=parsed.content_hash,
        outcome=outcome(parsed.messages, error=line.error, stop_reason=line.stop_reason, given=case.request),
        stop_reason=line.stop_reason,
        observed_at=line.observed_at,
        side=case.side,
        category=case.category,
        tier=case.tier,
        framing=case.framing,
        kind=case.kind,
        origin=case.origin,
        pair=case.pair,
        base_request=case.base_request or case.key,
    )


def new_content(trajectory: Trajectory, parsed: Parsed) -> TrajectoryContent:
    line = parsed.line
    return TrajectoryContent(
        trajectory=trajectory,
        messages=parsed.messages,
        tools=line.tools,
        error=line.error,
        metadata=line.metadata,
        raw=parsed.raw,
    )


def new_judgment(trajectory_id: int, judge: Judge, posted: PostedJudgment) -> Judgment:
    return Judgment(
        trajectory_id=trajectory_id,
        judge=judge,
        decisions=decisions_to_bits(posted.decisions()),
        harm_grade=posted.harm_grade,
        explained=posted.flags.explained,
        alternative_offered=posted.flags.alternative_offered,
        withheld=posted.flags.withheld,
        check_passed=posted.check_passed,
        measures=_measures(judge, posted),
        undetermined=posted.reason(),
        scores=posted.scores,
        evidence=posted.evidence,
        rationale=posted.rationale,
        raw_output=_raw_output(posted),
        input_tokens=posted.input_tokens,
        output_tokens=posted.output_tokens,
        cost_usd=None if posted.cost_usd is None else round(Decimal(str(posted.cost_usd)), 6),
        latency_ms=posted.latency_ms,
    )


def _measures(judge: Judge, posted: PostedJudgment) -> list[str]:
    """What the judge declared; else what it gives, and a decision it should have given where it says it could not."""
    if judge.measures is not None:
        return list(judge.measures)
    return sorted({*posted.values(), *([Part.DECISION] if posted.undetermined else [])})


def _raw_output(posted: PostedJudgment) -> object:
    """A reason in words that are not ours is kept beside what the judge put out."""
    if posted.reason() != Undetermined.OTHER or posted.undetermined == Undetermined.OTHER:
        return posted.raw_output
    if posted.raw_output in (None, ""):
        return posted.undetermined
    return {"undetermined": posted.undetermined, "raw_output": posted.raw_output}
