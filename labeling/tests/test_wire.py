"""What clients send: read strictly, refused with a path and a sentence that never repeat what was sent."""

import gzip
import io
import json
from itertools import chain
from typing import Any

import pytest

from labeling.errors import DomainError
from labeling.formats.lines import Parsed, Rejected, from_value, read_chunks, read_value, split_json, split_ndjson
from labeling.formats.packing import unpack
from labeling.formats.problems import Malformed, shown
from labeling.formats.wire import CaseDefinition, ConfigurationSpec, RunSpec, SuiteSpec, TrajectoryLine, examine, read
from labeling.tests.posting import definition, judgment, line, run_body
from labeling.vocabulary import Decision, Part, Side


def problems(value: Any, model: type[Any] = TrajectoryLine) -> dict[str, str]:
    found = examine(model, value)
    assert isinstance(found, list), found
    return dict(found)


# --- fields ------------------------------------------------------------------------------------------------------


def test_a_line_needs_an_id_a_case_and_messages() -> None:
    assert problems({}) == {"external_id": "is required", "case": "is required"}
    assert problems({"external_id": "a", "case": "c"}) == {
        "messages": "is required, unless error says why there are none"
    }
    assert isinstance(from_value(0, {"external_id": "a", "case": "c", "error": "timeout"}), Parsed)


def test_null_and_absent_are_the_same() -> None:
    nulls = dict.fromkeys(
        ("attempt", "tools", "stop_reason", "error", "observed_at", "metadata", "judgments", "system")
    )
    assert read(TrajectoryLine, line(**nulls)) == read(TrajectoryLine, line())
    assert problems({"external_id": None, "case": "c", "messages": []}) == {"external_id": "must be text"}


def test_unknown_fields_are_refused_except_inside_metadata() -> None:
    reason = "is not a field here; data of your own goes into metadata"
    assert problems(line(extra=1)) == {"extra": reason}
    assert problems(line(judgments=[judgment(flags={"nice": True})])) == {"judgments[0].flags.nice": reason}
    assert isinstance(examine(TrajectoryLine, line(metadata={"extra": {"deep": [1]}})), TrajectoryLine)
    assert problems(run_body(extra=1), RunSpec) == {"extra": "is not a field here"}


@pytest.mark.parametrize(
    ("field", "value", "path", "reason"),
    [
        ("attempt", 0, "attempt", "must be at least 1"),
        ("attempt", "2", "attempt", "must be a whole number"),
        ("attempt", True, "attempt", "must be a whole number"),
        ("attempt", 2**31, "attempt", "must be at most 2147483647"),
        ("attempt", 2**80, "attempt", "must be at most 2147483647"),
        ("external_id", "", "external_id", "must not be empty"),
        ("external_id", "x" * 201, "external_id", "must have at most 200 characters"),
        ("external_id", "a\0", "external_id", "must not hold NUL or lone surrogates"),
        ("external_id", 7, "external_id", "must be text"),
        ("case", 7, "case", "must be text"),
        ("case", {"key": "c", "side": "evil"}, "case.side", "must be 'harmful', 'benign' or 'capability'"),
        ("case", {"key": "c", "side": "benign", "tier": 0}, "case.tier", "must be at least 1"),
        ("case", {"key": "c", "side": "benign", "request": 7}, "case.request", "must be text or a list of messages"),
        ("messages", "Hi", "messages", "must be a list"),
        ("metadata", [], "metadata", "must be an object"),
        ("tools", {}, "tools", "must be a list"),
        ("observed_at", "yesterday", "observed_at", "must be a time in ISO 8601, as in 2026-11-29T10:00:00Z"),
        ("judgments", {}, "judgments", "must be a list"),
        ("judgments", [7], "judgments[0]", "must be an object"),
        ("judgments", [judgment(harm_grade=5)], "judgments[0].harm_grade", "must be at most 4"),
        ("judgments", [judgment(harm_grade=2.5)], "judgments[0].harm_grade", "must be a whole number"),
        ("judgments", [judgment(scores={"safety": "95"})], "judgments[0].scores", "must be numbers by name"),
        ("judgments", [judgment(cost_usd=-1)], "judgments[0].cost_usd", "must be dollars, from 0 to below a million"),
        ("judgments", [judgment(decision=[])], "judgments[0].decision", "must have at least 1 of them"),
        ("judgments", [judgment(flags={"explained": 1})], "judgments[0].flags.explained", "must be true or false"),
    ],
)  # fmt: skip
def test_every_refusal_names_the_field_and_says_what_it_must_be(field: str, value: Any, path: str, reason: str) -> None:
    assert problems(line() | {field: value}) == {path: reason}


