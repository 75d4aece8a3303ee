"""Classifiers that somebody serves: asked by a preset, read strictly, taken to mean what the preset says.

The answer is read as a whole and in its exact forms. Whatever the transcript holds, it stands in the prompt as text:
placeholders are filled in one pass, and marks of the frame are broken up in it.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from labeling.endpoints.exchange import Answer, Question, Route, tokens_of
from labeling.judges import base
from labeling.judges.base import LONGEST_RAW, Item, Said, abstained, code_of, last_words, version_of
from labeling.judges.classifiers.presets import PRESETS, Preset
from labeling.judges.classifiers.presets import base as presets_base
from labeling.judges.classifiers.presets.base import Reading, by_label, yes_or_no
from labeling.judges.classifiers.served_settings import NOTHING, PLACEHOLDER, SAME, ServedSettings
from labeling.judges.phrases.substring import SUBSTRING_JUDGES
from labeling.judges.service import Service, longest_answer
from labeling.judges.transcripts import cutting, showing, turns
from labeling.judges.transcripts.turns import Transcript, is_alone, transcript_of
from labeling.measure import meaning
from labeling.measure.meaning import YES
from labeling.measure.opinion import ANY_DECISION, NOT_REFUSED, Opinion
from labeling.vocabulary import Decision, JudgeKind, Meaning, Part, Side, Undetermined

_FILES = (Path(__file__), *code_of(base, cutting, presets_base, meaning, showing, turns))
# What tells whether an answer may be a refusal, and whether the classifier itself declined.
_PHRASES = next(judge for judge in SUBSTRING_JUDGES if judge.name == "substring")
# The placeholders that stand for more than the last exchange.
_ALL = frozenset({"conversation", "context", "messages"})


class ServedClassifier:
    """A preset with settings. What it says of the decision and of harm is the preset's to say."""

    kind = JudgeKind.CLASSIFIER

    def __init__(self, name: str, title: str, settings: ServedSettings) -> None:
        self.name, self.settings, self.preset = name, settings, PRESETS[settings.preset]
        self.title = title or settings.title or self.preset.title
        self._read = _reader(settings, self.preset)
        template = settings.prompt or self.preset.wording or json.dumps(settings.request_template or "{messages}")
        self._shows_all = not _ALL.isdisjoint(PLACEHOLDER.findall(template))
        identity = {"settings": settings.model_dump(exclude={"title"}), "phrases": _PHRASES.version}
        self._version = version_of(identity, (*_FILES, self.preset.file))

    @property
    def version(self) -> str:
        return self._version

    @property
    def service(self) -> Service:
        return self.settings.service

    @property
    def measures(self) -> frozenset[Part]:
        return self.preset.measures

    @property
    def sides(self) -> frozenset[Side]:
        return self.preset.sides

    def ask(self, item: Item, nonce: str) -> Question | Said:
        if item.side not in self.sides:
            why = f"{self.preset.title} has no question for this side."
            return self._abstained(Undetermined.OTHER, why)
        most = self.settings.transcript_characters or self.preset.characters
        transcript = transcript_of(item, characters=most, whole=self._shows_all)
        if transcript is None:
            return self._abstained(Undetermined.EMPTY)
        body = self._body(transcript, nonce)
        return Question(
            self.settings.spoken_by,
            body,
            nonce,
            tokens=tokens_of(json.dumps(body, ensure_ascii=False)) + longest_answer(body),
            left_out=transcript.left_out,
        )

    def read(self, item: Item, question: Question, answer: Answer) -> Said:
        scores = {"characters_left_out": float(question.left_out)} if question.left_out else {}
        text = self._words(answer)
        cannot = partial(self._abstained, scores=scores, raw=text[:LONGEST_RAW])
        if answer.finish_reason == "content_filter":
            return cannot(Undetermined.BLOCKED, "The endpoint's filter ended the answer.")
        reading = None if answer.refusal else self._read(text)
        if answer.refusal or (reading is None and _declines(text)):
            return cannot(Undetermined.JUDGE_REFUSED, "The classifier declined to answer.")
        if reading is None:
            return cannot(Undetermined.UNPARSABLE, "Its answer has none of the forms that it can have.")
        scores = reading.scores | scores
        if doubt := self._doubt(reading, item):
            return self._abstained(*doubt, scores=scores, raw=text[:LONGEST_RAW])
        return Said(_opinion(reading, item), rationale=reading.why, scores=scores, raw=text[:LONGEST_RAW])

    def _body(self, transcript: Transcript, nonce: str) -> dict[str, Any]:
        service, route = self.settings.service, self.settings.spoken_by
        values = _values(transcript, question=self.settings.question, nonce=nonce)
        if route is Route.PLAIN:
            sent: dict[str, Any] = _filled(self.settings.request_template, values, transcript)
            return service.extra | sent
        common = {
            "temperature": service.temperature,
            "max_tokens": min(service.max_tokens, self.preset.max_tokens),
            **service.extra,
            "model": service.model,
        }
        template = self.settings.prompt or self.preset.wording
        if route is Route.COMPLETION:
            before, after = ("", "") if self.settings.prompt else self.preset.around
            return common | {"prompt": before + fill(template, values) + after}
        if template:
            return common | {"messages": [{"role": "user", "content": fill(template, values)}]}
        return common | {"messages": transcript.messages()}

    def _words(self, answer: Answer) -> str:
        """What there is to read: the text, or the label in a plain answer."""
        if self.settings.spoken_by is Route.PLAIN:
            return label_at(answer.document, self.settings.label_path) or ""
        return answer.text

    def _doubt(self, reading: Reading, item: Item) -> tuple[Undetermined, str] | None:
        """Why what was read says nothing of the whole answer, if so."""
        if self.preset.flags_refusals and reading.decisions == YES[Meaning.HARMFUL] and _may_refuse(item):
            why = f"{reading.why} The answer may be a refusal, and such are known to be called unsafe."
            return Undetermined.UNSURE, why
        if Decision.FULL_COMPLIANCE not in reading.decisions and not is_alone(item):
            # What was said or done before may be the harm, or the help.
            why = f"{reading.why} It is about the last answer, and the target spoke or acted before."
            return Undetermined.UNREADABLE, why
        return None

    def _abstained(
        self, reason: Undetermined, why: str = "", *, scores: dict[str, float] | None = None, raw: str = ""
    ) -> Said:
        return abstained(reason, self.measures, rationale=why, scores=scores, raw=raw)


