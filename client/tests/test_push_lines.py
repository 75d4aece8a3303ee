"""`litmus push` of our own lines, to the real service: in batches, broken off, repeated."""

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from labeling.models import Run, Trajectory, TrajectoryContent
from labeling.tests.posting import definition, line
from litmus_client import Litmus, LitmusError
from litmus_client.resuming import cache_folder
from tests.conftest import Litmus as Command
from tests.conftest import Service, command
from tests.serving import Answer, Asked, error, serving

pytestmark = pytest.mark.django_db(transaction=True)

NEW = ("--run", "r", "--model", "m", "--model-version", "1")


def lines(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [line(f"t-{n}", definition(f"c-{n}", "benign" if n % 2 else "harmful"), **fields) for n in range(count)]


def written(path: Path, values: list[Any]) -> str:
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    return str(path)


def places() -> list[Path]:
    return list(cache_folder().glob("*"))


@contextmanager
def through(service: Service, *answers: Answer | None) -> Iterator[tuple[str, list[Asked]]]:
    """A way to the service on which these answers come first for posts of trajectories; None lets one pass."""
    rest, asked = list(answers), []

    def relay(request: Asked) -> Answer:
        if request.path.endswith("/trajectories/"):
            asked.append(request)
            if rest and (given := rest.pop(0)):
                return given
        return passed_on(service, request)

    with serving(relay) as url:
        yield url, asked


def passed_on(service: Service, request: Asked) -> Answer:
    """What the service answers to it."""
    headers = {name: request.headers[name] for name in ("Authorization", "Content-Type") if name in request.headers}
    url = service.url + request.path
    got = httpx.request(request.method, url, params=request.query, content=request.body, headers=headers)
    return Answer(got.status_code, got.content)


def test_lines_go_in_once_however_often_they_are_pushed(litmus: Command, elsewhere: Path) -> None:
    file = written(elsewhere / "x.jsonl", lines(3))
    assert "3 created, 0 duplicate" in litmus("push", file, *NEW).stdout
    assert "0 created, 3 duplicate" in litmus("push", file, "--run", "r").stdout
    assert Trajectory.objects.count() == 3
    assert places() == []


def test_gzip_and_standard_input_are_read_too(litmus: Command, elsewhere: Path) -> None:
    body = b"\xef\xbb\xbf\n" + b"\r\n".join(json.dumps(value).encode() for value in lines(3))
    (elsewhere / "x.jsonl.gz").write_bytes(
        gzip.compress(body[: len(body) // 2]) + gzip.compress(body[len(body) // 2 :])
    )
    assert "3 created" in litmus("push", "x.jsonl.gz", *NEW).stdout
    assert "3 duplicate" in litmus("push", "-", "--run", "r", input=body).stdout


def test_bad_lines_are_named_by_their_number_and_the_others_go_in(litmus: Command, elsewhere: Path) -> None:
    good, other = lines(2)
    file = elsewhere / "x.jsonl"
    bad = [json.dumps(good), "", "{broken", json.dumps({**other, "messages": 7}), json.dumps(other)]
    file.write_text("\n".join(bad))
    output = litmus("push", str(file), *NEW, code=1).stdout
    assert "2 created, 0 duplicate, 0 conflict, 2 rejected" in output
    assert "line 3 rejected: is not JSON" in output
    assert "line 4 (t-1) rejected: messages must be a list" in output


def test_other_content_under_a_name_is_a_conflict_and_exit_code_1(litmus: Command, elsewhere: Path) -> None:
    litmus("push", written(elsewhere / "x.jsonl", lines(2)), *NEW)
    output = litmus("push", written(elsewhere / "y.jsonl", lines(2, stop_reason="length")), "--run", "r", code=1).stdout
    assert "2 conflict" in output
    assert "line 2 (t-1) conflict: external_id is there already with other content" in output


def test_the_run_must_be_there_or_be_described(litmus: Command, elsewhere: Path) -> None:
    file = written(elsewhere / "x.jsonl", lines(1))
    assert "--run NAME" in litmus("push", file, code=2).stderr
    assert "give --model and --model-version" in litmus("push", file, "--run", "r", code=2).stderr
    litmus("push", file, *NEW)
    other = litmus("push", file, "--run", "r", "--model", "other", "--model-version", "1", code=2)
    assert "another configuration" in other.stderr


def test_a_push_can_close_the_run_if_everything_is_in(litmus: Command, elsewhere: Path) -> None:
    file = written(elsewhere / "x.jsonl", [*lines(1), {"external_id": "t", "case": "nowhere"}])
    assert "Not closed" in litmus("push", file, *NEW, "--close", code=1).stderr
    litmus("push", written(elsewhere / "y.jsonl", lines(1)), "--run", "r", "--close")
    assert Run.objects.get().status == "closed"
    closed = litmus("push", written(elsewhere / "z.jsonl", lines(2)), "--run", "r", code=2)
    assert "taken by open runs only" in closed.stderr


def test_what_an_address_acknowledged_is_not_taken_for_granted_at_another(
    service: Service, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litmus_client.batches.MOST_LINES", 4)
    file = written(elsewhere / "x.jsonl", lines(6))
    with through(service, None, error(400, "invalid", "Stop.")) as (url, _):
        command(url, service.key)("push", file, *NEW, code=2)
    assert len(places()) == 1
    with through(service) as (url, _):
        assert "2 created, 4 duplicate" in command(url, service.key)("push", file, "--run", "r").stdout


def test_a_resumed_push_sends_only_what_was_not_acknowledged(
    service: Service, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litmus_client.batches.MOST_LINES", 4)
    file = written(elsewhere / "x.jsonl", [*lines(3), {"external_id": "bad", "case": "nowhere"}, *lines(9)[3:]])
    stop = error(400, "invalid", "Stop.")
    with through(service, None, stop, None, None) as (url, asked):
        again = command(url, service.key)
        again("push", file, *NEW, code=2)
        output = again("push", file, "--run", "r", code=1).stdout
    sent = [[json.loads(each)["external_id"] for each in request.body.splitlines()] for request in asked]
    assert sent == [["t-0", "t-1", "t-2", "bad"], *[["t-3", "t-4", "t-5", "t-6"]] * 2, ["t-7", "t-8"]]
    assert "9 created, 0 duplicate, 0 conflict, 1 rejected" in output
    assert "line 4 (bad) rejected" in output
    assert places() == []


def test_a_killed_push_is_repeated_without_loss_or_doubles(service: Service, elsewhere: Path) -> None:
    file = written(elsewhere / "x.jsonl", lines(1200))
    posts: list[Asked] = []
    second, killed = threading.Event(), threading.Event()

    def relay(request: Asked) -> Answer:
        answer = passed_on(service, request)
        posts.extend([request] if request.path.endswith("/trajectories/") else [])
        if len(posts) == 2:
            # The rows are in, and the client will never hear of it.
            second.set()
            killed.wait(20)
        return answer

    with serving(relay) as url:
        environment = {**os.environ, "LITMUS_URL": url, "LITMUS_KEY": service.key}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        with subprocess.Popen([sys.executable, "-m", "litmus_client", "push", file, *NEW], env=environment) as process:
            assert second.wait(20)
            process.kill()
        killed.set()
        output = command(url, service.key)("push", file, "--run", "r").stdout
    # Batches of 500: the first was acknowledged, the second was not, the third was never sent.
    assert "700 created, 500 duplicate" in output
    assert len(posts) == 4
    assert Trajectory.objects.count() == 1200


def test_an_answer_that_got_lost_is_asked_for_again(service: Service, elsewhere: Path) -> None:
    file = written(elsewhere / "x.jsonl", lines(3))
    with through(service, Answer(hang_up=True), error(429, "busy"), error(503, "unavailable")) as (url, asked):
        assert "3 created" in command(url, service.key)("push", file, *NEW).stdout
    assert len(asked) == 4


def test_what_is_too_large_is_refused_by_itself(service: Service, elsewhere: Path, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 5_000
    file = written(elsewhere / "x.jsonl", [*lines(20), line("huge", definition("h"), "x" * 6_000), *lines(22)[20:]])
    output = command(service.url, service.key)("push", file, *NEW, code=1).stdout
    assert "22 created, 0 duplicate, 0 conflict, 1 rejected" in output
    assert "line 21 rejected: is too large: A body may have 5,000 bytes" in output


def test_odd_text_is_stored_as_it_was_pushed(litmus: Command, elsewhere: Path) -> None:
    odd = "NUL \0 surrogate \ud83d \\u0000 é"
    litmus("push", written(elsewhere / "x.jsonl", [line("t", definition("c"), odd)]), *NEW)
    assert TrajectoryContent.objects.get().messages[1]["parts"] == [{"type": "text", "text": odd}]


def test_lines_come_from_python_as_they_are_made(service: Service) -> None:
    with Litmus(service.url, service.key) as litmus:
        run = litmus.run("r", model="m", version="1", decoding={"temperature": 0})
        one, two, three, *_ = lines(3)
        pushed = litmus.push_lines(run, (each for each in (one, json.dumps(two, indent=1), json.dumps(three).encode())))
        assert (pushed.created, pushed.is_complete) == (3, True)
        same = litmus.run("r", model="m", version="1", decoding={"temperature": 0.0})
        again = litmus.push_lines(same, [one, " \n", {**two, "attempt": 0}])
        assert (again.duplicate, again.rejected, again.entries[0].line) == (1, 1, 3)
        assert litmus.close_run(run, expected_count=3).status == "closed"
        assert litmus.report(run)["as_labeled"]["status"] == "complete"
        with pytest.raises(LitmusError, match="open runs only"):
            litmus.push_lines(run, [one])
