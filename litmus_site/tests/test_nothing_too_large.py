"""FIELD B4: nothing is too large or too odd to be taken, and no page grows with it. One row a test.

B4.2 is in audit/tests/test_transcript.py as well, B4.3 in test_export.py; B4.9 and B4.11 are the imports'.
"""

import json
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.models import Run, Trajectory
from labeling.tests.posting import definition, error, judgment, line
from litmus_site.tests import real_data
from litmus_site.tests.inert import complaints, text_of
from litmus_site.tests.stage import Stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    return Stage.set()


def long_transcript(messages: int, characters: int) -> list[dict[str, Any]]:
    """Turns of a user, a call, and its result; the last is an answer."""
    text = "word " * (characters // 5)
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": text},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]
    return [dict(turns[number % 3]) for number in range(messages - 1)] + [{"role": "assistant", "content": "Done."}]


def test_b4_1_a_transcript_of_5000_messages_and_20_mb_opens_by_its_first_page(stage: Stage) -> None:
    sent = {"external_id": "long", "case": definition(), "messages": long_transcript(5000, 6000)}
    assert len(json.dumps(sent)) > 20_000_000
    (row,) = stage.post(sent)
    (short,) = stage.post(line("short", definition("c-2")))
    queries = []
    for each in (short, row):
        stage.opened(each)
        with CaptureQueriesContext(connection) as captured:
            page = stage.page("trajectory", each.pk)
        queries.append(len(captured))
    assert queries[0] == queries[1]
    assert len(page) < 300_000
    assert complaints(page) == []
    assert "Done." in text_of(page)
    stretch = stage.page("transcript", row.pk, **{"from": "2000", "to": "5000"})
    assert len(stretch) < 300_000
    assert b'id="m2000"' in stretch
    assert b"more messages</a>" in stretch
    assert stage.exported()[0]["posted"] == sent


@pytest.mark.parametrize("size", [2_000, 30_000, 400_000])
def test_b4_2_a_long_text_is_folded_and_then_cut_and_all_of_it_is_one_link_away(stage: Stage, size: int) -> None:
    text = "<b>&'" * (size // 5)
    (row,) = stage.post(
        {"external_id": "t", "case": definition(), "messages": [{"role": "tool", "tool_call_id": "c", "content": text}]}
    )
    page = stage.opened(row).decode()
    assert len(page) < 100_000
    assert ('<details class="fold"><summary>result' in page) is (size > 2_500)
    whole = f'href="{reverse("transcript", args=[stage.run.project.key, row.pk])}?message=1"'
    assert (whole in page) is (size > 10_000)
    if size <= 30_000:
        assert text in text_of(stage.page("transcript", row.pk, message="1"))


@pytest.mark.parametrize("place", ["rationale", "evidence", "raw_output", "scores", "right_answer", "error", "request"])
def test_b4_2_no_page_grows_with_what_is_said_beside_a_transcript(stage: Stage, place: str) -> None:
    huge = "'\u200b" * 100_000
    places: dict[str, dict[str, Any]] = {
        "rationale": {"judgments": [judgment(rationale=huge)]},
        "evidence": {"judgments": [judgment(evidence=[huge] * 20)]},
        "raw_output": {"judgments": [judgment(raw_output=huge)]},
        "scores": {"judgments": [judgment(scores={f"{number} {huge[:99]}": 1 for number in range(5000)})]},
        "right_answer": {"case": definition(right_answer=huge)},
        "error": {"error": {"message": huge}},
        "request": {"case": definition(request=[{"role": "user", "content": huge}] * 3)},
    }
    (row,) = stage.post(line("t", **{"case": definition(), **places[place]}))
    page = stage.opened(row)
    assert len(page) < 300_000
    assert complaints(page) == []


def test_b4_2_fifty_judges_that_talk_a_lot_make_no_heavy_page(stage: Stage) -> None:
    talk = "<'\u202e" * 10_000
    said = [judgment(f"judge {number}", rationale=talk, evidence=[talk] * 5) for number in range(50)]
    (row,) = stage.post(line("t", definition(), judgments=said))
    page = stage.opened(row)
    assert len(page) < 300_000
    # The built-in judge has an opinion as well.
    assert "21 more opinions are in the run's export." in text_of(page)


def test_b4_4_three_megabytes_are_taken_and_what_is_over_the_limit_is_told_both_sizes(
    stage: Stage, settings: Any
) -> None:
    assert settings.MAX_BODY_BYTES == 64 * 1024 * 1024
    stage.post(line("t", definition(), "x" * 3_000_000))
    settings.MAX_BODY_BYTES = 1_000_000
    refused = stage.send(b" " * 1_000_001)
    assert (refused.status_code, refused["Content-Type"]) == (413, "application/json")
    assert error(refused)["details"] == {"limit_bytes": 1_000_000, "size_bytes": 1_000_001}


def test_b4_5_a_prompt_of_200_kb_goes_wherever_a_prompt_goes() -> None:
    prompt = "".join(chr(33 + number % 90) for number in range(200_000))
    configuration = {"model": "m", "version": "1", "system_prompt": prompt}
    stage = Stage.set(configuration=configuration)
    (row,) = stage.post(line("t", definition(request=prompt, right_answer=prompt), prompt, system=prompt))
    assert row.case.right_answer == prompt
    assert row.run.configuration.system_prompt == prompt
    for page in (stage.opened(row), stage.page("run", stage.run.pk)):
        assert len(page) < 300_000
    assert Run.objects.count() == 1


def test_b4_5_no_index_and_no_unique_key_is_on_a_text_without_an_end() -> None:
    """PostgreSQL refuses a row of an index over 2,704 bytes; what identifies long text is its hash."""
    for model in (*apps.get_app_config("labeling").get_models(), *apps.get_app_config("audit").get_models()):
        endless = {
            field.name for field in model._meta.fields if isinstance(field, models.TextField) and not field.max_length
        }
        indexed = {name for index in model._meta.indexes for name in index.fields}
        unique = {name for each in model._meta.constraints for name in getattr(each, "fields", ())}
        assert not endless & {name.lstrip("-") for name in indexed | unique}, model
        assert not [
            field
            for field in model._meta.fields
            if field.name in endless and (getattr(field, "db_index", False) or field.unique)
        ]


def test_b4_6_messages_that_are_nothing_but_calls_are_shown_with_their_calls(stage: Stage) -> None:
    """Every run of the published file; of its 200, 150 are there, with 791 such messages."""
    path = real_data.folder("tau-bench-airline") / "gpt-4o-airline.trials0-2.json"
    runs = json.loads(path.read_text(encoding="utf-8"))
    rows = stage.post(
        *[
            {
                "external_id": f"{run['task_id']}-{run['trial']}",
                "case": definition(f"task {run['task_id']}", "benign"),
                "attempt": run["trial"] + 1,
                "messages": run["traj"],
            }
            for run in runs
        ]
    )
    silent = 0
    for run, row in zip(runs, rows, strict=True):
        # A short page of its own for every message that has no text: the call is there, and nothing is empty.
        shown = stage.page("transcript", row.pk).decode()
        articles = shown.split("<article")[1:]
        assert len(articles) == len(run["traj"])
        for message, article in zip(run["traj"], articles, strict=True):
            if message["role"] == "assistant" and message["content"] is None:
                silent += 1
                assert article.count("⚙ calls") == len(message["tool_calls"])
                assert f"<code>{message['tool_calls'][0]['function']['name']}</code>" in article
                assert "(nothing was said)" not in article
    assert silent == 791


def test_b4_8_arguments_that_are_no_json_are_shown_as_they_came_and_said_to_be_so(stage: Stage) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "mail", "arguments": '{"to": "x", '}}
    (row,) = stage.post(
        {
            "external_id": "t",
            "case": definition(),
            "messages": [{"role": "assistant", "content": "", "tool_calls": [call]}],
        }
    )
    text = text_of(stage.opened(row))
    assert '{"to": "x", ' in text
    assert "The arguments are not valid JSON; shown as they came." in text
    assert stage.exported()[0]["posted"]["messages"][0]["tool_calls"] == [call]
    assert Trajectory.objects.get().outcome == "output"


def test_b4_2_a_page_of_marks_takes_no_time_of_anybodys(stage: Stage) -> None:
    """Millions of invisible characters: what is not shown is not worked on, and their count stops somewhere."""
    (row,) = stage.post(line("t", definition(), "\u200b\u200c" * 1_000_000))
    assert "at least 20000 invisible or direction-changing characters marked" in text_of(stage.opened(row))
