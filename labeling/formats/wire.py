"""What clients send, as models: suites with their cases, runs, trajectory lines with their judgments, verdicts.

Leaving a field out and giving null are the same thing. Unknown fields are errors, except inside `metadata`.
"""

from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, Discriminator, Field, Tag, ValidationError

from labeling.formats.checks import Check
from labeling.formats.normal import Unreadable, canonical, digest, is_set, normal_messages
from labeling.formats.problems import KEY, OBJECT, ONE, SEVERAL, Problem, problems_of, refusal
from labeling.formats.scalars import (
    BLANK_IS_NONE,
    Content,
    Cost,
    Count,
    FromOne,
    Grade,
    Json,
    JsonList,
    JsonObject,
    Messages,
    Moment,
    Name60,
    Name100,
    Name200,
    Request,
    Scores,
    SuiteKey,
    SuiteVersion,
    Text,
    Tier,
    Time,
    Word60,
    Word100,
    Word200,
)
from labeling.formats.strict import Strict
from labeling.vocabulary import (
    DEFAULT_HARM_THRESHOLD,
    GRAVEST_TIER,
    AttackKind,
    Decision,
    Kind,
    Layer,
    Origin,
    Part,
    Side,
    Undetermined,
    VerdictKind,
)

# The text of a word stands for the word; everything else is strict.
WORD = Field(strict=False)
_WHICH_PROJECT = Field(None, description="The project's key; needed only without a runner key.")


class Wire(Strict):
    """Something that clients send."""

    def problems(self) -> Iterator[Problem]:
        """What is wrong between fields that are each right."""
        return iter(())


Model = TypeVar("Model", bound=Wire)


def examine(model: type[Model], value: Any) -> Model | list[Problem]:
    """The value as this model, or everything that is wrong with it."""
    try:
        result = model.model_validate(value)
    except ValidationError as error:
        return problems_of(error, has_metadata="metadata" in model.model_fields)
    return list(result.problems()) or result


def read(model: type[Model], value: Any) -> Model:
    """The value as this model. Raises DomainError with every problem found."""
    result = examine(model, value)
    if isinstance(result, list):
        raise refusal(result)
    return result


def _is_object(value: Any) -> str:
    return OBJECT if isinstance(value, dict | BaseModel) else KEY


def _is_list(value: Any) -> str:
    return SEVERAL if isinstance(value, list) else ONE


class CaseDefinition(Wire):
    """One request or scripted conversation, and what makes an answer to it wrong."""

    key: Name200
    side: Annotated[Side, WORD]
    category: Word100 = ""
    tier: Tier | None = Field(
        None, validation_alias=AliasChoices("tier", "severity"), description="1 is gravest; `severity` means the same."
    )
    framing: Name60 = "plain"
    kind: Annotated[Kind, WORD] = Kind.SINGLE_TURN
    origin: Annotated[Annotated[Origin, WORD] | None, BLANK_IS_NONE] = Field(
        None, description="Where a benign case comes from."
    )
    pair: Word200 = Field("", description="Two cases that share this and differ in side are twins.")
    base_request: Word200 = Field("", description="Variants of one base request share this.")
    request: Request = Field(default_factory=list, description="Text, or messages as OpenAI or Anthropic have them.")
    right_answer: Text = ""
    check: Check | None = Field(None, description="How a program checks the answer; only on the capability side.")
    metadata: JsonObject = Field(default_factory=dict)

    def problems(self) -> Iterator[Problem]:
        try:
            normal_messages(self.request, path="request")
        except Unreadable as error:
            yield Problem(error.path, error.reason)
        if self.check is not None and self.side is not Side.CAPABILITY:
            yield Problem("check", "is only for cases of the capability side; people judge the others")

    def identity(self) -> str:
        """What is asked and expected. Defaults left out, so that a field added one day changes no identity of today."""
        return digest(self.model_dump(exclude_defaults=True))


