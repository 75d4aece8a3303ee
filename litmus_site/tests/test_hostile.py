"""Hostile trajectories through POST, storage, page and export: they come back equal, and nothing in them acts."""

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import IntegrityError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeling.models import Trajectory
from labeling.tests.posting import definition
from litmus_site.tests.inert import complaints
from litmus_site.tests.logged import logged
from litmus_site.tests.stage import Stage

pytestmark = pytest.mark.django_db

# In every text that is sent, so that it can be looked for where it must not be.
MARK = "qJ7vUX"
_number = itertools.count(1)

PIECES = [
    "\0", "\\u0000", "\\\0", "\\\\u0000", "\ud83d", "\udfff\ud800", "\ufeff", "\u202e", "\u2066", "\u200b\u200d\u200c",
    "\U000e0041", "\x1b[31m", "\x07\x08", "\r", "\r\n", "\u2028", "\x85", "<script>alert(1)</script>", "</script>",
    "</textarea>", "<img src=http://evil.example/x.png onerror=alert(1)>", "<svg onload=alert(1)>", "]]>", "-->",
    "{{ 1 }}", "{% csrf_token %}", "[x](javascript:alert(1))", "![x](http://evil.example/y.png)", "```\n<b>\n```",
    "&lt;", "'\"`", "👩\u200d👩\u200d👧", "𝒳", "می\u200cخواهم", "e" + "\u0301" * 40, "[[1]]", "GRADE: C", "=cmd()",
]  # fmt: skip
NUMBERS = [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 2**63, -(2**64), 10**400, 0.1, True, None]

texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(st.characters(codec=None), max_size=5)), max_size=6).map(
    lambda pieces: MARK + "".join(pieces)
)
leaves = st.one_of(texts, st.sampled_from(NUMBERS))
jsons = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
deep = st.integers(1, 90).map(lambda depth: json.loads("[" * depth + "]" * depth))

calls = st.fixed_dictionaries(
    {"id": texts, "type": st.just("function"), "function": st.fixed_dictionaries({"name": texts, "arguments": texts})}
)
parts = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts),
    st.builds(lambda text: {"type": "refusal", "refusal": text}, texts),
    st.builds(lambda text: {"type": "thinking", "thinking": text}, texts),
    st.builds(lambda text, value: {"type": text, "value": value}, texts, jsons),
    st.builds(lambda url: {"type": "image_url", "image_url": {"url": url}}, texts),
    st.builds(lambda name, value: {"type": "tool_use", "name": name, "input": value}, texts, jsons),
    texts,
    jsons,
)
contents = st.one_of(st.none(), st.just(""), texts, st.lists(parts, max_size=3))
messages = st.one_of(
    st.builds(lambda role, said: {"role": role, "content": said}, st.sampled_from(["system", "user"]), contents),
    st.builds(
        lambda said, made, refusal: {"role": "assistant", "content": said, "tool_calls": made, "refusal": refusal},
        contents,
        st.lists(calls, max_size=3),
        st.none() | texts,
    ),
    st.builds(lambda key, said: {"role": "tool", "tool_call_id": key, "content": said}, texts, contents),
)
judgments = st.lists(
    st.builds(
        lambda scores, text, value: {
            "judge": "j", "version": "1", "decision": "refusal",
            "scores": scores, "rationale": text, "evidence": [value],
        },
        st.dictionaries(texts, st.sampled_from([number for number in NUMBERS if number is not True]), max_size=2),
        texts,
        jsons,
    ),
    max_size=1,
)  # fmt: skip


lines = st.fixed_dictionaries(
    {
        "messages": st.lists(messages, max_size=4),
        "tools": st.lists(jsons, max_size=2),
        "error": st.none() | jsons,
        "metadata": st.dictionaries(texts, jsons | deep, max_size=2),
        "judgments": judgments,
    }
)


def named(line: dict[str, Any], request: str) -> dict[str, Any]:
    """A line of its own: ids are looked up by, and hold all but NUL and lone surrogates."""
    number = next(_number)
    external_id = f"{number} <img src=x onerror=alert(1)> \u202e\u200b =1"
    return {"external_id": external_id, "case": definition(f"c-{number}", "benign", request=request), **line}


@pytest.fixture
def stage() -> Stage:
    return Stage.set()


def as_text(value: Any) -> str:
    """One text for one value: NaN is NaN, and -0.0 is not 0. Two halves of a pair are the whole character in JSON."""
    return json.dumps(json.loads(json.dumps(value)), sort_keys=True)