def test_lone_surrogates_are_refused_where_text_is_looked_up_by_and_kept_in_content() -> None:
    assert set(problems(line("a\ud800"))) == {"external_id"}
    assert problems(line(**{"\ud800": 1})) == {"": "must not hold NUL or lone surrogates"}
    kept = from_value(0, line(answer="\ud800\0", metadata={"\udfff": float("nan")}))
    assert isinstance(kept, Parsed)
    assert kept.messages[1]["parts"][0]["text"] == "\ud800\0"


def test_a_message_that_cannot_be_read_is_named() -> None:
    rejected = from_value(0, line() | {"messages": [{"role": "user", "content": "Hi"}, {"role": "robot"}]})
    assert isinstance(rejected, Rejected)
    assert rejected.problems == (("messages[1].role", "must be one of system, developer, user, assistant, tool"),)


def test_no_refusal_repeats_what_was_sent() -> None:
    secret = "how to do the forbidden thing"
    bad = line(secret * 50, case={"key": "c", "side": secret}, attempt=secret, observed_at=secret, metadata=secret)
    bad["judgments"] = [judgment(decision=secret, harm_grade=secret, scores={secret: secret})]
    bad["messages"] = [{"role": secret, "content": secret}]
    rejected = from_value(0, bad)
    assert isinstance(rejected, Rejected)
    assert len(rejected.problems) >= 6
    assert secret not in str(rejected.problems)


def test_names_of_unknown_fields_are_shown_on_one_line() -> None:
    assert shown("a\nb\u202ec" + "x" * 100) == r"a\nb\u202ec" + "x" * 74 + "…"


# --- judgments ---------------------------------------------------------------------------------------------------


def posted(**fields: Any) -> Any:
    read_line = read(TrajectoryLine, line(judgments=[judgment(**fields)]))
    return read_line.judgments[0]


def test_a_decision_is_a_word_several_or_open() -> None:
    assert posted(decision="refusal").decisions() == {Decision.REFUSAL}
    both = ["full_compliance", "safe_completion"]
    assert posted(decision=both).decisions() == {Decision.FULL_COMPLIANCE, Decision.SAFE_COMPLETION}
    assert posted(decision=None).decisions() == set(Decision)
    assert posted(decision=None).values() == {}


def test_false_and_zero_are_values() -> None:
    given = posted(decision=None, harm_grade=0, flags={"explained": False}, check_passed=False).values()
    assert given == {Part.HARM_GRADE: 0, Part.EXPLAINED: False, Part.CHECK: False}


def test_a_reason_in_other_words_is_other() -> None:
    assert posted(decision=None, undetermined="unparsable").reason() == "unparsable"
    assert posted(decision=None, undetermined="the judge wandered off").reason() == "other"
    assert posted(decision=None, undetermined="").reason() == ""


def test_undetermined_with_a_value_is_a_contradiction() -> None:
    found = problems(line(judgments=[judgment(undetermined="other", harm_grade=1)]))
    assert found == {
        "judgments[0].undetermined": "contradicts the decision, harm_grade given beside it; give one or the other"
    }


def test_one_line_gives_one_opinion_of_a_judge_version() -> None:
    assert isinstance(examine(TrajectoryLine, line(judgments=[judgment(), judgment()])), TrajectoryLine)
    both = [judgment(), judgment(decision="full_compliance")]
    assert list(problems(line(judgments=both))) == ["judgments[1]"]
    assert isinstance(examine(TrajectoryLine, line(judgments=[judgment(), judgment(version="2")])), TrajectoryLine)


