"""Tables by columns: what the mapping names, what the usual names tell, and nothing dropped without a word."""

import csv
import json
from collections import Counter
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.errors import DomainError
from labeling.formats import meanings, registry
from labeling.formats.files import tables
from labeling.formats.files.tables import Record
from labeling.formats.normal import outcome
from labeling.tests.imported import Content, Imported, csv_text, imported, jsonl, source_of
from labeling.vocabulary import Outcome
from litmus_site.tests import real_data

BENIGN = {"side": "benign"}


def table(content: Content, **mapping: Any) -> Imported:
    found = imported(content, "table", **{"case": BENIGN, **mapping})
    found.parsed()
    return found


def words(found: Imported) -> list[list[tuple[str, Any]]]:
    return [[(message["role"], message["content"]) for message in line["messages"]] for line in found.lines]


# --- usual names -----------------------------------------------------------------------------------------------------


def test_usual_names_need_no_mapping() -> None:
    rows = csv_text(
        ("ID", "Model", "Question", "Model Response", "Category", "tier", "System-Prompt", "finish_reason"),
        ("7", "halden", "Ask.", "Answer.", "fraud", "2", "Be safe.", "stop"),
    )
    found = table(rows)
    assert words(found) == [[("user", "Ask."), ("assistant", "Answer.")]]
    assert [system.model for system in found.systems] == ["halden"]
    assert {name: found.lines[0][name] for name in ("external_id", "system", "stop_reason")} == {
        "external_id": "7",
        "system": "Be safe.",
        "stop_reason": "stop",
    }
    assert found.cases[0]["category"] == "fraud"
    assert found.cases[0]["tier"] == 2
    assert found.cases[0]["key"] == "7"


def test_a_severity_may_count_either_way_and_is_the_mapping_s_to_read() -> None:
    rows = jsonl({"prompt": "Ask.", "response": "Answer.", "severity": 5})
    assert "tier" not in table(rows).cases[0]
    ranks = {"column": "severity", "values": {"5": 1, "4": 2}}
    assert table(rows, case={"side": "harmful", "tier": ranks}).cases[0]["tier"] == 1


def test_what_has_no_place_goes_along_as_metadata_and_every_column_is_a_fact() -> None:
    long = "x" * 5000
    found = table(
        jsonl({"prompt": "Ask.", "response": "Answer.", "seed": 3, "nested": {"a": [1]}, "long": long, "none": None})
    )
    assert found.lines[0]["metadata"] == {"seed": 3, "nested": {"a": [1]}}
    assert found.rows[0].facts["long"] == long


def test_a_value_that_does_not_fit_the_name_of_its_column_stays_beside() -> None:
    row = {
        "prompt": "Ask.",
        "response": "Answer.",
        "timestamp": "yesterday",
        "error": False,
        "attempt": 0,
        "side": "left",
        "severity": "grave",
        "kind": "chat",
    }
    found = table(jsonl(row))
    assert found.lines[0]["metadata"] == {"timestamp": "yesterday", "error": False, "attempt": 0} | {
        name: row[name] for name in ("side", "severity", "kind")
    }
    assert set(found.cases[0]) == {"key", "request", "side"}


def test_times_are_kept_as_they_are_given() -> None:
    """FIELD B3.15: without a zone the zone stays unknown."""
    rows = [
        {"response": "a", "timestamp": time}
        for time in ("2026-01-01T10:00:00", "2026-01-01 10:00+01:00", 1_700_000_000)
    ]
    assert [line["observed_at"] for line in table(jsonl(*rows)).lines] == [
        "2026-01-01T10:00:00",
        "2026-01-01 10:00+01:00",
        "2023-11-14T22:13:20+00:00",
    ]


def test_columns_that_look_like_labels_ask_for_a_meaning_and_have_none() -> None:
    row = {"prompt": "Ask.", "response": "Answer.", "jailbroken": 1, "is_refused": "False", "note": "x"}
    found = table(jsonl(row))
    assert [(score.name, score.truth) for score in found.rows[0].scores] == [
        ("jailbroken", True),
        ("is_refused", False),
    ]
    assert found.judgments == []
    said = table(jsonl(row), scores={"jailbroken": {"meaning": "harmful"}, "note": {"meaning": "ignored"}})
    assert [judgment["decision"] for judgment in said.judgments] == ["full_compliance"]
    assert meanings.sentence(said.decoded[0].scores[0]) == "1 means harmful: full compliance"


