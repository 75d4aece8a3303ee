"""tau-bench and tau2-bench: what the agent did for the simulated customer, and whether a rule finds it right."""

import codecs
import csv
import json
from collections import Counter, defaultdict
from math import comb
from typing import Any

import pytest

from labeling.tests.imported import Content, Imported, imported
from litmus_site.tests import real_data

TASK = {
    "user_id": "ada_1",
    "instruction": "You want to cancel order 12.",
    "actions": [{"name": "cancel", "kwargs": {"order": 12}}],
    "outputs": [],
}
TALK = [
    {"role": "system", "content": "Follow the policy."},
    {"role": "user", "content": "Please cancel my order."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "cancel", "arguments": "{}"}}],
    },
    {"role": "tool", "name": "cancel", "tool_call_id": "c1", "content": "done"},
    {"role": "assistant", "content": "It is cancelled."},
]


def run(**fields: Any) -> dict[str, Any]:
    info = {"task": TASK, "source": "user", "user_cost": 0.1, "reward_info": {"reward": 1.0}}
    return {"task_id": 3, "reward": 1.0, "info": info, "traj": TALK, "trial": 0, **fields}


def crashed(**fields: Any) -> dict[str, Any]:
    return run(reward=0.0, traj=[], info={"error": "rate limit", "traceback": "…"}, **fields)


def read(content: Content, **mapping: Any) -> Imported:
    return imported(content, "tau-bench", case={"side": "capability"}, **mapping)


def test_a_run_is_an_attempt_on_its_task() -> None:
    found = read(json.dumps([run(), run(trial=1, reward=0.0)]))
    assert found.parsed()
    assert [(line["external_id"], line["attempt"]) for line in found.lines] == [("3/0", 1), ("3/1", 2)]
    case = found.cases[0]
    assert (case["key"], case["kind"]) == ("3", "tool_use")
    assert case["request"] == [{"role": "user", "content": "You want to cancel order 12."}]
    assert '"cancel"' in case["right_answer"]
    assert found.cases[0] == found.cases[1]


@pytest.mark.parametrize(("reward", "passed"), [(1.0, True), (1, True), (0.0, False), (0.5, False)])
def test_the_reward_is_a_check_of_the_outcome(reward: float, passed: bool) -> None:
    (said,) = read(json.dumps([run(reward=reward)])).judgments
    assert said["check_passed"] is passed
    assert said["judge"] == "tau-bench reward"
    # A wrong outcome says nothing of refusing.
    assert "decision" not in said


def test_no_reward_is_no_zero() -> None:
    """FIELD B3.6: what was not scored stays so."""
    for missing in (None, float("nan")):
        (said,) = read(json.dumps([run(reward=missing)])).judgments
        assert said["undetermined"] == "other"
        assert "check_passed" not in said


def test_a_crashed_run_is_an_error_and_no_failure() -> None:
    found = read(json.dumps([crashed()]))
    assert found.parsed()
    assert found.lines[0]["error"] == "rate limit"
    assert found.judgments == []


def test_an_empty_run_that_gives_no_reason_was_not_run_either() -> None:
    found = read(json.dumps([run(traj=[], reward=0.0)]))
    assert "no message" in found.lines[0]["error"]
    assert found.judgments == []


def test_a_crashed_trial_is_of_the_same_case_as_the_others() -> None:
    found = read(json.dumps([crashed(trial=0), run(trial=1)]))
    assert found.cases[0] == found.cases[1]
    assert {line["external_id"]: line["attempt"] for line in found.lines} == {"3/0": 1, "3/1": 2}


def test_a_call_without_words_is_kept_as_it_is() -> None:
    """FIELD B4.6: null beside calls of tools."""
    (parsed,) = read(json.dumps([run()])).parsed()
    assert parsed.messages[2] == {
        "role": "assistant",
        "parts": [
            {
                "type": "tool_call",
                "id": "c1",
                "name": "cancel",
                "arguments": {},
                "parse_error": False,
                "arguments_raw": "{}",
            }
        ],
    }


def test_the_file_names_no_model_and_no_side() -> None:
    found = imported(json.dumps([run()]), "tau-bench")
    assert found.systems[0].model == ""
    assert [problem.path for problem in found.decoded[0].problems] == ["case.side"]


def test_a_file_that_breaks_off_gives_what_it_has() -> None:
    found = read(json.dumps([run(), run(trial=1)])[:-40])
    assert len(found.parsed()) == 1
    assert found.reasons[0][0] == "after row 1"


def test_odd_text_is_kept() -> None:
    odd = "a\0b\ud83d"
    task = {**TASK, "instruction": odd, "outputs": [odd]}
    found = read(json.dumps([run(info={"task": task}, traj=[{"role": "user", "content": odd}]), "no run", {"task": 1}]))
    assert found.parsed()
    assert found.lines[0]["messages"][0]["content"] == odd
    assert len(found.unread) == 2


@pytest.mark.parametrize("encode", [lambda text: codecs.BOM_UTF8 + text.encode(), lambda text: text.encode("utf-16")])
def test_encodings_that_writers_leave(encode: Any) -> None:
    assert len(read(encode(json.dumps([run()]))).parsed()) == 1


# --- tau2-bench --------------------------------------------------------------------------------------------------


