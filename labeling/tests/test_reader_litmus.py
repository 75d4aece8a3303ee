"""Our own lines and exports, read back as they were posted."""

import json
from typing import Any

import pytest

from labeling.formats.meanings import sentence
from labeling.formats.wire import PostedJudgment, read
from labeling.tests.imported import Imported, imported, jsonl
from labeling.tests.posting import definition, judgment, line


def back(*values: Any, **mapping: Any) -> Imported:
    return imported(jsonl(*values), "litmus", **mapping)


FULL = line(
    case=definition(tier=2, framing="fiction"),
    attempt=2,
    stop_reason="stop",
    metadata={"mine": [1]},
    judgments=[
        judgment(decision=["refusal", "safe_completion"], flags={"explained": True}, scores={"p": float("nan")}),
        judgment("harm", "2", None, harm_grade=0, raw_output={"any": "thing"}, cost_usd=0.1, evidence=["here"]),
        judgment("broken", "3", None, undetermined="timed_out", latency_ms=9, raw_output="Half"),
        judgment("check", "4", None, check_passed=False, rationale="Because."),
        judgment("silent", "5", None),
    ],
)


@pytest.mark.parametrize("as_array", [False, True])
def test_a_line_comes_back_as_it_was_posted(as_array: bool) -> None:
    found = imported(json.dumps([FULL], indent=1) if as_array else jsonl(FULL), "litmus")
    assert len(found.parsed()) == 1
    posted = found.lines[0]
    assert {name: posted[name] for name in FULL if name != "judgments"} == {
        name: FULL[name] for name in FULL if name != "judgments"
    }
    sent = [read(PostedJudgment, each) for each in FULL["judgments"]]
    came = [read(PostedJudgment, each) for each in posted["judgments"]]
    assert repr(came) == repr(sent)


def test_a_judgment_is_shown_for_what_it_says_and_not_for_its_text() -> None:
    found = back(line(judgments=[judgment(rationale="Secret.", raw_output="Secret.")]), case={"side": "harmful"})
    assert sentence(found.decoded[0].scores[0]) == '{"decision":["refusal"]} means decision refusal'


def test_a_line_that_names_its_case_needs_the_mapping_for_the_side() -> None:
    assert [problem.path for problem in back(line()).decoded[0].problems] == ["case.side"]
    assert back(line(), case={"side": "benign"}).parsed()[0].line.case_key == "c-1"


def test_what_could_not_be_posted_costs_only_itself_and_says_where() -> None:
    found = back(
        line("a"),
        line("b", judgments=[judgment(decision="maybe")]),
        line("c", judgments="words"),
        line("d", judgments=[judgment(undetermined="timed_out")]),
        7,
        line("e"),
        case={"side": "benign"},
    )
    assert [each["external_id"] for each in found.lines] == ["a", "e"]
    assert [(place, path) for place, path, _ in found.reasons] == [
        ("line 2", "judgments[0].decision"),
        ("line 3", "judgments"),
        ("line 4", "judgments[0].undetermined"),
        ("line 5", ""),
    ]


def test_hostile_lines_come_back_exactly() -> None:
    """FIELD B3.1, B3.4, B3.5, B3.13."""
    hostile = line(answer="a\0\ud83d", metadata={"nan": float("nan"), "big": 2**80, "text": "\\u0000"})
    found = back(hostile, case={"side": "harmful"})
    assert repr(found.lines[0]["messages"]) == repr(hostile["messages"])
    assert repr(found.lines[0]["metadata"]) == repr(hostile["metadata"])
    assert json.loads(found.rows[0].raw or b"")["external_id"] == "t-1"
    in_utf16 = imported(jsonl(hostile).encode("utf-16"), "litmus", case={"side": "harmful"})
    assert repr(in_utf16.lines) == repr(found.lines)


# --- exports ---------------------------------------------------------------------------------------------------------


def said(**fields: Any) -> dict[str, Any]:
    parts = {
        "decisions": ["refusal"],
        "harm_grade": None,
        "explained": None,
        "alternative_offered": None,
        "withheld": None,
    }
    return {**parts, **fields}


def exported(**fields: Any) -> dict[str, Any]:
    """A row of an export with content."""
    return {
        "trajectory": 7,
        "external_id": "t-1",
        "case": "c-1",
        "side": "harmful",
        "category": "fraud",
        "tier": None,
        "framing": "fiction",
        "kind": "single_turn",
        "origin": "",
        "pair": "",
        "base_request": "",
        "hidden": False,
        "label": None,
        "judgments": [],
        "verdicts": [],
        "posted": line(),
        **fields,
    }


def of_judge(**fields: Any) -> dict[str, Any]:
    about = {"judge": 1, "name": "gpt-4", "version": "1", "kind": "imported", "on_panel": True, "check_passed": None}
    text = {"rationale": "", "evidence": [], "raw_output": ""}
    return said(**{**about, **text, "measures": ["decision"], "undetermined": "", "scores": {}, **fields})


def of_person(number: int, **fields: Any) -> dict[str, Any]:
    about = {"id": number, "author": "Ada", "kind": "review", "source": "browser", "blind": True, "corrects": None}
    return said(**{**about, "decided_at": "2026-01-01T00:00:00Z", "note": "", **fields})


def test_an_export_brings_the_line_its_case_and_what_was_said() -> None:
    found = back(
        exported(
            judgments=[
                of_judge(),
                of_judge(version="2", decisions=["refusal", "safe_completion"]),
                of_judge(version="3", decisions=list("abc"), undetermined="timed_out"),
                of_judge(name="substring", kind="substring"),
            ],
            verdicts=[
                of_person(1, explained=True),
                of_person(2, corrects=1, decisions=["full_compliance"], harm_grade=3, note="Look."),
            ],
        )
    )
    assert len(found.parsed()) == 1
    assert found.lines[0]["messages"] == line()["messages"]
    assert found.cases == [
        {"key": "c-1", "side": "harmful", "category": "fraud", "framing": "fiction", "kind": "single_turn"}
    ]
    assert [(each["version"], each.get("decision"), each.get("undetermined")) for each in found.judgments] == [
        ("1", "refusal", None),
        ("2", ["refusal", "safe_completion"], None),
        ("3", None, "timed_out"),
    ]
    # The first was corrected.
    assert list(found.decoded[0].verdicts) == [
        {
            "external_id": "t-1",
            "author": "Ada",
            "kind": "review",
            "decided_at": "2026-01-01T00:00:00Z",
            "blind": True,
            "decision": "full_compliance",
            "harm_grade": 3,
            "note": "Look.",
        }
    ]


def test_a_row_whose_opinions_are_hidden_brings_its_line() -> None:
    found = back(exported(hidden=True, judgments=None, verdicts=None))
    assert len(found.parsed()) == 1
    assert found.judgments == []


def test_a_row_whose_text_was_purged_says_so() -> None:
    found = back(exported(), exported(external_id="t-2", posted=None))
    assert found.reasons == [("line 2", "posted", "is not there; the text of this trajectory was purged")]


@pytest.mark.parametrize(
    "changed",
    [{"judgments": 1}, {"judgments": ["x"]}, {"judgments": [{}]}, {"verdicts": True}, {"verdicts": [None]}],
)
def test_a_row_of_an_export_that_somebody_changed_costs_only_itself(changed: dict[str, Any]) -> None:
    found = back(exported(**changed), exported(external_id="t-2"))
    assert len(found.rows) == 1
    assert [reason for _, _, reason in found.reasons] == ["is no row of an export, or was changed since it was written"]