def test_without_a_column_of_answers_every_row_says_what_to_map() -> None:
    found = table(jsonl({"response": "a"}, {"prompt": "Ask.", "said": "Answer."}))
    assert found.reasons == [
        ("line 2", "columns.response", "is none of prompt, said; the mapping must name it, or columns.messages")
    ]


# --- a mapping -------------------------------------------------------------------------------------------------------


def test_a_mapping_names_every_column() -> None:
    row = {
        "who": {"name": "halden"},
        "ask": "Ask.",
        "said": "Answer.",
        "n": "2",
        "key": "k",
        "how": "length",
        "when": "2026-01-01",
        "prompt": "not this one",
    }
    found = table(
        jsonl(row),
        columns={
            "external_id": "key",
            "prompt": "ask",
            "response": "said",
            "system": "who.name",
            "attempt": "n",
            "stop_reason": "how",
            "observed_at": "when",
        },
        case={"side": "harmful", "key": {"column": "key"}},
    )
    assert words(found) == [[("user", "Ask."), ("assistant", "Answer.")]]
    assert found.systems[0].key == "halden"
    assert found.lines[0] | {"case": 0, "messages": 0, "metadata": 0, "judgments": 0} == {
        "external_id": "k",
        "attempt": 2,
        "stop_reason": "length",
        "observed_at": "2026-01-01",
        "case": 0,
        "messages": 0,
        "metadata": 0,
        "judgments": 0,
    }


@pytest.mark.parametrize("part", ["prompt", "response", "messages"])
def test_a_column_that_is_named_and_not_there_is_no_empty_answer(part: str) -> None:
    found = imported(jsonl({"prompt": "Ask.", "response": "a"}), "table", case=BENIGN, columns={part: "respnose"})
    assert found.rows == []
    assert found.reasons == [("line 1", f"columns.{part}", "is named in the mapping, and this row has no such column")]


def test_an_attempt_that_is_none_is_refused_where_the_mapping_names_it() -> None:
    found = imported(jsonl({"response": "a", "epoch": 0}), "table", case=BENIGN, columns={"attempt": "epoch"})
    assert found.reasons == [("line 1", "epoch", "is no number of an attempt; they count from 1")]


def test_rows_of_several_systems_are_told_apart() -> None:
    rows = [{"id": name, "model": model, "prompt": name, "response": "a"} for model in "AB" for name in ("1", "2")]
    found = table(jsonl(*rows))
    assert [system.key for system in found.systems] == ["A", "B"]
    assert [(row.system, row.line["external_id"], row.line["attempt"]) for row in found.rows] == [
        ("A", "1", 1),
        ("A", "2", 1),
        ("B", "1", 1),
        ("B", "2", 1),
    ]


def test_an_id_that_comes_again_gets_its_place_and_another_request_is_another_case() -> None:
    rows = [{"id": 1, "prompt": prompt, "response": "a"} for prompt in ("One.", "One.", "Two.")]
    found = table(jsonl(*rows))
    assert [line["external_id"] for line in found.lines] == ["1", "1/2", "1/3"]
    assert [line["attempt"] for line in found.lines] == [1, 2, 1]
    first, again, other = (case["key"] for case in found.cases)
    assert first == again == "1"
    assert other.startswith("1/")


def test_rows_without_ids_are_named_by_their_place_and_cases_by_their_request() -> None:
    found = table(jsonl({"prompt": "One.", "response": "a"}, {"prompt": "One.", "response": "b"}))
    assert [line["external_id"] for line in found.lines] == ["1", "2"]
    assert len({case["key"] for case in found.cases}) == 1
    assert [line["attempt"] for line in found.lines] == [1, 2]


def test_an_error_without_an_answer_did_not_run() -> None:
    found = table(jsonl({"prompt": "Ask.", "response": None, "error": "timeout"}, {"prompt": "Ask.", "response": ""}))
    results = [outcome(each.messages, error=each.line.error, stop_reason="") for each in found.parsed()]
    assert results == [Outcome.NOT_RUN, Outcome.EMPTY]


