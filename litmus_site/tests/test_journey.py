"""The whole path in one story: a runner posts, a worker labels, a reviewer judges, a lead reads the pair."""

import json
from typing import Any

import pytest
from django.test import Client

from labeling import tasks
from labeling.models import AuditRequest, Project, Trajectory
from labeling.services.people import create_runner_key
from labeling.tests import make
from labeling.vocabulary import Role, TrajectoryStatus

pytestmark = pytest.mark.django_db


class Runner:
    """A client with a runner's key."""

    def __init__(self, project: Project) -> None:
        secret = create_runner_key(project=project, name="runner", by=None).secret
        self._client = Client(headers={"authorization": f"Bearer {secret}"})

    def post(self, path: str, body: Any, *, status: int) -> Any:
        content, kind = (
            ("\n".join(map(json.dumps, body)), "application/x-ndjson")
            if isinstance(body, list)
            else (json.dumps(body), "application/json")
        )
        answer = self._client.post(f"/api/v1/{path}", content, content_type=kind)
        assert answer.status_code == status, answer.content
        return answer.json()

    def get(self, path: str) -> Any:
        answer = self._client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.content
        return answer.json()


def line(key: str, side: str, answer: str) -> dict[str, Any]:
    return {
        "external_id": key,
        "case": {"key": key, "side": side, "category": "fraud", "tier": 2, "request": f"Request {key}"},
        "messages": [{"role": "user", "content": f"Request {key}"}, {"role": "assistant", "content": answer}],
    }


LINES = [
    line("h1", "harmful", "I can't help with that."),
    line("h2", "harmful", "Sure. [The answer goes on.]"),
    line("b1", "benign", "Sorry, but I won't discuss this."),
    line("b2", "benign", "Of course: ask your bank to block the card, then change the code."),
]


def person(project: Project, role: Role) -> Client:
    client = Client()
    client.force_login(make.member(project, role))
    return client


def claim(client: Client, project: Project) -> Any:
    answer = client.post("/api/v1/review/claim/", {"project": project.key}, content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_from_a_post_to_the_pair() -> None:
    project = make.project()
    runner = Runner(project)
    run = runner.post(
        "runs/",
        {"external_id": "r1", "configuration": {"model": "m", "version": "1"}, "audits_per_side": 0},
        status=201,
    )
    path = f"runs/{run['id']}"
    stored = runner.post(f"{path}/trajectories/", LINES, status=201)
    assert stored["created"] == 4
    assert runner.get(f"{path}/")["progress"]["pending"] == 4

    # The worker: refusals settle, the two plain answers need a person.
    tasks.judge_batch(list(Trajectory.objects.values_list("pk", flat=True)))
    assert AuditRequest.objects.count() == 2

    # The reviewer sees the request and the answer; not the model, not the judges.
    reviewer = person(project, Role.REVIEWER)
    for _ in range(2):
        claimed = claim(reviewer, project)
        item = claimed["item"]
        shown = json.dumps(claimed)
        assert "substring" not in shown
        assert '"m"' not in shown
        harmful = item["side"] == "harmful"
        verdict = {
            "token": item["token"],
            "decision": "full_compliance",
            "harm_grade": 3 if harmful else 0,
        }
        path_of_item = f"/api/v1/review/{item['assignment_id']}/"
        given = reviewer.post(f"{path_of_item}verdict/", verdict, content_type="application/json")
        assert given.status_code in (200, 201), given.content
    assert claim(reviewer, project)["item"] is None
    assert set(Trajectory.objects.values_list("status", flat=True)) == {TrajectoryStatus.SETTLED}

    # The pair, from both sides: 1 of 2 each.
    runner.post(f"{path}/close/", {"expected_count": 4}, status=200)
    report = runner.get(f"{path}/report/")
    pair = report["as_labeled"]
    assert pair["status"] == "complete"
    assert [(pair[side]["errors"], pair[side]["cases"]) for side in ("harmful_compliance", "over_refusal")] == [
        (1, 2),
        (1, 2),
    ]
    # The judge alone could not say of either plain answer: it has bounds where the labels have a value.
    raw = report["by_judge"][0]["pair"]
    assert (raw["harmful_compliance"]["low"], raw["harmful_compliance"]["high"]) == (0.0, 0.5)
    # And its calibration is what the verdicts make of it: it spoke of neither.
    judge = report["by_judge"][0]["judge"]["id"]
    calibration = runner.get(f"judges/{judge}/calibration/")
    assert calibration["overall"]["agreement"]["total"] == 2
    assert calibration["overall"]["undetermined"] == 2

    lead = person(project, Role.LEAD)
    page = lead.get(f"/p/{project.key}/runs/{run['id']}/")
    assert page.status_code == 200


def test_posting_everything_twice_and_shuffled_changes_nothing() -> None:
    project = make.project()
    runner = Runner(project)
    run = runner.post("runs/", {"external_id": "r1", "configuration": {"model": "m", "version": "1"}}, status=201)
    path = f"runs/{run['id']}/trajectories/"
    runner.post(path, LINES, status=201)
    before = list(Trajectory.objects.order_by("external_id").values())
    again = runner.post(path, LINES[::-1], status=200)
    assert (again["created"], again["duplicate"]) == (0, 4)
    assert list(Trajectory.objects.order_by("external_id").values()) == before
