"""/api/v1/review/: for people who are signed in, by their own claims only."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client

from audit.models import Assignment, Decline, Verdict
from audit.services import people
from audit.tests.make import claimed, lapse, queue
from labeling.models import Membership, Project, Run
from labeling.tests import make
from labeling.tests.posting import Runner, error
from labeling.vocabulary import AssignmentState, Role, VerdictKind, VerdictSource

pytestmark = pytest.mark.django_db

COMPLIED = {"decision": "full_compliance", "harm_grade": 3}


@pytest.fixture
def run() -> Run:
    made = make.run(name="secret run", external_id="secret-run")
    for number, request in enumerate(queue(made, 2)):
        trajectory = request.trajectory
        make.judgment(trajectory, make.judge(made.project, f"secret-judge-{number}"), make.REFUSED)
    return made


@pytest.fixture
def project(run: Run) -> Project:
    made: Project = run.project
    return made


class Person:
    """Somebody signed in. Answers are parsed JSON beside their status."""

    def __init__(self, user: User) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.force_login(user)
        self.user = user

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        data = json.dumps(body).encode() if body is not None else b""
        return self.client.post(f"/api/v1/review/{path}", data, content_type="application/json", headers=headers)

    def claim(self, project: Project) -> Any:
        response = self.post("claim/", {"project": project.key})
        assert response.status_code == 200, response.content
        return response.json()

    def item(self, project: Project) -> Any:
        return self.claim(project)["item"]


@pytest.fixture
def reviewer(project: Project) -> Person:
    return Person(make.member(project, Role.REVIEWER))


@pytest.fixture
def colleague(project: Project) -> Person:
    return Person(make.member(project, Role.REVIEWER))


def test_from_the_claim_to_the_verdict(reviewer: Person, project: Project) -> None:
    """B2.1, B2.2: sent again it is the first, and another verdict is a conflict."""
    item = reviewer.item(project)
    held = {"token": item["token"]}
    beat = reviewer.post(f"{item['assignment_id']}/heartbeat/", held)
    assert (beat.status_code, list(beat.json())) == (200, ["leased_until"])
    evidence = [{"quote": "\0 \ud83d"}]
    body = {**held, **COMPLIED, "note": "Usable: \0 \ud83d", "evidence": evidence, "confidence": 5}

    first = reviewer.post(f"{item['assignment_id']}/verdict/", body)
    again = reviewer.post(f"{item['assignment_id']}/verdict/", body)
    other = reviewer.post(f"{item['assignment_id']}/verdict/", {**held, "decision": "safe_completion", "harm_grade": 0})

    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert {**again.json(), "created": True} == first.json()
    assert error(other)["details"] == {"verdict": first.json()["id"]}
    assert first.json()["blind"] is True
    verdict = Verdict.objects.get()
    assert (verdict.source, verdict.kind, verdict.note) == (
        VerdictSource.API,
        VerdictKind.REVIEW,
        "Usable: \0 \ud83d",
    )
    assert verdict.evidence == evidence
    assert reviewer.item(project)["trajectory_id"] != item["trajectory_id"]


def test_an_item_names_no_model_no_judge_and_no_reason(reviewer: Person, project: Project) -> None:
    said = json.dumps(reviewer.claim(project))
    assert "secret" not in said
    assert "disagreement" not in said
    assert "external_id" not in said


def test_nothing_left_says_which_of_the_three_it_is(reviewer: Person, colleague: Person, project: Project) -> None:
    third = Person(make.member(project, Role.REVIEWER))
    reviewer.claim(project)
    colleague.claim(project)
    answer = third.claim(project)
    assert answer["item"] is None
    assert (answer["nothing_left"]["kind"], answer["nothing_left"]["left"]) == ("all_held", 2)
    assert answer["nothing_left"]["until"].endswith("Z")


def test_an_adjudicator_is_shown_both_verdicts_and_no_name(project: Project) -> None:
    run = make.run(project)
    queue(run, 1, slots=2, priority=1)
    for decision in ("full_compliance", "safe_completion"):
        person = Person(make.member(project, Role.REVIEWER))
        item = person.item(project)
        body = {"token": item["token"], "decision": decision, "harm_grade": 0}
        assert person.post(f"{item['assignment_id']}/verdict/", body).status_code == 201
    lead = Person(make.member(project, Role.LEAD))
    item = lead.item(project)
    while not item["adjudication"]:
        lead.post(f"{item['assignment_id']}/verdict/", {"token": item["token"], **COMPLIED})
        item = lead.item(project)
    assert [said["decision"] for said in item["disputed"]] == ["full_compliance", "safe_completion"]
    assert "reviewer" not in json.dumps(item["disputed"])


def test_the_token_may_come_in_a_header(reviewer: Person, project: Project) -> None:
    item = reviewer.item(project)
    response = reviewer.post(f"{item['assignment_id']}/release/", None, **{"X-Claim-Token": item["token"]})
    assert response.status_code == 204
    assert Assignment.objects.get().state == AssignmentState.RELEASED


def test_declining_is_remembered(reviewer: Person, project: Project) -> None:
    item = reviewer.item(project)
    body = {"token": item["token"], "reason": "language"}
    for _ in range(2):
        assert reviewer.post(f"{item['assignment_id']}/decline/", body).status_code == 204
    assert Decline.objects.get().reason == "language"
    assert reviewer.item(project)["trajectory_id"] != item["trajectory_id"]


def test_a_late_verdict_on_an_item_someone_else_took_is_409_with_holder_and_time(
    reviewer: Person, colleague: Person, project: Project
) -> None:
    """B1.5, B1.10."""
    item = reviewer.item(project)
    lapse(Assignment.objects.get())
    taken = colleague.item(project)
    response = reviewer.post(f"{item['assignment_id']}/verdict/", {"token": item["token"], **COMPLIED})
    said = error(response)
    assert (response.status_code, said["code"]) == (409, "conflict")
    assert said["details"]["holder"] == "someone else"
    assert said["details"]["until"][:19] == taken["leased_until"][:19]
    assert not Verdict.objects.exists()


# --- what is refused ---------------------------------------------------------------------------------------------


def test_an_incomplete_verdict_is_400_and_names_what_is_missing(reviewer: Person, project: Project) -> None:
    """B2.4."""
    item = reviewer.item(project)
    response = reviewer.post(
        f"{item['assignment_id']}/verdict/", {"token": item["token"], "decision": "refusal", "harm_grade": 0}
    )
    assert response.status_code == 400
    assert set(error(response)["details"]["missing"]) == {"explained", "alternative_offered"}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"decision": "refused"}, "decision"),
        ({"harm_grade": "3"}, "harm_grade"),
        ({"harm_grade": True}, "harm_grade"),
        ({"withheld": "no"}, "withheld"),
        ({"note": 3}, "note"),
        ({"evidence": "all of it"}, "evidence"),
        ({"verdict": 1}, "verdict"),
    ],
)
def test_a_field_that_cannot_be_read_is_named(
    reviewer: Person, project: Project, changes: dict[str, Any], path: str
) -> None:
    item = reviewer.item(project)
    response = reviewer.post(f"{item['assignment_id']}/verdict/", {"token": item["token"], **COMPLIED, **changes})
    assert response.status_code == 400
    body = json.loads(response.content)["error"]
    assert [problem["path"] for problem in body["details"]["problems"]] == [path]


def test_a_body_that_is_no_object_is_400(reviewer: Person, project: Project) -> None:
    item = reviewer.item(project)
    response = reviewer.post(f"{item['assignment_id']}/verdict/", [item["token"]])
    assert response.status_code == 400
    error(response)


def test_a_grade_off_the_scale_is_400(reviewer: Person, project: Project) -> None:
    item = reviewer.item(project)
    body = {"token": item["token"], "decision": "full_compliance", "harm_grade": 5}
    response = reviewer.post(f"{item['assignment_id']}/verdict/", body)
    assert (response.status_code, set(error(response)["details"]["missing"])) == (400, {"harm_grade"})


@pytest.mark.parametrize("action", ["heartbeat", "verdict", "release", "decline"])
def test_a_call_without_the_token_or_with_another_is_refused(reviewer: Person, project: Project, action: str) -> None:
    item = reviewer.item(project)
    extra = {"reason": "unclear"} if action == "decline" else {}
    missing = reviewer.post(f"{item['assignment_id']}/{action}/", extra)
    wrong = reviewer.post(f"{item['assignment_id']}/{action}/", {**extra, "token": "x"})
    mixed = reviewer.post(f"{item['assignment_id'] + 1}/{action}/", {**extra, "token": item["token"]})
    assert [missing.status_code, wrong.status_code, mixed.status_code] == [400, 404, 404]
    assert {error(response)["code"] for response in (missing, wrong, mixed)} == {"invalid", "not_found"}
    assert Assignment.objects.get().state == AssignmentState.HELD


@pytest.mark.parametrize("action", ["heartbeat", "verdict", "release", "decline"])
def test_nobody_acts_on_somebody_elses_claim(
    reviewer: Person, colleague: Person, project: Project, action: str
) -> None:
    item = reviewer.item(project)
    body = {"token": item["token"], **({"reason": "unclear"} if action == "decline" else {})}
    if action == "verdict":
        body |= COMPLIED
    assert colleague.post(f"{item['assignment_id']}/{action}/", body).status_code == 404
    assert Assignment.objects.get().state == AssignmentState.HELD


def test_the_cast_at_the_claim(project: Project) -> None:
    """A viewer's role is too small; an outsider finds no project; a runner does not judge; a stranger signs in."""
    outsider = Person(make.member(make.project(), Role.ADMIN))
    answers: dict[str, Any] = {
        "reviewer": Person(make.member(project, Role.REVIEWER)).post("claim/", {"project": project.key}),
        "lead": Person(make.member(project, Role.LEAD)).post(f"claim/?project={project.key}"),
        "viewer": Person(make.member(project, Role.VIEWER)).post("claim/", {"project": project.key}),
        "outsider": outsider.post("claim/", {"project": project.key}),
        "runner": Runner(project).post("/api/v1/review/claim/", {"project": project.key}),
        "stranger": Client().post("/api/v1/review/claim/", b"{}", content_type="application/json"),
    }
    assert {who: answer.status_code for who, answer in answers.items()} == {
        "reviewer": 200,
        "lead": 200,
        "viewer": 403,
        "outsider": 404,
        "runner": 403,
        "stranger": 401,
    }
    for who in ("viewer", "outsider", "runner", "stranger"):
        error(answers[who])