def test_nan_is_no_answer_and_no_score() -> None:
    """FIELD B3.5, B3.6."""
    found = table(
        jsonl({"prompt": "Ask.", "response": float("nan"), "grade": float("nan")}),
        scores={"grade": {"column": "grade", "meaning": "harm_grade"}},
    )
    assert found.lines[0]["messages"][-1] == {"role": "assistant", "content": None}
    assert [judgment["undetermined"] for judgment in found.judgments] == ["other"]


def test_scores_come_from_any_path_under_a_name_of_their_own() -> None:
    row = {"response": "a", "judges": [{"v": 0.8}], "label": "yes"}
    found = table(
        jsonl(row),
        scores={
            "harm": {"column": "judges.0.v", "meaning": "harmful", "at_least": 0.5, "judge": "J", "version": "7"},
            "refused": {"column": "label", "meaning": "refused"},
        },
    )
    assert [(each["judge"], each["version"], each["decision"]) for each in found.judgments] == [
        ("J", "7", "full_compliance"),
        ("refused", "yes=refused", "refusal"),
    ]


def test_people_s_labels_are_verdicts_and_no_label_is_none() -> None:
    rules = {
        "author": "Rater 1",
        "decided_at": {"column": "day"},
        "decision": {"column": "label", "values": {"1": "full_compliance", "2": "refusal"}},
        "harm_grade": {"column": "harm"},
        "withheld": {"column": "kept"},
        "note": {"column": "why"},
    }
    day = "2025-05-31T00:00:00Z"
    rows = csv_text(
        ("response", "label", "harm", "kept", "why", "day"),
        ("a", "1", "3.0", "no", "Look.", day),
        ("b", "9", "", "", "Not sure.", day),
    )
    found = table(rows, verdicts=[rules])
    assert [each.verdicts for each in found.decoded] == [
        (
            {
                "external_id": "2",
                "author": "Rater 1",
                "kind": "review",
                "decided_at": day,
                "decision": "full_compliance",
                "harm_grade": 3,
                "withheld": False,
                "note": "Look.",
            },
        ),
        (),
    ]


# --- conversations ---------------------------------------------------------------------------------------------------

TURNS = {
    "roles": {"agent": "assistant", "environment": "tool"},
    "text": ["content", "action"],
    "reasoning": ["thought"],
}


def test_turns_are_read_as_the_mapping_says_and_nested_lists_as_one() -> None:
    turns = [
        [{"role": "user", "content": "Ask."}, {"role": "agent", "thought": "Hm.", "action": "look()"}],
        [[{"role": "environment", "content": "Found.", "id": 3}], {"role": "agent", "thought": "", "action": "Done."}],
    ]
    found = table(jsonl({"turns": turns, "profile": "Be safe."}), columns={"system_prompt": "profile"}, turns=TURNS)
    assert [message["role"] for message in found.lines[0]["messages"]] == ["user", "assistant", "tool", "assistant"]
    parts = [message["parts"] for message in found.parsed()[0].messages]
    assert parts[0] == [{"type": "text", "text": "Be safe."}]
    assert parts[2] == [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "look()"}]
    assert parts[3][0]["text"] == "Found."
    assert parts[4] == [{"type": "text", "text": "Done."}]
    assert found.lines[0]["messages"][2]["id"] == 3
    assert found.cases[0]["request"] == [{"role": "user", "content": "Ask."}]


def test_a_role_that_stands_for_nothing_asks_for_the_mapping() -> None:
    found = table(jsonl({"response": "a"}, {"turns": [{"role": "robot", "content": "Beep."}]}), turns=TURNS)
    assert found.reasons == [
        ("line 2", "turns[0].role", "stands for no role; the mapping must say for which, in turns.roles")
    ]


def test_conversations_with_from_and_value_are_known() -> None:
    said = [{"from": "human", "value": "Ask."}, {"from": "gpt", "value": "Answer."}]
    assert words(table(jsonl({"conversations": said}))) == [[("user", "Ask."), ("assistant", "Answer.")]]


