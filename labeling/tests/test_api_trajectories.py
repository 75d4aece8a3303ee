"""POST /api/v1/runs/{id}/trajectories/: bodies of every kind, each line answered for."""

import gzip
import io
import json
from typing import Any

import pytest
from django.test import Client

from labeling.api import bodies
from labeling.errors import TooLarge
from labeling.formats import lines
from labeling.formats.packing import unpack
from labeling.models import Run, Trajectory, TrajectoryContent
from labeling.services import ingest
from labeling.tests import make
from labeling.tests.posting import Runner, definition, error, judgment, line
from labeling.vocabulary import TrajectoryStatus

pytestmark = pytest.mark.django_db

NDJSON = "application/x-ndjson"


@pytest.fixture
def runner(db: None) -> Runner:
    return Runner(make.project())


@pytest.fixture
def path(runner: Runner) -> str:
    run = runner.post("/api/v1/runs/", {"external_id": "r", "configuration": {"model": "m", "version": "1"}}).json()
    return f"/api/v1/runs/{run['id']}/trajectories/"


def ndjson(*lines: Any) -> bytes:
    return b"\n".join(each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines)


LINES = [line(f"t-{n}", definition(f"c-{n}")) for n in range(3)]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (json.dumps(LINES).encode(), "application/json"),
        (b"\xef\xbb\xbf" + json.dumps(LINES, indent=2).encode(), "application/json; charset=utf-8"),
        (ndjson(*LINES), NDJSON),
        (b"\xef\xbb\xbf" + ndjson(*LINES) + b"\r\n\n", "application/jsonl"),
    ],
)
def test_bodies_of_every_kind_are_taken(runner: Runner, path: str, body: bytes, content_type: str) -> None:
    response = runner.post(path, body, content_type=content_type)
    assert response.status_code == 201
    assert response.json() == {"created": 3, "duplicate": 0, "conflict": 0, "rejected": 0, "entries": []}
    compressed = runner.post(path, gzip.compress(body), content_type=content_type, **{"content-encoding": "gzip"})
    assert compressed.status_code == 200
    assert compressed.json()["duplicate"] == 3


def test_one_object_is_one_line(runner: Runner, path: str) -> None:
    assert runner.post(path, LINES[0]).json()["created"] == 1
    assert runner.post(path, []).json()["created"] == 0


def test_the_bytes_are_kept_as_posted(runner: Runner, path: str) -> None:
    raw = b'{"external_id" : "t", "case":{"key":"c","side":"benign"}, "messages":[ ], "metadata":{"x":1.50}}'
    runner.post(path, b"[" + raw + b"]")
    assert unpack(TrajectoryContent.objects.get().raw) == raw


def test_every_line_that_was_not_created_is_answered_for(runner: Runner, path: str) -> None:
    runner.post(path, LINES)
    body = ndjson(
        LINES[0],
        line("t-1", definition("c-1"), "Other."),
        b"{broken",
        line("t-8", "nowhere"),
        line("t-9", definition("c-9"), attempt=0, judgments=[judgment(harm_grade=9)]),
        line("t-10", definition("c-10")),
    )
    response = runner.post(path, body, content_type=NDJSON)
    answer = response.json()
    entries = answer.pop("entries")
    assert response.status_code == 201
    assert answer == {"created": 1, "duplicate": 1, "conflict": 1, "rejected": 3}
    assert [(each["index"], each["status"], each["path"]) for each in entries] == [
        (0, "duplicate", "external_id"),
        (1, "conflict", "external_id"),
        (2, "rejected", ""),
        (3, "rejected", "case"),
        (4, "rejected", "attempt"),
    ]
    assert entries[4]["external_id"] == "t-9"
    assert entries[4]["problems"] == [
        {"path": "attempt", "reason": "must be at least 1"},
        {"path": "judgments[0].harm_grade", "reason": "must be at most 4"},
    ]


def test_stored_rows_are_rung_for_in_batches_after_the_commit(
    runner: Runner, path: str, django_capture_on_commit_callbacks: Any, settings: Any
) -> None:
    settings.BATCH_SIZE = 2
    with django_capture_on_commit_callbacks() as callbacks:
        runner.post(path, LINES)
    assert len(callbacks) == 2
    with django_capture_on_commit_callbacks() as callbacks:
        runner.post(path, LINES)
    assert callbacks == []


def test_an_unknown_id_with_hostile_characters_is_answered_in_print(runner: Runner, path: str) -> None:
    response = runner.post(path, line("a\u202eb\ud800", "c"))
    entry = response.json()["entries"][0]
    assert entry["external_id"] == r"a\u202eb\ud800"
    assert (entry["path"], entry["reason"]) == ("external_id", "must not hold NUL or lone surrogates")