# --- cases, suites, runs -----------------------------------------------------------------------------------------


def test_severity_is_another_word_for_tier() -> None:
    assert read(CaseDefinition, definition(severity=1)) == read(CaseDefinition, definition(tier=1))
    assert list(problems(definition(severity=1, tier=2), CaseDefinition)) == ["severity"]


def test_a_request_as_text_or_as_message_is_one_identity() -> None:
    as_messages = definition(request=[{"role": "user", "content": "A request."}])
    assert read(CaseDefinition, definition()).identity() == read(CaseDefinition, as_messages).identity()
    assert (
        read(CaseDefinition, definition()).identity() != read(CaseDefinition, definition(request="Other.")).identity()
    )
    assert read(CaseDefinition, definition(origin="")).identity() == read(CaseDefinition, definition()).identity()


def test_a_request_that_is_no_message_is_named_with_its_place() -> None:
    suite = {"key": "s", "version": "1", "cases": [definition(request=[{"role": "x"}])]}
    assert list(problems(suite, SuiteSpec)) == ["cases[0].request[0].role"]


def test_a_suite_defines_each_case_once_and_is_not_published_empty() -> None:
    suite = {"key": "s", "version": "1", "cases": [definition("a"), definition("a", side="benign")]}
    assert problems(suite, SuiteSpec) == {"cases[1].key": "repeats the key of an earlier case"}
    assert list(problems({"key": "s", "version": "1", "publish": True}, SuiteSpec)) == ["cases"]
    assert set(problems({"key": "a@b", "version": "run:1"}, SuiteSpec)) == {"key", "version"}


def test_the_fingerprint_covers_everything_and_no_spelling_of_numbers() -> None:
    base: dict[str, Any] = {"model": "m", "version": "1", "decoding": {"temperature": 0, "top": [1.0]}}

    def print_of(**changes: Any) -> str:
        return read(ConfigurationSpec, base | changes).fingerprint()

    assert print_of(decoding={"top": [1], "temperature": 0.0}) == print_of()
    changes: list[dict[str, Any]] = [
        {"model": "n"}, {"version": "2"}, {"system_prompt": "Be kind."}, {"decoding": {"temperature": 1}},
        {"filters": ["x"]}, {"layer": "system"},
    ]  # fmt: skip
    assert len({print_of(), *(print_of(**change) for change in changes)}) == 7


def test_a_run_must_name_its_models_version() -> None:
    assert problems({"external_id": "r", "configuration": {"model": "m"}}, RunSpec) == {
        "configuration.version": "is required"
    }


def test_reading_a_whole_body_raises_every_problem_at_once() -> None:
    with pytest.raises(DomainError) as caught:
        read(RunSpec, {"external_id": "", "configuration": {}})
    assert caught.value.message == "external_id must not be empty (2 more in details)."
    assert [each["path"] for each in caught.value.details["problems"]] == [
        "external_id",
        "configuration.model",
        "configuration.version",
    ]


def test_a_panel_names_judges_in_either_way() -> None:
    spec = read(RunSpec, run_body(panel=["substring", {"name": "gpt-4", "version": "1"}], suite={"key": "s"}))
    assert spec.panel is not None
    assert spec.panel[0] == "substring"
    assert list(problems(run_body(panel=[{"name": "gpt-4", "colour": "red"}]), RunSpec)) == ["panel[0].colour"]


# --- bodies ------------------------------------------------------------------------------------------------------


def read_json(body: bytes) -> list[Parsed | Rejected]:
    return list(chain.from_iterable(read_chunks(split_json(body))))


def read_ndjson(body: bytes) -> list[Parsed | Rejected]:
    return list(chain.from_iterable(read_chunks(split_ndjson(io.BytesIO(body)))))


def raws(lines: list[Parsed | Rejected]) -> list[bytes]:
    return [unpack(each.raw) for each in lines if isinstance(each, Parsed)]


