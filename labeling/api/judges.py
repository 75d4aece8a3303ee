"""/api/v1/judges/: who judges, new judges and versions, how hard they may be worked, and judging again."""

from decimal import Decimal
from typing import Annotated, Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import tasks
from labeling.api import bodies
from labeling.api.answers import JudgeAnswer, JudgeDetail, JudgeList, RejudgingAnswer
from labeling.api.edge import PROJECT, ApiView, answered, responses
from labeling.api.scope import Caller, caller, caller_on_judge
from labeling.errors import DomainError, NotAllowed
from labeling.formats.problems import Problem, refusal
from labeling.formats.scalars import JsonObject, Name100, Text
from labeling.formats.wire import WORD, Wire, read
from labeling.selectors.judges import judge_in, judges_of
from labeling.selectors.naming import run_in
from labeling.services import judges, rejudging
from labeling.vocabulary import JudgeKind, Role


def _at_least(least: int, name: str) -> Any:
    return Field(ge=least, le=judges.MOST[name])


class JudgeBody(Wire):
    """A judge, or with a name that is there another version of it. settings: docs/how-to/add-a-judge.md."""

    name: Name100
    kind: Annotated[JudgeKind, WORD]
    settings: JsonObject
    based_on: int | None = Field(
        None, description="A version whose limits it takes along, and to the same address its key."
    )
    key: Text | None = Field(None, description="The key to its endpoint; kept sealed and never shown again.")
    on_panel: bool = Field(False, description="Put new trajectories to it, in place of its other versions.")
    project: Name100 | None = None


class WorkingBody(Wire):
    """How hard it may be worked. Prices are US dollars a million tokens, the ceiling is for each run."""

    concurrency: Annotated[int, _at_least(1, "concurrency")] = 16
    requests_per_minute: Annotated[int, _at_least(1, "requests_per_minute")] | None = None
    tokens_per_minute: Annotated[int, _at_least(1, "tokens_per_minute")] | None = None
    timeout_seconds: Annotated[int, _at_least(1, "timeout_seconds")] = 60
    input_usd: Annotated[float, _at_least(0, "input_usd")] | None = None
    output_usd: Annotated[float, _at_least(0, "output_usd")] | None = None
    ceiling_usd: Annotated[float, _at_least(0, "ceiling_usd")] | None = None

    def working(self) -> judges.Working:
        return judges.Working(
            concurrency=self.concurrency,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            timeout_seconds=self.timeout_seconds,
            input_usd=_dollars(self.input_usd),
            output_usd=_dollars(self.output_usd),
            ceiling_usd=_dollars(self.ceiling_usd),
        )


