"""What a new judge can start from: the ready rubrics and the presets of served classifiers, each with its form."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.conf import settings as django_settings

from labeling.endpoints.exchange import Route
from labeling.errors import Conflict, NotFound
from labeling.judges.classifiers.presets import PRESETS, Preset
from labeling.judges.rubrics.rubric_text import RubricText, Structured, ready_rubrics
from labeling.judges.rubrics.scales import Scale
from labeling.models import Judge
from labeling.pages.judge_fields import Choice, Field, Section, Typing
from labeling.vocabulary import JudgeKind, Meaning


class Start(NamedTuple):
    """slug: in the address. fixed: the settings that its form does not change. given: what its fields begin with.

    can, cannot: sentences. wording: of the preset, where no prompt takes its place.
    """

    slug: str
    kind: JudgeKind
    title: str
    can: tuple[str, ...]
    cannot: tuple[str, ...]
    fixed: Mapping[str, Any]
    given: Mapping[str, Any]
    sections: tuple[Section, ...]
    has_categories: bool = False
    wording: str = ""

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(field for section in self.sections for field in section.fields)

    @property
    def name(self) -> str:
        """What a new judge is called until somebody says otherwise."""
        return self.slug.replace("_", "-")


def starts() -> dict[str, Start]:
    """All of them by slug, rubrics first."""
    rubrics = [_rubric(slug, text) for slug, text in ready_rubrics().items()]
    return {start.slug: start for start in (*rubrics, *map(_served, PRESETS.values()))}


def start_called(slug: str) -> Start:
    if (found := starts().get(slug)) is None:
        raise NotFound("There is no such kind of judge; choose one from the list.")
    return found


def start_of(settings: Mapping[str, Any]) -> Start | None:
    """What a judge of these settings could have started from; None for one that is made of no settings."""
    return next(
        (start for start in starts().values() if all(settings.get(k) == v for k, v in start.fixed.items())), None
    )


def start_of_version(judge: Judge) -> Start:
    """The form that makes new versions of this judge."""
    if (found := start_of(judge.settings)) is None:
        raise Conflict("This judge is not made on a page: it comes with Litmus, learns, or is imported.")
    return found


# --- who answers ---------------------------------------------------------------------------------------------------


def _service(*, has_model: bool = True) -> Section:
    operators = tuple(Choice(name, name) for name in sorted(django_settings.JUDGE_OPERATORS))
    where = (
        Field(
            "service.operator",
            "Endpoint",
            Typing.CHOICE,
            "Endpoints of this service have their keys already.",
            (Choice("", "the address below"), *operators),
        ),
    )
    return Section(
        "Who answers",
        (
            *(where if operators else ()),
            Field("service.base_url", "Address", hint="Of the API, as in https://api.example.com/v1"),
            *((_MODEL,) if has_model else ()),
        ),
    )


_MODEL = Field(
    "service.model", "Model", hint="As the endpoint calls it. Another model is another version.", required=True
)
_ANSWER = (
    Field("service.max_tokens", "Longest answer, in tokens", Typing.NUMBER),
    Field("service.temperature", "Temperature", Typing.NUMBER, "0: as much the same every time as the model can be."),
)
_EXTRA = Field(
    "service.extra",
    "More fields of each request",
    Typing.JSON,
    "An object of JSON, as the endpoint knows them. null takes a field out of the request.",
    rows=3,
)

# --- rubrics -------------------------------------------------------------------------------------------------------

_CUT = Field(
    "transcript_characters",
    "Longest transcript, in characters",
    Typing.NUMBER,
    "Longer ones are cut by a stated rule, and the judgment says how much was left out.",
)
_STRUCTURED = Field(
    "structured",
    "What the endpoint can be held to",
    Typing.CHOICE,
    choices=(
        Choice(Structured.JSON_SCHEMA, "an exact schema (best)"),
        Choice(Structured.JSON_OBJECT, "any JSON object"),
        Choice(Structured.NONE, "nothing: it is only asked for JSON"),
    ),
)
_SIDES = (
    Field("sides.benign", "For benign cases only", Typing.TEXT, "Shown for these alone.", rows=10),
    Field("sides.harmful", "For harmful cases only", Typing.TEXT, "Shown for these alone.", rows=10),
)


class _Says(NamedTuple):
    can: tuple[str, ...]
    cannot: tuple[str, ...]


_RUBRICS = {
    Scale.THREE_LABEL: _Says(
        (
            "The decision, the harm grade from 0 to 4, and what a good refusal has: explained, alternative offered.",
            "Whether a safe completion withheld the legitimate answer.",
        ),
        (),
    ),
    Scale.STRONGREJECT: _Says(
        ("Refused or not, how specific and how convincing the help is, and the harm grade that follows from it.",),
        (
            "Full compliance and safe completion apart.",
            "Harm in a refusal: leaks are not measured.",
            "A grade that is calibrated: compare it with people first.",
        ),
    ),
    Scale.BOUNDARY: _Says(
        (
            "Answered, deflected or refused.",
            "How helpful (benign cases) or how safe (harmful cases) the answer is, from 0 to 100.",
        ),
        ("A harm grade.", "A deflection as a safe completion or as a refusal: it may be either."),
    ),
    Scale.FIVE_POINT: _Says(
        ("How harmless the answer is, in five steps, as a harm grade; and refused or not.",),
        ("Full compliance and safe completion apart.", "Whether the legitimate answer was withheld."),
    ),
}


def _rubric(slug: str, text: RubricText) -> Start:
    words = (
        Field("title", "Title", hint="As pages call it.", required=True),
        Field("instructions", "For every case", Typing.TEXT, "What counts as what, in words.", rows=18, required=True),
        *(_SIDES if text.scale is Scale.BOUNDARY else ()),
    )
    says = _RUBRICS[text.scale]
    return Start(
        slug=slug,
        kind=JudgeKind.RUBRIC,
        title=text.title,
        can=says.can,
        cannot=says.cannot,
        fixed={"type": "rubric", "scale": str(text.scale)},
        given={
            **text.model_dump(mode="json"),
            "service": {"max_tokens": 1024, "temperature": 0.0},
            "transcript_characters": 60_000,
            "structured": str(Structured.JSON_SCHEMA),
        },
        sections=(
            _service(),
            Section("The rubric", words),
            Section("How it is asked", (_STRUCTURED, _CUT, *_ANSWER, _EXTRA), folded=True),
        ),
        has_categories=True,
    )


# --- served classifiers --------------------------------------------------------------------------------------------

_ROUTES = {Route.CHAT: "chat completions", Route.COMPLETION: "plain completions", Route.PLAIN: "a POST of JSON"}
_MEANINGS = {
    Meaning.HARMFUL: "the answer is harmful",
    Meaning.RESISTED: "the answer resisted",
    Meaning.REFUSED: "the answer is a refusal",
    Meaning.ANSWERED: "the answer is no refusal",
    Meaning.COMPLIED: "the answer complied in full",
}
_QUESTION = (
    Field(
        "question", "Question", Typing.TEXT, "About the answer; it is answered with yes or no.", rows=3, required=True
    ),
    Field(
        "meaning",
        "What a yes says",
        Typing.CHOICE,
        choices=(Choice("", "choose"), *(Choice(each, words) for each, words in _MEANINGS.items())),
        required=True,
    ),
)
_PLAIN = (
    Field(
        "request_template",
        "What is sent",
        Typing.JSON,
        'As in {"inputs": "{answer}"}; a text may hold {request}, {answer} or {conversation}.',
        rows=6,
        required=True,
    ),
    Field("label_path", "Where the label stands", hint="In the answer, as in results.0.label", required=True),
    Field(
        "labels",
        "What each label means",
        Typing.PAIRS,
        f"A line each, as in unsafe = harmful. There are {', '.join(_MEANINGS)}, the three decisions, and nothing.",
        required=True,
    ),
)


def _served(preset: Preset) -> Start:
    is_plain, asks = preset.route is Route.PLAIN, preset.key == "yes_no"
    title = Field("title", "Title", hint=f"As pages call it, and no part of the version. Empty: {preset.title}.")
    held = "{request}, {answer}, {conversation}, {behavior}, {context} and {nonce}"
    hint = f"Empty: the wording of the preset. It may hold {held}{'; it must hold {question}' if asks else ''}."
    prompt = Field("prompt", "Prompt", Typing.TEXT, hint, rows=8)
    routes = tuple(Choice(each, _ROUTES[each]) for each in sorted(preset.routes))
    asked = (
        title,
        *(_QUESTION if asks else ()),
        *(_PLAIN if is_plain else (prompt,)),
        *((Field("route", "Spoken to by", Typing.CHOICE, choices=routes),) if len(routes) > 1 else ()),
    )
    how = (_CUT, *(() if is_plain else _ANSWER), _EXTRA)
    return Start(
        slug=preset.key,
        kind=JudgeKind.CLASSIFIER,
        title=preset.title,
        can=(preset.says,),
        cannot=(preset.cannot,),
        fixed={"type": "served", "preset": preset.key},
        given={
            "service": {"max_tokens": min(1024, preset.max_tokens), "temperature": 0.0},
            "route": str(preset.route),
            "transcript_characters": preset.characters,
        },
        sections=(
            _service(has_model=not is_plain),
            Section("What it is asked", asked),
            Section("How", how, folded=True),
        ),
        wording=preset.wording,
    )
