"""GET /api/v1/runs/{id}/export/: everything of a run, redacted unless a lead asks, streamed in known steps."""

import csv
import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.api.exported import RowAnswer
from audit.models import ContentView
from audit.selectors import export
from audit.tests.make import claimed, queue, reviewed
from labeling.models import Project, Run, Trajectory
from labeling.services.judging import route_trajectories
from labeling.tests import make
from labeling.tests.posting import Runner, definition, error, judgment, line, run_body
from labeling.tests.uploading import Importer, table
from labeling.vocabulary import Role, Side

pytestmark = pytest.mark.django_db

SECRET = "the secret answer"


@pytest.fixture
def runner() -> Runner:
    return Runner(make.project())


@pytest.fixture
def run(runner: Runner) -> Run:
    """Three trajectories with a judge's opinions, one of them undetermined."""
    run_id = runner.post("/api/v1/runs/", run_body()).json()["id"]
    lines = [
        line(
            f"t-{number}",
            definition(f"c-{number}", "benign" if number else "harmful", tier=2, pair="p"),
            SECRET,
            observed_at="2026-11-29T10:00:00",
            metadata={"note": SECRET},
            judgments=[
                judgment(scores={"safety": float("nan")}, rationale=SECRET, evidence=[SECRET], raw_output=SECRET)
                if number < 2
                else judgment(decision=None, undetermined="unparsable", raw_output=SECRET)
            ],
        )
        for number in range(3)
    ]
    assert runner.post_lines(run_id, lines)["created"] == 3
    route_trajectories(trajectory_ids=list(Trajectory.objects.values_list("pk", flat=True)))
    return Run.objects.get(pk=run_id)


def body_of(response: Any) -> bytes:
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content)


def rows_of(response: Any) -> list[dict[str, Any]]:
    return [json.loads(each) for each in body_of(response).splitlines()]


def asked(user: User, run: Run, **query: str) -> Any:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client.get(reverse("api_export", args=[run.pk]), query)


def member(run: Run, role: Role) -> User:
    return make.member(run.project, role)


def test_a_row_has_everything_but_the_text(runner: Runner, run: Run) -> None:
    """B2.7, B2.17: as many rows as trajectories, each with its ids and those of the judge versions."""
    response = runner.get(reverse("api_export", args=[run.pk]))
    assert response["Content-Type"] == "application/x-ndjson"
    body = body_of(response)
    assert SECRET.encode() not in body
    first, _, last = rows = [json.loads(each) for each in body.splitlines()]
    assert len(rows) == run.trajectories.count()
    row = Trajectory.objects.earliest("pk")
    assert (first["trajectory"], first["external_id"], first["case"]) == (row.pk, "t-0", "c-0")
    assert (first["side"], first["tier"], first["pair"], first["base_request"]) == ("harmful", 2, "p", "c-0")
    assert first["label"]["decisions"] == ["refusal"]
    (said,) = first["judgments"]
    assert (said["name"], said["version"], said["decisions"]) == ("gpt-4", "1", ["refusal"])
    assert said["judge"] == row.judgments.get().judge_id
    assert said["scores"]["safety"] != said["scores"]["safety"]
    assert "rationale" not in said
    assert (last["judgments"][0]["undetermined"], last["label"]["error"]) == ("unparsable", None)
    for each in rows:
        RowAnswer.model_validate(each, strict=False, extra="forbid")


def test_both_times_are_there_and_a_zone_is_never_made_up(runner: Runner, run: Run) -> None:
    """B2.8, B3.15."""
    row = rows_of(runner.get(reverse("api_export", args=[run.pk])))[0]
    assert row["observed_at"] == "2026-11-29T10:00:00"
    assert row["received_at"].endswith("Z")


def test_verdicts_come_with_who_and_when_and_without_notes(run: Run) -> None:
    reviewer = make.membership(run.project, Role.REVIEWER)
    verdict = reviewed(reviewer, make.SAFE, 1, note=SECRET)
    rows = rows_of(asked(member(run, Role.VIEWER), run))
    (said,) = [one for row in rows for one in row["verdicts"]]
    assert (said["id"], said["author"], said["blind"]) == (verdict.pk, reviewer.user.username, True)
    assert (said["decisions"], said["harm_grade"], said["corrects"]) == (["safe_completion"], 1, None)
    assert "note" not in said