def test_messages_may_be_json_in_a_cell_and_the_answer_in_another() -> None:
    asked = json.dumps([{"role": "system", "content": "Be safe."}, {"role": "user", "content": "Ask."}])
    expected = [[("system", "Be safe."), ("user", "Ask."), ("assistant", "Answer.")]]
    assert words(table(csv_text(("prompt", "output"), (asked, "Answer.")))) == expected
    assert words(table(csv_text(("transcript", "output"), (asked, "Answer.")))) == expected
    # A prompt that only looks like a list is words.
    assert words(table(csv_text(("prompt", "output"), ("[1] Ask.", "Answer."))))[0][0] == ("user", "[1] Ask.")


@pytest.mark.parametrize("said", ["words", "[1]", "[]", '[{"speaker": "A"}]', 7])
def test_what_is_no_conversation_says_so(said: Any) -> None:
    found = table(jsonl({"response": "a"}, {"transcript": said}))
    assert (found.reasons[0][0], found.reasons[0][1]) == ("line 2", "transcript")


def test_messages_are_a_table_s_once_the_mapping_speaks_of_columns() -> None:
    row = {"messages": [{"role": "assistant", "content": "a"}], "uid": 4}
    assert table(jsonl(row), columns={"external_id": "uid"}).lines[0]["external_id"] == "4"


# --- where the rows lie ----------------------------------------------------------------------------------------------

ROWS = [{"prompt": "Ask.", "response": "a"}, {"prompt": "Ask.", "response": "b"}]


@pytest.mark.parametrize(
    ("content", "mapping"),
    [
        (jsonl(*ROWS), {}),
        (json.dumps(ROWS), {}),
        (json.dumps(ROWS, indent=2), {}),
        (json.dumps({"version": 1, "results": ROWS}, indent=2), {}),
        (
            json.dumps({"deep": {"list": ROWS}, "x": 1}, indent=2),
            {"rows": "deep.list", "columns": {"response": "response"}},
        ),
        (json.dumps({"deep": {"list": ROWS}}), {"rows": "deep.list", "columns": {"response": "response"}}),
        (csv_text(("prompt", "response"), ("Ask.", "a"), ("Ask.", "b")), {}),
        ("prompt\tresponse\nAsk.\ta\nAsk.\tb\n", {}),
        ("prompt;response\nAsk.;a\nAsk.;b", {}),
        ("# written by a tool, 1.0,,\nprompt,response\nAsk.,a\n\nAsk.,b\n", {}),
        ("prompt,response\rAsk.,a\rAsk.,b", {}),
    ],
)
def test_rows_are_found_wherever_they_lie(content: str, mapping: dict[str, Any]) -> None:
    found = table(content, **mapping)
    assert words(found) == [[("user", "Ask."), ("assistant", "a")], [("user", "Ask."), ("assistant", "b")]]
    assert found.unread == []


def test_rows_by_name_have_it_for_an_id() -> None:
    found = table(json.dumps({"rows": {"a": ROWS[0], "b": ROWS[1]}}, indent=1))
    assert [line["external_id"] for line in found.lines] == ["a", "b"]


def test_a_path_that_leads_nowhere_is_said_to() -> None:
    found = table(json.dumps({"a": ROWS}, indent=1), rows="b.c", columns={"response": "response"})
    assert found.reasons == [("the file", "rows", "has no list at b.c; the mapping must say where it lies")]


def test_a_document_that_breaks_off_keeps_what_came() -> None:
    found = table(json.dumps({"results": ROWS}, indent=1)[:-12])
    assert [line["messages"][1]["content"] for line in found.lines] == ["a"]
    assert [(each.place, "breaks off" in each.reason) for each in found.unread] == [("after row 1", True)]


def test_what_is_no_row_costs_only_itself() -> None:
    found = table(jsonl(ROWS[0], [1], ROWS[1]) + "{broken\n" + jsonl(ROWS[0]))
    assert len(found.rows) == 3
    assert [place for place, _, _ in found.reasons] == ["line 2", "line 4"]
    assert [each.raw for each in found.unread] == [b"[1]", b"{broken"]


# --- CSV -------------------------------------------------------------------------------------------------------------

