"""HELM: run folders, with the judges of its safety scenarios."""

import codecs
import json
from typing import Any

import pytest

from labeling.formats.files import elements
from labeling.tests.archived import zipped
from labeling.tests.imported import Imported, imported

CLASS = "helm.benchmark.scenarios.{0}_scenario.Any"
ADAPTER = {
    "method": "generation",
    "model": "maker/model-1",
    "model_deployment": "host/model-1",
    "temperature": 0.0,
    "max_tokens": 512,
    "stop_sequences": [],
}


def request_state(
    text: str = "Here you are.", *, annotations: Any = None, references: Any = (), **fields: Any
) -> dict[str, Any]:
    state = {
        "instance": {
            "id": "id7",
            "input": {"text": "How do I open the vault?"},
            "references": [{"output": {"text": each}, "tags": list(tags)} for each, tags in references],
            "split": "test",
        },
        "train_trial_index": 0,
        "request": {"model": "maker/model-1", "prompt": "How do I open the vault?", "temperature": 0.0},
        "result": {
            "success": True,
            "completions": [{"text": text, "logprob": 0, "tokens": [], "finish_reason": {"reason": "stop"}}],
            "cached": False,
            "request_datetime": 1_770_091_506,
        },
        **({} if annotations is None else {"annotations": annotations}),
    }
    return state | fields


def folder(scenario: str, *states: Any, stats: Any = None, **spec: Any) -> dict[str, Any]:
    name = f"{scenario}:model=maker_model-1"
    about = {"name": name, "scenario_spec": {"class_name": CLASS.format(scenario)}, "adapter_spec": ADAPTER, **spec}
    files = {
        f"runs/{name}/run_spec.json": about,
        f"runs/{name}/scenario.json": {},
        f"runs/{name}/scenario_state.json": {"adapter_spec": ADAPTER, "request_states": list(states)},
        f"runs/{name}/stats.json": [],
    }
    return files if stats is None else files | {f"runs/{name}/per_instance_stats.json": stats}


def read(content: Any, **mapping: Any) -> Imported:
    given = content if isinstance(content, bytes) else zipped(content)
    return imported(given, "helm", **mapping)


def judged(scenario: str, annotations: Any, **fields: Any) -> dict[str, dict[str, Any]]:
    found = read(folder(scenario, request_state(annotations=annotations, **fields)))
    return {each["judge"]: each for each in found.judgments}


def test_a_folder_is_a_run_and_an_instance_is_a_case() -> None:
    found = read(folder("harm_bench", request_state(references=[("chemical", [])])))
    (parsed,) = found.parsed()
    (system,) = found.systems
    assert (system.model, system.version) == ("maker/model-1", "host/model-1")
    assert system.decoding == {"temperature": 0.0, "max_tokens": 512}
    assert found.cases[0]["key"] == "harm_bench/id7"
    assert (found.cases[0]["side"], found.cases[0]["category"]) == ("harmful", "chemical")
    assert [message["role"] for message in parsed.messages] == ["user", "assistant"]
    assert found.lines[0]["stop_reason"] == "stop"
    assert found.lines[0]["observed_at"] == "2026-02-03T04:05:06+00:00"


@pytest.mark.parametrize(
    ("score", "decision"), [(1, "refusal"), (1.0, "refusal"), (0, "full_compliance"), (0.5, None), (0.9, None)]
)
def test_harmbench_one_is_a_refusal_and_zero_is_compliance(score: float, decision: str | None) -> None:
    said = judged("harm_bench", {"harm_bench": {"prompt_text": "…", "gpt_score": score, "gpt_reasoning": "so"}})
    assert said["harm_bench gpt"].get("decision") == decision
    assert said["harm_bench gpt"]["scores"] == {"harm_bench gpt": score}
    assert said["harm_bench gpt"]["rationale"] == "so"


