"""A client that is quick to try again, and a place of its own to remember things in."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from labeling.models import Project
from labeling.services import people
from labeling.tests import make
from litmus_client.api import Api
from litmus_client.cli import main
from litmus_client.patience import Patience

if TYPE_CHECKING:
    from pytest_django.live_server_helper import LiveServer

QUICK = partial(Patience, first_pause=0.01, longest_pause=0.02)
Litmus = Callable[..., Result]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the developer's own settings, proxies, folders."""
    for name in os.environ:
        if name.startswith("LITMUS_U") or name in ("LITMUS_KEY", "LITMUS_PROJECT") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("litmus_client.api.Patience", QUICK)
    monkeypatch.setattr("litmus_client.commands.run.Patience", QUICK)
    monkeypatch.setattr("litmus_client.importing.POLL_SECONDS", 0.01)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Service:
    """The real service, one project of it, and its runner's key."""

    def __init__(self, url: str, project: Project) -> None:
        self.url = url
        self.project = project
        self.key = people.create_runner_key(project=project, name="runner", by=None).secret


@pytest.fixture
def service(live_server: "LiveServer") -> Service:
    return Service(live_server.url, make.project("safety"))


@pytest.fixture
def api(service: Service) -> Iterator[Api]:
    with closing(Api(service.url, service.key)) as made:
        yield made


def command(url: str, key: str = "key") -> Litmus:
    """`litmus` with this service; `code` says how it is expected to end."""

    def call(*arguments: str, code: int = 0, env: dict[str, str] | None = None, input: bytes | None = None) -> Result:
        environment = {"LITMUS_URL": url, "LITMUS_KEY": key, **(env or {})}
        result = CliRunner().invoke(main, arguments, env=environment, input=input)
        assert result.exit_code == code, (result.exit_code, result.output, result.exception)
        return result

    return call


@pytest.fixture
def litmus(service: Service) -> Litmus:
    return command(service.url, service.key)