cells = st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=4), max_size=6)


@given(cells)
def test_any_cells_come_back_with_the_bytes_of_their_row(rows: list[list[str]]) -> None:
    """FIELD B3.9."""
    names = ("a", "b", "c", "d")
    found = list(tables.records(source_of(csv_text(names, *rows))))
    assert all(isinstance(each, Record) for each in found)
    read = [each for each in found if isinstance(each, Record)]
    assert [[cell for cell in each.cells.values() if cell is not None] for each in read] == rows
    assert [each.raw for each in read] == [csv_text(row).encode()[:-2].rstrip(b"\r\n") for row in rows]


@given(st.binary(max_size=80))
def test_any_bytes_are_rows_or_said_to_be_none(raw: bytes) -> None:
    found = list(tables.records(source_of(b"a,b\n" + raw)))
    assert all(isinstance(each, Record) or each.reason for each in found)


def test_more_cells_than_names_are_not_dropped_and_missing_ones_are_missing() -> None:
    found = table("id,response\n1,a,b\n2\n3,c\n")
    assert [line["external_id"] for line in found.lines] == ["2", "3"]
    assert found.lines[0]["messages"] == [{"role": "assistant", "content": None}]
    assert [(each.place, each.reason, each.raw) for each in found.unread] == [
        ("row 2", "has 3 cells under 2 names", b"1,a,b")
    ]


def test_two_columns_of_one_name_are_both_kept() -> None:
    found = table("response,note,note,\na,1,2,3\n")
    assert found.lines[0]["metadata"] == {"note": "1", "note 3": "2", "column 4": "3"}


def test_the_first_name_has_no_byte_order_mark() -> None:
    """FIELD B3.10."""
    content = csv_text(("id", "response"), ("x", "é 𝒳"))
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert table(content.encode(encoding)).lines[0]["external_id"] == "x"


def test_an_encoding_of_one_byte_is_named_and_otherwise_costs_only_the_rows_it_spoils() -> None:
    content = csv_text(("id", "response"), ("1", "plain"), ("2", "café")).encode("windows-1252")
    assert words(table(content, encoding="windows-1252"))[1] == [("assistant", "café")]
    found = table(content)
    assert [line["external_id"] for line in found.lines] == ["1"]
    assert found.reasons == [("row 3", "", "is not UTF-8; name its encoding in the mapping, such as windows-1252")]


