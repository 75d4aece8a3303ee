"""A file is read and shown before anything of it goes into a run."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling import tasks
from labeling.formats import registry
from labeling.formats.files.source import Source
from labeling.formats.reading import Format, Item, Row, System
from labeling.models import Case, ImportJob, Judge, Run, SavedMapping, Suite, Trajectory
from labeling.services.importing import claims, survey
from labeling.tests import make
from labeling.tests.posting import error, judgment
from labeling.tests.uploading import IMPORTS, Importer, ndjson, row, table
from labeling.vocabulary import ImportStatus, Side
from litmus_site.tests.logged import logged

pytestmark = pytest.mark.django_db

REFUSAL = {"case": {"side": "benign"}, "scores": {"refused": {"meaning": "refused"}}}


@pytest.fixture
def importer() -> Importer:
    return Importer()


def read_with(monkeypatch: pytest.MonkeyPatch, *items: Any) -> None:
    """A format called `made` that finds these in any file; an exception is raised where it stands."""

    def read(_source: Source) -> Iterator[Item]:
        for item in items:
            if isinstance(item, Exception):
                raise item
            yield item

    monkeypatch.setitem(registry.FORMATS, "made", Format("made", "Made", "none", lambda _sniff: False, read))


def made_row(number: int, **fields: Any) -> Row:
    given = row(number)
    return Row(f"row {number}", "", given, given["case"], **fields)


# --- what is shown -----------------------------------------------------------------------------------------------


def test_a_preview_says_what_would_become_of_the_file_and_touches_no_run(importer: Importer) -> None:
    content = ndjson(
        row("1", answer="First. " + "x" * 600 + " Last.", judgments=[judgment()], stop_reason="stop"),
        row("2", "benign"),
        row("2", "benign", attempt=2),
        b"{broken",
        row("3", "nowhere"),
    )
    job = importer.previewed(content, model="halden")
    found = job["preview"]
    assert (job["detected_format"], job["progress"]["rows"], job["progress"]["bytes_read"]) == (
        "litmus",
        5,
        len(content),
    )
    assert (found["rows"], found["unreadable"], found["without_side"], found["verdicts"]) == (4, 1, 0, 0)
    assert found["systems"] == [{"key": "", "name": "", "model": "halden", "version": "not stated", "rows": 4}]
    assert found["sides"] == {"harmful": 1, "benign": 2, "capability": 0, "": 1}
    assert found["cases"] == {"total": 3, "matched": 0, "defined": 3, "unknown": 0}
    # What came as a posted line declares nothing: each of its judgments measures what it gives.
    assert found["judges"] == [{"name": "gpt-4", "version": "1", "measures": []}]
    [score] = found["scores"]
    assert (score["judge"], score["counts"]["other"], score["meaning"]) == ("gpt-4", 1, None)
    assert "refusal" in score["sentence"]
    assert {(each["path"], each["count"]) for each in found["problems"]} == {("", 1), ("case.side", 1)}
    example = found["examples"][0]
    assert (example["request"], example["stop_reason"]) == ("Request 1.", "stop")
    assert (example["answer"][:6], example["answer"][-5:], len(example["answer"])) == ("First.", "Last.", 503)
    assert example["case"] == {"key": "c-1", "side": "harmful", "category": "fraud"}
    assert example["scores"][0]["taken_as"] == score["sentence"]
    for model in (Run, Trajectory, Case, Suite):
        assert not model.objects.exists()
    assert not Judge.objects.filter(name="gpt-4").exists()


def test_what_the_file_does_not_say_is_asked_for_and_a_mapping_says_it(importer: Importer) -> None:
    content = table(("a", "One?", "Yes.", "0"), ("b", "Two?", "No.", "1"), ("c", "Three?", "Hm.", "half"))
    job = importer.previewed(content)
    found = job["preview"]
    assert (found["without_side"], found["sides"][""], found["cases"]["defined"]) == (3, 3, 0)
    assert {each["what"]: each["count"] for each in found["unmapped"]} == {"case.side": 3, "scores.refused": 3}
    assert 'scores: {"refused": {meaning: MEANING}}' in found["unmapped"][1]["say"]
    assert found["judges"] == []
    assert "no judgment" in found["scores"][0]["sentence"]

    mapped = importer.changed(job["id"], mapping=REFUSAL)["preview"]
    assert (mapped["without_side"], mapped["unmapped"], mapped["cases"]["defined"]) == (0, [], 3)
    [score] = mapped["scores"]
    assert (score["meaning"], score["version"]) == ("refused", "yes=refused")
    assert score["counts"] == {"yes": 1, "no": 1, "neither": 1, "other": 0}
    assert '"1" means a refusal' in score["sentence"]
    assert '"0" means no refusal' in score["sentence"]


def test_five_examples_show_every_kind_of_value_that_five_rows_can_show(importer: Importer) -> None:
    same = [(f"a{number}", f"{number}?", "Yes.", "1") for number in range(60)]
    rows = [*same[:30], ("b", "b?", "No.", "0"), ("c", "c?", "Hm.", "half"), *same[30:]]
    job = importer.previewed(table(*rows))
    examples = importer.changed(job["id"], mapping=REFUSAL)["preview"]["examples"]
    assert len(examples) == 5
    assert {each["scores"][0]["value"] for each in examples} == {"1", "0", "half"}


def test_the_name_of_a_judge_that_runs_here_is_asked_for(importer: Importer) -> None:
    mapping = {**REFUSAL, "scores": {"refused": {"meaning": "refused", "judge": "substring"}}}
    job = importer.previewed(table(("a", "One?", "Yes.", "0")))
    found = importer.changed(job["id"], mapping=mapping)["preview"]
    assert [each["what"] for each in found["unmapped"]] == ["scores.refused.judge"]
    assert found["judges"] == []


def test_hostile_text_is_shown_as_it_is_and_big_numbers_survive(importer: Importer) -> None:
    odd = "\0 \ud800 \u202e"
    job = importer.previewed(ndjson(row("1", answer=odd, judgments=[judgment(scores={"s": float("nan")})])))
    [example] = job["preview"]["examples"]
    assert example["answer"] == odd
    assert job["preview"]["problems"] == []


def test_preview_columns_are_what_a_mapping_may_name(importer: Importer) -> None:
    found = importer.previewed(table(("a", "One?", "Yes.", "0")))["preview"]["columns"]
    assert {"path": "refused", "values": ["0"]} in found


def test_what_the_mapping_names_and_no_row_has_is_said(importer: Importer) -> None:
    rule = {"column": "sort", "values": {"bad": "harmful"}, "otherwise": "benign"}
    mapping = {"case": {"side": rule}, "scores": {"refusde": {"meaning": "refused"}}}
    job = importer.previewed(table(("a", "One?", "Yes.", "0")))
    found = importer.changed(job["id"], mapping=mapping)["preview"]
    said = {each["what"]: each["say"] for each in found["unmapped"]}
    assert "column sort" in said["mapping.case.side"]
    assert "score refusde" in said["mapping.scores.refusde"]


# --- cases of a suite --------------------------------------------------------------------------------------------


def suite_of(importer: Importer, **fields: Any) -> Suite:
    suite = make.suite(importer.project, key="kept", version="1", **fields)
    asked = [{"role": "user", "parts": [{"type": "text", "text": "Request 2."}]}]
    make.case(suite, Side.HARMFUL, key="c-1", request=[{**asked[0], "parts": [{"type": "text", "text": "Request 1."}]}])
    make.case(suite, Side.BENIGN, key="by-request", request=asked)
    return suite


def test_cases_are_found_by_key_then_by_what_they_ask(importer: Importer) -> None:
    suite_of(importer)
    without_side = {**row("2"), "case": {"key": "other", "request": "Request 2."}}
    job = importer.previewed(ndjson(row("1"), without_side, row("3")), suite="kept@1")
    found = job["preview"]
    assert found["cases"] == {"total": 3, "matched": 2, "defined": 1, "unknown": 0}
    assert (found["without_side"], found["sides"]["benign"]) == (0, 1)
    assert found["problems"] == []
    assert {each["case"]["key"] for each in found["examples"]} == {"c-1", "by-request", "c-3"}


def test_the_same_request_in_another_framing_is_another_case(importer: Importer) -> None:
    suite_of(importer)
    framed = {**row("2"), "case": {"key": "other", "side": "benign", "request": "Request 2.", "framing": "fiction"}}
    found = importer.previewed(ndjson(framed), suite="kept@1")["preview"]
    assert found["cases"] == {"total": 1, "matched": 0, "defined": 1, "unknown": 0}


def test_a_published_suite_takes_no_new_case(importer: Importer) -> None:
    suite_of(importer, published_at="2026-01-01T00:00:00Z")
    found = importer.previewed(ndjson(row("1"), row("3")), suite="kept")["preview"]
    assert found["cases"] == {"total": 2, "matched": 1, "defined": 0, "unknown": 1}
    assert "published" in found["problems"][0]["reason"]


def test_a_case_that_asks_otherwise_than_the_suite_under_its_key_is_shown(importer: Importer) -> None:
    suite_of(importer)
    other = row("1", "benign")
    other["case"]["request"] = "Something else."
    found = importer.previewed(ndjson(other), suite="kept@1")["preview"]
    assert {each["path"] for each in found["problems"]} == {"case.request", "case.side"}
    assert (found["cases"]["matched"], found["sides"]["harmful"]) == (1, 1)


@pytest.mark.parametrize("suite", ["nowhere", "kept"])
def test_a_suite_that_is_nowhere_needs_a_version(importer: Importer, suite: str) -> None:
    suite_of(importer)
    make.suite(importer.project, key="kept", version="2")
    job = importer.read(importer.upload(ndjson(row("1")), suite=suite)["id"])
    assert job["status"] == "failed"
    assert "suite" in job["error"].casefold()
    assert importer.changed(job["id"], suite="new@1")["status"] == "previewed"


# --- what cannot be read -----------------------------------------------------------------------------------------


def test_a_file_of_no_known_format_fails_with_a_sentence_and_a_way_out(importer: Importer) -> None:
    job = importer.read(importer.upload(b"Dear diary,\n\ntoday nothing happened.")["id"])
    assert (job["status"], job["preview"]) == ("failed", None)
    assert "no format" in job["error"]
    assert importer.runner.post(f"{IMPORTS}{job['id']}/commit/", {}).status_code == 409


def test_a_file_that_breaks_off_gives_what_came(importer: Importer) -> None:
    content = json.dumps([row("1"), row("2"), row("3")]).encode()[:-90]
    found = importer.previewed(content)["preview"]
    assert (found["rows"], found["unreadable"]) == (2, 1)


def test_a_reader_that_stumbles_fails_the_job_and_logs_nothing_of_the_file(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_with(monkeypatch, System("", "m"), made_row(1), KeyError("secret words of the file"))
    job = importer.upload(b"secret words", format="made")
    with logged() as log:
        failed = importer.read(job["id"])
    assert failed["status"] == "failed"
    assert "KeyError" in failed["error"]
    assert "secret" not in failed["error"] + log.getvalue()
    assert f"Import {job['id']} failed" in log.getvalue()


def test_more_systems_than_runs_make_sense_are_refused(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "MOST_SYSTEMS", 2)
    rows = [(name, f"{name}?", "Yes.", name) for name in "abc"]
    job = importer.read(importer.upload(table(*rows, columns="id,prompt,response,model"))["id"])
    assert (job["status"], "more than 2 systems" in job["error"]) == ("failed", True)


def test_a_file_that_ends_the_worker_does_not_do_so_for_ever(importer: Importer) -> None:
    job = importer.upload(ndjson(row("1")))
    for _ in range(claims.MOST_ATTEMPTS):
        assert claims.claim(job_id=job["id"], waiting=list(ImportStatus), working=ImportStatus.READING)
        ImportJob.objects.update(claim=None)
    failed = importer.read(job["id"])
    assert (failed["status"], "ended the worker" in failed["error"]) == ("failed", True)
    # Asked for again, it is tried again.
    assert importer.changed(job["id"])["status"] == "previewed"


# --- changing what is asked --------------------------------------------------------------------------------------


def test_a_changed_wish_takes_the_preview_away_until_it_is_made_anew(importer: Importer) -> None:
    job = importer.previewed(ndjson(row("1")))
    changed = importer.runner.post(f"{IMPORTS}{job['id']}/preview/", {"run": "other", "model": "m"}).json()
    assert (changed["status"], changed["preview"], changed["run"], changed["model"]) == ("uploaded", None, "other", "m")
    assert importer.runner.post(f"{IMPORTS}{job['id']}/commit/", {}).status_code == 409
    again = importer.read(job["id"])
    assert (again["preview"]["systems"][0]["model"], again["mapping"]) == ("m", {"system": {"model": "m"}})
    # What is left out stays.
    assert importer.changed(job["id"], suite="")["run"] == "other"


def test_a_mapping_is_kept_and_used_again(importer: Importer) -> None:
    job = importer.previewed(table(("a", "One?", "Yes.", "0")))
    importer.changed(job["id"], mapping=REFUSAL, save_as="refusals")
    assert SavedMapping.objects.get().content == REFUSAL
    other = importer.previewed(table(("b", "Two?", "Yes.", "1")), mapping="refusals")
    assert (other["mapping"], other["preview"]["unmapped"]) == (REFUSAL, [])
    third = importer.previewed(table(("c", "Three?", "Yes.", "1")))
    assert importer.changed(third["id"], saved_mapping="refusals", model="m")["mapping"] == {
        **REFUSAL,
        "system": {"model": "m"},
    }


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"mapping": {"case": {"sides": "benign"}}}, "case.sides"),
        ({"mapping": {"scores": {"s": {"meaning": "bad"}}}}, "scores.s.meaning"),
        ({"mapping": []}, "mapping"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused_by_its_path(importer: Importer, body: Any, path: str) -> None:
    job = importer.previewed(ndjson(row("1")))
    response = importer.runner.post(f"{IMPORTS}{job['id']}/preview/", body)
    assert response.status_code == 400
    assert path in [problem["path"] for problem in error(response)["details"]["problems"]]
    assert importer.get(job["id"])["status"] == "previewed"


def test_while_bytes_are_missing_or_it_is_committed_nothing_is_changed(importer: Importer) -> None:
    opened = importer.post(sha256="0" * 64, size=9).json()
    assert importer.runner.post(f"{IMPORTS}{opened['id']}/preview/", {}).status_code == 409
    job = importer.previewed(ndjson(row("1")))
    importer.runner.post(f"{IMPORTS}{job['id']}/commit/", {})
    response = importer.runner.post(f"{IMPORTS}{job['id']}/preview/", {"run": "x"})
    assert (response.status_code, "cancel it" in error(response)["message"]) == (409, True)


# --- work --------------------------------------------------------------------------------------------------------


def test_a_message_that_comes_twice_reads_once(importer: Importer) -> None:
    job = importer.upload(ndjson(row("1")))
    held = claims.claim(job_id=job["id"], waiting=[ImportStatus.UPLOADED], working=ImportStatus.READING)
    assert held is not None
    tasks.read_import(job["id"])
    assert importer.get(job["id"])["status"] == "reading"
    tasks.read_import(10**6)
    claims.finish(job=held, status=ImportStatus.PREVIEWED)
    with pytest.raises(claims.Lost):
        claims.finish(job=held, status=ImportStatus.DONE)


def test_a_worker_whose_job_was_asked_for_anew_writes_nothing(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[int] = []

    def read(_source: Source) -> Iterator[Item]:
        yield System("", "m")
        importer.runner.post(f"{IMPORTS}{wanted[0]}/preview/", {"run": "newer"})
        yield made_row(1)

    monkeypatch.setitem(registry.FORMATS, "made", Format("made", "Made", "none", lambda _sniff: False, read))
    job = importer.upload(b"x", format="made")
    wanted.append(job["id"])
    tasks.read_import(job["id"])
    left = importer.get(job["id"])
    assert (left["status"], left["run"], left["preview"]) == ("uploaded", "newer", None)


def test_progress_is_written_down_while_a_file_is_read(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "_SECONDS", 0.0)
    seen: list[tuple[int, int, str]] = []

    def read(source: Source) -> Iterator[Item]:
        yield System("", "m")
        with source.opener() as stream:
            stream.read(4)
        yield made_row(1)
        [job] = ImportJob.objects.all()
        seen.append((job.rows_done, job.bytes_read, job.status))

    monkeypatch.setitem(registry.FORMATS, "made", Format("made", "Made", "none", lambda _sniff: False, read))
    importer.previewed(b"x" * 10, format="made")
    assert seen == [(1, 10, "reading")]


def queries(importer: Importer, count: int) -> int:
    job = importer.upload(ndjson(*(row(number) for number in range(count))), run=str(count), suite="kept@1")
    with CaptureQueriesContext(
        connection,
    ) as captured:
        tasks.read_import(job["id"])
    return len(captured)


def test_reading_takes_the_same_queries_for_two_rows_and_for_three_hundred(importer: Importer) -> None:
    suite_of(importer)
    assert queries(importer, 300) == queries(importer, 2) < 15


def test_rows_that_were_not_run_are_counted(importer: Importer) -> None:
    """An error beside the answer is none; the script's own turns are no answer."""
    broken, scripted = row("1", error="timed out"), row("2", error="timed out")
    broken["messages"] = broken["messages"][:1]
    scripted["case"]["request"] = scripted["messages"]
    found = importer.previewed(ndjson(broken, scripted, row("3", error="late"), row("4")))["preview"]
    assert (found["rows"], found["not_run"]) == (4, 2)


def test_a_judge_a_row_is_refused(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be one of the project's, with a line in every report."""
    monkeypatch.setattr(survey, "MOST_JUDGES", 2)
    rows = [row(name, judgments=[{"judge": "j", "version": name, "decision": "refusal"}]) for name in "abc"]
    assert importer.read(importer.upload(ndjson(*rows[:2]))["id"])["status"] == "previewed"
    job = importer.read(importer.upload(ndjson(*rows))["id"])
    assert (job["status"], "more than 2 judges" in job["error"]) == ("failed", True)