class SuiteSpec(Wire):
    """A named, versioned set of cases; immutable once published."""

    key: SuiteKey
    version: SuiteVersion
    title: Word200 = ""
    description: Text = ""
    harm_threshold: Annotated[int, Field(ge=1, le=4)] = DEFAULT_HARM_THRESHOLD
    gravest_tier: Tier = GRAVEST_TIER
    protocol: JsonObject = Field(default_factory=dict)
    cases: list[CaseDefinition] = []
    publish: bool = False
    project: Word60 | None = _WHICH_PROJECT

    def problems(self) -> Iterator[Problem]:
        seen: set[str] = set()
        for index, case in enumerate(self.cases):
            yield from (problem.under(f"cases[{index}]") for problem in case.problems())
            if case.key in seen:
                yield Problem(f"cases[{index}].key", "repeats the key of an earlier case")
            seen.add(case.key)
        if self.publish and not self.cases:
            yield Problem("cases", "must not be empty when the suite is published")


class SuiteRef(Wire):
    key: Word200
    version: Word60 | None = None


class ConfigurationSpec(Wire):
    """The system under test. Everything here enters its fingerprint."""

    model: Name200
    version: Name200
    system_prompt: Text = ""
    decoding: JsonObject = Field(default_factory=dict)
    filters: JsonList = Field(default_factory=list)
    layer: Annotated[Layer, WORD] = Layer.MODEL

    def fingerprint(self) -> str:
        """The identity of the configuration; 0 and 0.0 are one number to every API."""
        return digest(_whole_where_whole(self.model_dump()))


def _whole_where_whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole_where_whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole_where_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class AttackSpec(Wire):
    """The attack budget."""

    kind: Annotated[AttackKind, WORD] = AttackKind.DIRECT
    attempts: FromOne = 1
    turns: FromOne = 1


class JudgeRef(Wire):
    name: Name100
    version: Name100 | None = None


class JudgeDeclaration(Wire):
    """An imported judge, and the parts of an opinion it measures."""

    name: Name100
    version: Name100
    title: Word200 = ""
    measures: list[Annotated[Part, WORD]] | None = Field(
        None, description="Without it, each judgment measures the parts it gives."
    )


SuiteChoice = Annotated[Annotated[Word200, Tag(KEY)] | Annotated[SuiteRef, Tag(OBJECT)], Discriminator(_is_object)]
JudgeChoice = Annotated[Annotated[Name100, Tag(KEY)] | Annotated[JudgeRef, Tag(OBJECT)], Discriminator(_is_object)]


class RunSpec(Wire):
    """One configuration over one suite, with its attack budget. Idempotent by `external_id`."""

    external_id: Name200
    name: Word200 = ""
    suite: SuiteChoice | None = Field(
        None, description="`key`, `key@version` or an object. Without it, the run's trajectories define their cases."
    )
    configuration: ConfigurationSpec
    attack: AttackSpec = AttackSpec()
    panel: list[JudgeChoice] | None = Field(
        None, description="The judges whose opinions make the labels. Without it, all that judged until the close."
    )
    judges: list[JudgeDeclaration] = Field([], description="Declarations of judges whose judgments will be posted.")
    audits_per_side: Count | None = None
    expected_count: Count | None = None
    measurement: Count | None = Field(
        None, description="The measurement of another run, to compute one pair over both."
    )
    project: Word60 | None = _WHICH_PROJECT


class Flags(Wire):
    explained: bool | None = None
    alternative_offered: bool | None = None
    withheld: bool | None = None


DecisionWord = Annotated[Decision, WORD]
DecisionChoice = Annotated[
    Annotated[DecisionWord, Tag(ONE)] | Annotated[list[DecisionWord], Field(min_length=1), Tag(SEVERAL)],
    Discriminator(_is_list),
]


def opinion_text(values: dict[Part, Any], *, reason: str, scores: dict[str, Any]) -> str:
    """What was said as one text to compare; 95 and 95.0 are one score."""
    return canonical([values, reason, _whole_where_whole(scores)])


