"""A runner, an open run of its project, and a lead: what goes in, and what comes out by pages and the export."""

import json
from typing import Any, NamedTuple

from django.test import Client
from django.urls import reverse

from labeling import tasks
from labeling.models import Project, Run, Trajectory
from labeling.tests import make
from labeling.tests.posting import Runner, run_body
from labeling.vocabulary import Role

NDJSON = "application/x-ndjson"


class Stage(NamedTuple):
    runner: Runner
    run: Run
    lead: Client

    @classmethod
    def set(cls, **run: Any) -> "Stage":
        project: Project = make.project()
        runner = Runner(project)
        run_id = runner.post("/api/v1/runs/", run_body(**run)).json()["id"]
        lead = Client()
        lead.force_login(make.member(project, Role.LEAD))
        return cls(runner, Run.objects.get(pk=run_id), lead)

    def another(self, external_id: str) -> "Stage":
        """The same people and another run."""
        run_id = self.runner.post("/api/v1/runs/", run_body(external_id)).json()["id"]
        return self._replace(run=Run.objects.get(pk=run_id))

    def send(self, body: bytes) -> Any:
        """The answer to a body of lines."""
        return self.runner.post(reverse("api_trajectories", args=[self.run.pk]), body, content_type=NDJSON)

    def post(self, *lines: Any) -> list[Trajectory]:
        """The rows of lines that are all new, in their order, judged."""
        answer = self.send("\n".join(json.dumps(line) for line in lines).encode())
        assert answer.status_code == 201, answer.content
        assert answer.json()["entries"] == []
        rows = list(self.run.trajectories.order_by("-pk")[: len(lines)])[::-1]
        tasks.judge_batch([row.pk for row in rows])
        return rows

    def exported(self) -> list[dict[str, Any]]:
        """Every row with its text, and opinions too."""
        query = {"content": "1", "opinions": "1"}
        answer: Any = self.lead.get(reverse("api_export", args=[self.run.pk]), query)
        assert answer.status_code == 200, answer.content
        return [json.loads(line.decode("ascii")) for line in answer.streaming_content]

    def page(self, name: str, *arguments: object, **query: str) -> bytes:
        """A page as the lead sees it."""
        answer = self.lead.get(reverse(name, args=[self.run.project.key, *arguments]), query)
        assert answer.status_code == 200, answer.content
        return bytes(answer.content)

    def opened(self, row: Trajectory) -> bytes:
        """A trajectory's page with the opinions on it."""
        assert self.lead.post(reverse("trajectory_opinions", args=[self.run.project.key, row.pk])).status_code == 302
        return self.page("trajectory", row.pk)
