"""The client stands alone: no Django, no code of the service."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[1]
PAGE = CLIENT.parent / "docs" / "reference" / "command-line.md"


def python(*arguments: str) -> str:
    """In a process that sees the client's source and installed packages, not the repository."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=CLIENT / "src", capture_output=True, text=True, check=True
    ).stdout


def test_nothing_of_the_service_is_imported() -> None:
    modules = [
        ".".join(path.relative_to(CLIENT / "src").with_suffix("").parts)
        for path in (CLIENT / "src").rglob("*.py")
        if path.name not in ("__main__.py", "inspect_hook.py")
    ]
    code = f"import sys, importlib; [importlib.import_module(name) for name in {modules}]; print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in python("-c", code).split()}
    assert "litmus_client" in loaded
    assert not loaded & {"django", "rest_framework", "labeling", "audit", "litmus_site", "pydantic"}


@pytest.mark.parametrize("command", ["push", "watch", "report", "gate", "run"])
def test_every_option_is_documented(command: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition(f"## litmus {command}")[2].partition("\n## ")[0]
    shared = page.partition("\n## ")[0]
    words = python("-m", "litmus_client", command, "--help").replace(",", " ").split()
    options = {word for word in words if word.startswith("--") and word.strip("-").replace("-", "").isalpha()}
    assert options - {"--help"} <= set(section.replace("`", " ").split()) | set(shared.replace("`", " ").split())


def test_what_tests_run_is_within_what_the_package_asks_for() -> None:
    wanted = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]["dependencies"]
    pinned = (CLIENT.parent / "requirements-dev.txt").read_text() + (CLIENT.parent / "requirements.txt").read_text()
    for requirement in wanted:
        name = requirement.partition(">")[0]
        assert f"\n{name}==" in pinned, name
