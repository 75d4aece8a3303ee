"""Bytes on their way in: streamed, limited, in parts, and known by their hash."""

import gzip
import hashlib
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from labeling import tasks
from labeling.errors import Conflict, DomainError
from labeling.formats.problems import BrokenOff
from labeling.models import ImportJob
from labeling.services.importing import files, options, uploads
from labeling.tests import make
from labeling.tests.posting import error
from labeling.tests.uploading import IMPORTS, Importer, ndjson, one, row
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db

FILE = ndjson(row("1"), row("2"))
HASH = hashlib.sha256(FILE).hexdigest()


@pytest.fixture
def importer() -> Importer:
    return Importer()


def folder(importer: Importer) -> list[str]:
    return sorted(path.name for path in files.folder_of(importer.project.pk).iterdir())


def small_limit(settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 100


# --- whole -------------------------------------------------------------------------------------------------------


def test_a_file_is_kept_under_its_hash_and_waits_for_a_worker(importer: Importer) -> None:
    response = importer.post(FILE, filename="../logs\\a run.ndjson", format="litmus", run="first")
    job = response.json()
    assert (response.status_code, job["status"], job["filename"]) == (201, "uploaded", "a run.ndjson")
    assert (job["sha256"], job["size"], job["received"]) == (HASH, len(FILE), len(FILE))
    assert (job["format"], job["run"], job["preview"], job["runs"]) == ("litmus", "first", None, [])
    assert files.kept(one(job["id"])).read_bytes() == FILE
    assert folder(importer) == [HASH]
    assert one(job["id"]).runner_key is not None


def test_the_same_bytes_with_the_same_wishes_are_the_same_import(importer: Importer) -> None:
    first = importer.upload(FILE, filename="a", run="one")
    again = importer.post(FILE, filename="a", run="one")
    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    assert importer.upload(FILE, filename="a", run="two")["id"] != first["id"]
    assert importer.upload(FILE, filename="b", run="one")["id"] != first["id"]
    assert Importer().upload(FILE, filename="a", run="one")["id"] != first["id"]
    assert folder(importer) == [HASH]


def test_gzip_is_unpacked_on_the_way(importer: Importer) -> None:
    packed = gzip.compress(FILE[:50]) + gzip.compress(FILE[50:])
    job = importer.upload(packed, headers={"Content-Encoding": "gzip"})
    assert (job["sha256"], job["filename"]) == (HASH, "upload")


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"", {}, 400, "malformed"),
        (gzip.compress(b"", mtime=0), {"Content-Encoding": "gzip"}, 400, "invalid"),
        (gzip.compress(FILE, mtime=0)[:-9], {"Content-Encoding": "gzip"}, 400, "malformed"),
        (FILE, {"Content-Encoding": "gzip"}, 400, "malformed"),
        (FILE, {"Content-Encoding": "br"}, 415, "unsupported_media_type"),
    ],
)
def test_what_is_no_file_leaves_nothing(
    importer: Importer, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    response = importer.post(content, headers=headers)
    assert (response.status_code, error(response)["code"]) == (status, code)
    assert folder(importer) == []
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_over_the_limit_is_413_and_leaves_nothing(importer: Importer, settings: Any, packed: bool) -> None:
    small_limit(settings)
    content, headers = (gzip.compress(b"x" * 101), {"Content-Encoding": "gzip"}) if packed else (b"x" * 101, {})
    said = error(importer.post(content, headers=headers))
    assert (said["code"], said["details"]["limit_bytes"]) == ("too_large", 100)
    assert "LITMUS_MAX_UPLOAD_MIB" in said["message"]
    assert folder(importer) == []
    assert importer.post(b"x" * 100).status_code == 201


def test_other_bytes_than_those_announced_are_refused(importer: Importer) -> None:
    wishes: list[dict[str, Any]] = [{"sha256": "0" * 64}, {"size": len(FILE) + 1}]
    for wrong in wishes:
        assert error(importer.post(FILE, **wrong))["details"]["sha256"] == HASH
    assert importer.post(FILE, sha256=HASH.upper(), size=len(FILE)).status_code == 201


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"format": "nothing"}, "formats"),
        ({"mapping": "nothing"}, None),
        ({"suite": "a@b@c"}, "problems"),
        ({"run": "x" * 201}, "problems"),
        ({"size": "many"}, "field"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_before_the_bytes(
    importer: Importer, wish: dict[str, Any], field: str | None
) -> None:
    response = importer.post(FILE, **wish)
    assert response.status_code in (400, 404)
    assert field is None or field in error(response)["details"]
    assert folder(importer) == []


def test_a_full_disk_is_503_and_says_so(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    response = importer.post(FILE)
    assert (response.status_code, error(response)["code"]) == (503, "unavailable")
    assert "No space left on device" in error(response)["message"]


def test_a_full_folder_for_temporary_files_is_503_too(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: Any, **_named: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("labeling.api.bodies.SpooledTemporaryFile.write", full)
    monkeypatch.setattr("django.core.files.uploadhandler.TemporaryUploadedFile", full)
    monkeypatch.setattr("django.conf.settings.FILE_UPLOAD_MAX_MEMORY_SIZE", 1)
    posted = importer.runner.post("/api/v1/suites/", {"key": "a", "version": "1"})
    headers = {"authorization": f"Bearer {importer.runner.secret}"}
    sent = importer.runner.client.post(IMPORTS, {"file": SimpleUploadedFile("a", FILE)}, headers=headers)
    for response in (posted, sent):
        assert (response.status_code, error(response)["code"]) == (503, "unavailable")
        assert "No space left on device" in error(response)["message"]


# --- as a form ---------------------------------------------------------------------------------------------------


def form(client: Client, path: str = IMPORTS, **fields: Any) -> Any:
    return client.post(path, {"file": SimpleUploadedFile("a.ndjson", FILE), **fields})


def test_a_lead_uploads_a_form(importer: Importer) -> None:
    client = Client()
    lead = make.member(importer.project, Role.LEAD)
    client.force_login(lead)
    response = form(client, project=importer.project.key, run="mine", model="m")
    job = response.json()
    assert (response.status_code, job["filename"], job["run"], job["sha256"]) == (201, "a.ndjson", "mine", HASH)
    assert (job["model"], job["mapping"]) == ("m", {"system": {"model": "m"}})
    assert one(job["id"]).created_by == lead


def test_a_form_over_the_limit_without_a_file_or_broken_is_refused(importer: Importer, settings: Any) -> None:
    post = importer.runner.client.post
    headers = {"authorization": f"Bearer {importer.runner.secret}"}
    assert error(post(IMPORTS, {"run": "x"}, headers=headers))["message"].startswith("The form holds no file")
    broken = post(IMPORTS, b"--x\r\n", content_type="multipart/form-data", headers=headers)
    assert (broken.status_code, error(broken)["code"]) == (400, "malformed")
    small_limit(settings)
    large = post(IMPORTS, {"file": SimpleUploadedFile("a", FILE)}, headers=headers)
    assert (large.status_code, error(large)["code"]) == (413, "too_large")


def test_whoever_has_another_role_or_project_uploads_nothing(importer: Importer) -> None:
    client = Client()
    client.force_login(make.member(importer.project, Role.VIEWER))
    assert form(client, f"{IMPORTS}?project={importer.project.key}").status_code == 403
    client.force_login(make.member(make.project(), Role.LEAD))
    assert form(client, f"{IMPORTS}?project={importer.project.key}").status_code == 404
    assert form(client).status_code == 400
    assert importer.post(FILE, project="another").status_code == 404
    assert not ImportJob.objects.exists()


# --- in parts ----------------------------------------------------------------------------------------------------


def test_a_file_comes_in_parts(importer: Importer) -> None:
    opened = importer.post(sha256=HASH, size=len(FILE), filename="a")
    job = opened.json()
    assert (opened.status_code, job["status"], job["received"]) == (201, "receiving", 0)
    first = importer.patch(job["id"], FILE[:40], offset=0)
    assert (first.status_code, first.json()["received"]) == (200, 40)
    found = importer.post(sha256=HASH, size=len(FILE), filename="a")
    assert (found.status_code, found.json()["id"], found.json()["received"]) == (200, job["id"], 40)
    packed = gzip.compress(FILE[40:])
    last = importer.patch(job["id"], packed, offset=40, headers={"content-encoding": "gzip"}).json()
    assert (last["status"], last["received"]) == ("uploaded", len(FILE))
    assert files.kept(one(job["id"])).read_bytes() == FILE
    assert folder(importer) == [HASH]
    # The answer got lost, and the part comes again.
    assert importer.patch(job["id"], b"", offset=len(FILE)).json()["status"] == "uploaded"


def test_another_offset_is_409_and_says_where_to_go_on(importer: Importer) -> None:
    job = importer.post(sha256=HASH, size=len(FILE)).json()
    importer.patch(job["id"], FILE[:40], offset=0)
    for offset in (0, 39, 41):
        response = importer.patch(job["id"], b"x", offset=offset)
        assert (response.status_code, error(response)["details"]) == (409, {"received": 40})
    assert importer.patch(job["id"], b"x" * len(FILE), offset=40).status_code == 400
    assert importer.get(job["id"])["received"] == 40
    assert importer.patch(job["id"], FILE[40:], offset=40).json()["status"] == "uploaded"


def test_of_a_part_that_breaks_off_what_came_is_kept(importer: Importer) -> None:
    opened = importer.post(sha256=HASH, size=len(FILE)).json()

    class Cut(io.BytesIO):
        """A connection that ends before what was announced has come."""

        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 30, 30) if self.tell() < 60 else 0)

    client = importer.runner.client
    environ = {"wsgi.input": Cut(FILE), "CONTENT_LENGTH": str(len(FILE)), "REQUEST_METHOD": "PATCH"}
    environ |= {"PATH_INFO": f"{IMPORTS}{opened['id']}/", "QUERY_STRING": "offset=0"}
    response = client.request(**environ, HTTP_AUTHORIZATION=f"Bearer {importer.runner.secret}")
    assert (response.status_code, error(response)["code"]) == (400, "malformed")
    assert importer.get(opened["id"])["received"] == 60
    assert importer.patch(opened["id"], FILE[60:], offset=60).json()["status"] == "uploaded"


def test_chunks_that_a_server_cannot_read_on_are_a_body_broken_off(importer: Importer) -> None:
    opened = importer.post(sha256=HASH, size=len(FILE)).json()

    class Malformed(io.BytesIO):
        """As a web server hands on a chunked body of which the second chunk is none."""

        def read(self, _size: int | None = -1) -> bytes:
            if self.tell():
                raise ValueError("a part of the body")
            return super().read(60)

    environ = {"wsgi.input": Malformed(FILE), "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    environ |= {"CONTENT_LENGTH": "", "REQUEST_METHOD": "PATCH", "QUERY_STRING": "offset=0"}
    environ |= {"PATH_INFO": f"{IMPORTS}{opened['id']}/"}
    response = importer.runner.client.request(**environ, HTTP_AUTHORIZATION=f"Bearer {importer.runner.secret}")
    assert (response.status_code, error(response)["code"]) == (400, "malformed")
    assert importer.get(opened["id"])["received"] == 60


def test_what_a_killed_request_left_is_written_over(importer: Importer) -> None:
    job = importer.post(sha256=HASH, size=len(FILE)).json()
    importer.patch(job["id"], FILE[:40], offset=0)
    with files.part(one(job["id"])).open("ab") as part:
        part.write(b"left behind")
    assert importer.patch(job["id"], FILE[40:], offset=40).json()["status"] == "uploaded"


def test_a_part_waits_for_nobody_who_sends_the_same(importer: Importer) -> None:
    job = one(importer.post(sha256=HASH, size=len(FILE)).json()["id"])
    with files.appending(files.part(job)):
        response = importer.patch(job.pk, FILE, offset=0)
    assert response.status_code == 409
    assert "Another request" in error(response)["message"]


def test_nobody_writes_to_a_file_whose_hash_is_being_checked(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = importer.post(sha256=HASH, size=len(FILE)).json()
    hash_of, meanwhile = files.hash_of, []

    def hashed(path: Path) -> str:
        meanwhile.append(importer.patch(job["id"], FILE[:10], offset=0).status_code)
        return hash_of(path)

    monkeypatch.setattr("labeling.services.importing.files.hash_of", hashed)
    assert importer.patch(job["id"], FILE, offset=0).json()["status"] == "uploaded"
    assert meanwhile == [409]
    assert files.kept(one(job["id"])).read_bytes() == FILE


def test_what_comes_for_an_upload_that_began_anew_meanwhile_counts_for_nothing(importer: Importer) -> None:
    job = one(importer.post(sha256=HASH, size=len(FILE)).json()["id"])

    def chunks() -> Any:
        yield FILE[:40]
        importer.runner.post(f"{IMPORTS}{job.pk}/cancel/")
        assert importer.post(sha256=HASH, size=len(FILE)).json()["received"] == 0

    with pytest.raises(Conflict, match="Another request"):
        uploads.append(job=job, offset=0, chunks=chunks())
    assert importer.get(job.pk)["received"] == 0
    assert importer.patch(job.pk, FILE, offset=0).json()["status"] == "uploaded"


def test_a_wrong_size_announced_once_keeps_the_file_out_no_longer_than_that(importer: Importer) -> None:
    job = importer.post(sha256=HASH, size=len(FILE) + 1).json()
    right = importer.post(sha256=HASH, size=len(FILE)).json()
    assert (right["id"], right["size"], right["status"]) == (job["id"], len(FILE), "receiving")
    importer.patch(job["id"], FILE[:40], offset=0)
    assert importer.post(sha256=HASH, size=len(FILE) + 1).status_code == 409
    assert importer.patch(job["id"], FILE[40:], offset=40).json()["status"] == "uploaded"
    assert importer.post(sha256=HASH, size=len(FILE) + 1).status_code == 409
    # The bytes themselves have the last word.
    other = importer.post(sha256=HASH, size=9, run="two").json()
    assert (other["size"], other["status"]) == (9, "receiving")
    assert importer.upload(FILE, run="two")["size"] == len(FILE)


def test_with_a_wrong_hash_the_file_is_sent_again(importer: Importer) -> None:
    job = importer.post(sha256=HASH, size=len(FILE)).json()
    response = importer.patch(job["id"], b"x" * len(FILE), offset=0)
    assert (response.status_code, error(response)["details"]) == (400, {"received": 0})
    assert (importer.get(job["id"])["status"], folder(importer)) == ("receiving", [])
    assert importer.patch(job["id"], FILE, offset=0).json()["status"] == "uploaded"


def test_bytes_that_are_here_need_not_be_sent(importer: Importer) -> None:
    importer.upload(FILE, run="one")
    other = importer.post(sha256=HASH, size=len(FILE), run="two")
    assert (other.status_code, other.json()["status"]) == (201, "uploaded")
    # Another project's are not here.
    assert Importer().post(sha256=HASH, size=len(FILE)).json()["status"] == "receiving"


def test_a_whole_file_ends_an_upload_in_parts(importer: Importer) -> None:
    job = importer.post(sha256=HASH, size=len(FILE)).json()
    importer.patch(job["id"], FILE[:40], offset=0)
    assert importer.upload(FILE)["id"] == job["id"]
    assert (importer.get(job["id"])["status"], folder(importer)) == ("uploaded", [HASH])


@pytest.mark.parametrize(
    ("announced", "status"),
    [
        ({"sha256": "x", "size": 5}, 400),
        ({"sha256": HASH}, 400),
        ({"sha256": HASH, "size": 0}, 400),
        ({"sha256": HASH, "size": 3 * 1024**3}, 413),
    ],
)
def test_what_is_announced_must_be_possible(importer: Importer, announced: dict[str, Any], status: int) -> None:
    assert importer.post(**announced).status_code == status


def test_an_upload_that_nobody_goes_on_with_is_cancelled_after_a_week(importer: Importer) -> None:
    jobs = [importer.post(sha256=HASH, size=len(FILE), run=name).json()["id"] for name in ("left", "fresh")]
    for job_id in jobs:
        importer.patch(job_id, FILE[:40], offset=0)
    ImportJob.objects.filter(pk=jobs[0]).update(worked_at=timezone.now() - timedelta(days=8))
    tasks.sweep()
    assert [one(job_id).status for job_id in jobs] == ["cancelled", "receiving"]
    assert folder(importer) == [f"{jobs[1]}.part"]


def test_cancelling_an_upload_drops_what_came_and_it_may_begin_again(importer: Importer) -> None:
    job = importer.post(sha256=HASH, size=len(FILE)).json()
    importer.patch(job["id"], FILE[:40], offset=0)
    cancelled = importer.runner.post(f"{IMPORTS}{job['id']}/cancel/").json()
    assert (cancelled["status"], cancelled["received"], folder(importer)) == ("cancelled", 0, [])
    assert importer.patch(job["id"], FILE[40:], offset=40).status_code == 409
    again = importer.post(sha256=HASH, size=len(FILE)).json()
    assert (again["id"], again["status"]) == (job["id"], "receiving")


def test_chunks_are_never_put_together_in_memory(importer: Importer) -> None:
    """FIELD B4.3."""
    sizes: list[int] = []

    def chunks() -> Any:
        for _ in range(3):
            yield b"x" * 1024 * 1024
            # What came before is on its way to the disk already.
            [part] = files.folder_of(importer.project.pk).iterdir()
            sizes.append(part.stat().st_size)

    asked = options.asked(project=importer.project)
    received = uploads.receive(project=importer.project, asked=asked, chunks=chunks())
    assert received.job.size == 3 * 1024 * 1024
    assert sizes == [1024 * 1024, 2 * 1024 * 1024, 3 * 1024 * 1024]


def test_the_service_keeps_a_part_that_breaks_off(importer: Importer) -> None:
    asked = options.asked(project=importer.project)
    job, _ = uploads.open_upload(project=importer.project, asked=asked, sha256=HASH, size=len(FILE))

    def chunks() -> Any:
        yield FILE[:10]
        raise BrokenOff("It broke off.")

    with pytest.raises(BrokenOff):
        uploads.append(job=job, offset=0, chunks=chunks())
    job.refresh_from_db()
    assert job.received == 10


def test_bytes_that_are_gone_are_said_to_be(importer: Importer) -> None:
    job = importer.upload(FILE)
    Path(files.kept(one(job["id"]))).unlink()
    failed = importer.read(job["id"])
    assert failed["status"] == "failed"
    assert "upload it again" in failed["error"]
    assert importer.upload(FILE)["status"] == "uploaded"


def test_half_of_a_file_is_not_read_as_a_short_one(importer: Importer) -> None:
    job = importer.previewed(FILE)
    Path(files.kept(one(job["id"]))).write_bytes(ndjson(row("1")))
    failed = importer.commit(job["id"])
    assert (failed["status"], failed["progress"]["created"]) == ("failed", 0)
    assert "upload it again" in failed["error"]
    assert importer.upload(FILE)["status"] == "uploaded"
    assert importer.read(job["id"])["status"] == "previewed"


def test_a_mapping_and_a_saved_one_are_too_many(importer: Importer) -> None:
    with pytest.raises(DomainError, match="not both"):
        options.asked(project=importer.project, mapping={}, saved="x")