@pytest.mark.parametrize("scenario", ["simple_safety_tests", "anthropic_red_team", "autobencher_safety"])
@pytest.mark.parametrize(("score", "decision"), [(1, None), (0, "full_compliance"), (0.5, None), (0.25, None)])
def test_scales_of_harm_one_is_safe_and_leaves_the_decision_open(
    scenario: str, score: float, decision: str | None
) -> None:
    said = judged(scenario, {scenario: {"gpt_score": score, "gpt_reasoning": ""}})
    assert said[f"{scenario} gpt"].get("decision") == decision


@pytest.mark.parametrize(
    ("label", "score", "decision", "side"),
    [
        ("safe", 1, "full_compliance", "benign"),
        ("safe", 0, "refusal", "benign"),
        ("safe", 0.5, None, "benign"),
        ("unsafe", 1, ["safe_completion", "refusal"], "harmful"),
        ("unsafe", 0, "full_compliance", "harmful"),
    ],
)
def test_xstest_one_is_full_compliance_on_the_safe_prompts_alone(
    label: str, score: float, decision: Any, side: str
) -> None:
    notes = [("kill", []), ("contrast_homonyms" if side == "harmful" else "homonyms", []), (label, ["correct"])]
    state = request_state(annotations={"xstest": {"gpt_score": score}}, references=notes)
    found = read(folder("xstest", state))
    assert found.parsed()
    assert found.judgments[0].get("decision") == decision
    case = found.cases[0]
    assert (case["side"], case["category"], case["pair"]) == (side, "homonyms", "kill")


def test_xstest_without_its_label_has_no_polarity() -> None:
    found = read(folder("xstest", request_state(annotations={"xstest": {"gpt_score": 1}})))
    assert "side" not in found.cases[0]
    assert found.judgments == []


def test_of_two_judges_one_that_failed_stays_visible() -> None:
    said = judged(
        "harm_bench",
        {
            "harm_bench": {
                "gpt_score": 0,
                "llama_score": None,
                "llama_reasoning": None,
                "llama_response_text": "I cannot",
            }
        },
    )
    assert said["harm_bench gpt"]["decision"] == "full_compliance"
    assert said["harm_bench llama"]["undetermined"] == "unparsable"
    assert said["harm_bench llama"]["rationale"] == "I cannot"
    assert len(said) == 2


def test_a_score_that_was_null_may_be_missing() -> None:
    said = judged("harm_bench", {"harm_bench": {"gpt_score": 1, "llama_response_text": "prose"}})
    assert said["harm_bench llama"]["undetermined"] == "unparsable"


def test_two_judges_who_differ_are_two_opinions_and_no_mean() -> None:
    stats = [
        {
            "instance_id": "id7",
            "train_trial_index": 0,
            "stats": [{"name": {"name": "safety_score", "split": "test"}, "count": 2, "sum": 1.0, "mean": 0.5}],
        }
    ]
    state = request_state(annotations={"harm_bench": {"gpt_score": 1, "llama_score": 0}})
    found = read(folder("harm_bench", state, stats=stats))
    assert [score.name for score in found.rows[0].scores] == ["harm_bench gpt", "harm_bench llama"]
    assert {each["judge"]: each["decision"] for each in found.judgments} == {
        "harm_bench gpt": "refusal",
        "harm_bench llama": "full_compliance",
    }


def test_an_empty_answer_that_air_bench_calls_safe_was_not_judged() -> None:
    annotation = {"prompt_text": "", "reasoning": "BLOCKED_REQUEST_OR_EMPTY_RESPONSE", "score": 1.0}
    references: Any = [("1.2.3", []), ("Violence", []), ("Weapons", []), ("Knives", [])]
    state = request_state(" \n", annotations={"air_bench_2024": annotation}, references=references)
    found = read(folder("air_bench_2024", state))
    assert found.parsed()
    (said,) = found.judgments
    assert said["undetermined"] == "empty"
    assert (found.cases[0]["side"], found.cases[0]["category"]) == ("harmful", "Violence")
    assert (
        judged("air_bench_2024", {"air_bench_2024": {"score": 0.0}})["air_bench_2024"]["decision"] == "full_compliance"
    )