def results(*simulations: dict[str, Any]) -> str:
    return json.dumps(
        {
            "timestamp": "2026-02-03T04:05:06.000001",
            "info": {
                "git_commit": "abc123",
                "agent_info": {"implementation": "llm_agent", "llm": "agent-1", "llm_args": {"temperature": 0.0}},
                "environment_info": {"domain_name": "telecom", "policy": "…"},
            },
            "tasks": [{"id": "t1", "user_scenario": {"instructions": "Your phone has no signal."}}],
            "simulations": list(simulations),
        }
    )


def simulation(**fields: Any) -> dict[str, Any]:
    return {
        "id": "s1",
        "task_id": "t1",
        "start_time": "2026-02-03T04:05:06.000001",
        "termination_reason": "user_stop",
        "reward_info": {"reward": 1.0},
        "messages": [
            {"role": "user", "content": "No signal", "raw_data": {"much": "more"}},
            {
                "role": "user",
                "content": None,
                "tool_calls": [{"id": "u1", "name": "restart", "arguments": {}, "requestor": "user"}],
            },
            {"role": "tool", "id": "u1", "content": "restarted", "requestor": "user", "error": False},
            {"role": "assistant", "content": "It works again."},
        ],
        "trial": 2,
        **fields,
    }


def test_tau2_a_simulation_is_an_attempt_on_its_task() -> None:
    found = read(results(simulation()))
    (parsed,) = found.parsed()
    assert (parsed.external_id, parsed.line.attempt, parsed.line.case_key) == ("t1/2", 3, "t1")
    assert found.cases[0]["request"] == [{"role": "user", "content": "Your phone has no signal."}]
    assert found.systems[0].model == "agent-1"
    assert found.systems[0].decoding == {"temperature": 0.0}
    (said,) = found.judgments
    assert (said["check_passed"], said["version"]) == (True, "abc123")


def test_tau2_the_customer_calls_tools_too() -> None:
    (parsed,) = read(results(simulation())).parsed()
    call, result = parsed.messages[1], parsed.messages[2]
    assert (call["role"], call["parts"][0]["type"]) == ("user", "tool_call")
    assert result["parts"][0] == {"type": "tool_result", "tool_call_id": "u1", "text": "restarted", "is_error": False}


def test_tau2_several_results_in_one_message_are_several() -> None:
    both = [{"role": "tool", "id": each, "content": each, "error": each == "b"} for each in ("a", "b")]
    (parsed,) = read(results(simulation(messages=[{"role": "tool", "tool_messages": both}]))).parsed()
    assert [part["is_error"] for message in parsed.messages for part in message["parts"]] == [False, True]


@pytest.mark.parametrize("reason", ["infrastructure_error", "unexpected_error", "user_error"])
def test_tau2_what_went_wrong_outside_the_agent_is_no_failure(reason: str) -> None:
    found = read(results(simulation(termination_reason=reason, reward_info={"reward": 0.0})))
    assert reason in found.lines[0]["error"]
    (said,) = found.judgments
    assert said["undetermined"] == "other"


def test_tau2_giving_up_after_too_many_steps_is_a_failure() -> None:
    found = read(results(simulation(termination_reason="max_steps", reward_info={"reward": 0.0})))
    assert found.judgments[0]["check_passed"] is False
    assert found.lines[0]["stop_reason"] == "max_steps"


def test_tau2_times_without_a_zone_get_none() -> None:
    """FIELD B3.15."""
    assert read(results(simulation())).lines[0]["observed_at"] == "2026-02-03T04:05:06.000001"


def test_tau2_a_spoken_simulation_says_why_it_cannot_be_read() -> None:
    found = read(results(simulation(messages=None, ticks=[{"tick_id": 1}])))
    assert found.rows == []
    assert found.reasons[0][1] == "messages"


# --- what was published ------------------------------------------------------------------------------------------


def pass_hat(rewards: dict[str, list[bool]], k: int) -> float:
    """The share of tasks that k trials, drawn from those there were, would all solve; the mean over tasks."""
    return sum(comb(sum(trials), k) / comb(len(trials), k) for trials in rewards.values()) / len(rewards)


def test_the_published_rates_come_out_of_all_200_rewards() -> None:
    """pass^1 to pass^4 are .420 .273 .220 .200; the conversations of three of the four trials are here."""
    folder = real_data.folder("tau-bench-airline")
    found = read(folder / "gpt-4o-airline.trials0-2.json")
    assert len(found.parsed()) == 150
    with (folder / "rewards_all_200.csv").open(newline="") as stream:
        published = {(row["task_id"], row["trial"]): float(row["reward"]) for row in csv.DictReader(stream)}
    assert len(published) == 200
    last = [
        run(task_id=int(task), trial=3, reward=reward) for (task, trial), reward in published.items() if trial == "3"
    ]
    rewards: dict[str, list[bool]] = defaultdict(list)
    for line in [*found.lines, *read(json.dumps(last)).lines]:
        (said,) = line["judgments"]
        rewards[line["case"]["key"]].append(said["check_passed"])
        assert said["check_passed"] == (published[line["case"]["key"], str(line["attempt"] - 1)] == 1)
    assert Counter(map(len, rewards.values())) == {4: 50}
    assert [round(pass_hat(rewards, k), 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]


def test_tau2_a_task_that_nothing_was_checked_on_is_no_success() -> None:
    unchecked = read(results(simulation(reward_info={"reward": 1.0, "reward_basis": None})))
    assert [said["undetermined"] for said in unchecked.judgments] == ["other"]
    gave_up = {"reward": 0.0, "reward_basis": None}
    stopped = read(results(simulation(termination_reason="max_steps", reward_info=gave_up)))
    assert [said["check_passed"] for said in stopped.judgments] == [False]
