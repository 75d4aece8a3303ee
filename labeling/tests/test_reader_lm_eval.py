"""lm-evaluation-harness: what a model generated for the documents of a task, and what the metrics made of it."""

import codecs
import json
from typing import Any

import pytest

from labeling.tests.archived import zipped
from labeling.tests.imported import Imported, imported, jsonl

NAME = "samples_gsm_2026-02-03T04-05-06.123456.jsonl"
SETTINGS = {"until": ["\n"], "temperature": 0.0}


def sample(doc_id: int = 0, answer: Any = "42", **fields: Any) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "doc": {"question": f"Question {doc_id}?", "kind": "sums"},
        "target": "42",
        "arguments": {"gen_args_0": {"arg_0": f"Question {doc_id}?", "arg_1": SETTINGS}},
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": f"{doc_id:064d}",
        "exact_match": 1.0,
        **fields,
    }


def read(content: Any, filename: str = NAME, **mapping: Any) -> Imported:
    return imported(content, "lm-eval", filename, **{"case": {"side": "capability"}, **mapping})


def test_a_sample_is_an_attempt_on_a_document_of_its_task() -> None:
    found = read(jsonl(sample(3)))
    assert found.parsed()
    assert found.cases[0]["key"] == "gsm/3"
    assert found.cases[0]["right_answer"] == "42"
    assert found.lines[0]["messages"] == [
        {"role": "user", "content": "Question 3?"},
        {"role": "assistant", "content": "42"},
    ]
    assert found.systems[0].decoding == SETTINGS
    assert found.rows[0].facts["doc"] == {"question": "Question 3?", "kind": "sums"}


def test_what_a_metric_means_is_the_mappings_to_say() -> None:
    assert read(jsonl(sample())).judgments == []
    rules = {"exact_match,none": {"meaning": "correct"}}
    found = read(jsonl(sample(), sample(1, exact_match=0.0), sample(2, exact_match=float("nan"))), scores=rules)
    assert [each.get("check_passed") for each in found.judgments] == [True, False, None]
    assert found.judgments[2]["undetermined"] == "other"


def test_lines_of_several_filters_are_one_answer_with_all_its_scores() -> None:
    strict = [sample(doc, filter="strict", exact_match=0.0) for doc in (0, 1)]
    loose = [sample(doc, filter="loose", filtered_resps=["4 2"]) for doc in (0, 1)]
    found = read(jsonl(*strict, *loose))
    assert len(found.parsed()) == 2
    for row in found.rows:
        assert {score.name: score.value for score in row.scores} == {
            "exact_match,strict": 0.0,
            "exact_match,loose": 1.0,
        }


def test_a_second_run_in_the_same_file_is_another_attempt() -> None:
    run = [sample(filter="strict"), sample(filter="loose", exact_match=0.0)]
    found = read(jsonl(*run, *run))
    assert len(found.parsed()) == 2
    assert [line["attempt"] for line in found.lines] == [1, 2]
    assert [len(row.scores) for row in found.rows] == [2, 2]


def test_attempts_are_counted_under_the_key_that_a_mapping_gives() -> None:
    found = read(jsonl(sample(0), sample(1)), case={"side": "capability", "key": {"column": "doc.kind"}})
    assert [(case["key"], line["attempt"]) for case, line in zip(found.cases, found.lines, strict=True)] == [
        ("sums", 1),
        ("sums", 2),
    ]


def test_repeats_are_attempts_and_a_metric_over_all_is_of_none_of_them() -> None:
    found = read(jsonl(sample(resps=[["41", "42", "43"]])), scores={"exact_match,none": {"meaning": "correct"}})
    assert len(found.parsed()) == 3
    assert [line["attempt"] for line in found.lines] == [1, 2, 3]
    assert found.judgments == []