# --- bodies that are refused as a whole --------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"[", b"{} {}", b"\xff\xfe", b"nonsense"])
def test_a_body_that_is_no_json_is_refused_as_a_whole(runner: Runner, path: str, body: bytes) -> None:
    response = runner.post(path, body)
    assert (response.status_code, error(response)["code"]) == (400, "malformed")


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("application/x-www-form-urlencoded", {}),
        ("text/plain", {}),
        ("multipart/form-data; boundary=x", {}),
        ("application/json", {"content-encoding": "br"}),
    ],
)
def test_what_the_api_does_not_read_is_415(runner: Runner, path: str, content_type: str, headers: Any) -> None:
    response = runner.post(path, b"{}", content_type=content_type, **headers)
    assert (response.status_code, error(response)["code"]) == (415, "unsupported_media_type")
    assert "Send Content-" in error(response)["message"]


@pytest.mark.parametrize(
    "body",
    [b"no gzip", gzip.compress(b"[]", mtime=0)[:-4], gzip.compress(b"", mtime=0) * 1001],
    ids=["other bytes", "cut off", "nothing but members"],
)
def test_broken_gzip_is_refused(runner: Runner, path: str, body: bytes) -> None:
    response = runner.post(path, body, **{"content-encoding": "gzip"})
    assert (response.status_code, error(response)["code"]) == (400, "malformed")
    assert "gzip" in error(response)["message"]


def test_gzip_of_several_members_and_padding_is_read(runner: Runner, path: str) -> None:
    whole = json.dumps(LINES).encode()
    body = gzip.compress(whole[:50]) + gzip.compress(whole[50:]) + b"\0" * 20
    assert runner.post(path, body, **{"content-encoding": "x-gzip"}).json()["created"] == 3


