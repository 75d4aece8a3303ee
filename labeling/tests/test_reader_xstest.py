"""XSTest's files: sides from types, people's labels as verdicts, a judge's label or its prose."""

from collections import Counter
from typing import Any

import pytest

from labeling.formats.readers.xstest import system_of
from labeling.tests.imported import Imported, csv_text, imported
from litmus_site.tests import real_data

NAMES = (
    "id",
    "type",
    "prompt",
    "completion",
    "annotation_1",
    "annotation_2",
    "agreement",
    "final_label",
    "gpt4_label",
)
FULL, REFUSAL, PARTIAL = "1_full_compliance", "2_full_refusal", "3_partial_refusal"


def row(name: str = "v2-1", **cells: str) -> list[str]:
    given = {
        "type": "homonyms",
        "prompt": "Ask.",
        "completion": "Answer.",
        "annotation_1": FULL,
        "annotation_2": FULL,
        "agreement": "True",
        "final_label": FULL,
        "gpt4_label": FULL,
        **cells,
    }
    return [name, *(given[column] for column in NAMES[1:])]


def read(*rows: list[str], filename: str = "xstest_v2_completions_halden_gpteval.csv") -> Imported:
    found = imported(csv_text(NAMES, *rows), "xstest", filename)
    found.parsed()
    return found


def test_the_type_tells_side_and_category() -> None:
    found = read(row("a", type="contrast_homonyms"), row("b", type="homonyms"))
    assert [(case["side"], case["category"], case["origin"]) for case in found.cases] == [
        ("harmful", "homonyms", ""),
        ("benign", "homonyms", "paired"),
    ]
    assert [case["key"] for case in found.cases] == ["a", "b"]


def test_people_s_labels_are_verdicts() -> None:
    found = read(row(annotation_2=PARTIAL, final_label=REFUSAL))
    assert [
        (each["author"], each["kind"], each["decision"], each.get("withheld")) for each in found.decoded[0].verdicts
    ] == [
        ("XSTest annotator 1", "review", "full_compliance", None),
        ("XSTest annotator 2", "review", "safe_completion", True),
        ("XSTest adjudicated label", "adjudication", "refusal", None),
    ]


def test_a_partial_refusal_keeps_something_back_on_the_benign_side_alone() -> None:
    found = read(row(gpt4_label=PARTIAL), row("b", type="contrast_homonyms", gpt4_label=PARTIAL))
    assert [(each["decision"], each.get("flags")) for each in found.judgments] == [
        ("safe_completion", {"withheld": True}),
        ("safe_completion", None),
    ]


def test_a_judge_s_prose_is_undetermined_and_kept() -> None:
    found = read(row(type="contrast_homonyms", gpt4_label="I cannot\nsay."))
    assert found.judgments[0]["undetermined"] == "unparsable"
    assert found.judgments[0]["raw_output"] == "I cannot\nsay."
    assert "decision" not in found.judgments[0]


def test_whoever_said_nothing_gave_no_label() -> None:
    found = read(row(annotation_2="", gpt4_label=""))
    assert [each["author"] for each in found.decoded[0].verdicts] == ["XSTest annotator 1", "XSTest adjudicated label"]
    assert found.judgments == []


def test_the_labels_of_string_match_are_another_judge() -> None:
    names = (*NAMES[:-1], "strmatch_label")
    found = imported(csv_text(names, row(gpt4_label=REFUSAL)), "xstest", "xstest_v2_completions_halden_streval.csv")
    assert [(each["judge"], each["decision"]) for each in found.judgments] == [("string-match", "refusal")]


def test_the_system_is_named_by_the_file_or_by_the_mapping() -> None:
    assert read(row()).systems[0].model == "halden"
    assert read(row(), filename="upload").systems[0].model == ""
    assert system_of("/a/xstest_v2_completions_llama2orig.csv") == "llama2orig"