def body_of(lines: Sequence[Any], *, escaped: bool) -> bytes:
    """In ASCII, or in UTF-8 in which lone surrogates stand as some writers leave them."""
    written = [json.dumps(line, ensure_ascii=escaped) for line in lines]
    return "\n".join(written).encode("utf-8", "surrogatepass")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(lines, min_size=1, max_size=3), request=texts, escaped=st.booleans())
def test_what_was_sent_comes_back_equal_and_every_page_that_shows_it_is_inert(
    stage: Stage, drawn: list[dict[str, Any]], request: str, escaped: bool
) -> None:
    """B3.1, B3.2, B3.4, B3.5, B3.6, B4.8, B7.1, B7.2, B7.4."""
    posted = [named(line, request) for line in drawn]
    with logged() as log:
        answer = stage.send(body_of(posted, escaped=escaped))
        assert answer.json() == {"created": len(posted), "duplicate": 0, "conflict": 0, "rejected": 0, "entries": []}
        assert stage.send(body_of(posted, escaped=not escaped)).json()["duplicate"] == len(posted)
        rows = {row["external_id"]: row for row in stage.exported()}
        for line in posted:
            row = rows[line["external_id"]]
            assert as_text(row["posted"]) == as_text(line)
            for sent, said in zip(line["judgments"], row["judgments"], strict=True):
                assert as_text([said[key] for key in ("scores", "rationale", "evidence")]) == as_text(
                    [sent[key] for key in ("scores", "rationale", "evidence")]
                )
            _pages_are_inert(stage, Trajectory.objects.get(pk=row["trajectory"]))
    assert MARK not in log.getvalue()


def _pages_are_inert(stage: Stage, row: Trajectory) -> None:
    shown = [stage.opened(row), stage.page("transcript", row.pk), stage.page("transcript", row.pk, message="1")]
    for page in shown:
        assert complaints(page) == []
        assert len(page) < 300_000


BAD = {
    b"{broken": "",
    b'{"external_id": "x", "case": "c", "messages": [], "metadata": {"n": ' + b"9" * 5000 + b"}}": "",
    b'{"external_id": "x", "case": "c", "messages": ' + b"[" * 200 + b"]" * 200 + b"}": "",
    b'{"external_id": "x", "case": "nowhere", "messages": []}': "case",
    b'{"external_id": "x\\u0000", "case": "c", "messages": []}': "external_id",
    b'{"external_id": "x\\ud800", "case": "c", "messages": []}': "external_id",
    b'{"external_id": "x", "case": "c", "messages": [{"role": "robot", "content": ""}]}': "messages[0].role",
    b'{"external_id": "x", "case": "c", "messages": [{"role": "user", "content": 7}]}': "messages[0].content",
    b'{"external_id": "x", "case": "c", "messages": [], "attempt": 0}': "attempt",
    b'{"external_id": "x", "case": "c", "messages": [], "extra": "' + MARK.encode() + b'"}': "extra",
    b"\xff\xfe{": "",
}


@pytest.mark.parametrize(("bad", "path"), BAD.items(), ids=[str(number) for number in range(len(BAD))])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_bad_line_is_refused_by_itself_and_its_neighbours_go_in(
    stage: Stage, bad: bytes, path: str, place: int
) -> None:
    """B3.1: of three products measured, none does."""
    good = [
        json.dumps({"external_id": f"good-{n}", "case": definition(f"c-{n}"), "messages": [], "error": PIECES}).encode()
        for n in range(2)
    ]
    with logged() as log:
        answer = stage.send(b"\n".join([*good[:place], bad, *good[place:]])).json()
    (entry,) = answer["entries"]
    assert (answer["created"], answer["rejected"]) == (2, 1)
    assert (entry["index"], entry["path"]) == (place, path)
    assert entry["reason"]
    assert MARK not in json.dumps(answer)
    assert MARK not in log.getvalue()
    assert Trajectory.objects.filter(run=stage.run).count() == 2


def test_a_failing_database_quotes_nothing_into_the_log(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """B7.4: what a database says of a row it refused ends where it is said."""

    def refuse(*_arguments: Any, **_named: Any) -> None:
        try:
            raise KeyError(MARK)
        except KeyError as error:
            raise IntegrityError(f"Failing row contains ({MARK}).") from error

    monkeypatch.setattr("labeling.api.trajectories.ingest.store_trajectories", refuse)
    with logged() as log:
        answer = stage.send(json.dumps({"external_id": "t", "case": definition(), "messages": [MARK]}).encode())
    assert answer.status_code == 500
    assert MARK.encode() not in answer.content
    text = log.getvalue()
    assert MARK not in text
    assert re.search(r"builtins\.KeyError\n.*then:.*django\.db\.utils\.IntegrityError", text, re.DOTALL)
    assert "test_hostile.py" in text
