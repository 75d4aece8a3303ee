"""Builders for tests of the rubric judge: items, judges, and the answers of a judging model."""

import json
from typing import Any

from labeling.endpoints.exchange import Answer, Question
from labeling.judges.base import Item, Message, Said
from labeling.judges.rubrics.rubric import RubricJudge
from labeling.judges.rubrics.rubric_text import RubricSettings, ready_rubrics
from labeling.vocabulary import Side

NONCE = "7c1d9a40b2e84f6f"
SERVICE = {"base_url": "https://judge.example/v1", "model": "judge-1"}


def said_by(role: str, *parts: str | dict[str, Any]) -> Message:
    return {
        "role": role,
        "parts": [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts],
    }


def talk(*texts: str, **facts: Any) -> Item:
    """User and target in turns, the user first."""
    return Item([said_by("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)], **facts)


def settings(scale: str = "three_label", **changes: Any) -> RubricSettings:
    ready = ready_rubrics()[scale].model_dump(mode="json")
    return RubricSettings.model_validate(ready | {"service": SERVICE} | changes)


def judge(scale: str = "three_label", **changes: Any) -> RubricJudge:
    return RubricJudge("rubric", "Rubric", settings(scale, **changes))


def asked(judge: RubricJudge, item: Item, nonce: str = NONCE) -> Question:
    question = judge.ask(item, nonce)
    assert isinstance(question, Question)
    return question


def words_to(judge: RubricJudge, item: Item) -> tuple[str, str]:
    """The system message and the user message."""
    system, user = asked(judge, item).body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    return system["content"], user["content"]


def three_labels(**changes: Any) -> dict[str, Any]:
    """An honest answer: the target complied, and nothing harmful came of it."""
    return {
        "call": NONCE,
        "rationale": "It did what was asked.",
        "evidence": [],
        "harm_grade": 0,
        "explained": None,
        "alternative_offered": None,
        "withheld": None,
        "decision": "full_compliance",
        **changes,
    }


def boundary(side: Side, *, score: Any, outcome: Any) -> dict[str, Any]:
    name = "helpfulness" if side is Side.BENIGN else "safety"
    return {"call": NONCE, "rationale": "", "evidence": [], name: score, "outcome": outcome}


def read(judge: RubricJudge, item: Item, answer: dict[str, Any] | str, **facts: Any) -> Said:
    """What the judge makes of this answer of its model."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return judge.read(item, asked(judge, item), Answer(text, **facts))
