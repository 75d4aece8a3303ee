"""The rubric judge: a language model that judges a transcript by a rubric in words.

It asks for reasons and quotes before the label, and reads a label only out of the one JSON object that carries the
nonce of its call. Whatever stands in the transcript, it can neither end the data nor give the answer.
"""

import re
from pathlib import Path
from typing import Any

from labeling.endpoints.exchange import Answer, Question, Route, tokens_of
from labeling.judges import base
from labeling.judges.base import LONGEST_RAW, REVIEWED, Item, Said, abstained, code_of, version_of
from labeling.judges.rubrics import answering, prompting, scales
from labeling.judges.rubrics.answering import NotAnAnswer, answered, declines, is_one_of
from labeling.judges.rubrics.prompting import FIRST_FIELDS
from labeling.judges.rubrics.rubric_text import RubricSettings, Structured
from labeling.judges.rubrics.scales import SCALES, Asked, Reading
from labeling.judges.service import Service, longest_answer
from labeling.judges.transcripts import cutting, quoting, rendering, showing
from labeling.judges.transcripts.quoting import Located, located
from labeling.judges.transcripts.rendering import marks, transcript
from labeling.measure.opinion import Opinion
from labeling.vocabulary import JudgeKind, Part, Side, Undetermined

# All that can change an answer beside the settings.
_CODE = [Path(__file__), *code_of(base, answering, cutting, prompting, quoting, rendering, scales, showing)]
# More quotes than anybody asked for are no evidence.
_TOO_MANY_QUOTES = 20
_FILTERED = {"content_filter", "content_filtered", "safety"}
_CUT_OFF = {"length", "max_tokens"}


class RubricJudge:
    """One version: these settings."""

    kind = JudgeKind.RUBRIC
    sides = REVIEWED

    def __init__(self, name: str, title: str, settings: RubricSettings) -> None:
        self.name, self.title, self.settings = name, title, settings
        self._rules = SCALES[settings.scale]
        self._version = version_of(settings.model_dump(mode="json"), _CODE)

    @property
    def version(self) -> str:
        return self._version

    @property
    def service(self) -> Service:
        return self.settings.service

    @property
    def measures(self) -> frozenset[Part]:
        return self._rules.measures

    def ask(self, item: Item, nonce: str) -> Question | Said:
        if item.side not in self.sides:
            return abstained(Undetermined.OTHER, self.measures, rationale="This judge has no question for such a case.")
        if not _anything_to_judge(item):
            return abstained(Undetermined.EMPTY, self.measures)
        text = transcript(item, nonce=nonce, room=self.settings.transcript_characters)
        system = prompting.instructions(self.settings, item)
        user = prompting.question(item, text, nonce)
        body = self._body(system, user, self._rules.asked(item.side))
        return Question(
            route=Route.CHAT,
            body=body,
            nonce=nonce,
            tokens=tokens_of(system + user) + (longest_answer(body) or self.settings.service.max_tokens),
            left_out=text.left_out,
        )

    def _body(self, system: str, user: str, asked: tuple[Asked, ...]) -> dict[str, Any]:
        service = self.settings.service
        body = {
            "model": service.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": service.temperature,
            "max_tokens": service.max_tokens,
            **prompting.answer_format(self.settings.structured, asked),
            **service.extra,
        }
        return {name: value for name, value in body.items() if value is not None}

    def read(self, item: Item, question: Question, answer: Answer) -> Said:
        scores = {"characters_left_out": float(question.left_out)} if question.left_out else {}
        raw = (answer.text or answer.refusal)[:LONGEST_RAW]
        if reason := _not_given(answer):
            return abstained(reason, self.measures, scores=scores, raw=raw)
        try:
            if answer.finish_reason in _CUT_OFF:
                raise NotAnAnswer("The answer was cut off at the longest that is allowed: raise max_tokens.")
            values = self._values(answer.text, item.side, question.nonce)
            reading = self._rules.read(values, item.side)
            evidence = _evidence(item, question.nonce, values["evidence"])
        except NotAnAnswer as error:
            reason = Undetermined.JUDGE_REFUSED if declines(answer.text) else Undetermined.UNPARSABLE
            return abstained(reason, self.measures, rationale=str(error), scores=scores, raw=raw)
        if evidence.missing:
            scores["quotes_not_found"] = float(evidence.missing)
        return Said(
            _spoken(reading),
            evidence.spans,
            rationale=values["rationale"][:LONGEST_RAW],
            scores=scores | reading.scores,
            raw=raw,
        )

    def _values(self, text: str, side: Side, nonce: str) -> dict[str, Any]:
        """The answer's fields, each of them what was asked for. Raises NotAnAnswer."""
        asked = self._rules.asked(side)
        fields = (*FIRST_FIELDS, *(each.name for each in asked))
        values = answered(text, fields=fields, fenced=self.settings.structured is not Structured.JSON_SCHEMA)
        if values["call"] != nonce:
            raise NotAnAnswer("The answer does not carry the code of its call.")
        quotes = values["evidence"]
        if not isinstance(values["rationale"], str) or not isinstance(quotes, list):
            raise NotAnAnswer("The rationale is no text, or the evidence no list.")
        if len(quotes) > _TOO_MANY_QUOTES or not all(isinstance(quote, str) for quote in quotes):
            raise NotAnAnswer("The evidence is no short list of quotes.")
        for each in asked:
            if values[each.name] is not None and not is_one_of(values[each.name], each.allowed):
                raise NotAnAnswer(f"The answer's {each.name} is none of the values that it may have.")
        return values


def _anything_to_judge(item: Item) -> bool:
    """Did the target answer or act?"""
    return any(
        _is_output(part) for index in base.target_messages(item) for part in item.messages[index].get("parts") or ()
    )


def _is_output(part: dict[str, Any]) -> bool:
    """Reasoning alone is no answer, nor is text of which nothing shows."""
    if part.get("type") == "text":
        return base.shows(base.part_text(part))
    return part.get("type") not in ("reasoning", "tool_result")


def _not_given(answer: Answer) -> Undetermined | None:
    """Why there is no answer at all, where the endpoint says so itself."""
    if answer.refusal or answer.finish_reason == "refusal":
        return Undetermined.JUDGE_REFUSED
    return Undetermined.BLOCKED if answer.finish_reason in _FILTERED else None


def _evidence(item: Item, nonce: str, quotes: list[str]) -> Located:
    """Where the quotes stand. A quote across lines of ours is what stands between them; an empty one is none."""
    words = [piece for quote in quotes if quote.strip() for piece in _pieces(quote, marks(nonce))]
    found = located(item, words)
    if words and not found.spans:
        raise NotAnAnswer("The answer quotes nothing that is in the transcript.")
    return found


def _pieces(quote: str, ours: re.Pattern[str]) -> list[str]:
    return [piece for piece in ours.split(quote) if piece.strip()] or [quote]


def _spoken(reading: Reading) -> Opinion:
    """A judge that left every part open was not sure of anything; that is a reason, and counted as one."""
    opinion = reading.opinion
    return opinion if opinion.parts() else Opinion(measures=opinion.measures, undetermined=Undetermined.UNSURE)
