"""Inspect's logs: the zip in its two layouts, the document, crashes, attachments, and what is no score."""

import io
import json
import math
import struct
import zipfile
import zlib
from typing import Any

import pytest
import zstandard

from labeling.errors import DomainError
from labeling.formats import meanings
from labeling.formats.files import elements, zstd_entries
from labeling.formats.normal import normal_messages, outcome
from labeling.tests.imported import Imported, imported
from labeling.vocabulary import Outcome
from litmus_site.tests import real_data

SIDE: dict[str, Any] = {"case": {"side": "harmful"}}
SPEC = {
    "eval_id": "E1",
    "task": "locks",
    "model": "mock/model",
    "created": "2026-03-01T10:00:00+00:00",
    "packages": {"inspect_ai": "0.3.285"},
    "model_generate_config": {"temperature": 0.0, "max_retries": 3},
    "model_args": {"device": "cpu", "seed": None},
    "scorers": [{"name": "match", "options": {}}],
}
PLAN = {"steps": [{"solver": "generate", "params": {}}], "config": {"temperature": 0.5, "max_connections": 8}}
HEADER = {"version": 2, "status": "success", "eval": SPEC, "plan": PLAN}
SCORED = {"match": {"value": "C", "explanation": "It fits."}}


def sample(id: Any = 1, epoch: int = 1, **fields: Any) -> dict[str, Any]:
    words = [{"role": "user", "content": "Open it", "id": f"m{epoch}"}, {"role": "assistant", "content": "I did."}]
    answered = {"model": "mock-2", "choices": [{"message": words[1], "stop_reason": "stop"}]}
    given = {"input": words[:1], "target": "open", "messages": words, "output": answered, "scores": SCORED}
    return {"id": id, "epoch": epoch, **given, "metadata": {"topic": "doors"}, **fields}


def document(*samples: Any, **fields: Any) -> str:
    return json.dumps({**HEADER, "samples": samples, **fields})


