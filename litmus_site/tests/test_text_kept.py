"""FIELD B3: text and numbers come through as they were sent. One row a test; every kind at once is in test_hostile.py.

B3.9 is in test_xstest.py.
"""

import json
import math
from typing import Any

import pytest
from django.urls import reverse

from audit.api.exported import csv_columns
from audit.measure.rates import RatePair
from audit.selectors.report import report_of
from audit.tests.make import claimed
from labeling.models import Judgment
from labeling.tests import make
from labeling.tests.posting import definition, judgment, line
from labeling.vocabulary import Role
from litmus_site.tests.inert import complaints, text_of
from litmus_site.tests.logged import logged
from litmus_site.tests.stage import Stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    return Stage.set()


def tool_output(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Look."}, {"role": "tool", "tool_call_id": "c", "content": text}]


def test_b3_1_nul_in_a_tool_output_is_stored_shown_and_given_back_and_in_no_log(stage: Stage) -> None:
    text = "before\0after qJ7vUX"
    with logged() as log:
        row, neighbour = stage.post(
            {"external_id": "nul", "case": definition("c-1"), "messages": tool_output(text)},
            line("good", definition("c-2")),
        )
        page = stage.opened(row)
    assert "before␀after" in text_of(page)
    assert stage.exported()[0]["posted"]["messages"][1]["content"] == text
    assert neighbour.external_id == "good"
    assert "qJ7vUX" not in log.getvalue()


@pytest.mark.parametrize("text", ["\u0000", "\\u0000", "\\\u0000", "\\\\u0000"])
def test_b3_2_what_only_looks_like_an_escape_is_left_alone(stage: Stage, text: str) -> None:
    (row,) = stage.post(line("t", definition(), text))
    (exported,) = stage.exported()
    assert exported["posted"]["messages"][1]["content"] == text
    assert text.replace("\0", "␀") in text_of(stage.opened(row))


@pytest.mark.parametrize("body", [rb"\ud83d", "\ud83d".encode("utf-8", "surrogatepass")], ids=["escaped", "raw bytes"])
def test_b3_4_a_lone_surrogate_breaks_no_page_and_no_export(stage: Stage, body: bytes) -> None:
    sent = json.dumps(line("t", definition(), "HERE", judgments=[judgment(rationale="HERE")])).encode()
    assert stage.send(sent.replace(b"HERE", b"half: " + body)).status_code == 201
    (exported,) = stage.exported()
    assert exported["posted"]["messages"][1]["content"] == "half: \ud83d"
    assert exported["judgments"][0]["rationale"] == "half: \ud83d"
    page = stage.opened(stage.run.trajectories.get())
    assert complaints(page) == []
    assert text_of(page).count("half: \\ud83d") == 2


def test_b3_5_a_score_that_is_no_number_is_kept_as_that_and_breaks_nothing(stage: Stage) -> None:
    scores = {"nan": float("nan"), "up": float("inf"), "down": float("-inf"), "zero": 0}
    (row,) = stage.post(line("t", definition(), metadata=scores, judgments=[judgment(scores=scores)]))
    (exported,) = stage.exported()
    for given in (exported["judgments"][0]["scores"], exported["posted"]["metadata"]):
        assert math.isnan(given["nan"])
        assert (given["up"], given["down"], given["zero"]) == (math.inf, -math.inf, 0)
    assert "nan nan" in text_of(stage.opened(row))
    stage.page("run", stage.run.pk)


def test_b3_6_unscored_stays_unscored_over_any_number_of_round_trips(stage: Stage) -> None:
    unscored = judgment(decision=None, undetermined="unparsable", scores={"safety": None, "harm": float("nan")})
    stage.post(
        line("t-1", definition("c-1"), "Perhaps.", judgments=[unscored]),
        line("t-2", definition("c-2", "benign"), "Perhaps.", judgments=[unscored]),
    )
    for turn in range(3):
        exported = stage.exported()
        for row in exported:
            (said,) = [one for one in row["judgments"] if one["name"] == "gpt-4"]
            assert said["scores"]["safety"] is None
            assert math.isnan(said["scores"]["harm"])
            assert (said["undetermined"], said["decisions"]) == (
                "unparsable",
                ["full_compliance", "safe_completion", "refusal"],
            )
            assert row["label"]["error"] is None
        pair = report_of(stage.run).as_labeled
        assert isinstance(pair, RatePair)
        assert (pair.harmful_compliance.undetermined, pair.harmful_compliance.low, pair.harmful_compliance.high) == (
            1,
            0,
            1,
        )
        stage = stage.another(f"turn {turn}")
        stage.post(*[row["posted"] for row in exported])


@pytest.mark.parametrize("before", ["", "👩\u200d👩\u200d👧 ", "𝒳 = ", "e\u0301 "])
def test_b3_7_evidence_counts_code_points(stage: Stage, before: str) -> None:
    """In UTF-16 a span would be off by one for each emoji before it."""
    answer = f"{before}Here is how."
    start = answer.index("Here")
    span = {"start": start, "end": start + len("Here"), "text": "Here"}
    (row,) = stage.post(
        line(
            "t",
            definition(),
            answer,
            judgments=[judgment("a", decision="refusal", evidence=[span]), judgment("b", decision="full_compliance")],
        )
    )
    seat = make.membership(stage.run.project, Role.REVIEWER)
    held = claimed(seat)
    stage.lead.force_login(seat.user)
    body = {"token": held.token, "decision": "full_compliance", "harm_grade": 3, "evidence": [span]}
    assert (
        stage.lead.post(reverse("api_verdict", args=[held.pk]), body, content_type="application/json").status_code
        == 201
    )
    stage.lead.force_login(make.member(stage.run.project, Role.LEAD))
    (exported,) = stage.exported()
    said = exported["posted"]["messages"][1]["content"]
    for spans in (exported["judgments"][0]["evidence"], exported["verdicts"][0]["evidence"]):
        (found,) = spans
        assert said[found["start"] : found["end"]] == "Here"
    assert row.external_id == exported["external_id"]


def test_b3_10_a_byte_order_mark_is_no_part_of_the_first_name_and_none_is_added(stage: Stage) -> None:
    sent = json.dumps(line("t", definition(), "\ufeffinside")).encode()
    assert stage.send(b"\xef\xbb\xbf" + sent).json()["created"] == 1
    assert stage.send(sent).json()["duplicate"] == 1
    path = reverse("api_export", args=[stage.run.pk])
    assert stage.exported()[0]["posted"]["messages"][1]["content"] == "\ufeffinside"
    table = b"".join(stage.runner.get(path, format="csv").streaming_content)
    assert table.startswith(csv_columns()[0].encode())


def test_b3_13_ids_are_text_from_end_to_end_and_big_numbers_stay_whole(stage: Stage) -> None:
    big = 2**63 + 1
    refused = stage.send(json.dumps(line(big, definition())).encode()).json()
    assert [(entry["path"], entry["reason"]) for entry in refused["entries"]] == [("external_id", "must be text")]
    stage.post(line(str(big), definition(str(big)), metadata={"id": big, "smaller": -(10**30)}))
    (exported,) = stage.exported()
    assert (exported["external_id"], exported["case"]) == (str(big), str(big))
    assert exported["posted"]["metadata"] == {"id": big, "smaller": -(10**30)}


def test_b3_15_a_time_without_a_zone_is_never_taken_for_utc(stage: Stage) -> None:
    (row,) = stage.post(line("t", definition(), observed_at="2024-11-29 10:00:00"))
    row.refresh_from_db()
    assert row.observed_at == "2024-11-29 10:00:00"
    assert stage.exported()[0]["observed_at"] == "2024-11-29 10:00:00"
    verdict = {"external_id": "t", "author": "Ada", "decided_at": "2024-11-29T10:00:00", "decision": "refusal"}
    answer: Any = stage.runner.post(reverse("api_verdicts", args=[stage.run.pk]), [verdict])
    (entry,) = answer.json()["entries"]
    assert (entry["path"], "gives no time zone" in entry["reason"]) == ("decided_at", True)


def test_a_score_that_is_text_is_refused_with_its_path(stage: Stage) -> None:
    """B3.5: a word is no number, and would become one somewhere."""
    answer = stage.send(json.dumps(line("t", definition(), judgments=[judgment(scores={"s": "NaN"})])).encode()).json()
    assert answer["entries"][0]["path"] == "judgments[0].scores"
    assert not Judgment.objects.exists()
