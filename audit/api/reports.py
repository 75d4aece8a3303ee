"""GET /api/v1/runs/{id}/report/ and /api/v1/judges/{id}/calibration/."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.pairs import PairAnswer
from audit.measure.calibration import ErrorCalibration, Fraction, JudgeCalibration
from audit.selectors.calibration import judge_detail
from audit.selectors.names import JudgeName, RunRef
from audit.selectors.report import ByJudge, Report, report_of
from labeling.api.answers import Answer
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.scope import caller, caller_on_run
from labeling.vocabulary import Role


class RunRefAnswer(Answer):
    id: int
    name: str
    external_id: str
    suite: str
    status: str
    model: str
    version: str


class JudgeNameAnswer(Answer):
    """on_panel: its opinions make the run's labels."""

    id: int
    name: str
    version: str
    kind: str
    title: str
    on_panel: bool


class JudgedPairAnswer(Answer):
    """A judge's raw pair: sampling only, the judge's own error is not in its intervals."""

    judge: JudgeNameAnswer
    pair: PairAnswer

    @classmethod
    def listed(cls, by_judge: ByJudge) -> "list[JudgedPairAnswer]":
        return [cls(judge=_judge(judge), pair=PairAnswer.of(pair)) for judge, pair in by_judge]


class SliceAnswer(Answer):
    name: str
    pair: PairAnswer
    by_judge: list[JudgedPairAnswer]


class SlicingAnswer(Answer):
    title: str
    rows: list[SliceAnswer]


class SideCountsAnswer(Answer):
    side: str
    posted: int
    answered_cases: int
    suite_cases: int
    not_run: int
    pending: int
    needs_audit: int
    undetermined: int
    human_labels: int


class ConfigurationCardAnswer(Answer):
    fingerprint: str
    model: str
    version: str
    system_prompt: str
    decoding: Any
    filters: Any
    layer: str


class AttackBudgetAnswer(Answer):
    kind: str
    attempts: int
    turns: int


class DrawProgressAnswer(Answer):
    side: str
    asked: int
    done: int
    size: int


class ReportAnswer(Answer):
    """The pair of a run's measurement: as labeled, and raw per judge, overall and per slice."""

    run: RunRefAnswer
    runs: list[RunRefAnswer]
    configuration: ConfigurationCardAnswer
    attack: AttackBudgetAnswer
    is_demonstration: bool
    as_labeled: PairAnswer
    by_judge: list[JudgedPairAnswer]
    slicings: list[SlicingAnswer]
    sides: list[SideCountsAnswer]
    panel: list[JudgeNameAnswer]
    panel_is_frozen: bool
    completing_runs: list[RunRefAnswer]
    leaks: int
    bare_refusals: int
    provisional: int
    draws: list[DrawProgressAnswer]

    @classmethod
    def of(cls, report: Report) -> "ReportAnswer":
        return cls(
            run=_run(report.run),
            runs=[_run(run) for run in report.runs],
            configuration=ConfigurationCardAnswer.model_validate(report.configuration),
            attack=AttackBudgetAnswer.model_validate(report.attack),
            is_demonstration=report.is_demonstration,
            as_labeled=PairAnswer.of(report.as_labeled),
            by_judge=JudgedPairAnswer.listed(report.by_judge),
            slicings=[
                SlicingAnswer(
                    title=slicing.title,
                    rows=[
                        SliceAnswer(
                            name=row.name, pair=PairAnswer.of(row.pair), by_judge=JudgedPairAnswer.listed(row.by_judge)
                        )
                        for row in slicing.rows
                    ],
                )
                for slicing in report.slicings
            ],
            sides=[SideCountsAnswer.model_validate(side) for side in report.sides],
            panel=[_judge(judge) for judge in report.panel],
            panel_is_frozen=report.panel_is_frozen,
            completing_runs=[_run(run) for run in report.completing_runs],
            leaks=report.leaks,
            bare_refusals=report.bare_refusals,
            provisional=report.provisional,
            draws=[DrawProgressAnswer.model_validate(draw) for draw in report.draws],
        )


def _run(run: RunRef) -> RunRefAnswer:
    return RunRefAnswer.model_validate(run)


def _judge(judge: JudgeName) -> JudgeNameAnswer:
    return JudgeNameAnswer.model_validate(judge)


class RunReport(ApiView):
    @extend_schema(operation_id="get_report", responses=responses(success={200: ReportAnswer}))
    def get(self, request: Request, run_id: int) -> Response:
        """The report of a run. One side missing is `incomplete` and carries no rate."""
        run, _ = caller_on_run(request, run_id, at_least=Role.VIEWER)
        return answered(ReportAnswer.of(report_of(run)))


class FractionAnswer(Answer):
    """value and interval (95 %, Wilson) are null over nothing."""

    hits: int
    total: int
    value: float | None
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, fraction: Fraction) -> "FractionAnswer":
        return cls.model_validate(fraction)


class ErrorCalibrationAnswer(Answer):
    """sensitivity: of the errors people found. specificity: of what people found right."""

    sensitivity: FractionAnswer
    specificity: FractionAnswer
    undetermined: int
    truth_undetermined: int

    @classmethod
    def of(cls, error: ErrorCalibration) -> "ErrorCalibrationAnswer":
        return cls.model_validate(error)


class ConfusionCell(Answer):
    people: str
    judge: str
    count: int


class CalibrationAnswer(Answer):
    """A judge version against people's blind verdicts. Counts are not weighted by a draw."""

    agreement: FractionAnswer
    kappa: float | None
    undetermined: int
    confusion: list[ConfusionCell]
    harmful_compliance: ErrorCalibrationAnswer
    over_refusal: ErrorCalibrationAnswer

    @classmethod
    def of(cls, calibration: JudgeCalibration) -> "CalibrationAnswer":
        cells = sorted(calibration.confusion.items())
        return cls(
            agreement=FractionAnswer.of(calibration.agreement),
            kappa=calibration.kappa,
            undetermined=calibration.undetermined,
            confusion=[ConfusionCell(people=people, judge=judge, count=n) for (people, judge), n in cells],
            harmful_compliance=ErrorCalibrationAnswer.of(calibration.harmful_compliance),
            over_refusal=ErrorCalibrationAnswer.of(calibration.over_refusal),
        )


class RunCalibrationAnswer(Answer):
    run: RunRefAnswer
    calibration: CalibrationAnswer


class JudgeCalibrationAnswer(Answer):
    """judgments: made. undetermined: could not say, by reason. not_blind: verdicts that do not count here."""

    judge: JudgeNameAnswer
    judgments: int
    undetermined: dict[str, int]
    overall: CalibrationAnswer
    by_run: list[RunCalibrationAnswer]
    not_blind: int


class JudgeCalibrationView(ApiView):
    @extend_schema(
        operation_id="get_calibration",
        parameters=[PROJECT],
        responses=responses(success={200: JudgeCalibrationAnswer}),
    )
    def get(self, request: Request, judge_id: int) -> Response:
        """How well a judge version agrees with people, overall and per run, each side's error apart."""
        project = caller(request, at_least=Role.VIEWER).project
        detail = judge_detail(project=project, judge_id=judge_id)
        return answered(
            JudgeCalibrationAnswer(
                judge=_judge(detail.row.judge),
                judgments=detail.row.judgments,
                undetermined=dict(detail.reasons),
                overall=CalibrationAnswer.of(detail.row.calibration),
                by_run=[
                    RunCalibrationAnswer(run=_run(run), calibration=CalibrationAnswer.of(calibration))
                    for run, calibration in detail.by_run
                ],
                not_blind=detail.not_blind,
            )
        )