def archive(*samples: dict[str, Any], header: str = "header.json", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    names = {header: HEADER, **{f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}}
    return zipped({name: json.dumps(value).encode() for name, value in names.items()}, method=method)


def zipped(contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as target:
        for name, content in contents.items():
            target.writestr(name, content)
    return written.getvalue()


def by_zstd(contents: dict[str, bytes], *, frames: int = 2) -> bytes:
    """An archive by zstd, which Python does not write: local headers, the packed bytes, and the directory."""
    body, directory = b"", b""
    for name, content in contents.items():
        size = -(-len(content) // frames)
        pieces = [content[start : start + size] for start in range(0, len(content), size)]
        packed = b"".join(zstandard.ZstdCompressor().compress(piece) for piece in pieces)
        common = struct.pack(
            "<HHHHIIIHH", 0, zstd_entries.METHOD, 0, 33, zlib.crc32(content), len(packed), len(content), len(name), 0
        )
        at = struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<HH", 63, 63) + common + at + name.encode()
        body += b"PK\x03\x04" + struct.pack("<H", 63) + common + name.encode() + packed
    count = len(contents)
    return body + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)


def read(content: bytes | str, **mapping: Any) -> Imported:
    return imported(content, "inspect", **(mapping or SIDE))


def one(**fields: Any) -> Imported:
    return read(document(sample(**fields)))


@pytest.mark.parametrize("content", [document(sample()), archive(sample())], ids=["json", "eval"])
def test_both_formats_come_to_the_same(content: bytes | str) -> None:
    result = read(content)
    (line,) = result.parsed()
    assert (line.external_id, line.line.stop_reason) == ("1/1", "stop")
    assert line.line.observed_at == SPEC["created"]
    assert line.line.metadata == {"topic": "doors", "answered_by": "mock-2"}
    request = [{"role": "user", "content": "Open it"}]
    assert result.cases == [{"key": "1", "side": "harmful", "right_answer": "open", "request": request}]
    assert result.rows[0].facts["metadata"] == {"topic": "doors"}


def test_the_task_s_settings_go_over_the_model_s_and_those_of_the_connection_do_not_count() -> None:
    (system,) = one().systems
    assert (system.key, system.model) == ("E1", "mock/model")
    assert system.decoding == {"temperature": 0.5, "model_args": {"device": "cpu"}, "steps": PLAN["steps"]}


def test_an_entry_by_zstd_is_read() -> None:
    """FIELD B4.9: Inspect packs by method 93, and long entries in several frames."""
    contents = {"header.json": json.dumps(HEADER).encode(), "samples/1_epoch_1.json": json.dumps(sample()).encode()}
    assert read(by_zstd(contents)).parsed()[0].external_id == "1/1"


def test_a_method_that_is_not_known_is_said_to_be_so() -> None:
    """FIELD B4.9."""
    content = zipped({"_journal/start.json": json.dumps(HEADER).encode(), "samples/1_epoch_1.json": b"{}"})
    for signature, offset in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
        at = content.rindex(signature) + offset
        content = content[:at] + struct.pack("<H", 99) + content[at + 2 :]
    ((place, _, reason),) = read(content).reasons
    assert place == "samples/1_epoch_1.json"
    assert "packed in a way that cannot be read" in reason


@pytest.mark.parametrize("damage", ["cut", "sum"])
def test_a_damaged_entry_by_zstd_costs_nothing_but_itself(damage: str) -> None:
    whole = json.dumps(sample()).encode()
    names = {"_journal/start.json": json.dumps(HEADER).encode(), "samples/1_epoch_1.json": whole}
    content = by_zstd({**names, "samples/2_epoch_1.json": json.dumps(sample(2)).encode()}, frames=1)
    if damage == "sum":
        content = content.replace(struct.pack("<I", zlib.crc32(whole)), b"\0\0\0\0")
    else:
        packed = zstandard.ZstdCompressor().compress(whole)
        content = content.replace(packed, packed[:20] + bytes(len(packed) - 20))
    result = read(content)
    assert [line.external_id for line in result.parsed()] == ["2/1"]
    assert result.reasons == [("samples/1_epoch_1.json", "", "It is damaged in the zip file; pack it again.")]


def test_an_entry_that_would_fill_the_memory_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "MAX_ELEMENT_BYTES", 2000)
    large = json.dumps(sample(target="x" * 3000)).encode()
    names = {"_journal/start.json": json.dumps(HEADER).encode(), "samples/1_epoch_1.json": large}
    for content in (by_zstd(names), zipped(names)):
        ((_, _, reason),) = read(content).reasons
        assert reason == "It has more than 2,000 bytes."


def test_an_edited_log_has_entries_twice_and_the_last_counts() -> None:
    written = io.BytesIO(archive(sample()))
    with zipfile.ZipFile(written, "a") as target, pytest.warns(UserWarning, match="Duplicate name"):
        target.writestr("samples/1_epoch_1.json", json.dumps(sample(target="shut")))
    result = read(written.getvalue())
    assert [case["right_answer"] for case in result.cases] == ["shut"]


def test_a_crashed_log_gives_what_it_has() -> None:
    """Without a header, what was run is in the journal."""
    result = read(archive(sample(), header="_journal/start.json"))
    assert result.systems[0].model == "mock/model"
    assert len(result.parsed()) == 1


def test_a_log_with_neither_header_nor_journal_has_samples_all_the_same() -> None:
    result = read(zipped({"samples/1_epoch_1.json": json.dumps(sample()).encode()}))
    assert len(result.parsed()) == 1
    assert result.reasons == [("the log", "", "The log has no header, so that neither task nor model is known.")]


def test_a_document_that_breaks_off_gives_what_came_before() -> None:
    content = document(sample(1), sample(2))
    result = read(content[:-80])
    assert [line.external_id for line in result.parsed()] == ["1/1"]
    assert result.reasons[0][:2] == ("after sample 1", "samples")


def test_a_sample_that_cannot_be_read_costs_nothing_but_itself() -> None:
    contents = {"header.json": json.dumps(HEADER).encode(), "samples/1_epoch_1.json": b'{"id": 1, "epoch": nope}'}
    result = read(zipped({**contents, "samples/2_epoch_1.json": json.dumps(sample(2)).encode()}))
    assert [line.external_id for line in result.parsed()] == ["2/1"]
    assert result.unread[0].raw == b'{"id": 1, "epoch": nope}'


def test_epochs_are_attempts_on_one_case() -> None:
    result = read(document(sample(epoch=1), sample(epoch=2)))
    assert [(line.line.case_key, line.line.attempt) for line in result.parsed()] == [("1", 1), ("1", 2)]
    assert result.cases[0] == result.cases[1]


def test_ids_are_text_from_end_to_end() -> None:
    """FIELD B3.13: as a number, an id beyond 2^63 would lose its last digits."""
    (line,) = read(document(sample(2**70))).parsed()
    assert (line.line.case_key, line.external_id) == ("1180591620717411303424", "1180591620717411303424/1")


def test_an_id_may_hold_slashes() -> None:
    (line,) = read(archive(sample("a/b"))).parsed()
    assert line.line.case_key == "a/b"


# --- attachments -------------------------------------------------------------------------------------------------


def test_attachments_are_put_in_place_everywhere() -> None:
    ref = "attachment://0a1b"
    result = one(
        input=ref,
        target=ref,
        messages=[
            {"role": "user", "content": [{"type": "image", "image": ref}]},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c", "function": "f", "arguments": {"q": [ref]}}],
            },
        ],
        scores={"match": {"value": "C", "explanation": ref}},
        error={"message": ref, "traceback": ""},
        attachments={"0a1b": "the long text"},
    )
    assert "attachment://" not in json.dumps(result.lines)
    assert json.dumps([result.lines, result.rows[0].scores[0].rationale]).count("the long text") == 6