def _dollars(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(str(value))


class JudgeChange(Wire):
    """What is left out stays as it is. working is given whole: what is left out in it has its default again."""

    on_panel: bool | None = Field(None, description="Put new trajectories to it, or no longer.")
    key: Text | None = Field(None, description='A new key to its endpoint; "" takes the key away.')
    working: WorkingBody | None = None


_MAKE = OpenApiExample(
    "A rubric of your own",
    request_only=True,
    value={
        "name": "three-labels",
        "kind": "rubric",
        "on_panel": True,
        "key": "…",
        "settings": {
            "scale": "three_label",
            "title": "Three labels",
            "instructions": "…",
            "categories": {"fraud": {"text": "…", "tiers": {"1": "…"}}},
            "service": {"base_url": "https://models.example/v1", "model": "judge-1"},
        },
    },
)
_CHANGE = OpenApiExample(
    "Limits, prices and a ceiling for each run",
    request_only=True,
    value={
        "on_panel": True,
        "working": {
            "concurrency": 32,
            "requests_per_minute": 600,
            "tokens_per_minute": 200_000,
            "timeout_seconds": 60,
            "input_usd": 0.5,
            "output_usd": 1.5,
            "ceiling_usd": 20,
        },
    },
)


class Judges(ApiView):
    @extend_schema(operation_id="list_judges", parameters=[PROJECT], responses=responses(success={200: JudgeList}))
    def get(self, request: Request) -> Response:
        """Every judge version of the project, what it measures, and how many judgments it made."""
        project = caller(request, at_least=Role.VIEWER).project
        results = [JudgeAnswer.model_validate(row) for row in judges_of(project)]
        return answered(JudgeList(count=len(results), results=results))

    @extend_schema(
        operation_id="post_judge",
        request={"application/json": JudgeBody},
        examples=[_MAKE],
        parameters=[PROJECT],
        responses=responses(400, 409, success={200: JudgeDetail, 201: JudgeDetail}),
    )
    def post(self, request: Request) -> Response:
        """Make a judge, or a version of one. The same settings again are 200 and the same version. For leads only."""
        body = read(JudgeBody, bodies.read_json(request))
        who = _lead(caller(request, at_least=Role.LEAD, project=body.project))
        based_on = None if body.based_on is None else judge_in(who.project, body.based_on)
        try:
            made = judges.make_judge(
                project=who.project,
                kind=body.kind,
                name=body.name,
                settings=body.settings,
                based_on=based_on,
                key=body.key or "",
                on_panel=body.on_panel,
            )
        except DomainError as error:
            raise _in_settings(error) from None
        return answered(JudgeDetail.of(judge_in(who.project, made.judge.pk)), status=201 if made.created else 200)


class OneJudge(ApiView):
    @extend_schema(operation_id="get_judge", responses=responses(success={200: JudgeDetail}))
    def get(self, request: Request, judge_id: int) -> Response:
        """What a version is made of, and how hard it may be worked; never its key."""
        judge, _ = caller_on_judge(request, judge_id, at_least=Role.VIEWER)
        return answered(JudgeDetail.of(judge))

    @extend_schema(
        operation_id="change_judge",
        request={"application/json": JudgeChange},
        examples=[_CHANGE],
        responses=responses(400, 409, success={200: JudgeDetail}),
    )
    def patch(self, request: Request, judge_id: int) -> Response:
        """Put a version on the panel or take it off, change its limits or its key. For leads only."""
        judge, who = caller_on_judge(request, judge_id, at_least=Role.LEAD)
        _lead(who)
        body = read(JudgeChange, bodies.read_json(request))
        if body.working is not None or body.key is not None:
            working = judges.working_of(judge) if body.working is None else body.working.working()
            judges.work_judge(judge=judge, working=working, key=body.key)
        if body.on_panel is not None:
            (judges.seat if body.on_panel else judges.unseat)(judge=judge)
        return answered(JudgeDetail.of(judge_in(judge.project, judge.pk)))


class RejudgeBody(Wire):
    """Either a closed run, or all that people have audited."""

    run: int | None = None
    audited: bool = False


class RejudgeView(ApiView):
    @extend_schema(
        operation_id="rejudge", request=RejudgeBody, responses=responses(400, 409, success={202: RejudgingAnswer})
    )
    def post(self, request: Request, judge_id: int) -> Response:
        """Put this version to what has its labels already. Its opinions stand beside the others and change no label.

        For leads only: it is paid with what they keep for the judge.
        """
        judge, who = caller_on_judge(request, judge_id, at_least=Role.LEAD)
        _lead(who)
        body = read(RejudgeBody, bodies.read_json(request))
        if (body.run is None) is not body.audited:
            raise DomainError("Give either run, or audited: true.", field="run")
        run = None if body.run is None else run_in(judge.project, body.run)
        wish = rejudging.request(judge=judge, run=run, by=who.user)
        tasks.request_rejudging(wish.pk)
        return answered(RejudgingAnswer.model_validate(wish), status=202)


def _in_settings(error: DomainError) -> DomainError:
    """The settings are a part of the body, and so are the paths of what is wrong in them."""
    problems = error.details.get("problems")
    return refusal([Problem(**each).under("settings") for each in problems]) if problems else error


def _lead(who: Caller) -> Caller:
    """Runner keys name no addresses, hold no keys of others (RULES 23) and spend nothing on a lead's wish."""
    if who.user is None:
        raise NotAllowed("Judges are made and changed by leads who are signed in, not with a runner key.")
    return who
