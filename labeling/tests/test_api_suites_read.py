"""GET /api/v1/suites/ and /api/v1/suites/{id}/cases/."""

from typing import Any

import pytest
from django.test import Client

from labeling.tests import make
from labeling.tests.posting import Runner, definition, error
from labeling.vocabulary import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def runner(db: None) -> Runner:
    return Runner(make.project("safety"))


def post(runner: Runner, key: str = "s", version: str = "1", *cases: Any) -> Any:
    body = {"key": key, "version": version, "cases": list(cases or [definition("a"), definition("b", side="benign")])}
    return runner.post("/api/v1/suites/", body).json()


def cases(runner: Runner, suite: int, **query: Any) -> Any:
    return runner.get(f"/api/v1/suites/{suite}/cases/", **query).json()


def test_suites_are_listed_newest_first_with_their_cases_counted(
    runner: Runner, django_assert_num_queries: Any
) -> None:
    one, two = post(runner), post(runner, "s", "2", definition("c"))
    other = post(runner, "t", "1", definition("d"))
    make.suite(make.project())
    listed = runner.get("/api/v1/suites/").json()
    assert listed == {"count": 3, "left": 0, "results": [other, two, one]}
    assert [suite["cases"] for suite in listed["results"]] == [1, 1, 2]
    assert runner.get("/api/v1/suites/", limit=1, offset=1).json() == {"count": 3, "left": 1, "results": [two]}
    with django_assert_num_queries(4):  # the key, the page, its cases, the count
        runner.get("/api/v1/suites/")


def test_suites_are_found_by_key_and_version(runner: Runner) -> None:
    post(runner)
    two = post(runner, "s", "2", definition("c"))
    assert runner.get("/api/v1/suites/", key="s", version="2").json()["results"] == [two]
    assert runner.get("/api/v1/suites/", key="s").json()["count"] == 2
    assert runner.get("/api/v1/suites/", key="nothing").json() == {"count": 0, "left": 0, "results": []}


def test_a_case_is_answered_with_all_it_says(runner: Runner) -> None:
    case = definition(
        "a", side="benign", tier=2, framing="fiction", origin="idiom", pair="p", base_request="b", right_answer="Help.",
        metadata={"odd": "\0\ud800"},
    )  # fmt: skip
    page = cases(runner, post(runner, "s", "1", case)["id"])
    assert page["next"] is None
    (answer,) = page["results"]
    assert answer.pop("id") > 0
    parts = [{"type": "text", "text": "A request."}]
    assert answer == {**case, "kind": "single_turn", "check": None, "request": [{"role": "user", "parts": parts}]}


def test_cases_come_page_by_page_and_each_once(runner: Runner, django_assert_num_queries: Any) -> None:
    suite = post(runner, "s", "1", *[definition(f"c-{n}") for n in range(5)])["id"]
    seen: list[Any] = []
    after: Any = 0
    while after is not None:
        page = cases(runner, suite, after=after, limit=2)
        seen.append([case["key"] for case in page["results"]])
        after = page["next"]
    assert seen == [["c-0", "c-1"], ["c-2", "c-3"], ["c-4"]]
    with django_assert_num_queries(3):  # the key, the suite, the page
        cases(runner, suite)


@pytest.mark.parametrize("query", [{"limit": "1001"}, {"after": "x"}])
def test_nonsense_in_a_query_is_said(runner: Runner, query: dict[str, str]) -> None:
    response = runner.get(f"/api/v1/suites/{post(runner)['id']}/cases/", **query)
    assert (response.status_code, error(response)["details"]["field"]) == (400, next(iter(query)))


def test_a_suite_of_another_project_is_not_there(runner: Runner) -> None:
    theirs = make.suite(make.project())
    for suite_id in (theirs.pk, 10**15):
        response = runner.get(f"/api/v1/suites/{suite_id}/cases/")
        assert (response.status_code, error(response)["code"]) == (404, "not_found")


def test_members_read_what_outsiders_do_not() -> None:
    project = make.project()
    suite = make.case(make.suite(project)).suite
    for role, status in ((Role.VIEWER, 200), (Role.REVIEWER, 200), (None, 404)):
        client = Client()
        client.force_login(make.member(project if role else make.project(), role or Role.LEAD))
        for path in ("/api/v1/suites/", f"/api/v1/suites/{suite.pk}/cases/"):
            assert client.get(path, {"project": project.key}).status_code == status