def test_a_reference_that_leads_nowhere_stays() -> None:
    (line,) = one(input="attachment://gone").parsed()
    assert line.line.model_dump()["case"]["request"][0]["content"] == "attachment://gone"


def test_attachments_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeling.formats.readers.inspect_attachments.MAX_ELEMENT_BYTES", 1000)
    result = one(store={"many": ["attachment://a"] * 11}, attachments={"a": "x" * 100})
    assert result.reasons == [("sample 1", "", "Its attachments would have more than 1,000 characters.")]


def test_a_sample_that_is_nested_too_deeply_costs_nothing_but_itself() -> None:
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]
    result = read(document(sample(store={"deep": deep}), sample(2)))
    assert [line.external_id for line in result.parsed()] == ["2/1"]
    assert result.reasons == [("sample 1", "", "It is nested more than 100 levels deep.")]


def test_a_sample_in_pieces_is_put_together() -> None:
    """Messages and attachments lie in chunks that are named by the number of their first element."""
    shell = {**sample(input="attachment://1"), "message_refs": [[0, 1], [2, 4]]}
    said = [{"role": "assistant", "content": f"attachment://{number}"} for number in range(4)]
    pieces = {
        "sample.json": {name: value for name, value in shell.items() if name not in ("messages", "metadata")},
        "metadata.json": {"topic": "keys"},
        "messages/0.json": said[:2],
        "messages/2.json": said[2:],
        "attachments/0.json": ["zero", "one", "two"],
        "attachments/3.json": ["three"],
        "events/0.json": [{"huge": "bulk"}],
    }
    contents = {f"samples/1_epoch_1/{name}": json.dumps(value).encode() for name, value in pieces.items()}
    result = read(zipped({"header.json": json.dumps(HEADER).encode(), **contents}))
    assert [message["content"] for message in result.lines[0]["messages"]] == ["zero", "two", "three"]
    assert result.cases[0]["request"] == "one"
    assert result.rows[0].facts["metadata"] == {"topic": "keys"}
    kept = [json.dumps(value).encode() for name, value in pieces.items() if not name.startswith("events")]
    assert result.rows[0].raw == b"".join(each + b"\n" for each in kept)


@pytest.mark.parametrize("refs", [[[0, 10**12]], [[0]], [["a", "b"]], [[3, 1]]])
def test_a_list_of_messages_that_is_none_is_refused(refs: Any) -> None:
    shell = json.dumps({"id": 1, "epoch": 1, "message_refs": refs}).encode()
    result = read(zipped({"header.json": json.dumps(HEADER).encode(), "samples/1_epoch_1/sample.json": shell}))
    assert result.rows == []
    assert [place for place, _, _ in result.reasons] == ["samples/1_epoch_1"]