class PostedJudgment(Wire):
    """What one version of one judge said. A part left out is silent, or unknown where the judge declared it."""

    judge: Name100
    version: Name100
    decision: DecisionChoice | None = Field(None, description="One word, or all words the judge does not rule out.")
    harm_grade: Grade | None = None
    flags: Flags = Flags()
    check_passed: bool | None = None
    scores: Scores = Field(default_factory=dict, description="Numbers by name; NaN is kept.")
    undetermined: Annotated[str, Field(max_length=1000)] | None = Field(
        None, description="Why the judge could not say."
    )
    evidence: JsonList = Field(default_factory=list)
    rationale: Json = ""
    raw_output: Json = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost_usd: Cost | None = None
    latency_ms: Count | None = None

    def decisions(self) -> frozenset[Decision]:
        """What is not ruled out."""
        if self.decision is None:
            return frozenset(Decision)
        return frozenset(self.decision if isinstance(self.decision, list) else [self.decision])

    def values(self) -> dict[Part, Any]:
        """The parts this judgment gives."""
        decisions = sorted(self.decisions())
        given = {
            Part.DECISION: decisions if len(decisions) < len(Decision) else None,
            Part.HARM_GRADE: self.harm_grade,
            Part.EXPLAINED: self.flags.explained,
            Part.ALTERNATIVE_OFFERED: self.flags.alternative_offered,
            Part.WITHHELD: self.flags.withheld,
            Part.CHECK: self.check_passed,
        }
        return {part: value for part, value in given.items() if value is not None}

    def said(self) -> str:
        """The opinion with its scores, as one text to compare."""
        return opinion_text(self.values(), reason=self.reason(), scores=self.scores)

    def reason(self) -> str:
        """Why the judge could not say, in our words; "" if it could."""
        if not self.undetermined:
            return ""
        known = {word.value for word in Undetermined}
        return self.undetermined if self.undetermined in known else Undetermined.OTHER

    def problems(self) -> Iterator[Problem]:
        if self.undetermined and self.values():
            parts = ", ".join(self.values())
            yield Problem("undetermined", f"contradicts the {parts} given beside it; give one or the other")


class TrajectoryLine(Wire):
    """What the target did on one attempt of one case."""

    external_id: Name200
    case: Annotated[
        Annotated[Name200, Tag(KEY)] | Annotated[CaseDefinition, Tag(OBJECT)], Discriminator(_is_object)
    ] = Field(description="The key of a case of the run's suite, as text, or an object that defines the case.")
    attempt: FromOne = 1
    system: Json = Field(None, description="The system prompt, where it is not among the messages (Anthropic).")
    messages: Messages | None = Field(None, description="Messages as OpenAI or Anthropic have them.")
    tools: JsonList = Field(default_factory=list, description="The tools offered to the target.")
    stop_reason: Word60 = ""
    error: Json = Field(None, description="What kept the target from running, if anything did.")
    observed_at: Time = Field("", description="ISO 8601, with its zone.")
    metadata: JsonObject = Field(default_factory=dict, description="Yours: any JSON, kept and not read.")
    judgments: list[PostedJudgment] = []

    @property
    def case_key(self) -> str:
        return self.case if isinstance(self.case, str) else self.case.key

    def posted_messages(self) -> list[Any]:
        before = [] if self.system is None else [{"role": "system", "content": self.system}]
        return [*before, *(self.messages or [])]

    def problems(self) -> Iterator[Problem]:
        if self.messages is None and not is_set(self.error):
            yield Problem("messages", "is required, unless error says why there are none")
        if isinstance(self.case, CaseDefinition):
            yield from (problem.under("case") for problem in self.case.problems())
        first: dict[tuple[str, str], PostedJudgment] = {}
        for index, judgment in enumerate(self.judgments):
            yield from (problem.under(f"judgments[{index}]") for problem in judgment.problems())
            before = first.setdefault((judgment.judge, judgment.version), judgment)
            if before is not judgment and before.said() != judgment.said():
                yield Problem(f"judgments[{index}]", "gives another opinion of a judge version given before it")


class VerdictParts(Wire):
    """What a person says of a trajectory. Which parts a verdict must have is its reader's to say."""

    decision: DecisionWord | None = None
    harm_grade: Grade | None = None
    explained: bool | None = None
    alternative_offered: bool | None = None
    withheld: bool | None = None
    note: Content = ""


class VerdictLine(VerdictParts):
    """A verdict given elsewhere, before. Any part may be missing, not all of them."""

    external_id: Name200 = Field(description="The trajectory's.")
    author: Name200
    decided_at: Moment = Field(description="ISO 8601, with its zone.")
    kind: Annotated[VerdictKind, WORD] = VerdictKind.REVIEW
    blind: bool | None = Field(None, description="Left out, it is as the whole post declares.")

    def problems(self) -> Iterator[Problem]:
        parts = (self.decision, self.harm_grade, self.explained, self.alternative_offered, self.withheld)
        if all(part is None for part in parts):
            yield Problem("decision", "is missing, and so is every other part; a verdict says something")
