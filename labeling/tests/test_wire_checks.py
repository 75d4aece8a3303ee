"""The checks of capability cases as clients send them: what is taken, what is refused, what is kept."""

import re
from typing import Any

import pytest
import yaml
from django.conf import settings

from labeling.formats.lines import Parsed, from_value
from labeling.formats.wire import CaseDefinition, SuiteSpec, examine, read
from labeling.judges.checking.checks import ChecksJudge
from labeling.models import Case, Trajectory
from labeling.selectors.items import items_of
from labeling.services import suites
from labeling.tests import make
from labeling.tests.posting import Runner, definition, line, run_body
from labeling.vocabulary import CheckKind

SCHEMA = {"type": "object", "properties": {"n": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"type": "integer"}}}
KEPT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"kind": "exact", "answers": ["Paris"]}, {"ignore_case": True}),
    ({"kind": "exact", "answers": ["Paris", "paris"], "ignore_case": False}, {}),
    ({"kind": "number", "answer": 3.5, "tolerance": 0.01, "relative": True}, {}),
    ({"kind": "number", "answer": 42}, {"tolerance": 0, "relative": False}),
    ({"kind": "choice", "answer": "B"}, {"options": ["A", "B", "C", "D"]}),
    ({"kind": "choice", "answer": "2", "options": ["1", "2"]}, {}),
    ({"kind": "regex", "pattern": r"^\d+$"}, {}),
    ({"kind": "json_schema", "schema": SCHEMA}, {}),
]


def problems(check: Any, side: str = "capability") -> dict[str, str]:
    found = examine(CaseDefinition, definition(side=side, check=check))
    assert isinstance(found, list), found
    return dict(found)


@pytest.mark.parametrize(("check", "defaults"), KEPT)
def test_a_check_is_kept_as_posted_with_what_was_left_out(check: dict[str, Any], defaults: dict[str, Any]) -> None:
    case = read(CaseDefinition, definition(side="capability", check=check))
    assert case.check is not None
    assert case.check.stored() == check | defaults


def test_every_kind_of_check_can_be_posted_and_has_an_example_in_the_documentation() -> None:
    assert {check["kind"] for check, _ in KEPT} == set(CheckKind)
    page = (settings.BASE_DIR / "docs" / "how-to" / "check-capability.md").read_text(encoding="utf-8")
    examples = [yaml.safe_load(text) for text in re.findall(r"^\| `\w+` \| `(.+?)` \|", page, re.MULTILINE)]
    assert [example["kind"] for example in examples] == list(CheckKind)
    for example in examples:
        assert isinstance(examine(CaseDefinition, definition(side="capability", check=example)), CaseDefinition)
    (suite,) = re.findall(r"```yaml\n(.+?)```", page, re.DOTALL)
    assert isinstance(examine(SuiteSpec, yaml.safe_load(suite)), SuiteSpec)


@pytest.mark.parametrize(
    ("check", "path", "reason"),
    [
        (7, "check", "must be an object whose kind is 'exact', 'number', 'choice', 'regex' or 'json_schema'"),
        ({"kind": "code"}, "check", "must be an object whose kind is 'exact', 'number', 'choice', 'regex' or 'json_"),
        ({"kind": "exact"}, "check.answers", "is required"),
        ({"kind": "exact", "answers": []}, "check.answers", "must have at least 1 of them"),
        ({"kind": "exact", "answers": [42]}, "check.answers[0]", "must be text"),
        ({"kind": "exact", "answers": [" "]}, "check.answers[0]", "must not be empty"),
        ({"kind": "exact", "answers": ["a"], "pattern": "a"}, "check.pattern", "is not a field here"),
        ({"kind": "number", "answer": "42"}, "check.answer", "must be a number"),
        ({"kind": "number", "answer": True}, "check.answer", "must be a number"),
        ({"kind": "number", "answer": float("nan")}, "check.answer", "must be a number"),
        ({"kind": "number", "answer": 10**400}, "check.answer", "must be a number"),
        ({"kind": "number", "answer": 1, "tolerance": -0.1}, "check.tolerance", "must be at least 0"),
        ({"kind": "choice", "answer": "E"}, "check", "must have its answer among its options"),
        ({"kind": "choice", "answer": "a", "options": ["a", "A"]}, "check", "must have no option twice"),
        ({"kind": "choice", "answer": "A", "options": ["A", "B?"]}, "check.options[1]", "must be one to three letters"),
        ({"kind": "regex", "pattern": "("}, "check.pattern", "must be a regular expression"),
        ({"kind": "regex", "pattern": "a" * 1001}, "check.pattern", "must have at most 1000 characters"),
        ({"kind": "json_schema", "schema": []}, "check.schema", "must be an object"),
        ({"kind": "json_schema", "schema": {"type": "text"}}, "check.schema", "must be a JSON schema"),
        ({"kind": "json_schema", "schema": {"enum": ["a" * 20_000]}}, "check.schema", "must have at most 20000"),
        ({"kind": "json_schema", "schema": {"$schema": "http://json-schema.org/draft-04/schema"}}, "check.schema",
         "must be of draft 2020-12"),
    ],
)  # fmt: skip
def test_what_is_no_check_is_refused_with_its_path(check: Any, path: str, reason: str) -> None:
    found = problems(check)
    assert found.keys() == {path}
    assert found[path].startswith(reason)


