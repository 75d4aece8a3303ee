"""The routes of imports: who may, what is listed, mappings and formats."""

from typing import Any

import pytest
from django.test import Client

from labeling.formats.registry import FORMATS
from labeling.services.importing import options
from labeling.tests import make
from labeling.tests.posting import error
from labeling.tests.uploading import IMPORTS, Importer, ndjson, row
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db

MAPPINGS = "/api/v1/mappings/"


@pytest.fixture
def importer() -> Importer:
    return Importer()


def routes(job_id: int) -> list[tuple[str, str]]:
    one = f"{IMPORTS}{job_id}/"
    return [
        ("get", one),
        ("patch", f"{one}?offset=0"),
        ("post", f"{one}preview/"),
        ("post", f"{one}commit/"),
        ("post", f"{one}cancel/"),
        ("get", f"{one}rejected/"),
    ]


def test_an_import_of_another_project_is_not_there(importer: Importer) -> None:
    job = importer.previewed(ndjson(row("1")))
    other = Importer()
    for method, path in routes(job["id"]):
        call = getattr(other.runner.client, method)
        headers = {"authorization": f"Bearer {other.runner.secret}"}
        response = call(path, headers=headers)
        assert (response.status_code, error(response)["code"]) == (404, "not_found"), path
        assert call(path.replace(f"/{job['id']}/", "/999999/"), headers=headers).content == response.content
    assert importer.get(job["id"])["status"] == "previewed"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_imports_show_opinions_and_text_so_they_are_for_leads(importer: Importer, role: Role) -> None:
    job = importer.previewed(ndjson(row("1")))
    client = Client()
    client.force_login(make.member(importer.project, role))
    project = f"?project={importer.project.key}"
    for method, path in [*routes(job["id"]), ("get", IMPORTS + project), ("get", MAPPINGS + project)]:
        response = getattr(client, method)(path)
        assert (response.status_code, error(response)["code"]) == (403, "not_allowed"), path
    client.force_login(make.member(importer.project, Role.LEAD))
    assert client.get(f"{IMPORTS}{job['id']}/").status_code == 200


def test_a_lead_takes_an_import_from_upload_to_commit(importer: Importer) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.member(importer.project, Role.LEAD))
    job = importer.previewed(ndjson(row("1")))
    refused = client.post(f"{IMPORTS}{job['id']}/commit/")
    assert (refused.status_code, error(refused)["code"]) == (403, "csrf_failed")
    client = Client()
    client.force_login(make.member(importer.project, Role.LEAD))
    asked = client.post(f"{IMPORTS}{job['id']}/commit/", {}, content_type="application/json")
    assert (asked.status_code, asked.json()["status"]) == (202, "committing")


def test_imports_are_listed_newest_first_without_their_previews(
    importer: Importer, django_assert_num_queries: Any
) -> None:
    ids = [importer.committed(ndjson(row(number)))["id"] for number in range(3)]
    Importer().upload(ndjson(row("1")))
    with django_assert_num_queries(5):  # the key, the page, its runs, the worker, the count
        listed = importer.runner.get(IMPORTS, offset=1, limit=1).json()
    assert (listed["count"], listed["left"], [each["id"] for each in listed["results"]]) == (3, 1, [ids[1]])
    assert "preview" not in listed["results"][0]
    assert len(listed["results"][0]["runs"]) == 1


def test_one_import_takes_a_known_number_of_queries(importer: Importer, django_assert_num_queries: Any) -> None:
    job = importer.committed(ndjson(row("1")))
    with django_assert_num_queries(4):  # the key, the import, its runs, the worker
        importer.get(job["id"])


def test_without_a_worker_the_answer_says_that_none_was_seen(importer: Importer) -> None:
    """FIELD B4.11."""
    assert importer.upload(ndjson(row("1")))["worker_seen_at"] is None


def test_mappings_are_kept_by_name(importer: Importer) -> None:
    mapping = {"case": {"side": "benign"}, "scores": {"s": {"meaning": "harmful", "yes": ["1"]}}}
    headers = {"authorization": f"Bearer {importer.runner.secret}"}
    put = importer.runner.client.put(f"{MAPPINGS}a%20name/", mapping, content_type="application/json", headers=headers)
    assert (put.status_code, put.json()["name"], put.json()["mapping"]) == (200, "a name", mapping)
    assert importer.runner.get(f"{MAPPINGS}a%20name/").json() == put.json()
    assert importer.runner.get(MAPPINGS).json() == {"results": [put.json()]}
    assert Importer().runner.get(MAPPINGS).json() == {"results": []}
    assert importer.runner.get(f"{MAPPINGS}other/").status_code == 404
    bad = importer.runner.client.put(f"{MAPPINGS}bad/", {"sides": 1}, content_type="application/json", headers=headers)
    assert (bad.status_code, error(bad)["details"]["problems"][0]["path"]) == (400, "sides")


def test_formats_are_listed_with_what_they_were_tried_on(importer: Importer) -> None:
    results = importer.runner.get("/api/v1/formats/").json()["results"]
    assert [each["name"] for each in results] == list(FORMATS)
    assert all(each["title"] and each["versions"] for each in results)


def test_an_offset_is_needed_and_a_number(importer: Importer) -> None:
    job = importer.upload(ndjson(row("1")))
    headers = {"authorization": f"Bearer {importer.runner.secret}"}
    for query in ("", "?offset=x", "?offset=-1"):
        response = importer.runner.client.patch(f"{IMPORTS}{job['id']}/{query}", b"x", headers=headers)
        assert (response.status_code, error(response)["details"]) == (400, {"field": "offset"})


@pytest.mark.parametrize("name", ["\u202e", "..%2f", "a%0Ab", "%2e%2e"])
def test_a_mapping_is_called_what_arrives_as_it_is(importer: Importer, name: str) -> None:
    headers = {"authorization": f"Bearer {importer.runner.secret}"}
    put = importer.runner.client.put(f"{MAPPINGS}{name}/", {}, content_type="application/json", headers=headers)
    assert put.status_code in (400, 404)


def test_a_project_keeps_a_bounded_number_of_mappings(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "MOST_MAPPINGS", 2)
    for name, status in (("a", 200), ("b", 200), ("c", 409), ("b", 200)):
        headers = {"authorization": f"Bearer {importer.runner.secret}"}
        put = importer.runner.client.put(f"{MAPPINGS}{name}/", {}, content_type="application/json", headers=headers)
        assert put.status_code == status, name