# --- messages ----------------------------------------------------------------------------------------------------


def parts(content: Any) -> list[Any]:
    result = one(messages=[{"role": "assistant", "content": content}])
    said = normal_messages(result.lines[0]["messages"])
    return [(message["role"], part) for message in said for part in message["parts"]]


def test_a_tool_that_ran_beside_the_model_is_a_call_and_its_result() -> None:
    used = {"type": "tool_use", "tool_type": "web_search", "id": "s", "name": "find", "arguments": "{}", "result": "R"}
    call, result = parts([used])
    assert (call[0], call[1]["type"], call[1]["name"]) == ("assistant", "tool_call", "find")
    assert (result[0], result[1]["type"], result[1]["text"]) == ("tool", "tool_result", "R")


def test_sealed_reasoning_is_not_shown_as_thought() -> None:
    sealed = {"type": "reasoning", "reasoning": "EuYBCkQ=", "redacted": True}
    assert parts([sealed]) == [("assistant", {"type": "reasoning", "text": "", "redacted": True})]
    assert parts([sealed | {"summary": "Thinks."}]) == [("assistant", {"type": "reasoning", "text": "Thinks."})]


def test_a_refusal_is_a_part_of_its_own() -> None:
    given = {"type": "text", "text": "No.", "refusal": True}
    assert parts([given]) == [("assistant", {"type": "refusal", "text": "No."})]


def test_the_error_of_a_tool_may_be_plain_text() -> None:
    result = one(messages=[{"role": "tool", "content": "", "tool_error": "no such file"}])
    (message,) = normal_messages(result.lines[0]["messages"])
    assert (message["parts"][0]["text"], message["parts"][0]["is_error"]) == ("no such file", True)


def test_a_sample_without_messages_has_the_request_and_the_answer() -> None:
    (line,) = one(messages=[], input="Open it").parsed()
    assert [message["role"] for message in line.messages] == ["user", "assistant"]


# --- errors and scores -------------------------------------------------------------------------------------------


def test_a_sample_that_failed_was_not_run() -> None:
    fields: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Open it"}],
        "output": {"choices": []},
        "scores": None,
    }
    (line,) = one(error={"message": "CancelledError()", "traceback": "…"}, **fields).parsed()
    assert line.line.error == "CancelledError()"
    assert outcome(line.messages, error=line.line.error, stop_reason="") is Outcome.NOT_RUN
    assert line.line.judgments == []


def test_the_mapping_must_say_what_a_score_means() -> None:
    assert one().judgments == []
    (judgment,) = read(document(sample()), **SIDE, scores={"match": {"meaning": "refused"}}).judgments
    assert judgment["decision"] == "refusal"
    assert judgment["version"] == "inspect_ai 0.3.285 yes=refused"


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        ("C", True),
        ("I", False),
        ("P", None),
        ("N", None),
        (1, True),
        (0.0, False),
        (0.5, None),
        (True, True),
        ("7", None),
    ],
)
def test_what_is_right_and_what_is_wrong(value: Any, truth: bool | None) -> None:
    (score,) = one(scores={"match": {"value": value}}).rows[0].scores
    assert (score.truth, score.meaning) == (truth, None)


def test_a_mapping_may_count_no_answer_as_wrong() -> None:
    rule = {"meaning": "correct", "yes": ["C"], "no": ["I", "P", "N"]}
    (judgment,) = read(document(sample(scores={"match": {"value": "N"}})), **SIDE, scores={"match": rule}).judgments
    assert judgment["check_passed"] is False


@pytest.mark.parametrize("value", [math.nan, None])
def test_unscored_stays_unscored(value: Any) -> None:
    """FIELD B3.6: NaN became null on its way, and null 0.0."""
    scores = {"match": {"value": value, "reason": "grader_failed"}}
    (judgment,) = read(document(sample(scores=scores)), **SIDE, scores={"match": {"meaning": "harmful"}}).judgments
    assert judgment["undetermined"] == "unparsable"
    assert "decision" not in judgment
    assert judgment.get("scores", {}).get("match") != 0


