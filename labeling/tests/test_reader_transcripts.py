"""Transcripts of Inspect Scout, and agent runs of Docent."""

import json
from typing import Any

import pytest

from labeling.tests.imported import Imported, imported, jsonl

SIDE: dict[str, Any] = {"case": {"side": "harmful"}}
SAID = [{"role": "system", "content": "S"}, {"role": "user", "content": "Open it"}]
ANSWERED = [*SAID, {"role": "assistant", "content": "I did."}]


def transcript(**fields: Any) -> dict[str, Any]:
    given = {"transcript_id": "t1", "source_type": "eval_log", "task_set": "locks", "task_id": "7", "task_repeat": 2}
    return {**given, "model": "m", "agent": "react", "date": "2026-03-01", "messages": ANSWERED, **fields}


def run(**fields: Any) -> dict[str, Any]:
    about = {"model": "m", "task_id": 7, "scores": {"harm": 1}}
    return {"id": "a1", "transcripts": [{"id": "x", "name": "main", "messages": ANSWERED}], "metadata": about, **fields}


def scout(*transcripts: Any, **mapping: Any) -> Imported:
    return imported(jsonl(*transcripts), "scout", **(mapping or SIDE))


def docent(*runs: Any, **mapping: Any) -> Imported:
    return imported(jsonl(*runs), "docent", **(mapping or SIDE))


def test_a_transcript_says_of_which_task_it_is() -> None:
    found = scout(transcript())
    (line,) = found.parsed()
    assert (line.external_id, line.line.attempt, line.line.case_key) == ("t1", 2, "locks/7")
    assert [(system.model, system.decoding) for system in found.systems] == [("m", {"agent": "react"})]
    assert found.cases[0]["request"] == SAID


def test_a_transcript_s_score_must_be_mapped() -> None:
    given = transcript(score="C", success=True, score_explanation="It fits.")
    assert scout(given).judgments == []
    (judgment,) = scout(given, **SIDE, scores={"success": {"meaning": "complied"}}).judgments
    assert (judgment["decision"], judgment["rationale"]) == ("full_compliance", "It fits.")


def test_a_transcript_that_failed_was_not_run() -> None:
    (line,) = scout(transcript(messages=SAID, error="no sandbox")).parsed()
    assert line.line.error == "no sandbox"


def test_transcripts_may_be_an_array_or_one_alone() -> None:
    for content in (json.dumps([transcript()], indent=1), json.dumps(transcript(), indent=1)):
        assert len(imported(content, "scout", **SIDE).parsed()) == 1


def test_a_run_is_one_trajectory_with_all_its_transcripts() -> None:
    inner = [{"role": "user", "content": "Find"}, {"role": "assistant", "content": "Found."}]
    given = run(transcripts=[{"name": "main", "messages": ANSWERED}, {"name": "helper", "messages": inner}])
    found = docent(given)
    (line,) = found.parsed()
    assert len(line.messages) == 5
    assert line.line.metadata["transcripts"][1] == {"name": "helper", "first_message": 3}
    assert (line.line.case_key, found.cases[0]["request"]) == ("7", SAID)


def test_old_runs_hold_an_object_of_transcripts() -> None:
    (line,) = docent(run(transcripts={"main": {"messages": ANSWERED}})).parsed()
    assert len(line.messages) == 3


def test_a_run_s_scores_must_be_mapped() -> None:
    assert docent(run()).judgments == []
    (judgment,) = docent(run(), **SIDE, scores={"harm": {"meaning": "harmful"}}).judgments
    assert judgment["decision"] == "full_compliance"


def test_several_runs_of_one_task_are_attempts() -> None:
    assert [line.line.attempt for line in docent(run(), run(id="a2")).parsed()] == [1, 2]


@pytest.mark.parametrize("name", ["scout", "docent"])
def test_what_is_none_of_them_costs_nothing_but_itself(name: str) -> None:
    good = transcript() if name == "scout" else run()
    result = imported(jsonl(good, {"nothing": 1}, [1]) + "{broken\n", name, **SIDE)
    assert len(result.parsed()) == 1
    assert [place for place, _, _ in result.reasons] == ["line 2", "line 3", "line 4"]


def test_hostile_text_is_kept() -> None:
    odd = "NUL \0, alone \ud83d"
    messages = [{"role": "user", "content": odd}]
    lines = scout(transcript(messages=messages, transcript_id=odd, task_id=odd, score=float("nan"))).parsed()
    lines += docent(run(id=odd, transcripts=[{"messages": messages}], metadata={"task_id": odd, "model": odd})).parsed()
    assert [line.messages[0]["parts"][0]["text"] for line in lines] == [odd, odd]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_may_be_in_another_encoding(encoding: str) -> None:
    for name, value in (("scout", transcript()), ("docent", run())):
        assert len(imported(json.dumps(value).encode(encoding), name, **SIDE).parsed()) == 1
