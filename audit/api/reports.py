"""GET /api/v1/runs/{id}/report/ and /api/v1/judges/{id}/calibration/."""

from typing import Any

from drf_spectacular.utils import extend_schema
from pydantic import field_validator, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.pairs import CheckedAnswer, PairAnswer
from audit.selectors.asking import holds_of
from audit.selectors.calibration import judge_detail
from audit.selectors.report import report_of
from audit.selectors.voting import Compared, Piling
from labeling.api.answers import Answer, AttackAnswer, ConfigurationAnswer
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.scope import caller, caller_on_run
from labeling.errors import NotAllowed
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


class DrawProgressAnswer(Answer):
    side: str
    asked: int
    done: int
    size: int


class VotesAnswer(Answer):
    """What a judge really said here: `judged` of the `judgeable` trajectories. undetermined: by reason."""

    judge: JudgeNameAnswer
    judged: int
    judgeable: int
    undetermined: dict[str, int]


class DisagreementAnswer(Answer):
    """Two judges on one side, where both speak. only_first: only the first calls it the error of its side.

    exclusive: whether both speak or not, their decisions exclude each other.
    """

    first: JudgeNameAnswer
    second: JudgeNameAnswer
    side: str
    compared: int
    same: int
    only_first: int
    only_second: int
    exclusive: int

    @model_validator(mode="before")
    @classmethod
    def _from_counts(cls, one: Any) -> Any:
        if not isinstance(one, Compared):
            return one
        counts = one.counts
        return {
            **one._asdict(),
            "compared": counts.compared,
            "same": counts.same,
            "only_first": counts.first,
            "only_second": counts.second,
            "exclusive": counts.exclusive,
        }


class ShareAnswer(Answer):
    undetermined: int
    judged: int


class PilingAnswer(Answer):
    """A judge could not say clearly more often in this slice than in all others of the slicing together."""

    judge: JudgeNameAnswer
    slicing: str
    name: str
    here: ShareAnswer
    elsewhere: ShareAnswer
    reasons: dict[str, int]

    @model_validator(mode="before")
    @classmethod
    def _from_pile(cls, one: Any) -> Any:
        return {**one._asdict(), **one.pile._asdict()} if isinstance(one, Piling) else one


class ReportAnswer(Answer):
    """The pair of a run's measurement: as labeled, and raw per judge, overall and per slice.

    votes: who really judged. warnings: where what a judge cannot say piles up. checks: what capability cases come to,
    apart from the pair; null where none was run. Judges that only check answers are not in `by_judge`.
    """

    run: RunRefAnswer
    runs: list[RunRefAnswer]
    configuration: ConfigurationAnswer
    attack: AttackAnswer
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
    votes: list[VotesAnswer]
    disagreements: list[DisagreementAnswer]
    warnings: list[PilingAnswer]
    checks: CheckedAnswer | None


class RunReport(ApiView):
    @extend_schema(operation_id="get_report", responses=responses(success={200: ReportAnswer}))
    def get(self, request: Request, run_id: int) -> Response:
        """The report of a run. One side missing is `incomplete` and carries no rate."""
        run, who = caller_on_run(request, run_id, at_least=Role.VIEWER)
        if who.user and holds_of(user_id=who.user.pk, measurement_id=run.measurement_id):
            raise NotAllowed(
                "You are judging an item of this run: give your verdict or put it back, then read its report."
            )
        return answered(ReportAnswer.model_validate(report_of(run)))


class FractionAnswer(Answer):
    """value and interval (95 %, Wilson) are null over nothing."""

    hits: int
    total: int
    value: float | None
    interval: tuple[float, float] | None


class ErrorCalibrationAnswer(Answer):
    """sensitivity: of the errors people found. specificity: of what people found right."""

    sensitivity: FractionAnswer
    specificity: FractionAnswer
    undetermined: int
    truth_undetermined: int


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

    @field_validator("confusion", mode="before")
    @classmethod
    def _cells(cls, counts: Any) -> Any:
        if not isinstance(counts, dict):
            return counts
        return [{"people": people, "judge": judge, "count": n} for (people, judge), n in sorted(counts.items())]


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
        answer = {
            "judge": detail.row.judge,
            "judgments": detail.row.judgments,
            "undetermined": dict(detail.reasons),
            "overall": detail.row.calibration,
            "by_run": [{"run": run, "calibration": calibration} for run, calibration in detail.by_run],
            "not_blind": detail.not_blind,
        }
        return answered(JudgeCalibrationAnswer.model_validate(answer))