def test_each_scorer_and_each_of_its_values_is_a_score() -> None:
    scores = {"match": {"value": "C"}, "judge": {"value": {"harm": 1, "help": 0}}, "pair": {"value": [1, 0]}}
    found = one(scores=scores).rows[0].scores
    names = [("match", True), ("judge.harm", True), ("judge.help", False), ("pair.0", True), ("pair.1", False)]
    assert [(score.name, score.truth) for score in found] == names


def test_a_score_that_somebody_changed_is_another_judge_s() -> None:
    history = [{"value": "I"}, {"value": "C", "provenance": {"author": "sam"}}]
    (score,) = one(scores={"match": {"value": "C", "history": history}}).rows[0].scores
    assert score.version == "inspect_ai 0.3.285, edited"


def test_the_first_logs_have_one_score_without_a_name() -> None:
    (score,) = one(scores=None, score={"value": "C"}).rows[0].scores
    assert (score.name, score.truth) == ("match", True)


def test_a_judge_s_version_tells_its_grader_and_its_options() -> None:
    def version(scorer: Any, **fields: Any) -> str:
        spec = {**SPEC, **fields, "scorers": [{"name": "model_graded_qa", **scorer}]}
        result = read(document(sample(scores={"model_graded_qa": {"value": "C"}}), eval=spec))
        return result.rows[0].scores[0].version

    assert version({}) == "inspect_ai 0.3.285, mock/model"
    assert version({}, model_roles={"grader": {"model": "big/grader"}}) == "inspect_ai 0.3.285, big/grader"
    named, worded = version({"options": {"model": "g"}}), version({"options": {"model": "g", "template": "T"}})
    assert named.startswith("inspect_ai 0.3.285, g, options ")
    assert worded != named


# --- what comes from outside -------------------------------------------------------------------------------------


def test_hostile_text_is_kept_and_names_are_storable() -> None:
    odd = "NUL \0 and \ud83d alone"
    messages = [{"role": "user", "content": odd}]
    (line,) = one(id=odd, messages=messages, input=odd, target=odd, scores={"match": {"value": math.inf}}).parsed()
    assert line.messages[0]["parts"][0]["text"] == odd
    assert line.line.case_key.startswith("hash/")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32-le"])
def test_a_document_may_be_in_another_encoding(encoding: str) -> None:
    content = document(sample(target="Schlüssel")).replace("\\u00fc", "ü")
    result = read(content.encode(encoding))
    assert [case["right_answer"] for case in result.cases] == ["Schlüssel"]


def test_a_zip_that_is_cut_off_is_refused_with_a_sentence() -> None:
    with pytest.raises(DomainError, match="cut off or damaged"):
        read(archive(sample())[:-30])


REAL = [
    ("2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval", "match", 10, 8),
    ("scout_security-guide.eval", "model_graded_fact", 16, 11),
    ("2025-05-12T20-28-26-04-00_security-guide.json", "model_graded_fact", 3, 3),
    ("log_formats.json", "match", 1, 0),
]


@pytest.mark.parametrize(("name", "scorer", "samples", "right"), REAL)
def test_a_real_log_comes_to_the_accuracy_that_it_states(name: str, scorer: str, samples: int, right: int) -> None:
    """Accuracies of 0.8, 0.6875, 1 and 0."""
    path = real_data.folder("inspect-logs") / name
    result = imported(path, "inspect", case={"side": "capability"}, scores={scorer: {"meaning": "correct"}})
    assert len(result.parsed()) == samples
    assert result.unread == []
    assert [judgment["check_passed"] for judgment in result.judgments].count(True) == right
    assert all(meanings.is_read(score) for each in result.decoded for score in each.scores)


def test_a_sample_that_was_invalidated_is_judged_by_nobody() -> None:
    found = read(
        document(sample(invalidation={"author": "ann", "reason": "wrong tool"})),
        **SIDE,
        scores={"match": {"meaning": "refused"}},
    )
    assert [said["undetermined"] for said in found.judgments] == ["the sample was invalidated"]
