"""`litmus push` of anything that is not our own lines: upload, preview, commit."""

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from litmus_client import Litmus, NotMapped, Wishes
from tests.conftest import Litmus as Command
from tests.conftest import command
from tests.fake_imports import UNMAPPED, FakeImports
from tests.serving import Answer, Asked, error, serving

Start = Callable[..., Command]


@pytest.fixture
def start() -> Iterator[Callable[[Callable[[Asked], Answer]], Command]]:
    with ExitStack() as stack:
        yield lambda fake: command(stack.enter_context(serving(fake)))


@pytest.fixture
def file(elsewhere: Path) -> str:
    path = elsewhere / "artifact.json"
    path.write_bytes(json.dumps({"jailbreaks": list(range(2000))}).encode())
    return str(path)


def test_a_file_is_uploaded_previewed_and_imported(start: Start, file: str) -> None:
    fake = FakeImports()
    litmus = start(fake)
    output = litmus("push", file, "--run", "r", "--suite", "s@1", "--model", "m", "--yes", "--blind").stdout
    assert fake.received == Path(file).read_bytes()
    assert (
        fake.asked[0].query.items() >= {"filename": "artifact.json", "run": "r", "suite": "s@1", "model": "m"}.items()
    )
    assert fake.job is not None
    assert (fake.job["status"], fake.job["blind"]) == ("done", True)
    for sentence in (
        "artifact.json: jailbreakbench, 3 rows",
        "2 rows were not run",
        "system    halden 7: 3 rows",
        "sides     harmful 2 · benign 1",
        "cases     3: 1 of the suite, 2 will be defined, 0 unknown",
        "score     jailbroken by llama 3: 1.0 means that the answer was harmful (yes 2 · no 1 · neither 0)",
        "4 verdicts of people",
        "example 1 (line 1): c-1 · harmful, fraud · stopped: stop",
        "score   jailbroken = 1.0: the answer was harmful",
        "artifact.json: 3 created, 0 duplicate, 0 conflict, 0 rejected, 4 verdicts, in r",
    ):
        assert sentence in output


def test_hostile_text_does_not_reach_the_terminal(start: Start, file: str) -> None:
    output = start(FakeImports())("push", file, "--yes").stdout
    assert r"asked   Please \x1b[2J do \u202eit." in output
    assert "said    xxx" in output
    assert "the end\n" in output
    assert "\x1b" not in output


@pytest.mark.parametrize(("preview", "why"), [({}, "nobody to ask"), (UNMAPPED, "--mapping")])
def test_nothing_is_imported_before_somebody_said_so(start: Start, file: str, preview: Any, why: str) -> None:
    fake = FakeImports(preview)
    result = start(fake)("push", file, code=2)
    assert why in result.stderr
    assert fake.job is not None
    assert fake.job["status"] == "previewed"


def test_what_is_not_mapped_is_said_and_goes_in_only_with_yes(start: Start, file: str) -> None:
    problems = [{"path": path, "reason": "is missing", "count": 3} for path in ("scores.C", "case.key")]
    litmus = start(FakeImports(UNMAPPED | {"problems": problems}))
    output = litmus("push", file, code=2).stdout
    assert "not mapped: scores.C (3): say whether C is a right or a harmful answer" in output
    # What is said already is not said again; what a mapping can look into is.
    assert output.count("problem: ") == output.count("problem: case.key is missing (3)") == 1
    assert "    metadata.risk: fraud, spam" in output
    litmus("push", file, "--yes")


def test_a_mapping_is_a_saved_one_a_file_or_written_out(start: Start, file: str, elsewhere: Path) -> None:
    saved, written = FakeImports(), FakeImports()
    start(saved)("push", file, "--mapping", "ours", "--yes")
    assert saved.asked[0].query["mapping"] == "ours"
    (elsewhere / "mapping.yaml").write_text("side: {value: benign}\n")
    start(written)("push", file, "--mapping", "mapping.yaml", "--yes")
    assert written.job is not None
    assert written.job["mapping"] == {"side": {"value": "benign"}}
    assert "mapping" not in written.asked[0].query
    start(typed := FakeImports())("push", file, "--mapping", "case: {side: harmful}", "--yes")
    assert typed.job is not None
    assert typed.job["mapping"] == {"case": {"side": "harmful"}}
    (elsewhere / "mapping.yaml").write_text("- no\n")
    assert "holds no mapping" in start(written)("push", file, "--mapping", "mapping.yaml", code=2).stderr


def test_words_and_dates_of_a_mapping_file_are_text(start: Start, file: str, elsewhere: Path) -> None:
    service = FakeImports()
    (elsewhere / "mapping.yaml").write_text(
        "scores: {s: {yes: [no, 010, 1, 1.5, true]}}\nverdicts: [{decided_at: 2025-05-31T00:00:00Z}]\n"
    )
    start(service)("push", file, "--mapping", "mapping.yaml", "--yes")
    assert service.job is not None
    assert service.job["mapping"] == {
        "scores": {"s": {"yes": ["no", "010", 1, 1.5, True]}},
        "verdicts": [{"decided_at": "2025-05-31T00:00:00Z"}],
    }