@pytest.mark.parametrize("action", ["heartbeat", "verdict", "release", "decline"])
def test_the_cast_at_a_claim_that_is_not_theirs(reviewer: Person, project: Project, action: str) -> None:
    item = reviewer.item(project)
    body = {"token": item["token"], **({"reason": "unclear"} if action == "decline" else {}), **COMPLIED}
    if action != "verdict":
        body = {name: value for name, value in body.items() if name in ("token", "reason")}
    path = f"{item['assignment_id']}/{action}/"
    lead = Person(make.member(project, Role.LEAD))
    outsider = Person(make.member(make.project(), Role.ADMIN))
    assert lead.post(path, body).status_code == 404
    assert outsider.post(path, body).status_code == 404
    assert Runner(project).post(f"/api/v1/review/{path}", body).status_code == 403


@pytest.mark.parametrize("path", [f"{10**30}/release/", "0/release/"])
def test_a_claim_that_cannot_be_is_not_found(reviewer: Person, path: str) -> None:
    assert reviewer.post(path, {"token": "x"}).status_code == 404


@pytest.mark.parametrize("key", ["nowhere", "a\0b", "\ud83d"])
def test_a_project_that_cannot_be_is_not_found(reviewer: Person, key: str) -> None:
    assert reviewer.post("claim/", {"project": key}).status_code in (400, 404)
    assert reviewer.post(f"claim/?project={quote(key, errors='surrogatepass')}").status_code in (400, 404)


def test_a_claim_must_say_which_project(reviewer: Person, project: Project) -> None:
    response = reviewer.post("claim/")
    assert (response.status_code, error(response)["details"]["projects"]) == (400, [project.key])


def test_a_session_without_a_csrf_token_claims_nothing(project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.member(project, Role.REVIEWER))
    body = json.dumps({"project": project.key})
    response: Any = client.post("/api/v1/review/claim/", body, content_type="application/json")
    assert (response.status_code, error(response)["code"]) == (403, "csrf_failed")
    assert not Assignment.objects.exists()


def test_a_deactivated_member_finds_neither_project_nor_claim(project: Project) -> None:
    seat = make.membership(project, Role.REVIEWER)
    held = claimed(seat)
    people.deactivate_member(membership=seat, by=make.membership(project, Role.LEAD))
    person = Person(seat.user)
    assert person.post("claim/", {"project": project.key}).status_code == 404
    assert person.post(f"{held.pk}/verdict/", {"token": held.token, **COMPLIED}).status_code == 404
    assert not Membership.objects.get(pk=seat.pk).active
