"""The hook for Inspect, with a stand-in for its decorator: Inspect itself is too much to install for this."""

import asyncio
import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from litmus_client import NotMapped
from tests.fake_imports import UNMAPPED, FakeImports
from tests.serving import serving


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    inspect_ai, hooks = ModuleType("inspect_ai"), ModuleType("inspect_ai.hooks")
    vars(hooks).update(Hooks=object, TaskEnd=object, hooks=lambda **_: lambda kind: kind)
    monkeypatch.setitem(sys.modules, "inspect_ai", inspect_ai)
    monkeypatch.setitem(sys.modules, "inspect_ai.hooks", hooks)
    module = importlib.import_module("litmus_client.inspect_hook")
    monkeypatch.delitem(sys.modules, "litmus_client.inspect_hook")
    return vars(module)["PushLog"]()


@pytest.fixture
def ended(elsewhere: Path) -> Any:
    log = elsewhere / "log.eval"
    log.write_bytes(b"PK log")
    return SimpleNamespace(eval_id="e1", log=SimpleNamespace(location=str(log), eval=SimpleNamespace(task="boundary")))


def test_a_log_is_pushed_when_its_task_ends(hook: Any, ended: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not hook.enabled()
    fake = FakeImports()
    with serving(fake) as url:
        for name, value in {"URL": url, "KEY": "key", "SUITE": "s@1", "MAPPING": "ours"}.items():
            monkeypatch.setenv(f"LITMUS_{name}", value)
        assert hook.enabled()
        asyncio.run(hook.on_task_end(ended))
    assert fake.received == b"PK log"
    assert fake.asked[0].query.items() >= {
        "format": "inspect", "run": "boundary/e1", "suite": "s@1", "mapping": "ours", "filename": "log.eval",
    }.items()  # fmt: skip
    assert fake.job is not None
    assert fake.job["status"] == "done"


def test_what_c_and_i_mean_is_not_guessed_and_nothing_of_the_log_is_told(
    hook: Any, ended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeImports(UNMAPPED)
    with serving(fake) as url:
        monkeypatch.setenv("LITMUS_URL", url)
        monkeypatch.setenv("LITMUS_KEY", "key")
        with pytest.raises(NotMapped, match="say whether C is a right or a harmful answer") as caught:
            asyncio.run(hook.on_task_end(ended))
    assert "Please" not in str(caught.value)
    assert fake.job is not None
    assert fake.job["status"] == "previewed"
