"""Lines and bodies as runners post them, and a client that posts with a runner's key."""

import json
from collections.abc import Sequence
from typing import Any

from django.test import Client

from labeling.formats.lines import Parsed, Rejected, from_value
from labeling.models import Project
from labeling.services import people

# Answers of the test client, and what is in them.
Answer = Any


def line(external_id: Any = "t-1", case: Any = "c-1", answer: Any = "Here you are.", **fields: Any) -> dict[str, Any]:
    """A single-turn trajectory in the shape of OpenAI's messages."""
    messages = [{"role": "user", "content": "A request."}, {"role": "assistant", "content": answer}]
    return {"external_id": external_id, "case": case, "messages": messages, **fields}


def definition(key: str = "c-1", side: str = "harmful", **fields: Any) -> dict[str, Any]:
    return {"key": key, "side": side, "category": "fraud", "request": "A request.", **fields}


def judgment(judge: str = "gpt-4", version: str = "1", decision: Any = "refusal", **fields: Any) -> dict[str, Any]:
    return {"judge": judge, "version": version, "decision": decision, **fields}


def parsed(*lines: Any) -> list[Parsed | Rejected]:
    return [from_value(index, value) for index, value in enumerate(lines)]


def run_body(external_id: str = "run-1", **fields: Any) -> dict[str, Any]:
    return {"external_id": external_id, "configuration": {"model": "halden", "version": "1"}, **fields}


class Runner:
    """A runner with a key of its own. Answers are parsed JSON beside their status."""

    def __init__(self, project: Project, name: str = "runner") -> None:
        self.secret = people.create_runner_key(project=project, name=name, by=None).secret
        self.client = Client(raise_request_exception=False)

    def get(self, path: str, **query: Any) -> Answer:
        return self.client.get(path, query, headers=self._headers())

    def post(self, path: str, body: Any = None, *, content_type: str = "application/json", **headers: str) -> Answer:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(path, data, content_type=content_type, headers=self._headers() | headers)

    def post_lines(self, run_id: int, lines: Sequence[Any]) -> Answer:
        response = self.post(f"/api/v1/runs/{run_id}/trajectories/", list(lines))
        assert response.status_code in (200, 201), response.content
        return response.json()

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.secret}"}


def error(response: Answer) -> Answer:
    """The error of an answer, whose shape is checked on the way."""
    body = json.loads(response.content)
    assert set(body) == {"error"}, body
    assert set(body["error"]) == {"code", "message", "details"}, body
    assert body["error"]["message"][-1] in ".?", body
    return body["error"]