def test_content_is_for_leads_and_it_is_recorded_who_opened_it(runner: Runner, run: Run) -> None:
    path = reverse("api_export", args=[run.pk])
    assert error(runner.get(path, content="1"))["code"] == "not_allowed"
    assert asked(member(run, Role.REVIEWER), run, content="1").status_code == 403
    lead = member(run, Role.LEAD)
    rows = rows_of(asked(lead, run, content="1", opinions="1"))
    assert rows[0]["posted"]["messages"][1]["content"] == SECRET
    assert rows[0]["judgments"][0]["rationale"] == SECRET
    assert rows[0]["judgments"][0]["evidence"] == [SECRET]
    assert ContentView.objects.filter(user=lead, showed_opinions=False).count() == 3
    assert ContentView.objects.filter(user=lead, showed_opinions=True).count() == 3


def test_what_somebody_may_still_be_asked_comes_without_opinions_unless_they_choose(run: Run) -> None:
    """The run is open, so its draw may still ask for any of them."""
    lead = member(run, Role.LEAD)
    for row in rows_of(asked(lead, run, content="1")):
        assert row["hidden"]
        assert (row["label"], row["judgments"], row["verdicts"]) == (None, None, None)
        # Runners put what they made of an answer into these two.
        assert not {"judgments", "metadata"} & set(row["posted"])
    assert not ContentView.objects.filter(user=lead, showed_opinions=True).exists()
    assert not any(row["hidden"] for row in rows_of(asked(lead, run, opinions="1")))


def test_an_imported_run_is_taken_along_as_lines_that_can_be_posted_again() -> None:
    importer = Importer()
    job = importer.previewed(table(["1", "Ask.", "No.", "1"]))
    mapping = {"case": {"side": "benign"}, "scores": {"refused": {"meaning": "refused"}}}
    assert importer.changed(job["id"], mapping=mapping)["status"] == "previewed"
    [imported] = importer.commit(job["id"])["runs"]
    of = Run.objects.get(pk=imported["id"])
    lead = member(of, Role.LEAD)
    (row,) = rows_of(asked(lead, of, content="1"))
    assert row["hidden"]
    assert not {"judgments", "metadata"} & row["posted"].keys()
    (row,) = rows_of(asked(lead, of, content="1", opinions="1"))
    assert row["posted"]["judgments"][0]["decision"] == "refusal"
    other = importer.runner.post("/api/v1/runs/", run_body("other")).json()["id"]
    assert importer.runner.post_lines(other, [row["posted"]])["created"] == 1
    hashes = Trajectory.objects.filter(external_id=row["external_id"]).values_list("content_hash", flat=True)
    assert len(hashes) == 2
    assert len(set(hashes)) == 1


def test_whoever_is_judging_an_item_of_the_run_takes_nothing_along(run: Run) -> None:
    reviewer = make.membership(run.project, Role.REVIEWER)
    held = claimed(reviewer)
    assert held.request.trajectory.run_id == run.pk
    response = asked(reviewer.user, run, opinions="1")
    assert (response.status_code, error(response)["code"]) == (403, "not_allowed")


def test_an_item_claimed_in_the_middle_of_an_export_is_not_told_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PAGE_SIZE", 1)
    reviewer = make.membership(run.project, Role.REVIEWER)
    client = Client()
    client.force_login(reviewer.user)
    response: Any = client.get(reverse("api_export", args=[run.pk]), {"opinions": "1"})
    lines = iter(response.streaming_content)
    assert not json.loads(next(lines))["hidden"]
    held = claimed(reviewer)
    rest = {row["trajectory"]: row for row in map(json.loads, lines)}
    assert rest[held.request.trajectory_id]["hidden"]


def test_outsiders_and_nonsense_are_refused(runner: Runner, run: Run) -> None:
    path = reverse("api_export", args=[run.pk])
    assert Runner(make.project()).get(path).status_code == 404
    assert asked(make.member(make.project(), Role.ADMIN), run).status_code == 404
    assert Client().get(path).status_code == 401
    for query in ({"format": "xlsx"}, {"content": "yes"}, {"format": "csv", "content": "1"}):
        response = runner.get(path, **query)
        assert (response.status_code, error(response)["code"]) == (400, "invalid")


def test_what_is_accepted_does_not_matter_only_what_is_asked_for(runner: Runner, run: Run) -> None:
    answer = runner.client.get(
        reverse("api_export", args=[run.pk]),
        {"format": "csv"},
        headers={"authorization": f"Bearer {runner.secret}", "accept": "text/csv"},
    )
    assert answer["Content-Type"] == "text/csv; charset=utf-8"