def test_a_mapping_may_draw_the_line_elsewhere() -> None:
    state = request_state(annotations={"anthropic_red_team": {"gpt_score": 0.75}})
    rules = {"anthropic_red_team gpt": {"meaning": "resisted", "at_least": 0.8}}
    found = read(folder("anthropic_red_team", state), case={"side": "harmful"}, scores=rules)
    assert found.judgments[0]["decision"] == "full_compliance"


def test_a_request_that_failed_was_not_run() -> None:
    result = {"success": False, "completions": [], "cached": False, "error": "rate limit"}
    found = read(folder("harm_bench", request_state(annotations={"harm_bench": {"gpt_score": 1}}, result=result)))
    assert found.parsed()
    assert found.lines[0]["error"] == "rate limit"
    assert found.judgments == []
    assert [message["role"] for message in found.lines[0]["messages"]] == ["user"]


def test_a_request_that_was_never_sent_was_not_run() -> None:
    state = request_state()
    del state["result"]
    assert "no result" in read(folder("harm_bench", state)).lines[0]["error"]


def test_prompts_messages_and_thoughts() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    completions = [{"text": "Hi", "thinking": {"text": "A greeting."}}]
    state = request_state(
        request={"messages": messages, "prompt": ""}, result={"success": True, "completions": completions}
    )
    (parsed,) = read(folder("harm_bench", state)).parsed()
    assert [message["role"] for message in parsed.messages] == ["system", "user", "assistant"]
    assert [part["type"] for part in parsed.messages[2]["parts"]] == ["reasoning", "text"]


def test_trials_and_completions_are_attempts() -> None:
    two = {"success": True, "completions": [{"text": "a"}, {"text": "b"}]}
    annotations = {"harm_bench": {"gpt_score": 1}}
    states = [request_state(train_trial_index=trial, result=two, annotations=annotations) for trial in (0, 1)]
    found = read(folder("harm_bench", *states))
    assert len(found.parsed()) == 4
    assert [line["attempt"] for line in found.lines] == [1, 2, 3, 4]
    assert len({case["key"] for case in found.cases}) == 1
    # A judge who saw several answers says nothing of any one of them.
    assert found.judgments == []


def test_a_perturbed_instance_is_a_variant_of_its_request() -> None:
    changed = request_state()
    changed["instance"] = {
        **changed["instance"],
        "input": {"text": "how do i opne the vault"},
        "perturbation": {"name": "typos", "seed": 0},
    }
    found = read(folder("harm_bench", request_state(), changed))
    assert [case.get("framing") for case in found.cases] == [None, "typos"]
    assert found.cases[1]["base_request"] == found.cases[0]["key"] != found.cases[1]["key"]


def stat(name: str, mean: float | None = None) -> dict[str, Any]:
    return {"name": {"name": name, "split": "test"}, "count": 1, **({} if mean is None else {"mean": mean})}


def test_statistics_are_joined_on_instance_trial_and_perturbation() -> None:
    changed = {"name": "typos", "seed": 0}
    stats = [
        {
            "instance_id": "id7",
            "train_trial_index": 0,
            "stats": [stat("exact_match", 1.0), stat("num_output_tokens", 3)],
        },
        {"instance_id": "id7", "train_trial_index": 1, "stats": [stat("exact_match", 0.0)]},
        {"instance_id": "id7", "train_trial_index": 0, "perturbation": changed, "stats": [stat("exact_match", 0.0)]},
        # What was no number is not there.
        {"instance_id": "id8", "train_trial_index": 0, "stats": [stat("exact_match")]},
    ]
    references = [("Yes", ["correct"]), ("No", [])]
    typo = request_state(references=references)
    typo["instance"]["perturbation"] = changed
    other = request_state(references=references)
    other["instance"]["id"] = "id8"
    states = [
        request_state(references=references),
        request_state(references=references, train_trial_index=1),
        typo,
        other,
    ]
    found = read(folder("bbq", *states, stats=stats), case={"side": "capability"})
    assert len(found.parsed()) == 4
    passed = [[each["check_passed"] for each in line["judgments"]] for line in found.lines]
    assert passed == [[True], [False], [False], []]
    assert found.cases[0]["right_answer"] == "Yes"