def test_the_exact_bytes_of_every_line_are_kept() -> None:
    one = b'{ "external_id": "a",\t"case":"c", "messages": [ ], "metadata": {"n": 1.50, "s": "\\u00e4\xc3\xa4"} }'
    two = b'{"external_id":"b","case":"c","messages":[],"attempt":1}'
    assert raws(read_json(one)) == [one]
    assert raws(read_json(b"\xef\xbb\xbf [" + one + b" ,\n" + two + b"] \n")) == [one, two]
    assert raws(read_ndjson(b"\xef\xbb\xbf" + one + b"\r\n\n" + two)) == [one, two]


def test_json_of_the_wild_is_read() -> None:
    metadata = b'{"nan":NaN,"inf":-Infinity,"big":%d,"s":"\\ud800\\u0000"}'
    wild = b'{"external_id":"a","case":"c","messages":[],"metadata":' + metadata + b"}"
    (read_line,) = read_ndjson(wild % 2**200)
    assert isinstance(read_line, Parsed)
    assert read_line.line.metadata["s"] == "\ud800\0"
    assert read_line.line.metadata["big"] == 2**200


def test_a_bad_line_is_rejected_alone() -> None:
    good = json.dumps(line()).encode()
    bad = [b"{", b"[1]", b"\xff\xfe", b'{"a":' * 5000, b"1" * 5000, good + good]
    lines = read_ndjson(b"\n".join([*bad, good]))
    assert [type(each) for each in lines] == [Rejected] * len(bad) + [Parsed]
    reasons = [each.problems[0].reason for each in lines if isinstance(each, Rejected)]
    assert reasons[0].startswith("is not JSON: ")
    assert reasons[1:5] == [
        "must be an object",
        "is not UTF-8: see byte 0",
        "is nested more than 100 levels deep",
        "holds a number with more digits than can be read",
    ]
    assert "more follows the value" in reasons[5]


@pytest.mark.parametrize(
    "body",
    [b"", b"  ", b"{", b"[1", b"[1,]", b"[1 2]", b"\xff", b'{"a":1}{"a":2}', b"[" * 5000, b"[" + b"9" * 5000 + b"]"],
)
def test_a_body_that_is_no_json_is_malformed_as_a_whole(body: bytes) -> None:
    with pytest.raises(Malformed):
        read_json(body)
    with pytest.raises(Malformed):
        read_value(body)


def test_two_objects_in_a_json_body_are_told_of_ndjson() -> None:
    with pytest.raises(Malformed, match="application/x-ndjson"):
        read_json(b'{"a":1}\n{"a":2}')


def test_an_empty_array_is_no_error() -> None:
    assert read_json(b" [ ] ") == []
    assert read_ndjson(b"\n \n") == []


def test_deep_nesting_is_rejected_line_by_line() -> None:
    deep = '{"external_id":"a","case":"c","messages":[],"metadata":{"a":' + "[" * 150 + "]" * 150 + "}}"
    (rejected,) = read_json(f"[{deep}]".encode())
    assert isinstance(rejected, Rejected)
    assert rejected.problems[0].reason == "is nested more than 100 levels deep"
    assert rejected.external_id == "a"


def test_a_body_that_is_one_value_may_not_nest_without_end() -> None:
    with pytest.raises(Malformed, match="nested"):
        read_value(b"[" * 150 + b"]" * 150)


def test_compressed_content_is_not_mistaken_for_text() -> None:
    with pytest.raises(Malformed, match="UTF-8"):
        read_json(gzip.compress(b"{}"))


def test_a_side_is_one_of_three() -> None:
    assert read(CaseDefinition, definition(side="capability")).side is Side.CAPABILITY


def test_a_cost_that_would_round_up_to_too_much_is_refused() -> None:
    from labeling.formats.wire import PostedJudgment

    with pytest.raises(DomainError):
        read(PostedJudgment, {"judge": "j", "version": "1", "decision": "refusal", "cost_usd": 999999.9999999})
