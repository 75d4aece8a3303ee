"""The pages of imports: upload, look, map, commit; for leads, with every state said in words."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from labeling.models import Heartbeat, ImportJob, Project, Run, SavedMapping, Trajectory
from labeling.pages.import_form import score_token
from labeling.services.importing import claims, committing, options, previewing, uploads
from labeling.tests import make
from labeling.vocabulary import ImportStatus, Role

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
HOSTILE = "<script>alert(1)</script><img src=http://evil.example/x.png> \u202eevil \x00 \ud83d"
SIDES = {"side-how": "column", "side-column": "type", "side-lookup": "contrast_* = harmful", "side-otherwise": "benign"}


def answers(count: int = 4, **fields: Any) -> bytes:
    """A table whose rows lack a side, with a score that nobody has said the meaning of."""
    rows = [
        {
            "id": f"q{number}",
            "prompt": f"How do I kill process {number}?",
            "response": "I can't help with that." if number % 3 == 0 else "Use kill.",
            "type": "contrast_homonyms" if number % 2 else "homonyms",
            "refused": int(number % 3 == 0),
            **fields,
        }
        for number in range(count)
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


class Lead:
    def __init__(self, project: Project, role: Role = Role.LEAD) -> None:
        self.project = project
        self.client = Client(raise_request_exception=True)
        self.client.force_login(make.member(project, role))

    def address(self, name: str, *args: object) -> str:
        return reverse(name, args=[self.project.key, *args])

    def get(self, name: str, *args: object, query: str = "") -> Any:
        return self.client.get(self.address(name, *args) + query)

    def post(self, name: str, *args: object, **body: Any) -> Any:
        return self.client.post(self.address(name, *args), body)

    def page(self, job: ImportJob, query: str = "") -> str:
        answer = self.get("import", job.pk, query=query)
        assert answer.status_code == 200
        assert len(answer.content) < 300_000
        return str(answer.content.decode())


@pytest.fixture
def project() -> Project:
    return make.project("alpha")


@pytest.fixture
def lead(project: Project) -> Lead:
    return Lead(project)


def job_of(project: Project, content: bytes = b"", **asked: Any) -> ImportJob:
    wishes = options.asked(project=project, filename=asked.pop("filename", "answers.jsonl"), **asked)
    return uploads.receive(project=project, asked=wishes, chunks=[content or answers()]).job


def previewed(project: Project, content: bytes = b"", **asked: Any) -> ImportJob:
    job = job_of(project, content, **asked)
    previewing.read_file(job_id=job.pk)
    job.refresh_from_db()
    assert job.status == ImportStatus.PREVIEWED, job.error
    return job


def committed(project: Project, content: bytes = b"", **asked: Any) -> ImportJob:
    job = committing.request_commit(job=previewed(project, content, **asked))
    committing.commit_file(job_id=job.pk, ring=lambda _ids: None)
    job.refresh_from_db()
    return job


def file(name: str = "answers.jsonl", content: bytes = b"") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content or answers())


# --- who -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_only_leads_import(project: Project, role: Role) -> None:
    job = previewed(project)
    other = Lead(project, role)
    for name, arguments in (("imports", ()), ("import", (job.pk,))):
        answer = other.get(name, *arguments)
        assert answer.status_code == 403
        assert "needs the role lead" in answer.content.decode()
    assert other.post("imports", file=file()).status_code == 403
    for name in ("import_preview", "import_commit", "import_cancel"):
        assert other.post(name, job.pk).status_code == 403
    assert 'href="/p/alpha/imports/"' not in other.get("judges").content.decode()
    assert ImportJob.objects.get().status == ImportStatus.PREVIEWED


def test_imports_of_another_project_are_not_found(project: Project, lead: Lead) -> None:
    other = make.project("beta")
    job = previewed(other)
    assert lead.client.get(reverse("imports", args=["beta"])).status_code == 404
    assert lead.get("import", job.pk).status_code == 404
    for name in ("import_preview", "import_commit", "import_cancel"):
        assert lead.post(name, job.pk).status_code == 404
        assert lead.client.post(reverse(name, args=["beta", job.pk])).status_code == 404
    assert "answers.jsonl" not in lead.get("imports").content.decode()


def test_an_upload_is_refused_before_its_form_is_read(
    project: Project, lead: Lead, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_arguments: object) -> None:
        raise AssertionError("the form was read")

    monkeypatch.setattr("django.http.request.HttpRequest._load_post_and_files", read)
    address = lead.address("imports")
    assert Client().post(address, {"file": file()})["Location"].startswith("/sign-in/")
    assert Lead(project, Role.REVIEWER).post("imports", file=file()).status_code == 403
    settings.MAX_UPLOAD_BYTES = 1000
    answer = lead.post("imports", file=file(content=b"x" * 2 * 1024 * 1024))
    assert answer.status_code == 413
    assert "1,000 bytes" in answer.content.decode()


def test_an_upload_needs_its_token(project: Project, lead: Lead) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.member(project, Role.LEAD))
    assert client.post(lead.address("imports"), {"file": file()}).status_code == 403
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get(lead.address("imports")).content.decode())
    assert token is not None
    sent = {"file": file(), "csrfmiddlewaretoken": token[1]}
    assert client.post(lead.address("imports"), sent).status_code == 302


# --- uploading -----------------------------------------------------------------------------------------------------


def test_a_file_is_uploaded_and_waits_to_be_read(
    project: Project, lead: Lead, django_capture_on_commit_callbacks: Any
) -> None:
    mapping = SimpleUploadedFile(
        "mapping.yaml", b"\xef\xbb\xbfscores: {refused: {yes: [1], no: [0], meaning: refused}}"
    )
    with django_capture_on_commit_callbacks() as rung:
        answer = lead.post("imports", file=file(), mapping_file=mapping, run=" candidate ", suite="own@1")
    job = ImportJob.objects.get()
    assert answer["Location"] == lead.address("import", job.pk)
    assert (job.status, job.run_name, job.suite, job.format) == (ImportStatus.UPLOADED, "candidate", "own@1", "")
    assert job.mapping == {"scores": {"refused": {"yes": [1], "no": [0], "meaning": "refused"}}}
    assert len(rung) == 1
    assert lead.post("imports", file=file(), run="candidate", suite="own@1")["Location"] != answer["Location"]


def test_several_files_are_an_import_each(project: Project, lead: Lead) -> None:
    answer = lead.client.post(
        lead.address("imports"), {"file": [file("a.jsonl"), file("b.jsonl", answers(2))]}, follow=True
    )
    assert answer.redirect_chain == [(lead.address("imports"), 302)]
    assert "2 files are here" in answer.content.decode()
    assert set(ImportJob.objects.values_list("filename", flat=True)) == {"a.jsonl", "b.jsonl"}


@pytest.mark.parametrize(
    ("fields", "status", "says"),
    [
        ({}, 400, "Choose a file first"),
        ({"file": SimpleUploadedFile("empty.csv", b"")}, 400, "empty.csv: The file is empty"),
        ({"file": file(), "format": "nonsense"}, 400, "There is no format of that name"),
        ({"file": file(), "saved_mapping": "gone"}, 404, "There is no saved mapping gone"),
        ({"file": file(), "saved_mapping": "a\0b"}, 400, "NUL"),
        ({"file": file(), "mapping_file": SimpleUploadedFile("m.yaml", b"a: [")}, 400, "Line 1, column 5"),
        ({"file": file(), "mapping_file": SimpleUploadedFile("m.yaml", b"scores: {x: {meaning: ok}}")}, 400, "meaning"),
    ],
)
def test_what_is_wrong_with_an_upload_is_said_and_what_was_typed_stays(
    project: Project, lead: Lead, fields: dict[str, Any], status: int, says: str
) -> None:
    answer = lead.post("imports", run="my <run>", **fields)
    text = answer.content.decode()
    assert answer.status_code == status
    assert says in text
    assert 'value="my &lt;run&gt;"' in text
    assert not ImportJob.objects.exists()


def test_an_empty_list_says_what_belongs_here(lead: Lead) -> None:
    text = lead.get("imports").content.decode()
    assert "Nothing imported yet" in text
    assert "litmus push" in text
    assert lead.address("imports") in lead.get("project").content.decode()


# --- states --------------------------------------------------------------------------------------------------------


def stand(job: ImportJob, status: ImportStatus, **columns: Any) -> ImportJob:
    ImportJob.objects.filter(pk=job.pk).update(status=status, **columns)
    job.refresh_from_db()
    return job


def beat(**ago: float) -> None:
    Heartbeat.objects.update_or_create(name="worker", defaults={"beat_at": timezone.now() - timedelta(**ago)})


def test_work_says_how_far_it_is_how_fast_and_how_to_stop_it(project: Project, lead: Lead) -> None:
    beat(seconds=1)
    since = timezone.now() - timedelta(seconds=1000)
    job = job_of(project)
    working = {"started_at": since, "rows_done": 20100, "bytes_read": job.size // 2, "rows_before": 100}
    text = lead.page(stand(job, ImportStatus.READING, **working))
    assert "20100 rows so far, 20 a second, 17 min left" in text
    assert lead.address("import_cancel", job.pk) in text
    assert 'http-equiv="refresh"' in text
    text = lead.page(stand(job, ImportStatus.COMMITTING, rows_total=80400, created=290, rejected=10))
    assert "20100 of 80400 rows, 20 a second, 50 min left" in text
    assert "290 stored, 10 refused" in text
    assert 'width="25.0%"' in text
    assert "No worker" not in text


def test_without_a_worker_the_page_says_so_and_how_to_start_one(project: Project, lead: Lead) -> None:
    """FIELD B4.11."""
    job = job_of(project)
    assert "No worker has been seen yet" in lead.page(job)
    beat(seconds=300)
    assert re.search(r"No worker has been seen for 30\d s", lead.page(job))
    assert "celery -A litmus_site worker" in lead.get("imports").content.decode()
    beat(seconds=5)
    assert "No worker" not in lead.page(job)
    # Nobody is missed where nothing waits for them.
    beat(seconds=300)
    claims.cancel(job=job)
    assert "No worker" not in lead.page(job)


def test_a_file_that_arrives_in_parts_says_how_much_is_here(project: Project, lead: Lead) -> None:
    wishes = options.asked(project=project, filename="big.eval")
    job = uploads.open_upload(project=project, asked=wishes, sha256="a" * 64, size=4096).job
    text = lead.page(stand(job, ImportStatus.RECEIVING, received=1024))
    assert "1.0\xa0KB of 4.0\xa0KB have arrived" in text
    assert 'width="25.0%"' in text
    assert 'id="mapping"' not in text


def test_a_failure_is_a_sentence_with_a_way_out(project: Project, lead: Lead) -> None:
    job = job_of(project, b"\x89PNG nothing of ours", filename="picture.png")
    previewing.read_file(job_id=job.pk)
    text = lead.page(job)
    assert "It stopped:" in text
    assert "shows no format that is known here" in text
    assert 'id="mapping"' in text
    assert "shows no format" in lead.get("imports").content.decode()


def test_every_state_has_a_word_in_the_list(project: Project, lead: Lead) -> None:
    for place, status in enumerate(ImportStatus):
        stand(job_of(project, answers(2), run=f"r{place}"), status)
    text = lead.get("imports").content.decode()
    for word in ("arriving", "waiting to be read", "being read", "look and commit", "being stored", "committed"):
        assert f">{word}</span>" in text
    for job in ImportJob.objects.all():
        lead.page(job)


# --- looking -------------------------------------------------------------------------------------------------------


def test_the_preview_says_what_each_score_is_taken_to_mean(project: Project, lead: Lead) -> None:
    mapping = {
        "case": {"side": {"column": "type", "patterns": [{"matches": "contrast_*", "becomes": "harmful"}]}},
        "scores": {"refused": {"meaning": "refused"}, "toxicity": {"column": "toxicity", "at_least": 0.5}},
    }
    job = previewed(project, answers(toxicity=0.7), mapping=mapping)
    text = lead.page(job)
    assert "<b>1 means a refusal</b>" in text
    assert "<b>0 means no refusal: full compliance or a safe completion</b>" in text
    # What nobody has said the meaning of stands before it, loudly.
    assert text.index("Nothing says what it means") < text.index("1 means a refusal")
    assert "4 values of the score <code>toxicity</code>" in text
    assert "<b>2</b> without a side" in text
    assert "2 rows have no side and will stay out" in text
    assert '<option value="refused" selected>yes = refused</option>' in text
    assert 'value="0.5"' in text
    assert text.count('<article class="sheet example"') == 4


def test_hostile_text_is_inert_in_the_preview(project: Project, lead: Lead) -> None:
    """FIELD B7.1 and B7.2."""
    content = answers(
        2, response=HOSTILE, type=HOSTILE, category=HOSTILE[:90].replace("\x00", ""), **{HOSTILE: HOSTILE}
    )
    job = previewed(project, content, filename=f"{HOSTILE[:60]}.jsonl", mapping={"case": {"side": "harmful"}})
    for text in (lead.page(job), lead.get("imports").content.decode()):
        assert "<script>alert" not in text
        assert "<img" not in text
        assert not re.search(r"[\u202e\x00]", text)
    text = lead.page(job)
    assert "&lt;script&gt;alert(1)" in text
    assert "U+202E" in text
    assert '<span class="inv" title="U+0000 NULL">␀</span>' in text
    assert r"\ud83d" in text


def test_long_texts_are_folded_and_many_scores_fit_the_page(project: Project, lead: Lead) -> None:
    scores = {f"score_{number}": number % 2 for number in range(180)}
    text = lead.page(previewed(project, answers(6, prompt="long words " * 400, **scores)))
    assert text.count('<details class="clipped">') >= 5
    assert "more scores; map those in the text below" in text


def test_where_no_row_has_a_side_nothing_is_offered_to_commit(project: Project, lead: Lead) -> None:
    text = lead.page(previewed(project))
    assert "Nothing can be committed yet." in text
    assert "Commit 4" not in text


def test_a_slip_in_the_mapping_is_said_as_what_it_is(project: Project, lead: Lead) -> None:
    side = {"column": "typ", "values": {"contrast_a": "harmful"}, "otherwise": "benign"}
    text = lead.page(previewed(project, mapping={"case": {"side": side}, "scores": {"refusd": {"meaning": "refused"}}}))
    assert "No row has the column typ, so" in text
    assert "No row has a score refusd, so" in text
    assert "rows without <code>" not in text
    assert "values of the score <code>refusd</code>" not in text


# --- mapping -------------------------------------------------------------------------------------------------------


def test_the_form_and_the_text_come_to_the_same_mapping(project: Project, lead: Lead) -> None:
    job = previewed(project)
    typed = {**SIDES, "tier-how": "fixed", "tier-fixed": "2", f"meaning-{score_token('refused')}": "refused"}
    answer = lead.post("import_preview", job.pk, **typed, run="again", save_as="ours")
    assert answer["Location"] == lead.address("import", job.pk)
    job.refresh_from_db()
    by_form = job.mapping
    assert (job.status, job.preview, job.run_name) == (ImportStatus.UPLOADED, None, "again")
    previewing.read_file(job_id=job.pk)
    text = lead.page(job)
    written = re.search(r'<textarea id="text".*?>\n(.*?)</textarea>', text, re.DOTALL)
    assert written is not None
    assert "contrast_*" in written[1]
    assert 'value="ours"' in text
    lead.post("import_preview", job.pk, text=written[1].replace("&#x27;", "'").replace("&quot;", '"'))
    job.refresh_from_db()
    assert job.mapping == by_form
    assert SavedMapping.objects.get(name="ours").content == by_form
    # Another file takes it by its name.
    other = previewed(project, answers(9))
    lead.post("import_preview", other.pk, saved_mapping="ours")
    other.refresh_from_db()
    assert other.mapping == by_form


@pytest.mark.parametrize(
    ("typed", "status", "says", "kept"),
    [
        ({**SIDES, "side-lookup": "contrast_*"}, 400, "Line 1 for the side", ">contrast_*</textarea>"),
        ({**SIDES, "suite": "a@b@c"}, 400, "suite", 'value="a@b@c"'),
        ({"text": "case: [<b>"}, 400, "Line 1, column 11 of the mapping", "case: [&lt;b&gt;</textarea>"),
        ({"text": "cases: {}"}, 400, "cases is not a field here", "cases: {}</textarea>"),
        ({"saved_mapping": "gone"}, 404, "There is no saved mapping gone", 'id="mapping"'),
    ],
)
def test_what_cannot_be_taken_is_said_and_stays_as_typed(
    lead: Lead, typed: dict[str, str], status: int, says: str, kept: str
) -> None:
    job = previewed(lead.project)
    answer = lead.post("import_preview", job.pk, **typed)
    text = answer.content.decode()
    assert answer.status_code == status
    assert says in text
    assert kept in text
    job.refresh_from_db()
    assert (job.status, job.mapping) == (ImportStatus.PREVIEWED, {})


# --- committing ----------------------------------------------------------------------------------------------------


def test_a_commit_says_what_it_did_and_leads_to_its_runs(
    project: Project, lead: Lead, django_capture_on_commit_callbacks: Any
) -> None:
    job = previewed(project, mapping={"case": {"side": "benign"}}, run="candidate")
    text = lead.page(job)
    assert "4 rows go into 1 run called candidate" in text
    assert "Commit 4 rows" in text
    with django_capture_on_commit_callbacks() as rung:
        lead.post("import_commit", job.pk)
    assert len(rung) == 1
    assert not Trajectory.objects.exists()
    committing.commit_file(job_id=job.pk, ring=lambda _ids: None)
    text = lead.page(job)
    assert "4 stored" in text
    assert lead.address("run", Run.objects.get().pk) in text
    assert "not stored" not in text


def test_what_did_not_go_in_is_listed_page_by_page_and_can_be_downloaded(project: Project, lead: Lead) -> None:
    content = answers(30) + b"".join(b'{"broken": \n' for _ in range(25))
    job = committed(project, content, mapping={"case": {"side": "benign"}})
    text = lead.page(job)
    assert "25 rows not stored" in text
    assert text.count("<td>unread</td>") == 20
    following = re.search(r'href="(\?after=\d+)#quarantine"', text)
    assert following is not None
    rest = lead.page(job, following[1])
    assert rest.count("<td>unread</td>") == 5
    assert "line 55" in rest
    download = re.search(r'href="([^"]+)" download', text)
    assert download is not None
    rows = [json.loads(line) for line in lead.client.get(download[1]).getvalue().splitlines()]
    assert len(rows) == 25


def test_cancelling_stops_and_the_file_can_be_taken_up_again(project: Project, lead: Lead) -> None:
    job = previewed(project, mapping={"case": {"side": "benign"}})
    lead.post("import_cancel", job.pk)
    text = lead.page(job)
    assert "Cancelled." in text
    assert "Commit 4" in text
    assert lead.post("import_commit", job.pk).status_code == 302
    job.refresh_from_db()
    assert job.status == ImportStatus.COMMITTING


def test_a_commit_without_a_preview_is_refused_in_words(project: Project, lead: Lead) -> None:
    answer = lead.post("import_commit", job_of(project).pk)
    assert answer.status_code == 409
    assert "There is no preview yet" in answer.content.decode()


def test_the_pages_take_a_known_number_of_queries(
    project: Project, lead: Lead, django_assert_max_num_queries: Any
) -> None:
    job = committed(project, answers(40) + b"{\n" * 30, mapping={"case": {"side": "benign"}})
    for number in range(5):
        make.suite(project)
        committed(project, answers(number + 1), mapping={"case": {"side": "benign"}})
    # Ten, and what the human side asks to know whom it may tell what judges said.
    with django_assert_max_num_queries(18):
        lead.page(job)
    with django_assert_max_num_queries(9):
        lead.get("imports")


def test_the_file_itself_is_kept_where_uploads_are(project: Project, lead: Lead, settings: Any) -> None:
    lead.post("imports", file=file())
    job = ImportJob.objects.get()
    assert (Path(settings.UPLOAD_DIR) / str(project.pk) / job.sha256).read_bytes() == answers()
