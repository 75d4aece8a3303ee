"""`litmus run`: a suite's cases to an endpoint that misbehaves, what came back to the real service."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from labeling.models import Configuration, Run, Suite, Trajectory, TrajectoryContent
from labeling.tests.posting import definition
from labeling.vocabulary import Outcome
from tests.conftest import Litmus, Service
from tests.serving import Answer, Asked, error, serving

pytestmark = pytest.mark.django_db(transaction=True)

CASES = [definition("a"), definition("b", "benign", request="Another.")]
Reply = Callable[[Asked, int], Answer]


def completion(text: str | None = "Sure.", *, finish: str = "stop", model: str = "m-2026", **message: Any) -> Answer:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return Answer(200, {"id": "x1", "model": model, "usage": {"total_tokens": 9}, "choices": [choice]})


def asks(request: Asked) -> Any:
    """The user's last words."""
    return request.json["messages"][-1]["content"]


class Model:
    """An endpoint; `reply` is called with each request and how often these words were asked before."""

    def __init__(self, url: str, asked: list[Asked]) -> None:
        self.url = f"{url}/v1"
        self.asked = asked


@pytest.fixture
def model() -> Iterator[Callable[[Reply], Model]]:
    with ExitStack() as stack:

        def make(reply: Reply) -> Model:
            asked: list[Asked] = []
            before: Counter[str] = Counter()
            lock = threading.Lock()

            def answer(request: Asked) -> Answer:
                with lock:
                    asked.append(request)
                    words = json.dumps(asks(request))
                    nth, before[words] = before[words], before[words] + 1
                return reply(request, nth)

            return Model(stack.enter_context(serving(answer)), asked)

        yield make


def suite(folder: Path, *cases: Any, key: str = "s") -> str:
    path = folder / f"{key}.yaml"
    path.write_text(yaml.safe_dump({"key": key, "version": "1", "cases": list(cases or CASES), "publish": True}))
    return str(path)


def options(model: Model, name: str = "r") -> tuple[str, ...]:
    return ("--run", name, "--base-url", model.url, "--model", "m")


def stored() -> dict[str, Trajectory]:
    return {each.external_id: each for each in Trajectory.objects.select_related("content")}


def messages(external_id: str) -> Any:
    return TrajectoryContent.objects.get(trajectory__external_id=external_id).messages


def test_a_suite_in_a_file_is_posted_run_and_closed(
    litmus: Litmus, model: Any, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    fake = model(lambda *_: completion())
    output = litmus(
        "run", suite(elsewhere), *options(fake), "--system-prompt", "Be brief.", "--temperature", "0",
        "--max-tokens", "9", "--param", "top_p=0.5", "--param", "effort=low", "--attempts", "2",
        "--api-key-env", "MY_KEY", "--close",
    ).stdout  # fmt: skip
    assert "4 created" in output
    assert sorted(stored()) == ["a#1", "a#2", "b#1", "b#2"]
    assert {request.headers["Authorization"] for request in fake.asked} == {"Bearer secret"}
    assert fake.asked[0].path == "/v1/chat/completions"
    assert fake.asked[0].json == {
        "model": "m", "temperature": 0, "max_tokens": 9, "top_p": 0.5, "effort": "low",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "A request."}],
    }  # fmt: skip
    run, configuration = Run.objects.get(), Configuration.objects.get()
    assert (run.status, run.expected_count, run.attack_attempts) == ("closed", 4, 2)
    assert (configuration.model, configuration.version, configuration.layer) == ("m", "m-2026", "model")
    assert configuration.system_prompt == "Be brief."
    assert configuration.decoding == {"temperature": 0, "max_tokens": 9, "top_p": 0.5, "effort": "low"}
    assert [each["role"] for each in messages("a#1")] == ["system", "user", "assistant"]


