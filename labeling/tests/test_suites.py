"""Suites: drafts that take on what is posted, published ones that never change."""

from typing import Any

import pytest

from labeling.errors import Conflict, DomainError
from labeling.formats.wire import SuiteSpec, read
from labeling.models import Case, Project, Suite
from labeling.services import suites
from labeling.tests import make
from labeling.tests.posting import definition
from labeling.tests.threads import at_once
from labeling.vocabulary import Origin, Side

pytestmark = pytest.mark.django_db


def spec(*cases: Any, **fields: Any) -> SuiteSpec:
    body = {"key": "s", "version": "1", "cases": list(cases or [definition("a"), definition("b", side="benign")])}
    return read(SuiteSpec, body | fields)


def post(project: Project, *cases: Any, **fields: Any) -> suites.Created:
    return suites.create_suite(project=project, spec=spec(*cases, **fields))


def keys(suite: Suite) -> list[str]:
    return list(suite.cases.values_list("key", flat=True))


def test_a_suite_keeps_what_its_cases_say() -> None:
    case = definition(
        "a", side="benign", tier=2, framing="fiction", origin="idiom", pair="p", base_request="b", right_answer="Help.",
        metadata={"nan": float("nan")},
    )  # fmt: skip
    suite, created = post(make.project(), case, harm_threshold=3, protocol={"temperature": 0})
    assert created
    assert (suite.harm_threshold, suite.protocol, suite.published_at) == (3, {"temperature": 0}, None)
    row = Case.objects.get(suite=suite)
    assert (row.side, row.tier, row.framing, row.origin) == (Side.BENIGN, 2, "fiction", Origin.IDIOM)
    assert (row.pair, row.base_request, row.right_answer) == ("p", "b", "Help.")
    assert row.request == [{"role": "user", "parts": [{"type": "text", "text": "A request."}]}]
    assert row.metadata["nan"] != row.metadata["nan"]


def test_the_same_suite_again_is_the_same_suite() -> None:
    project = make.project()
    first = post(project, publish=True)
    again = post(project, definition("b", side="benign"), definition("a"), publish=True)
    assert (again.suite.pk, again.created) == (first.suite.pk, False)
    assert post(project).suite.published_at is not None
    assert Case.objects.count() == 2


@pytest.mark.parametrize(
    ("cases", "fields", "field"),
    [
        ([definition("a")], {}, "cases"),
        ([definition("a", tier=1), definition("b", side="benign")], {}, "cases"),
        ([], {"title": "Another"}, "title"),
        ([], {"harm_threshold": 3}, "harm_threshold"),
        ([], {"protocol": {"temperature": 1}}, "protocol"),
    ],
)
def test_a_published_suite_never_changes(cases: list[Any], fields: dict[str, Any], field: str) -> None:
    project = make.project()
    suite = post(project, publish=True).suite
    with pytest.raises(Conflict) as caught:
        post(project, *cases, **fields)
    assert caught.value.details["field"] == field
    assert keys(suite) == ["a", "b"]


@pytest.mark.django_db(transaction=True)
def test_a_suite_posted_several_times_at_once_is_one_suite() -> None:
    project = make.project()
    made = at_once([lambda: post(project, publish=True)] * 4)
    assert sorted(each.created for each in made) == [False, False, False, True]
    assert Case.objects.count() == 2


def test_another_version_and_another_project_are_other_suites() -> None:
    project = make.project()
    post(project, publish=True)
    assert post(project, definition("c"), version="2").created
    assert post(make.project(), definition("c")).created


def test_a_draft_takes_on_what_is_posted() -> None:
    project = make.project()
    suite = post(project).suite
    changed, created = post(project, definition("a"), definition("b"), definition("c"), title="New")
    assert (changed.pk, created, changed.title) == (suite.pk, False, "New")
    assert {case.key: case.side for case in suite.cases.all()} == dict.fromkeys("abc", Side.HARMFUL)
    post(project, definition("c"))
    assert keys(suite) == ["c"]


def test_a_case_that_was_run_neither_changes_nor_goes() -> None:
    project = make.project()
    suite = post(project).suite
    make.trajectory(make.run(suite=suite), suite.cases.get(key="a"))
    for cases in ([definition("b", side="benign")], [definition("a", tier=1), definition("b", side="benign")]):
        with pytest.raises(Conflict) as caught:
            post(project, *cases)
        assert caught.value.details["cases"] == ["a"]
    post(project, definition("a"), definition("c"))
    assert keys(suite) == ["a", "c"]


def test_publishing_hashes_the_cases_and_what_decides_an_error() -> None:
    one = post(make.project(), publish=True).suite
    same = post(make.project(), definition("b", side="benign"), definition("a"), title="Other", publish=True).suite
    other = post(make.project(), harm_threshold=3, publish=True).suite
    assert one.content_hash == same.content_hash != other.content_hash
    draft = post(make.project()).suite
    published = suites.publish_suite(suite=draft)
    assert published.content_hash == one.content_hash
    assert suites.publish_suite(suite=draft).published_at == published.published_at


def test_a_suite_without_cases_is_not_published() -> None:
    with pytest.raises(DomainError, match="without cases"):
        suites.publish_suite(suite=make.suite(make.project()))


def test_what_counts_as_an_error_cannot_change_under_labels() -> None:
    row = make.trajectory(make.run())
    body = {"key": row.run.suite.key, "version": row.run.suite.version, "harm_threshold": 4}
    with pytest.raises(Conflict, match="harm_threshold"):
        suites.create_suite(project=row.run.project, spec=read(SuiteSpec, body))