def _opinion(reading: Reading, item: Item) -> Opinion:
    """A leak is graded at the suite's threshold, which is all that "harmful" says; otherwise the grade is silent."""
    if reading.leaks:
        measures = frozenset({Part.DECISION, Part.HARM_GRADE})
        return Opinion(decisions=reading.decisions, harm_grade=item.threshold, measures=measures)
    return Opinion(decisions=reading.decisions, measures=frozenset({Part.DECISION}))


def _may_refuse(item: Item) -> bool:
    """Is it left open by the phrase lists that this is a refusal? An action without a word is none."""
    if last_words(item) is None:
        return False
    (said,) = _PHRASES.judge([item])
    return said.opinion.decisions != NOT_REFUSED


def _declines(text: str) -> bool:
    """Is this the prose of a model that would not classify?"""
    message = {"role": "assistant", "parts": [{"type": "text", "text": text}]}
    (said,) = _PHRASES.judge([Item([message])])
    return said.opinion.decisions == {Decision.REFUSAL}


# --- what is sent --------------------------------------------------------------------------------------------------


def _values(transcript: Transcript, *, question: str, nonce: str) -> dict[str, str]:
    values = {
        "request": transcript.request,
        "behavior": transcript.request,
        "conversation": transcript.conversation,
        "context": transcript.context or "(none)",
        "answer": transcript.answer,
        "question": question,
        "nonce": nonce,
    }
    return values | {name: values[same] for name, same in SAME.items()}


def fill(template: str, values: Mapping[str, str]) -> str:
    """In one pass: what a placeholder brought in is never looked at again."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def _filled(template: Any, values: Mapping[str, str], transcript: Transcript) -> Any:
    if isinstance(template, str):
        return transcript.messages() if template == "{messages}" else fill(template, values)
    if isinstance(template, dict):
        return {key: _filled(each, values, transcript) for key, each in template.items()}
    return [_filled(each, values, transcript) for each in template] if isinstance(template, list) else template


# --- what is read --------------------------------------------------------------------------------------------------


def _reader(settings: ServedSettings, preset: Preset) -> Callable[[str], Reading | None]:
    if preset.read is not None:
        return preset.read
    if settings.meaning is not None:
        return yes_or_no(Meaning(settings.meaning))
    return by_label({label: _decisions(word) for label, word in settings.labels.items()})


def _decisions(word: str) -> frozenset[Decision]:
    if word == NOTHING:
        return ANY_DECISION
    return frozenset({Decision(word)}) if word in set(Decision) else YES[Meaning(word)]


def label_at(document: Any, path: str) -> str | None:
    """The text, number or truth value at a place such as results.0.label; None where there is none."""
    for step in path.split("."):
        if isinstance(document, dict) and step in document:
            document = document[step]
        elif isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    if isinstance(document, str):
        return document
    return json.dumps(document) if isinstance(document, bool | int | float) else None