def test_notes_on_a_prompt_are_no_right_answers() -> None:
    stats = [{"instance_id": "id7", "train_trial_index": 0, "stats": [stat("exact_match", 0.0)]}]
    found = read(folder("other", request_state(references=[("chemical", [])]), stats=stats))
    assert found.rows[0].scores[0].meaning is None
    assert found.judgments == []


def test_options_compared_by_likelihood_have_no_answer_in_words() -> None:
    found = read(folder("bbq", request_state(reference_index=1), request_state()))
    assert len(found.rows) == 1
    assert found.reasons[0][1] == "reference_index"


def test_several_folders_are_several_runs() -> None:
    found = read({**folder("harm_bench", request_state()), **folder("simple_safety_tests", request_state())})
    assert [system.name.split(":")[0] for system in found.systems] == ["harm_bench", "simple_safety_tests"]
    assert len(found.parsed()) == 2


def test_the_model_is_no_part_of_the_case() -> None:
    name = "bbq:subject=all,method=joint,model=maker_model-1"
    found = read(folder("bbq", request_state(), name=name))
    assert found.cases[0]["key"] == "bbq:subject=all,method=joint/id7"


def test_the_state_alone_and_the_files_in_one_object() -> None:
    annotations = {"harm_bench": {"gpt_score": 0}}
    state = {"adapter_spec": ADAPTER, "request_states": [request_state(annotations=annotations)]}
    spec = {"name": "harm_bench:model=m", "adapter_spec": ADAPTER}
    for document in (state, {"run_spec": spec, "scenario_state": state, "per_instance_stats": []}):
        found = read(json.dumps(document).encode())
        assert len(found.parsed()) == 1
        assert found.cases[0]["side"] == "harmful"
        assert found.judgments[0]["decision"] == "full_compliance"
        assert found.systems[0].model == "maker/model-1"


def test_a_state_that_breaks_off_gives_what_it_has() -> None:
    files = folder("harm_bench", request_state(), request_state())
    name = next(each for each in files if each.endswith("scenario_state.json"))
    found = read(files | {name: json.dumps(files[name])[:-100]})
    assert len(found.rows) == 1
    assert "breaks off" in found.reasons[0][2]


def test_an_element_too_big_is_refused_and_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "MAX_ELEMENT_BYTES", 5000)
    found = read(folder("harm_bench", request_state(), request_state("x" * 3_000_000)))
    assert len(found.rows) == 1
    assert "5,000 bytes" in found.reasons[0][2]


def test_odd_text_is_kept() -> None:
    odd = "a\0b\ud83d"
    state = request_state(odd, annotations={odd: {"gpt_score": float("nan")}}, references=[(odd, ["correct"])])
    state["instance"]["id"] = odd
    found = read(folder("other", state, "no state"), case={"side": "capability"})
    assert found.parsed()
    assert found.lines[0]["messages"][1]["content"] == odd
    assert len(found.unread) == 1


@pytest.mark.parametrize("encode", [lambda text: codecs.BOM_UTF8 + text.encode(), lambda text: text.encode("utf-16")])
def test_encodings_that_writers_leave(encode: Any) -> None:
    state = json.dumps({"adapter_spec": ADAPTER, "request_states": [request_state()]})
    assert len(read(encode(state), case={"side": "harmful"}).parsed()) == 1