def test_a_body_over_the_limit_is_413_and_names_both(runner: Runner, path: str, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 1000
    fits = json.dumps(line("t", definition(), metadata={"x": "y" * 600})).encode()
    assert runner.post(path, fits).status_code == 201
    response = runner.post(path, b" " * 1001)
    assert (response.status_code, error(response)["code"]) == (413, "too_large")
    assert error(response)["details"] == {"limit_bytes": 1000, "size_bytes": 1001}


def test_a_gzip_bomb_is_not_inflated_past_the_limit(runner: Runner, path: str, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 100_000
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000
    response = runner.post(path, bomb, **{"content-encoding": "gzip"})
    assert (response.status_code, error(response)["details"]["limit_bytes"]) == (413, 100_000)


def test_a_body_of_unknown_length_needs_a_server_that_marks_its_end(runner: Runner, path: str) -> None:
    response = runner.post(path, b"[]", **{"transfer-encoding": "chunked"})
    assert (response.status_code, error(response)["code"]) == (411, "length_required")


def test_a_chunked_body_is_read_where_the_server_marks_its_end(runner: Runner, path: str) -> None:
    headers = {"authorization": f"Bearer {runner.secret}", "transfer-encoding": "chunked"}
    environ: dict[str, Any] = {"wsgi.input_terminated": True, "wsgi.input": io.BytesIO(json.dumps(LINES).encode())}
    response = runner.client.post(path, content_type="application/json", headers=headers, **environ)
    assert response.json()["created"] == 3


def test_nothing_is_read_before_it_is_clear_who_asks(path: str) -> None:
    response = Client().post(path, b"x" * 100, content_type="application/json")
    assert response.status_code == 401


def test_deep_and_long_lines_are_rejected_and_the_others_stored(runner: Runner, path: str) -> None:
    deep = b'{"external_id":"d","case":"c","messages":' + b"[" * 20000 + b"]" * 20000 + b"}"
    long_number = b'{"external_id":"l","case":"c","messages":[],"metadata":{"n":' + b"9" * 5000 + b"}}"
    response = runner.post(path, ndjson(deep, LINES[0], long_number), content_type=NDJSON)
    assert response.json()["created"] == 1
    assert [each["index"] for each in response.json()["entries"]] == [0, 2]
    assert Trajectory.objects.count() == 1


def test_more_lines_than_an_answer_could_name_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINES", 3)
    with pytest.raises(TooLarge, match="send fewer"):
        lines.split_ndjson(io.BytesIO(b"0\n" * 5))
    with pytest.raises(TooLarge, match="send fewer"):
        lines.split_json(b"[0,0,0,0,0]")


# --- bodies that go in by parts ----------------------------------------------------------------------------------


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is done by parts is done by small ones, and what is kept on disk is."""
    monkeypatch.setattr(lines, "CHUNK_LINES", 2)
    monkeypatch.setattr(bodies, "_CHUNK", 7)
    monkeypatch.setattr(bodies, "_IN_MEMORY", 10)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("content_type", ["application/json", NDJSON])
@pytest.mark.parametrize("packed", [False, True])
def test_a_body_in_many_parts_is_answered_as_one(runner: Runner, path: str, content_type: str, packed: bool) -> None:
    sent = [*LINES, {}, LINES[1], line("t-9", definition("c-9"))]
    body = ndjson(*sent) if content_type == NDJSON else json.dumps(sent).encode()
    headers = {"content-encoding": "gzip"} if packed else {}
    if packed:
        body = gzip.compress(body[:50]) + gzip.compress(body[50:]) + b"\0" * 20
    answer = runner.post(path, body, content_type=content_type, **headers).json()
    assert {name: answer[name] for name in ("created", "duplicate", "rejected")} == {
        "created": 4,
        "duplicate": 1,
        "rejected": 1,
    }
    assert [each["index"] for each in answer["entries"]] == [3, 4]
    assert Trajectory.objects.count() == TrajectoryContent.objects.count() == 4


@pytest.mark.usefixtures("small_parts")
def test_a_run_that_is_closed_while_a_body_goes_in_says_how_far_it_came(
    runner: Runner, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ingest.store_trajectories

    def store_and_close(*, run: Run, lines: Any) -> ingest.BulkAnswer:
        answer = store(run=run, lines=lines)
        Run.objects.update(status="closed")
        return answer

    monkeypatch.setattr(ingest, "store_trajectories", store_and_close)
    response = runner.post(path, LINES)
    assert (response.status_code, error(response)["code"]) == (409, "conflict")
    assert error(response)["details"] == {"status": "closed", "lines": 2}
    assert "first 2 lines" in error(response)["message"]
    assert Trajectory.objects.count() == 2


def test_a_broken_line_is_named_by_its_place_in_the_body(runner: Runner, path: str) -> None:
    body = b"\n".join([json.dumps(LINES[0]).encode(), b"", b" ", b'{"external_id": "x",}', b"", b"{} {}"])
    entries = runner.post(path, body, content_type=NDJSON).json()["entries"]
    assert [entry["index"] for entry in entries] == [1, 2]
    assert "at line 4, column 21" in entries[0]["reason"]
    assert "at line 6, column 4" in entries[1]["reason"]


def test_nothing_of_a_broken_array_is_stored(runner: Runner, path: str) -> None:
    body = json.dumps(LINES).encode()[:-1] + b", nonsense]"
    assert runner.post(path, body).status_code == 400
    assert not Trajectory.objects.exists()


def test_a_transcript_of_5000_messages_and_20_mb_is_taken(runner: Runner, path: str) -> None:
    """FIELD B4.1."""
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 800} for n in range(5000)]
    body = json.dumps({"external_id": "long", "case": definition(), "messages": messages}).encode()
    assert len(body) > 20_000_000
    assert runner.post(path, body).json()["created"] == 1
    assert len(TrajectoryContent.objects.get().messages) == 5000


def test_nothing_of_a_body_is_logged(runner: Runner, path: str, caplog: pytest.LogCaptureFixture) -> None:
    """FIELD B7.4."""
    caplog.set_level("DEBUG")
    secret = "how to pick a lock"
    hostile = [
        line(secret, definition(secret), secret + "\0", metadata={secret: "\ud800"}),
        line(secret, secret, secret, judgments=[judgment(secret, decision=secret)]),
        {secret: secret},
    ]
    runner.post(path, ndjson(*hostile, secret.encode(), b"\xff" + secret.encode()), content_type=NDJSON)
    runner.post(path, secret.encode())
    assert secret not in caplog.text


# --- backpressure ------------------------------------------------------------------------------------------------


def test_while_too_much_waits_to_be_judged_a_post_waits_too(runner: Runner, path: str, settings: Any) -> None:
    # What is found is kept for a second, for one limit; so each step has another.
    settings.MAX_PENDING = 9
    assert runner.post(path, LINES[:2]).status_code == 201
    settings.MAX_PENDING = 2
    assert runner.post(path, LINES[2]).status_code == 201
    settings.MAX_PENDING = 1
    response = runner.post(path, LINES)
    assert (response.status_code, error(response)["code"]) == (429, "busy")
    assert int(response["Retry-After"]) > 0
    assert "Retry-After" in error(response)["message"]
    Trajectory.objects.update(status=TrajectoryStatus.SETTLED)
    settings.MAX_PENDING = 0
    assert runner.post(path, LINES).json()["duplicate"] == 3