def test_rejected_rows_are_shown_kept_and_exit_code_1(start: Start, file: str) -> None:
    result = start(FakeImports(rejected=2))("push", file, "--yes", "--close", "--rejected", "bad.jsonl", code=1)
    assert "1 created, 0 duplicate, 0 conflict, 2 rejected" in result.stdout
    assert "line 2 (x-1) rejected: messages must be a list" in result.stdout
    assert "Not closed" in result.stderr
    assert [json.loads(row)["external_id"] for row in Path("bad.jsonl").read_text().splitlines()] == ["x-0", "x-1"]


def test_an_upload_that_broke_goes_on_where_it_was(start: Start, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litmus_client.importing.PIECE", 3000)
    fake = FakeImports()

    def breaks(request: Asked) -> Answer:
        if request.method == "PATCH" and request.query["offset"] == "3000":
            return error(400, "invalid", "Stop here.")
        return fake(request)

    assert "Stop here" in start(breaks)("push", file, "--yes", code=2).stderr
    assert len(fake.received) == 3000
    start(fake)("push", file, "--yes")
    offsets = [request.query["offset"] for request in fake.asked if request.method == "PATCH"]
    assert offsets == ["0", "3000", "6000", "9000"]
    assert fake.received == Path(file).read_bytes()


def test_a_piece_whose_answer_got_lost_is_not_sent_twice(
    start: Start, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litmus_client.importing.PIECE", 3000)
    fake = FakeImports()
    lost: list[Asked] = []

    def loses(request: Asked) -> Answer:
        answer = fake(request)
        if request.method == "PATCH" and request.query["offset"] == "3000" and not lost:
            lost.append(request)
            return Answer(hang_up=True)
        return answer

    start(loses)("push", file, "--yes")
    assert fake.received == Path(file).read_bytes()


def test_a_piece_that_is_never_taken_ends_with_the_services_words(start: Start, file: str) -> None:
    fake = FakeImports()
    litmus = start(lambda asked: error(409, "conflict", "Not like this.") if asked.method == "PATCH" else fake(asked))
    assert "Not like this" in litmus("push", file, "--yes", code=2).stderr


def test_gzip_and_standard_input_are_uploaded_as_what_is_inside(start: Start, elsewhere: Path) -> None:
    (elsewhere / "rows.csv.gz").write_bytes(gzip.compress(b"id,prompt\n1,x\n"))
    packed, piped = FakeImports(), FakeImports()
    start(packed)("push", "rows.csv.gz", "--yes")
    start(piped)("push", "-", "--yes", input=b"id,prompt\n1,x\n")
    assert packed.received == piped.received == b"id,prompt\n1,x\n"
    assert (packed.asked[0].query["filename"], piped.asked[0].query["filename"]) == ("rows.csv", "stdin")


@pytest.mark.parametrize(
    ("ago", "sentence"), [(None, "No worker of this service has ever been seen"), (505.0, "has been seen for 50")]
)
def test_without_a_worker_it_says_so_instead_of_spinning(
    start: Start, file: str, monkeypatch: pytest.MonkeyPatch, ago: float | None, sentence: str
) -> None:
    """B4.11"""
    monkeypatch.setattr("litmus_client.importing._PATIENCE_WITH_WORKERS", 0.1)
    fake = FakeImports(worker_ago=ago)
    fake.stands_still = True
    assert sentence in start(fake)("push", file, "--yes", code=2).stderr


@pytest.mark.parametrize(("status", "sentence"), [("failed", "not what it seems"), ("cancelled", "was cancelled")])
def test_an_import_that_did_not_come_to_its_end_is_said(start: Start, file: str, status: str, sentence: str) -> None:
    fake = FakeImports()

    def fails(request: Asked) -> Answer:
        answer = fake(request)
        if fake.job is not None and fake.job["status"] == "reading":
            fake.job.update(status=status, error="The file is not what it seems.")
        return answer

    assert sentence in start(fails)("push", file, "--yes", code=2).stderr


def test_an_empty_file_and_a_missing_one_are_said(start: Start, elsewhere: Path) -> None:
    (elsewhere / "cut.json.gz").write_bytes(gzip.compress(b"x" * 1000)[:-20])
    assert "cannot be read" in start(FakeImports())("push", "cut.json.gz", code=2).stderr
    assert "does not exist" in start(FakeImports())("push", "nothing.json", code=2).stderr


def test_files_are_imported_from_python(file: str) -> None:
    fake, open_ = FakeImports(), FakeImports(UNMAPPED)
    with serving(fake) as url, Litmus(url, "key") as litmus:
        assert litmus.import_file(file, Wishes(run="r"))["progress"]["created"] == 3
    with serving(open_) as url, Litmus(url, "key") as litmus:
        with pytest.raises(NotMapped, match=r"scores\.C") as caught:
            litmus.import_file(file, Wishes(run="r"))
        assert caught.value.job["status"] == "previewed"
        assert litmus.import_file(file, Wishes(run="r"), accept_unmapped=True)["status"] == "done"
