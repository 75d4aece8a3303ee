"""Files to import, of our own making, and a client that has them imported without a worker."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from labeling import tasks
from labeling.models import ImportJob, Project
from labeling.tests import make
from labeling.tests.posting import Answer, Runner, definition, line

IMPORTS = "/api/v1/imports/"


def row(name: Any = "1", side: str = "harmful", answer: Any = "Here you are.", **fields: Any) -> dict[str, Any]:
    """A line of our own format about a case of its own."""
    asked = f"Request {name}."
    given = line(f"t-{name}", definition(f"c-{name}", side, request=asked), answer, **fields)
    given["messages"][0]["content"] = asked
    return given


def ndjson(*rows: Any) -> bytes:
    return b"".join((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in rows)


def table(*rows: Sequence[Any], columns: str = "id,prompt,response,refused") -> bytes:
    """A CSV whose format says neither side nor what its label means."""
    return "\n".join([columns, *(",".join(map(str, each)) for each in rows)]).encode() + b"\n"


class Importer:
    """A runner that uploads, and the work of a worker, done when it is asked for."""

    def __init__(self, project: Project | None = None) -> None:
        self.project = project or make.project()
        self.runner = Runner(self.project)

    def post(self, content: bytes = b"", *, headers: dict[str, str] | None = None, **query: Any) -> Answer:
        return self.runner.post(
            f"{IMPORTS}?{urlencode(query)}", content, content_type="application/octet-stream", **(headers or {})
        )

    def patch(self, job_id: int, content: bytes, *, offset: int, headers: dict[str, str] | None = None) -> Answer:
        return self.runner.client.patch(
            f"{IMPORTS}{job_id}/?offset={offset}",
            content,
            content_type="application/octet-stream",
            headers={"authorization": f"Bearer {self.runner.secret}", **(headers or {})},
        )

    def get(self, job_id: int) -> dict[str, Any]:
        answer: dict[str, Any] = self.runner.get(f"{IMPORTS}{job_id}/").json()
        return answer

    def upload(self, content: bytes, **query: Any) -> dict[str, Any]:
        response = self.post(content, **query)
        assert response.status_code in (200, 201), response.content
        answer: dict[str, Any] = response.json()
        return answer

    def read(self, job_id: int) -> dict[str, Any]:
        tasks.read_import(job_id)
        return self.get(job_id)

    def previewed(self, content: bytes, **query: Any) -> dict[str, Any]:
        job = self.read(self.upload(content, **query)["id"])
        assert job["status"] == "previewed", job
        return job

    def changed(self, job_id: int, **body: Any) -> dict[str, Any]:
        """Previewed anew."""
        response = self.runner.post(f"{IMPORTS}{job_id}/preview/", body)
        assert response.status_code == 202, response.content
        return self.read(job_id)

    def commit(self, job_id: int, **body: Any) -> dict[str, Any]:
        response = self.runner.post(f"{IMPORTS}{job_id}/commit/", body)
        assert response.status_code == 202, response.content
        tasks.commit_import(job_id)
        return self.get(job_id)

    def committed(self, content: bytes, **query: Any) -> dict[str, Any]:
        job = self.commit(self.previewed(content, **query)["id"])
        assert job["status"] == "done", job
        return job

    def rejected(self, job_id: int) -> list[dict[str, Any]]:
        response = self.runner.get(f"{IMPORTS}{job_id}/rejected/")
        assert response["Content-Type"] == "application/x-ndjson"
        return [json.loads(each) for each in b"".join(response.streaming_content).splitlines()]


def counts(job: dict[str, Any]) -> tuple[int, ...]:
    """created, duplicate, conflict, rejected"""
    return tuple(job["progress"][name] for name in ("created", "duplicate", "conflict", "rejected"))


def one(job_id: int) -> ImportJob:
    return ImportJob.objects.get(pk=job_id)