def test_an_exported_line_can_be_posted_to_another_run_and_is_the_same(runner: Runner, run: Run) -> None:
    """B2.7: the round trip."""
    rows = rows_of(asked(member(run, Role.LEAD), run, content="1", opinions="1"))
    other = runner.post("/api/v1/runs/", run_body("run-2")).json()["id"]
    assert runner.post_lines(other, [row["posted"] for row in rows])["created"] == 3
    again = Trajectory.objects.filter(run=other).order_by("pk").values_list("external_id", "content_hash")
    assert list(again) == [(row["external_id"], row["content_hash"]) for row in rows]


def test_purged_text_is_gone_from_the_export_and_the_row_is_not(run: Run) -> None:
    content = Trajectory.objects.earliest("pk").content
    content.raw = b""
    content.save()
    rows = rows_of(asked(member(run, Role.LEAD), run, content="1"))
    assert [row["posted"] is None for row in rows] == [True, False, False]


@pytest.mark.parametrize(("content", "size_name"), [("0", "PAGE_SIZE"), ("1", "PAGE_SIZE_WITH_CONTENT")])
def test_a_page_takes_a_known_number_of_queries(
    project: Project, monkeypatch: pytest.MonkeyPatch, content: str, size_name: str
) -> None:
    """B4.3: streamed, page by page, however long the run is."""
    monkeypatch.setattr(export, size_name, 4)
    run, judge, lead = make.run(project), make.judge(project), make.member(project, Role.LEAD)
    counts = []
    for _ in range(2):
        for _ in range(8):
            make.judgment(make.trajectory(run, side=Side.BENIGN), judge, make.REFUSED)
        with CaptureQueriesContext(connection) as queries:
            assert len(rows_of(asked(lead, run, content=content, opinions="1"))) == run.trajectories.count()
        counts.append(sum("SAVEPOINT" not in query["sql"] for query in queries))
    assert counts[1] - counts[0] == 2 * (10 if content == "1" else 8)


@pytest.fixture
def project() -> Project:
    return make.project()


# --- as a table ------------------------------------------------------------------------------------------------------


def test_a_table_has_one_row_a_trajectory_and_undetermined_in_words(runner: Runner, run: Run) -> None:
    text = body_of(runner.get(reverse("api_export", args=[run.pk]), format="csv")).decode()
    assert SECRET not in text
    rows = list(csv.DictReader(io.StringIO(text)))
    judge = Trajectory.objects.earliest("pk").judgments.get().judge_id
    assert [row["external_id"] for row in rows] == ["t-0", "t-1", "t-2"]
    assert [row["label_error"] for row in rows] == ["false", "true", "undetermined"]
    assert rows[0]["judgments"] == f"{judge}=refusal"
    assert (rows[0]["tier"], rows[0]["attempt"], rows[0]["observed_at"]) == ("2", "1", "2026-11-29T10:00:00")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_is_no_formula(project: Project, start: str) -> None:
    """B3.12: neutral in the table, untouched in JSON."""
    hostile = f'{start}cmd|"/c calc"!A1'
    run = make.run(project)
    make.trajectory(run, make.case(run.suite, category=hostile), external_id=hostile)
    viewer = make.member(project, Role.VIEWER)
    (row,) = csv.DictReader(io.StringIO(body_of(asked(viewer, run, format="csv")).decode(), newline=""))
    assert (row["external_id"], row["category"]) == (f"'{hostile}", f"'{hostile}")
    assert row["attempt"] == "1"
    (same,) = rows_of(asked(viewer, run))
    assert (same["external_id"], same["category"]) == (hostile, hostile)


def test_the_run_page_leads_to_the_export(run: Run) -> None:
    links = {Role.VIEWER: 2, Role.LEAD: 3}
    for role, count in links.items():
        client = Client()
        client.force_login(member(run, role))
        page = client.get(reverse("run", args=[run.project.key, run.pk])).content.decode()
        assert page.count(reverse("api_export", args=[run.pk])) == count
    queue(run, 1)
    reviewer = make.membership(run.project, Role.REVIEWER)
    claimed(reviewer)
    client = Client()
    client.force_login(reviewer.user)
    page = client.get(reverse("run", args=[run.project.key, run.pk])).content.decode()
    assert reverse("api_export", args=[run.pk]) not in page