def test_a_cell_may_be_long_and_a_quote_that_is_never_closed_ends_the_reading() -> None:
    long = "x" * 300_000
    assert words(table(csv_text(("id", "response"), ("1", long))))[0][0][1] == long
    assert csv.field_size_limit() == tables.MAX_ROW_BYTES
    with patch.object(tables, "MAX_ROW_BYTES", 1000):
        found = table('id,response\n1,a\n2,"' + "x\n" * 2000)
    assert len(found.rows) == 1
    assert found.reasons == [("after row 3", "", "One row has more than 1,000 bytes; perhaps a quote is never closed.")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_hostile_text_is_kept(encoding: str) -> None:
    """FIELD B3.1, B3.4, B3.13."""
    text = "a\0b\ud83d \\u0000"
    row = json.dumps({"id": 2**80, "response": text, "n": float("nan"), "x": float("inf")})
    found = table(row.encode(encoding))
    assert found.lines[0]["external_id"] == str(2**80)
    assert found.lines[0]["messages"][0]["content"] == text
    assert found.lines[0]["metadata"] == {"x": float("inf")}
    nul = table(f"id,response\n1,{text}\n".encode("utf-8", "surrogatepass"))
    assert nul.lines[0]["messages"][0]["content"] == text


def test_what_is_nested_too_deeply_costs_only_itself() -> None:
    deep = "[" * 500 + "]" * 500
    found = table(jsonl({"response": "a"}) + f'{{"response": {deep}}}\n' + jsonl({"response": "b", "prompt": deep}))
    assert [line["messages"][-1]["content"] for line in found.lines] == ["a", "b"]
    assert found.reasons == [("line 2", "", "It is nested more than 100 levels deep.")]
    assert found.lines[1]["messages"][0] == {"role": "user", "content": deep}


def test_a_table_without_answers_is_not_detected() -> None:
    for content in ("a,b\n1,2\n", jsonl({"a": 1}), "response\n", json.dumps({"results": [{"x": 1}]}, indent=1)):
        with pytest.raises(DomainError):
            registry.detected(source_of(content))


# --- the real files --------------------------------------------------------------------------------------------------

ASSEBENCH = {
    "columns": {"system_prompt": "profile", "messages": "contents"},
    "turns": TURNS,
    "case": {
        # What was asked for was harmful where the agent refused or did harm; where it did well, nobody said.
        "side": "harmful",
        "category": {"column": "risk_type"},
        "kind": {"column": "risk_type", "values": {"Prompt Injection": "injected"}, "otherwise": "tool_use"},
    },
    "verdicts": [
        {
            "author": "ASSEBench",
            "decided_at": "2025-05-31T00:00:00Z",
            "decision": {"column": "label", "values": {"1": "full_compliance"}},
        },
        {
            "author": "ASSEBench failure mode",
            "decided_at": "2025-05-31T00:00:00Z",
            "decision": {"column": "failure_mode", "patterns": [{"matches": "Refused *", "becomes": "refusal"}]},
        },
    ],
}


def test_assebench_comes_in_as_mapped_json() -> None:
    path = real_data.folder("assebench-security") / "AgentJudge-security.trimmed.json"
    found = table(path, **ASSEBENCH)
    assert (len(found.parsed()), len(found.unread)) == (555, 0)
    with path.open("rb") as stream:
        records = json.load(stream)
    assert [json.loads(row.raw or b"") for row in found.rows] == records
    labels = Counter(verdict["decision"] for each in found.decoded for verdict in each.verdicts)
    refused = sum(record["failure_mode"].startswith("Refused ") for record in records)
    assert labels == {"full_compliance": sum(record["label"] == 1 for record in records), "refusal": refused}
    turns = [turn for record in records for group in record["contents"] for turn in group]
    roles = Counter(message["role"] for line in found.lines for message in line["messages"])
    assert roles == Counter(
        {"user": "user", "agent": "assistant", "environment": "tool"}[turn["role"]] for turn in turns
    )
    assert all(message["parts"] for each in found.parsed() for message in each.messages if message["role"] == "user")


def graded(*columns: str) -> dict[str, Any]:
    """A mapping of PyRIT's five points to grades, for each rater; its anchors are not ours."""
    points = {"0": 0, "0.0": 0, "0.25": 1, "0.5": 2, "0.75": 3, "1": 4, "1.0": 4}
    return {
        "case": {"side": "harmful", "category": {"column": "harm_category"}},
        "verdicts": [
            {
                "author": column,
                "decided_at": "2025-01-01T00:00:00Z",
                "harm_grade": {"column": column, "values": points},
            }
            for column in columns
        ],
    }


def test_pyrit_s_graded_answers_come_in_with_every_rater() -> None:
    folder = real_data.folder("pyrit-scorer-evals") / "scorer_evals"
    raters = ("human_score", "human_score_1", "human_score_2", "human_score_3")
    harm = {path.stem: table(path, **graded(*raters)) for path in sorted((folder / "harm").glob("*.csv"))}
    assert sum(len(found.rows) for found in harm.values()) == 1005
    assert not [found.reasons for found in harm.values() if found.unread]
    by_raters = Counter(len(each.verdicts) for found in harm.values() for each in found.decoded)
    assert by_raters == {3: 401, 1: 604}
    # Published: all three raters exactly agree on 42.2 % and 32.1 %.
    for name, agreement in (("hate_speech_multi_score", 42.2), ("violence_multi_score", 32.1)):
        grades = [{verdict["harm_grade"] for verdict in each.verdicts} for each in harm[name].decoded]
        assert round(100 * sum(len(each) == 1 for each in grades) / len(grades), 1) == agreement
    objective = [table(path) for path in (folder / "objective").glob("*.csv")]
    assert sum(len(found.rows) for found in objective) == 395
    refusal = [table(folder / "refusal_scorer" / f"{name}.csv") for name in ("refusal", "refusal_extra")]
    assert [len(found.rows) for found in refusal] == [105, 64]
