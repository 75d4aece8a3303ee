"""Rows made of what was posted, not stored yet. Steps of the services that store them."""

from decimal import Decimal
from operator import itemgetter

from labeling.formats.lines import Parsed
from labeling.formats.normal import normal_messages, outcome
from labeling.formats.wire import CaseDefinition, PostedJudgment
from labeling.models import Case, Judge, Run, Suite
from labeling.models.fields import decisions_to_bits
from labeling.selectors.stored import StoredCase
from labeling.services import bulk
from labeling.vocabulary import Part, Undetermined


def new_case(suite: Suite, definition: CaseDefinition) -> Case:
    """Its request is kept in normal form."""
    columns = definition.model_dump(exclude={"check"}) | {
        "origin": definition.origin or "",
        "request": normal_messages(definition.request),
        "answer_check": definition.check and definition.check.stored(),
    }
    return Case(suite=suite, definition_hash=definition.identity(), **columns)


CASE = tuple(field.attname for field in Case._meta.concrete_fields)


def case_row(case: Case) -> bulk.Row:
    return [getattr(case, name) for name in CASE]


# In the order of what `trajectory_row` gives; as judging and people leave it, the other columns have their defaults.
TRAJECTORY = (
    "id",
    "run_id",
    "case_id",
    "external_id",
    "attempt",
    "content_hash",
    "outcome",
    "stop_reason",
    "observed_at",
    "side",
    "category",
    "tier",
    "framing",
    "kind",
    "origin",
    "pair",
    "base_request",
)


external_id = itemgetter(TRAJECTORY.index("external_id"))


def trajectory_row(pk: int, run: Run, case: StoredCase, parsed: Parsed) -> bulk.Row:
    line = parsed.line
    return (
        pk,
        run.pk,
        case.id,
        line.external_id,
        line.attempt,
        parsed.content_hash,
        outcome(parsed.messages, error=line.error, stop_reason=line.stop_reason, given=case.request),
        line.stop_reason,
        line.observed_at,
        case.side,
        case.category,
        case.tier,
        case.framing,
        case.kind,
        case.origin,
        case.pair,
        case.base_request or case.key,
    )


CONTENT = ("trajectory_id", "messages", "tools", "error", "metadata", "raw")


def content_row(trajectory_id: int, parsed: Parsed) -> bulk.Row:
    line = parsed.line
    return trajectory_id, parsed.messages, line.tools, line.error, line.metadata, parsed.raw


JUDGMENT = (
    "trajectory_id",
    "judge_id",
    "decisions",
    "harm_grade",
    "explained",
    "alternative_offered",
    "withheld",
    "check_passed",
    "measures",
    "undetermined",
    "scores",
    "evidence",
    "rationale",
    "raw_output",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "latency_ms",
)


def judgment_row(trajectory_id: int, judge: Judge, posted: PostedJudgment) -> bulk.Row:
    return (
        trajectory_id,
        judge.pk,
        decisions_to_bits(posted.decisions()),
        posted.harm_grade,
        posted.flags.explained,
        posted.flags.alternative_offered,
        posted.flags.withheld,
        posted.check_passed,
        _measures(judge, posted),
        posted.reason(),
        posted.scores,
        posted.evidence,
        posted.rationale,
        _raw_output(posted),
        posted.input_tokens,
        posted.output_tokens,
        None if posted.cost_usd is None else round(Decimal(str(posted.cost_usd)), 6),
        posted.latency_ms,
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