def test_a_suite_of_the_service_is_run_by_its_name(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    fake = model(lambda *_: completion())
    litmus("run", suite(elsewhere), *options(fake))
    litmus("run", "s@1", *options(fake, "again"), "--model-version", "2")
    assert set(Run.objects.values_list("external_id", "configuration__version")) == {("r", "m-2026"), ("again", "2")}
    assert "no suite s@9" in litmus("run", "s@9", *options(fake, "x"), code=2).stderr


def test_what_the_endpoint_says_is_kept_as_it_came(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{broken"}}
    replies = {
        "filter": completion("", finish="content_filter"),
        "blocked": error(400, "content_filter", "Blocked."),
        "refusal": completion(None, refusal="I will not."),
        "call": completion(None, finish="tool_calls", tool_calls=[call]),
        "long": completion("And then", finish="length", model="m-2026"),
    }
    cases = [definition(key, request=key) for key in replies]
    litmus("run", suite(elsewhere, *cases), *options(model(lambda asked, _: replies[asks(asked)])))
    rows = stored()
    outcomes = {key: rows[f"{key}#1"].outcome for key in replies}
    assert outcomes == {
        "filter": Outcome.FILTERED, "blocked": Outcome.FILTERED, "refusal": Outcome.OUTPUT,
        "call": Outcome.OUTPUT, "long": Outcome.OUTPUT,
    }  # fmt: skip
    assert messages("refusal#1")[-1]["parts"] == [{"type": "refusal", "text": "I will not."}]
    assert messages("call#1")[-1]["parts"][0]["arguments_raw"] == "{broken"
    assert rows["long#1"].stop_reason == "length"
    assert rows["long#1"].content.metadata["response"] == {"id": "x1", "model": "m-2026", "usage": {"total_tokens": 9}}


def test_what_passes_is_tried_again(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    trouble = [Answer(429, {}, {"Retry-After": "0"}), Answer(500, b"oops"), Answer(200, b"{broken"),
               Answer(hang_up=True), Answer(200, {"error": {"message": "later"}})]  # fmt: skip
    fake = model(lambda _, nth: trouble[nth] if nth < len(trouble) else completion())
    output = litmus("run", suite(elsewhere), *options(fake)).stdout
    assert "2 attempts made" in output
    assert "error" not in output
    assert len(fake.asked) == 12


def test_an_error_on_one_case_is_that_cases_error(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    broken = {"a": error(400, "too_long", "Too long."), "b": Answer(503, b"oops"), "c": completion(), "d": completion()}
    cases = [definition(key, request=key) for key in "cabd"]
    fake = model(lambda asked, _: broken[asks(asked)])
    output = litmus("run", suite(elsewhere, *cases), *options(fake), "--tries", "2", "--concurrency", "1").stdout
    assert "2 errors of the endpoint" in output
    assert {key: row.outcome for key, row in stored().items()} == {
        "a#1": Outcome.NOT_RUN, "b#1": Outcome.NOT_RUN, "c#1": Outcome.OUTPUT, "d#1": Outcome.OUTPUT
    }  # fmt: skip
    assert stored()["a#1"].content.error["body"]["error"]["code"] == "too_long"
    assert stored()["b#1"].content.error["status"] == 503


def test_an_endpoint_that_takes_too_long_is_an_error(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    def slow(request: Asked, _: int) -> Answer:
        if asks(request) == "Another.":
            time.sleep(0.5)
        return completion()

    litmus("run", suite(elsewhere), *options(model(slow)), "--timeout", "0.1", "--tries", "2", "--concurrency", "1")
    assert stored()["b#1"].content.error == {"kind": "timeout", "message": "ReadTimeout"}


@pytest.mark.parametrize("answer", [Answer(401, {"error": {"message": "Bad key."}}), Answer(503, b"down")])
def test_an_endpoint_that_is_down_is_nobodys_error(litmus: Litmus, model: Any, elsewhere: Path, answer: Answer) -> None:
    cases = [definition(f"c-{n}", request=f"{n}") for n in range(20)]
    up = {"yes": False}
    fake = model(lambda *_: completion() if up["yes"] else answer)
    first = litmus("run", suite(elsewhere, *cases), *options(fake), "--tries", "1", code=2)
    assert "failed 9 times in a row" in first.stderr
    assert Trajectory.objects.count() == 0
    up["yes"] = True
    assert "20 created" in litmus("run", "s@1", *options(fake)).stdout


def test_what_cannot_be_run_is_said_and_counted(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    user, assistant = {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}
    cases = [
        definition("tools", kind="tool_use"),
        definition("script", kind="multi_turn", request=[user, user]),
        definition("open", kind="multi_turn", request=[user, assistant]),
        definition("empty", request=[]),
        definition("history", "benign", kind="multi_turn", request=[user, assistant, user]),
        definition("image", request=[{"role": "user", "content": [{"type": "text", "text": "See"}, IMAGE]}]),
    ]
    fake = model(lambda *_: completion())
    result = litmus("run", suite(elsewhere, *cases), *options(fake))
    assert sorted(stored()) == ["history#1", "image#1"]
    for sentence in (
        "1 case cannot be run yet and is left out: needs tools.",
        "1 case cannot be run yet and is left out: is a script of several turns.",
        "2 cases cannot be run yet and are left out: does not end with the user's words.",
    ):
        assert sentence in result.stderr
    assert "4 cases of the suite left out" in result.stdout
    assert [{"type": "text", "text": "See"}, IMAGE] in [asks(request) for request in fake.asked]
    only = suite(elsewhere, definition("t", kind="tool_use"), key="other")
    assert "no case that can be run" in litmus("run", only, *options(fake, "x"), code=2).stderr


IMAGE = {"type": "image_url", "image_url": {"url": "data:,x"}}


def test_a_run_goes_on_from_its_state_file(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    fake = model(lambda *_: completion())
    file = suite(elsewhere)
    litmus("run", file, *options(fake), "--attempts", "2", "--state", "state.jsonl")
    state = elsewhere / "state.jsonl"
    kept = state.read_bytes().splitlines(keepends=True)
    assert state.stat().st_mode & 0o077 == 0
    # Killed in the middle of the fourth line.
    state.write_bytes(b"".join(kept[:3]) + kept[3][:20])
    again = litmus("run", file, *options(fake), "--attempts", "2", "--state", "state.jsonl").stdout
    assert "2 attempts made" in again
    assert len(fake.asked) == 6
    assert len(state.read_bytes().splitlines()) == 5
    assert Trajectory.objects.count() == 4
    for changed in (("--system-prompt", "x"), ("--temperature", "1"), ("--attempts", "3"), ("--model-version", "9")):
        other = litmus("run", file, *options(fake), "--state", "state.jsonl", *changed, code=2)
        assert "is of another run" in other.stderr


def test_a_file_that_is_no_state_is_left_alone(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    fake = model(lambda *_: completion())
    for precious in ("precious\nwords\n", "precious"):
        (elsewhere / "notes.txt").write_text(precious)
        output = litmus("run", suite(elsewhere), *options(fake), "--state", "notes.txt", code=2).stderr
        assert "is no state file" in output
        assert (elsewhere / "notes.txt").read_text() == precious


def test_what_was_not_posted_is_posted_by_the_next_call(
    service: Service, litmus: Litmus, model: Any, elsewhere: Path
) -> None:
    fake = model(lambda *_: completion())
    litmus("run", suite(elsewhere), *options(fake))
    Trajectory.objects.all().delete()
    output = litmus("run", "s@1", *options(fake)).stdout
    assert "2 created" in output
    assert "0 attempts made" in output
    assert len(fake.asked) == 2


def test_a_model_that_changes_under_the_run_is_said(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    fake = model(lambda asked, _: completion(model="m-1" if asks(asked) == "A request." else "m-2"))
    assert "The run mixes versions" in litmus("run", suite(elsewhere), *options(fake)).stderr
    assert Configuration.objects.get().version == "m-1"


def test_a_model_without_a_name_needs_a_version(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    fake = model(lambda *_: completion(model=""))
    assert "give --model-version" in litmus("run", suite(elsewhere), *options(fake), code=2).stderr


def test_requests_keep_to_the_rate_and_the_concurrency(litmus: Litmus, model: Any, elsewhere: Path) -> None:
    now, most = [0], [0]
    lock = threading.Lock()

    def reply(_: Asked, __: int) -> Answer:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)
        with lock:
            now[0] -= 1
        return completion()

    cases = [definition(f"c-{n}", request=f"{n}") for n in range(8)]
    file, fake = suite(elsewhere, *cases), model(reply)
    litmus("run", file, *options(fake), "--concurrency", "3")
    assert 2 <= most[0] <= 3
    began = time.monotonic()
    litmus("run", file, *options(fake, "slow"), "--rate", "1200")
    assert time.monotonic() - began >= 7 * 60 / 1200


@pytest.mark.parametrize("param", ["n=2", "stream=true", "messages=[]", "nothing"])
def test_params_that_are_the_runners_own_are_refused(litmus: Litmus, model: Any, elsewhere: Path, param: str) -> None:
    fake = model(lambda *_: completion())
    assert "--param" in litmus("run", suite(elsewhere), *options(fake), "--param", param, code=2).stderr


@pytest.fixture
def heard_interrupts() -> Iterator[None]:
    """A process inherits a signal that is ignored, and tests may be run by a shell that ignores this one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interrupts")
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(
    service: Service, litmus: Litmus, model: Any, elsewhere: Path
) -> None:
    started = threading.Event()

    def reply(request: Asked, _: int) -> Answer:
        if asks(request) not in ("0", "1"):
            started.set()
            time.sleep(0.5)
        return completion()

    cases = [definition(f"c-{n}", request=f"{n}") for n in range(30)]
    fake = model(reply)
    command = [sys.executable, "-m", "litmus_client", "run", suite(elsewhere, *cases), *options(fake)]
    environment = {
        **os.environ,
        "LITMUS_URL": service.url,
        "LITMUS_KEY": service.key,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with subprocess.Popen(
        [*command, "--concurrency", "2"], env=environment, cwd=elsewhere, stderr=subprocess.PIPE, text=True
    ) as process:
        assert started.wait(20)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the same command goes on with it" in said
    done = Trajectory.objects.count()
    assert 2 <= done <= 6
    output = litmus("run", "s@1", *options(fake), "--concurrency", "16").stdout
    assert f"{30 - done} attempts made" in output
    assert Trajectory.objects.count() == 30
    assert Suite.objects.count() == 1