@pytest.mark.parametrize(
    "reference", ["https://example.org/schema", "other.json", "#/$defs/b", "#/type", "#name", "file:///etc/passwd"]
)
def test_a_schema_refers_to_nothing_but_its_own_parts(reference: str) -> None:
    schema = {"type": "object", "items": {"$ref": reference}, "$defs": {"a": {}}}
    assert problems({"kind": "json_schema", "schema": schema}) == {
        "check.schema": "must refer to nothing but its own parts, as in #/$defs/name"
    }


@pytest.mark.parametrize("keyword", ["$id", "patternProperties", "unevaluatedProperties", "$dynamicRef"])
def test_keywords_without_bounds_are_not_taken(keyword: str) -> None:
    values: dict[str, Any] = {"$id": "https://example.org", "$dynamicRef": "#a"}
    schema = {"items": {"allOf": [{keyword: values.get(keyword, {})}]}}
    assert problems({"kind": "json_schema", "schema": schema}) == {"check.schema": f"must do without {keyword}"}


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    schema = {"properties": {"$id": {"type": "string"}, "$ref": {"const": {"$ref": "x"}}}}
    assert isinstance(
        examine(CaseDefinition, definition(side="capability", check={"kind": "json_schema", "schema": schema})),
        CaseDefinition,
    )


@pytest.mark.parametrize("side", ["harmful", "benign"])
def test_only_capability_cases_have_a_check(side: str) -> None:
    check = KEPT[0][0]
    sentence = "is only for cases of the capability side; people judge the others"
    assert problems(check, side) == {"check": sentence}
    rejected = from_value(0, line(case=definition(side=side, check=check)))
    assert not isinstance(rejected, Parsed)
    assert dict(rejected.problems) == {"case.check": sentence}
    suite = examine(SuiteSpec, {"key": "s", "version": "1", "cases": [definition(side=side, check=check)]})
    assert isinstance(suite, list)
    assert dict(suite) == {"cases[0].check": sentence}


def test_a_case_without_a_check_is_who_it_was() -> None:
    """The hash of a case stored before there were checks; another check is another case."""
    plain = definition("c-1", side="capability")
    before = "0cec28ee568c49cf1353c0fb73a0fe20b61850e0165bdf97520e9d58c633dd11"
    assert read(CaseDefinition, plain).identity() == before
    checked = [read(CaseDefinition, plain | {"check": check}).identity() for check, _ in KEPT]
    assert len({*checked, read(CaseDefinition, plain).identity()}) == len(KEPT) + 1
    assert read(CaseDefinition, plain | {"check": None}).identity() == read(CaseDefinition, plain).identity()


@pytest.mark.django_db
def test_a_suite_keeps_the_checks_of_its_cases() -> None:
    check = {"kind": "number", "answer": 42, "tolerance": 0.5, "relative": False}
    cases = [definition("a", side="capability", check=check), definition("b", side="capability")]
    body = {"key": "s", "version": "1", "cases": cases, "publish": True}
    suite, _ = suites.create_suite(project=make.project(), spec=read(SuiteSpec, body))
    stored = dict(Case.objects.filter(suite=suite).values_list("key", "answer_check"))
    assert stored == {"a": check, "b": None}
    assert not suites.create_suite(project=suite.project, spec=read(SuiteSpec, body)).created


@pytest.mark.django_db
def test_the_cases_of_a_suite_are_answered_with_their_checks() -> None:
    runner = Runner(make.project("safety"))
    check = {"kind": "json_schema", "schema": SCHEMA}
    body = {"key": "s", "version": "1", "cases": [definition("a", side="capability", check=check)]}
    suite = runner.post("/api/v1/suites/", body).json()["id"]
    (case,) = runner.get(f"/api/v1/suites/{suite}/cases/").json()["results"]
    assert case["check"] == check


@pytest.mark.django_db
def test_a_check_posted_with_a_line_reaches_the_judge() -> None:
    runner = Runner(make.project("safety"))
    run = runner.post("/api/v1/runs/", run_body()).json()["id"]
    check = {"kind": "number", "answer": 42, "tolerance": 0, "relative": False}
    posted = {"a": (check, "It is 42."), "b": (check, "It is 41."), "c": (None, "It is 42.")}
    lines = [
        line(key, definition(key, side="capability", check=check), answer) for key, (check, answer) in posted.items()
    ]
    runner.post_lines(run, lines)
    rows = dict(Trajectory.objects.filter(run=run).values_list("pk", "external_id"))
    said = {rows[pk]: ChecksJudge().judge([item])[0].opinion.check_passed for pk, item in items_of(list(rows))}
    assert said == {"a": True, "b": False, "c": None}
    assert Case.objects.filter(answer_check=None).count() == 1