def test_options_compared_by_likelihood_are_refused_once_and_politely() -> None:
    option = {"arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " A"}}, "resps": [[["-1.5", "False"]]]}
    found = read(jsonl(*(sample(doc, **option) for doc in range(3)), sample(3)))
    assert len(found.rows) == 1
    ((place, path, reason),) = found.reasons
    assert (place, path) == ("line 1", "resps")
    assert "the file has 3 lines like this one" in reason


def test_a_chat_is_sent_as_a_text_of_json() -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Q"}]
    for prompt in (json.dumps(chat), [json.dumps(chat)], chat):
        arguments = {"gen_args_0": {"arg_0": prompt, "arg_1": SETTINGS}}
        assert read(jsonl(sample(arguments=arguments))).lines[0]["messages"][:2] == chat


def test_a_prompt_that_only_looks_like_json_stays_text() -> None:
    arguments = {"gen_args_0": {"arg_0": '[{"a": 1', "arg_1": SETTINGS}}
    assert read(jsonl(sample(arguments=arguments))).lines[0]["messages"][0]["content"] == '[{"a": 1'


def test_older_files_name_neither_metrics_nor_filter() -> None:
    given = sample(arguments=[["Q", SETTINGS]])
    del given["metrics"], given["filter"]
    found = read(jsonl(given))
    assert found.parsed()
    assert [score.name for score in found.rows[0].scores] == ["exact_match"]
    assert found.lines[0]["messages"][0]["content"] == "Q"


def test_the_date_in_the_name_stays_without_a_zone() -> None:
    """FIELD B3.15."""
    assert read(jsonl(sample())).lines[0]["observed_at"] == "2026-02-03T04:05:06.123456"


def test_without_a_name_the_documents_of_two_tasks_are_told_apart_by_their_hash() -> None:
    first, second = (read(jsonl(sample(doc_hash=each * 64)), "upload") for each in "ab")
    assert first.cases[0]["key"] != second.cases[0]["key"]
    assert first.lines[0]["observed_at"] == ""


def test_the_model_is_in_the_results_beside_the_samples() -> None:
    results = {
        "results": {"gsm": {"exact_match,none": 1.0}},
        "config": {"model": "hf", "model_args": "pretrained=maker/m", "model_revision": "main"},
        "model_name": "maker/m",
        "system_instruction": "Be brief.",
    }
    date = "2026-02-03T04-05-06.123456"
    found = read(
        zipped(
            {
                f"maker__m/samples_gsm_{date}.jsonl": jsonl(sample()),
                f"maker__m/samples_sums_{date}.jsonl": jsonl(sample()),
                f"maker__m/results_{date}.json": results,
                "maker__m/results_2026-09-09T00-00-00.json": {**results, "model_name": "another"},
                "other/samples_gsm_2026-02-04T04-05-06.jsonl": jsonl(sample()),
            }
        )
    )
    assert len(found.parsed()) == 3
    assert [(system.model, system.version, system.name) for system in found.systems] == [
        ("maker/m", "main", "maker/m/gsm"),
        ("maker/m", "main", "maker/m/sums"),
        ("", "", "gsm"),
    ]
    assert found.systems[0].system_prompt == "Be brief."


def test_a_broken_line_costs_nothing_but_itself() -> None:
    found = read(jsonl(sample()) + '{"doc_id": 1, \n' + jsonl({"doc": 1}, sample(2)) + '{"doc_id": 3')
    assert [line["external_id"] for line in found.lines] == ["gsm/0/1", "gsm/2/1"]
    assert [place for place, _, _ in found.reasons] == ["line 2", "line 3", "line 5"]


def test_odd_text_is_kept() -> None:
    odd = "a\0b\ud83d"
    found = read(jsonl(sample(answer=odd, doc={"q": odd}, target=odd, filter=odd)))
    assert found.parsed()
    assert found.lines[0]["messages"][1]["content"] == odd
    assert json.loads(found.cases[0]["right_answer"]) == odd


@pytest.mark.parametrize("encode", [lambda text: codecs.BOM_UTF8 + text.encode(), lambda text: text.encode("utf-16")])
def test_encodings_that_writers_leave(encode: Any) -> None:
    assert len(read(encode(jsonl(sample(), sample(1)))).parsed()) == 2
