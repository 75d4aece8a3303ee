"""What a served classifier is made from, and what keeps settings from making one."""

import json
import re
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from labeling.endpoints.exchange import Route
from labeling.judges.classifiers.presets import PRESETS, Preset
from labeling.judges.service import JsonFields, Service, Settings
from labeling.measure.meaning import YES
from labeling.vocabulary import Decision

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
# The names that model cards use for the same things.
SAME = {"prompt": "request", "generation": "answer", "response": "answer"}
_NAMES = frozenset({"request", "answer", "conversation", "behavior", "context", "question", "nonce", *SAME})
NOTHING = "nothing"
# A stream is read as no answer, and of several answers all are paid and one is read.
_NOT_SENT = {"stream", "n"}


def _one_of(words: Iterable[str]) -> AfterValidator:
    known = list(words)

    def check(word: str) -> str:
        if word not in known:
            raise PydanticCustomError("litmus_word", "must be one of {words}", {"words": ", ".join(known)})
        return word

    return AfterValidator(check)


def _on_one_line(text: str) -> str:
    if not text.isprintable():
        raise PydanticCustomError("litmus_title", "must be on one line, of characters that can be seen")
    return text.strip()


LabelWord = Annotated[str, _one_of([*YES, *Decision, NOTHING])]


class ServedSettings(Settings):
    """Everything here is identity, but for the title: another word is another judge version.

    title: as pages call it; "" for the preset's. prompt: in the place of the preset's wording; on the completion route
    it is all that is sent. question, meaning: of yes_no, with what a yes says. request_template, label_path, labels: of
    plain_http: the JSON to send, with placeholders in its texts; where the label stands in the answer, as in
    results.0.label; what each label means.
    """

    type: Literal["served"] = "served"
    preset: Annotated[str, _one_of(PRESETS)]
    title: Annotated[str, Field(max_length=200), AfterValidator(_on_one_line)] = ""
    service: Service = Service()
    prompt: Annotated[str, Field(max_length=20_000)] = ""
    route: Route | None = None
    question: Annotated[str, Field(max_length=2000)] = ""
    meaning: Annotated[str, _one_of(YES)] | None = None
    request_template: JsonFields = Field(default_factory=dict)
    label_path: Annotated[str, Field(max_length=200)] = ""
    labels: Annotated[dict[str, LabelWord], Field(max_length=200)] = Field(default_factory=dict)
    transcript_characters: Annotated[int, Field(ge=1000, le=2_000_000)] | None = None

    @model_validator(mode="after")
    def _can_run(self) -> Self:
        for sentence in _faults(self, PRESETS[self.preset]):
            # In braces there may be anything, which is no template of pydantic's.
            raise PydanticCustomError("litmus_served", "{sentence}", {"sentence": sentence})
        return self

    @property
    def spoken_by(self) -> Route:
        return self.route or PRESETS[self.preset].route


def _faults(settings: ServedSettings, preset: Preset) -> list[str]:
    """What keeps settings that are each right from making a judge."""
    service, is_plain = settings.service, preset.route is Route.PLAIN
    asks = preset.key == "yes_no"
    text = json.dumps(settings.request_template) if is_plain else settings.prompt
    checks = {
        f"route must be {' or '.join(sorted(preset.routes))} for {preset.key}": settings.spoken_by in preset.routes,
        f"route must be chat for {preset.key}, unless there is a prompt of your own": (
            bool(preset.wording or settings.prompt) or settings.spoken_by is not Route.COMPLETION
        ),
        "service needs a base_url, or the name of an operator's endpoint": bool(service.base_url or service.operator),
        "service needs the model's name": bool(service.model) or is_plain,
        "question and meaning are needed, and belong to yes_no only": (
            asks == bool(settings.question.strip()) == (settings.meaning is not None)
        ),
        "request_template, label_path and labels are needed, and belong to plain_http only": (
            is_plain == bool(settings.request_template) == bool(settings.label_path) == bool(settings.labels)
        ),
        f"service.extra must do without {' and '.join(sorted(_NOT_SENT))}: Litmus reads one whole answer": (
            is_plain or _NOT_SENT.isdisjoint(service.extra)
        ),
        "prompt has no place in plain_http; the request_template is what is sent": not (is_plain and settings.prompt),
    }
    faults = [sentence for sentence, holds in checks.items() if not holds]
    return faults or (_faults_of_template(text, preset) if text else [])


def _faults_of_template(text: str, preset: Preset) -> list[str]:
    found = set(PLACEHOLDER.findall(text))
    names = _NAMES | {"messages"} if preset.route is Route.PLAIN else _NAMES
    if unknown := sorted(found - names):
        known = ", ".join(f"{{{name}}}" for name in sorted(names))
        return [f"{{{unknown[0]}}} is no placeholder; there are {known}"]
    return [
        f"the prompt must hold {' or '.join(f'{{{name}}}' for name in sorted(group))}"
        for group in preset.needs
        if not group & found
    ]
