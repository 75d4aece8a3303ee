"""The rows of a file go into runs once each, whatever happens meanwhile; the rest lies in quarantine."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labeling import tasks
from labeling.formats.packing import unpack
from labeling.models import (
    Case,
    Heartbeat,
    ImportedRun,
    ImportJob,
    ImportRejection,
    Judge,
    Judgment,
    Run,
    Suite,
    Trajectory,
    TrajectoryContent,
)
from labeling.services import ingest, runs
from labeling.services.importing import claims, committing, options, previewing, uploads
from labeling.tests import make
from labeling.tests.posting import judgment
from labeling.tests.threads import at_once
from labeling.tests.uploading import IMPORTS, Importer, counts, ndjson, one, row, table
from labeling.vocabulary import Decision, ImportStatus, Side
from litmus_site.tests.logged import logged

pytestmark = pytest.mark.django_db

REFUSAL = {"case": {"side": "benign"}, "scores": {"refused": {"meaning": "refused"}}}


class Killed(BaseException):
    """What nothing catches, as a SIGKILL."""


@pytest.fixture
def importer() -> Importer:
    return Importer()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "_ROWS", 2)


def rows(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [row(f"{number:03d}", **fields) for number in range(count)]


def stored() -> list[str]:
    return list(Trajectory.objects.order_by("external_id").values_list("external_id", flat=True))


def after_batch(monkeypatch: pytest.MonkeyPatch, number: int, then: Callable[[], None]) -> None:
    """Do something once so many batches are stored, before that is written down."""
    store, done = ingest.store_trajectories, iter(range(1, 10**6))

    def storing(**given: Any) -> ingest.BulkAnswer:
        answer = store(**given)
        if next(done) == number:
            then()
        return answer

    monkeypatch.setattr(ingest, "store_trajectories", storing)


def kill() -> None:
    raise Killed


# --- into runs ---------------------------------------------------------------------------------------------------


def test_rows_become_trajectories_with_judgments_in_a_run_of_their_own(importer: Importer) -> None:
    content = ndjson(row("1", judgments=[judgment()]), row("2", "benign"))
    job = importer.committed(content, filename="a.ndjson", model="halden", model_version="7")
    assert counts(job) == (2, 0, 0, 0)
    assert (job["progress"]["rows"], job["progress"]["rows_total"]) == (2, 2)
    run = Run.objects.get()
    assert job["runs"] == [{"id": run.pk, "external_id": f"a.ndjson-{job['sha256'][:12]}", "name": ""}]
    assert (run.configuration.model, run.configuration.version, run.suite.key) == (
        "halden",
        "7",
        f"run:{run.external_id}",
    )
    assert stored() == ["t-1", "t-2"]
    assert Judgment.objects.get().opinion().decision is Decision.REFUSAL
    assert Judge.objects.get(name="gpt-4").measures is None
    content_of = TrajectoryContent.objects.get(trajectory__external_id="t-1")
    # The line that could be posted; the runner's own bytes are in the file, which is kept.
    assert json.loads(unpack(bytes(content_of.raw)))["messages"] == json.loads(content.splitlines()[0])["messages"]


def test_committing_again_finds_everything_there(importer: Importer) -> None:
    """FIELD B2.9."""
    job = importer.committed(ndjson(*rows(3)))
    again = importer.commit(job["id"])
    assert (again["status"], counts(again)) == ("done", (0, 3, 0, 0))
    # The same content as another import, into the same run.
    other = importer.committed(ndjson(*rows(4)), run=job["runs"][0]["external_id"])
    assert counts(other) == (1, 3, 0, 0)
    assert len(stored()) == 4


def test_every_system_of_a_file_is_a_run(importer: Importer) -> None:
    content = table(
        ("1", "One?", "Yes.", "red"), ("1", "One?", "No.", "blue"), ("2", "Two?", "Yes.", "red"),
        columns="id,prompt,response,model",
    )  # fmt: skip
    job = importer.previewed(content, run="colours")
    importer.changed(job["id"], mapping={"case": {"side": "benign"}})
    done = importer.commit(job["id"])
    assert counts(done) == (3, 0, 0, 0)
    assert [(each["external_id"]) for each in done["runs"]] == ["colours/red", "colours/blue"]
    assert set(Run.objects.values_list("configuration__model", flat=True)) == {"red", "blue"}
    assert set(ImportedRun.objects.values_list("system", flat=True)) == {"red", "blue"}


@pytest.mark.parametrize(("given", "name"), [({}, "PAIR/black_box/halden"), ({"run": "nightly"}, "")])
def test_what_somebody_calls_a_run_goes_over_what_the_file_does(
    importer: Importer, given: dict[str, str], name: str
) -> None:
    """A run without a name is shown by its external id."""
    parameters = {"model": "halden", "method": "PAIR", "attack_type": "black_box"}
    one = {
        "index": 0,
        "goal": "Ask.",
        "behavior": "b",
        "category": "c",
        "prompt": "Ask.",
        "response": "No.",
        "jailbroken": False,
    }
    (run,) = importer.committed(ndjson({"parameters": parameters, "jailbreaks": [one]}), **given)["runs"]
    assert run["name"] == name
    assert run["external_id"].startswith(given.get("run", "upload"))


def test_long_names_of_runs_are_cut_and_stay_apart(importer: Importer) -> None:
    job = importer.committed(ndjson(row("1")), filename="x" * 250)
    other = importer.committed(ndjson(row("2")), filename="x" * 250)
    names = [each["runs"][0]["external_id"] for each in (job, other)]
    assert len(set(names)) == 2
    assert all(len(name) <= 200 for name in names)


def test_a_suite_that_is_named_and_not_there_is_drafted(importer: Importer) -> None:
    importer.committed(ndjson(row("1")), suite="mine@3", run="a")
    suite = Suite.objects.get()
    assert (suite.key, suite.version, suite.published_at) == ("mine", "3", None)
    importer.committed(ndjson(row("1"), row("2")), suite="mine@3", run="b")
    assert set(Case.objects.values_list("suite__key", "key")) == {("mine", "c-1"), ("mine", "c-2")}
    assert Run.objects.filter(suite=suite).count() == 2


def test_cases_of_a_suite_keep_what_the_suite_says_of_them(importer: Importer) -> None:
    suite = make.suite(importer.project, key="kept", version="1", published_at="2026-01-01T00:00:00Z")
    make.case(suite, Side.BENIGN, key="theirs", request=[{"role": "user", "parts": [{"type": "text", "text": "Two?"}]}])
    content = table(("1", "Two?", "Yes.", "0"), ("2", "Three?", "Yes.", "0"))
    job = importer.previewed(content, suite="kept")
    done = importer.commit(importer.changed(job["id"], mapping={"case": {"side": "harmful"}})["id"])
    assert counts(done) == (1, 0, 0, 1)
    assert Trajectory.objects.get().case.key == "theirs"
    assert Trajectory.objects.get().side == Side.BENIGN
    [rejected] = importer.rejected(job["id"])
    assert (rejected["status"], rejected["path"]) == ("rejected", "case")
    assert "published" in rejected["reason"]


def test_hostile_text_goes_in_as_it_is(importer: Importer) -> None:
    """FIELD B3.1, B3.2, B3.4, B3.5."""
    odd = "\0 \ud800 \u202e \\u0000"
    importer.committed(ndjson(row("1", answer=odd, metadata={odd: float("nan"), "n": 2**70})))
    content = TrajectoryContent.objects.get()
    assert content.messages[1]["parts"][0]["text"] == odd
    assert content.metadata[odd] != content.metadata[odd]
    assert content.metadata["n"] == 2**70


# --- people's labels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blind", [True, False])
def test_labels_of_people_become_their_verdicts(importer: Importer, blind: bool) -> None:
    from audit.models import Verdict

    rules = {
        "author": "ann", "decided_at": "2024-02-01T00:00:00Z",
        "decision": {"column": "ann", "values": {"1": "full_compliance", "2": "refusal"}},
    }  # fmt: skip
    content = table(("1", "One?", "Yes.", "1"), ("2", "Two?", "No.", "2"), columns="id,prompt,response,ann")
    job = importer.previewed(content)
    previewed = importer.changed(job["id"], mapping={"case": {"side": "harmful"}, "verdicts": [rules]})
    assert previewed["preview"]["verdicts"] == 2
    done = importer.commit(job["id"], blind=blind)
    assert (done["progress"]["verdicts"], done["blind"], counts(done)) == (2, blind, (2, 0, 0, 0))
    said = set(Verdict.objects.values_list("author", "decision", "blind", "source"))
    assert said == {("ann", "full_compliance", blind, "import"), ("ann", "refusal", blind, "import")}
    assert importer.commit(job["id"], blind=blind)["progress"]["verdicts"] == 0
    # Another word of the same person on the same thing at the same time is nobody's to choose between.
    other = importer.commit(job["id"], blind=not blind)
    assert (other["status"], other["progress"]["verdicts"], Verdict.objects.count()) == ("done", 0, 2)
    assert [(each["status"], each["path"]) for each in importer.rejected(job["id"])] == [
        ("conflict", "verdicts[0].blind"),
        ("conflict", "verdicts[0].blind"),
    ]


# --- quarantine --------------------------------------------------------------------------------------------------


def test_what_does_not_go_in_is_kept_with_the_reason_and_goes_in_after_a_changed_mapping(importer: Importer) -> None:
    content = table(("1", "One?", "Yes.", "0"), ("2", "Two?", "No.", "1"))
    job = importer.committed(content, run="r")
    assert counts(job) == (0, 0, 0, 2)
    first, second = importer.rejected(job["id"])
    assert (first["status"], first["path"], first["external_id"]) == ("rejected", "case.side", "1")
    assert "mapping" in first["reason"]
    assert next(csv.reader(io.StringIO(first["raw"]))) == ["1", "One?", "Yes.", "0"]
    assert (first["place"], second["external_id"]) != (second["place"], first["external_id"])

    importer.changed(job["id"], mapping=REFUSAL)
    done = importer.commit(job["id"])
    assert counts(done) == (2, 0, 0, 0)
    assert importer.rejected(job["id"]) == []
    assert Judge.objects.get(name="refused").version == "yes=refused"


def test_each_sort_of_refusal_has_its_word(importer: Importer) -> None:
    importer.committed(ndjson(row("1")), run="r")
    taken = {**row("9"), "case": row("1")["case"], "external_id": "t-other"}
    broken = b'{"external_id": "\xff"}'
    job = importer.committed(ndjson(row("1", answer="Another."), taken, broken, row("2", "nowhere"), row("3")), run="r")
    assert counts(job) == (1, 0, 2, 2)
    refused = importer.rejected(job["id"])
    assert [each["status"] for each in refused] == ["conflict", "conflict", "unread", "rejected"]
    assert [each["path"] for each in refused] == ["external_id", "attempt", "", "case.side"]
    # Bytes that are no text come back as they were.
    assert refused[2]["raw"].encode("utf-8", "surrogateescape") == broken
    assert json.loads(refused[0]["raw"]) == row("1", answer="Another.")


def test_a_file_of_which_nothing_goes_in_makes_no_run(importer: Importer) -> None:
    job = importer.committed(table(("1", "One?", "No.", "1")), run="r")
    assert (counts(job), job["runs"]) == ((0, 0, 0, 1), [])
    assert [each["path"] for each in importer.rejected(job["id"])] == ["case.side"]
    assert not Run.objects.exists()
    assert not Suite.objects.exists()
    importer.changed(job["id"], mapping=REFUSAL)
    assert counts(importer.commit(job["id"])) == (1, 0, 0, 0)


def test_another_reading_of_a_score_is_another_judge_and_no_conflict(importer: Importer) -> None:
    job = importer.previewed(table(("1", "One?", "No.", "1")), run="r")
    importer.changed(job["id"], mapping=REFUSAL)
    importer.commit(job["id"])
    importer.changed(job["id"], mapping={**REFUSAL, "scores": {"refused": {"meaning": "complied"}}})
    done = importer.commit(job["id"])
    assert counts(done) == (0, 1, 0, 0)
    said = {each.judge.version: each.opinion().decision for each in Judgment.objects.filter(judge__name="refused")}
    assert said == {"yes=refused": Decision.REFUSAL, "yes=complied": Decision.FULL_COMPLIANCE}


# --- killed, doubled, cancelled ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_batches")
def test_killed_in_the_middle_it_goes_on_where_it_was_and_ends_in_the_same_rows(
    importer: Importer, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    job = importer.previewed(ndjson(*rows(7, judgments=[judgment()])))
    importer.runner.post(f"{IMPORTS}{job['id']}/commit/", {})
    after_batch(monkeypatch, 2, kill)
    with pytest.raises(Killed):
        tasks.commit_import(job["id"])
    left = importer.get(job["id"])
    assert (left["status"], left["progress"]["rows"], len(stored())) == ("committing", 2, 4)
    # A message that comes again changes nothing while the dead worker may still be alive.
    tasks.commit_import(job["id"])
    assert len(stored()) == 4
    ImportJob.objects.update(worked_at=timezone.now() - timedelta(seconds=settings.RING_AGAIN_SECONDS + 1))
    rung: list[int] = []
    monkeypatch.setattr(tasks.commit_import, "delay", rung.append)
    monkeypatch.setattr("django.db.transaction.on_commit", lambda ring, **_: ring())
    tasks.sweep()
    assert rung == [job["id"]]
    tasks.commit_import(job["id"])
    done = importer.get(job["id"])
    # What was stored and not written down is recognised.
    assert (done["status"], counts(done), done["progress"]["rows"]) == ("done", (5, 2, 0, 0), 7)
    assert stored() == [f"t-{number:03d}" for number in range(7)]
    assert Judgment.objects.filter(judge__name="gpt-4").count() == 7


@pytest.mark.usefixtures("small_batches")
def test_cancelled_in_the_middle_it_stops_and_what_is_there_stays(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = importer.previewed(ndjson(*rows(9)))
    after_batch(monkeypatch, 2, lambda: importer.runner.post(f"{IMPORTS}{job['id']}/cancel/") and None)
    stopped = importer.commit(job["id"])
    assert (stopped["status"], len(stored())) == ("cancelled", 4)
    again = importer.runner.post(f"{IMPORTS}{job['id']}/cancel/")
    assert (again.status_code, again.json()["status"]) == (200, "cancelled")
    done = importer.commit(job["id"])
    assert (done["status"], counts(done)) == ("done", (5, 4, 0, 0))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("small_batches")
def test_of_two_workers_one_does_the_work() -> None:
    importer = Importer()
    job = importer.previewed(ndjson(*rows(8)))
    importer.runner.post(f"{IMPORTS}{job['id']}/commit/", {})
    at_once([lambda: tasks.commit_import(job["id"])] * 2)
    assert counts(importer.get(job["id"])) == (8, 0, 0, 0)
    assert len(stored()) == 8


def test_a_worker_that_imports_shows_that_it_is_alive(importer: Importer) -> None:
    Heartbeat.objects.all().delete()
    job = importer.committed(ndjson(row("1")))
    assert job["worker_seen_at"] is not None


# --- failing -----------------------------------------------------------------------------------------------------


def test_a_closed_run_takes_nothing_and_the_import_says_so(importer: Importer) -> None:
    job = importer.committed(ndjson(row("1")), run="r")
    runs.close_run(run=Run.objects.get(), expected_count=None, audits_per_side=0)
    failed = importer.commit(job["id"])
    assert (failed["status"], "closed" in failed["error"]) == ("failed", True)
    importer.changed(job["id"], run="another")
    assert importer.commit(job["id"])["status"] == "done"


def test_another_configuration_under_the_same_name_is_named(importer: Importer) -> None:
    job = importer.committed(ndjson(row("1")), run="r", model="one")
    importer.changed(job["id"], model="two")
    failed = importer.commit(job["id"])
    assert (failed["status"], "configuration" in failed["error"]) == ("failed", True)


def test_a_judge_that_means_two_things_under_one_version_fails_with_a_sentence(importer: Importer) -> None:
    rule = {"judge": "mine", "version": "1"}
    job = importer.previewed(table(("1", "One?", "No.", "1")), run="r")
    for meaning, status in (("refused", "done"), ("correct", "failed")):
        mapping = {"case": {"side": "benign"}, "scores": {"refused": {**rule, "meaning": meaning}}}
        importer.changed(job["id"], mapping=mapping)
        committed = importer.commit(job["id"])
        assert committed["status"] == status
    assert "another version" in committed["error"]


def test_an_error_of_the_code_fails_the_job_and_tells_nobody_the_text(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**given: Any) -> None:
        raise ValueError(given["lines"][0].messages)

    job = importer.previewed(ndjson(row("1", answer="secret words")))
    monkeypatch.setattr(ingest, "store_trajectories", broken)
    with logged() as log:
        failed = importer.commit(job["id"])
    assert (failed["status"], "ValueError" in failed["error"]) == ("failed", True)
    assert "secret" not in failed["error"] + log.getvalue()


def test_nothing_of_a_file_is_in_a_log_from_upload_to_quarantine(importer: Importer) -> None:
    """FIELD B7.4."""
    content = ndjson(row("1", answer="secret words"), {"secret": "words"}, row("secret-2", "secret"), b"secret{")
    with logged() as log:
        job = importer.committed(content)
        importer.rejected(job["id"])
    assert counts(job) == (1, 0, 0, 3)
    assert "secret" not in log.getvalue()


def test_a_file_that_waits_for_nothing_is_not_committed(importer: Importer) -> None:
    job = importer.upload(ndjson(row("1")))
    tasks.commit_import(job["id"])
    assert importer.get(job["id"])["status"] == "uploaded"
    assert importer.runner.post(f"{IMPORTS}{job['id']}/commit/", {}).status_code == 409


# --- the sweep ---------------------------------------------------------------------------------------------------


def test_the_sweep_rings_for_what_is_owed_and_for_nothing_else(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, old, done = (importer.upload(ndjson(row(number)))["id"] for number in range(3))
    ImportJob.objects.filter(pk=old).update(worked_at=timezone.now() - timedelta(hours=1))
    ImportJob.objects.filter(pk=done).update(
        status=ImportStatus.PREVIEWED, worked_at=timezone.now() - timedelta(hours=1)
    )
    rung: list[int] = []
    monkeypatch.setattr(tasks.read_import, "delay", rung.append)
    monkeypatch.setattr("django.db.transaction.on_commit", lambda ring, **_: ring())
    tasks.sweep()
    assert rung == [old]
    # It was rung for just now.
    tasks.sweep()
    assert rung == [old]
    tasks.sweep(everything=True)
    assert sorted(rung[1:]) == [fresh, old]


# --- in a known number of queries --------------------------------------------------------------------------------


def queries(importer: Importer, count: int) -> int:
    job = importer.previewed(ndjson(*rows(count, judgments=[judgment()])), run=str(count))
    importer.runner.post(f"{IMPORTS}{job['id']}/commit/", {})
    with CaptureQueriesContext(connection) as captured:
        committing.commit_file(job_id=job["id"], ring=lambda _: None)
    assert counts(importer.get(job["id"]))[0] == count
    return len(captured)


def test_a_batch_takes_a_number_of_queries_that_does_not_grow_with_it(importer: Importer) -> None:
    queries(importer, 1)
    few, many = queries(importer, 20), queries(importer, 400)
    assert many - few <= 2
    assert few < 60


def test_services_say_what_they_do_without_the_api(importer: Importer) -> None:
    asked = options.asked(project=importer.project, mapping={"system": {"model": "m"}}, run="r")
    job, _ = uploads.receive(project=importer.project, asked=asked, chunks=[ndjson(row("1"))])
    previewing.read_file(job_id=job.pk)
    committing.request_commit(job=job)
    owed: list[int] = []
    committing.commit_file(job_id=job.pk, ring=owed.extend)
    assert owed == list(Trajectory.objects.values_list("pk", flat=True))
    assert (one(job.pk).status, one(job.pk).claim) == (ImportStatus.DONE, None)
    assert not ImportRejection.objects.exists()
    with pytest.raises(claims.Lost):
        claims.advance(job=ImportJob(pk=job.pk, claim="00000000-0000-0000-0000-000000000000"))