def test_cells_may_hold_several_lines_and_quotes_and_rows_keep_their_bytes() -> None:
    """FIELD B3.9."""
    answer = 'First, "quoted"\r\nsecond;\n\nthird\rfourth, = +1'
    found = read(row(completion=answer), row("b"))
    assert found.lines[0]["messages"][1]["content"] == answer
    assert [row_.raw for row_ in found.rows] == [
        csv_text(row(completion=answer)).strip().encode(),
        csv_text(row("b")).strip().encode(),
    ]
    assert [row_.place for row_ in found.rows] == ["row 2", "row 3"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(encoding: str) -> None:
    """FIELD B3.10."""
    content = csv_text(NAMES, row("é👩‍👩‍👧", completion="a\0b")).encode(encoding)
    found = imported(content, "xstest")
    assert found.lines[0]["external_id"] == "é👩‍👩‍👧"
    assert found.lines[0]["messages"][1]["content"] == "a\0b"
    assert len(found.parsed()) == 1


def test_a_row_that_cannot_be_read_costs_only_itself() -> None:
    broken = csv_text(NAMES, row("a"), row("b", final_label="4_other")) + '"c"x,y\r\n'
    broken += csv_text(["d"], [*row("e"), "more"], row("f"))
    found = imported(broken, "xstest")
    assert [line["external_id"] for line in found.lines] == ["a", "f"]
    assert [(place, path) for place, path, _ in found.reasons] == [
        ("row 3", "final_label"),
        ("row 4", ""),
        ("row 5", "annotation_1"),
        ("row 6", ""),
    ]
    assert found.reasons[3][2] == "has 10 cells under 9 names"
    assert found.unread[1].raw == b'"c"x,y'


def test_a_file_that_breaks_off_inside_a_cell_says_so() -> None:
    found = imported(csv_text(NAMES, row("a"), row("b"))[:-30], "xstest")
    assert [line["external_id"] for line in found.lines] == ["a"]
    assert [(place, reason) for place, _, reason in found.reasons] == [("row 3", "breaks off inside a quoted cell")]


# --- the real files --------------------------------------------------------------------------------------------------

SYSTEMS = ("gpt4", "llama2new", "llama2orig", "mistralguard", "mistralinstruct")
# Full and partial refusals on the 250 safe prompts, and on the 200 unsafe ones, in per cent.
PUBLISHED = {
    "llama2orig": ((38.0, 21.6), (99.5, 0.5)),
    "llama2new": ((14.0, 15.6), (97.5, 2.5)),
    "mistralinstruct": ((0.8, 0.8), (23.5, 12.5)),
    "mistralguard": ((9.6, 9.2), (87.5, 9.0)),
    "gpt4": ((6.4, 2.0), (97.5, 2.0)),
}


def share(decisions: "Counter[Any]", side: str, total: int) -> tuple[float, float]:
    refused, partly = (decisions[side, decision] for decision in ("refusal", "safe_completion"))
    return round(100 * refused / total, 1), round(100 * partly / total, 1)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_published_files_give_the_published_figures(system: str) -> None:
    """FIELD B3.9: multi-line cells, commas and quotes as people wrote them."""
    name = f"xstest_v2_completions_{system}_gpteval.csv"
    found = imported(real_data.folder("xstest") / "automated_evaluation_labels" / name, "xstest", name)
    assert (len(found.parsed()), len(found.unread), found.systems[0].model) == (450, 0, system)
    sides = Counter(case["side"] for case in found.cases)
    assert sides == {"benign": 250, "harmful": 200}
    adjudicated = Counter(
        (each.line["case"]["side"], verdict["decision"])
        for each in found.decoded
        for verdict in each.verdicts
        if verdict["kind"] == "adjudication"
    )
    assert (share(adjudicated, "benign", 250), share(adjudicated, "harmful", 200)) == PUBLISHED[system]
    failed = [each for each in found.judgments if each.get("undetermined")]
    assert len(failed) == (11 if system == "mistralinstruct" else 0)
