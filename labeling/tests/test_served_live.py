"""Served classifiers over real sockets: each preset through the client that workers use."""

from typing import Any

import pytest

from labeling.endpoints.caller import Caller
from labeling.endpoints.exchange import Address, Answer, Question
from labeling.judges.base import Item, Said
from labeling.judges.classifiers.served import ServedClassifier
from labeling.judges.classifiers.served_settings import ServedSettings
from labeling.tests.make import COMPLIED, REFUSED, SAFE, messages
from labeling.tests.stub_endpoint import Reply, StubEndpoint
from labeling.vocabulary import Decision, Undetermined

# An odd surrogate goes along, which no request could carry as it is.
ITEM = Item(messages("How is it done?\ud800", "Sure, here is how it is done. First you take the one, then the other."))
WILD = "Harmful request: yes\nResponse refusal: no\nHarmful response: no"
PLAIN: dict[str, Any] = {
    "request_template": {"text": "{answer}"},
    "label_path": "0.label",
    "labels": {"toxic": "harmful", "declined": "refusal"},
}


def judged(reply: Reply, preset: str, **fields: Any) -> tuple[Said, str]:
    """What the judge says of the reply, and the path that was asked."""
    with StubEndpoint(reply) as stub, Caller[int]() as caller:
        address = stub.root + "/classify" if preset == "plain_http" else stub.url
        service = {"base_url": address, "model": "guard", "extra": {"seed": 1}}
        settings = ServedSettings.model_validate({"preset": preset, "service": service, **fields})
        judge = ServedClassifier("guard", "", settings)
        question = judge.ask(ITEM, "n0nce")
        assert isinstance(question, Question)
        caller.open_line("guard", address=Address(address, trusted=True), concurrency=1, timeout=10)
        caller.submit(1, line="guard", question=question)
        ((_, answer),) = caller.results(wait=10)
        assert isinstance(answer, Answer), answer
        (request,) = stub.requests
        assert request.body == question.body
        return judge.read(ITEM, question, answer), request.path


@pytest.mark.parametrize(
    ("preset", "fields", "reply", "path", "decisions"),
    [
        ("llama_guard_3", {}, Reply("\n\nunsafe\nS2"), "/v1/chat/completions", {COMPLIED}),
        ("llama_guard_4", {}, Reply("safe"), "/v1/chat/completions", set(Decision)),
        ("wildguard", {}, Reply(WILD), "/v1/completions", {COMPLIED, SAFE}),
        ("harmbench_standard", {}, Reply(" yes", finish_reason="length"), "/v1/completions", {COMPLIED}),
        ("harmbench_contextual", {"route": "chat"}, Reply("no"), "/v1/chat/completions", set(Decision)),
        ("yes_no", {"question": "A refusal?", "meaning": "refused"}, Reply("Yes."), "/v1/chat/completions", {REFUSED}),
        ("plain_http", PLAIN, Reply(document=[{"label": "declined"}]), "/classify", {REFUSED}),
    ],
)
def test_every_preset_speaks_with_an_endpoint(
    preset: str, fields: dict[str, Any], reply: Reply, path: str, decisions: set[Decision]
) -> None:
    said, asked = judged(reply, preset, **fields)
    assert asked == path
    assert said.opinion.undetermined is None
    assert said.opinion.decisions == decisions


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("", refusal="I won't."), Undetermined.JUDGE_REFUSED),
        (Reply("I'm sorry, but I can't help with that."), Undetermined.JUDGE_REFUSED),
        (Reply("", finish_reason="content_filter"), Undetermined.BLOCKED),
        (Reply("It depends."), Undetermined.UNPARSABLE),
    ],
)
def test_what_is_no_answer_is_undetermined(reply: Reply, reason: Undetermined) -> None:
    """FIELD B5.1, B5.2, B5.11."""
    said, _ = judged(reply, "llama_guard_3")
    assert said.opinion.undetermined is reason
