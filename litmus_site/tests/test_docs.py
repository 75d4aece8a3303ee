"""What the documentation says about settings, scripts, words and formats is what the code does."""

import ast
import inspect
import re
from enum import StrEnum
from pathlib import Path

import pytest
from django.conf import settings

from labeling import vocabulary
from labeling.formats import mapping
from labeling.formats.registry import FORMATS
from labeling.formats.wire import Wire

ROOT: Path = settings.BASE_DIR
REFERENCE = ROOT / "docs" / "reference"
SETTINGS_PAGE = REFERENCE / "settings.md"
ROW = re.compile(r"^\| `(?P<name>[A-Z_]+)` \| (?:`(?P<default>[^`]*)`)? ?\| (?P<meaning>.+) \|$", re.MULTILINE)
# Defaults that the page states in the words of its readers.
TOLD_OTHERWISE = {"LITMUS_DATA_DIR", "LITMUS_SECRET_KEY"}


def _documented() -> dict[str, str]:
    rows = list(ROW.finditer(SETTINGS_PAGE.read_text(encoding="utf-8")))
    assert len(rows) == len({row["name"] for row in rows}), "a variable has two rows"
    return {row["name"]: row["default"] or "" for row in rows}


def _read_in_python() -> dict[str, str | None]:
    """Each `env_…("NAME", default)` of our modules, with the default as text where it is a constant."""
    found: dict[str, str | None] = {}
    for path in [*ROOT.glob("litmus_site/*.py"), *ROOT.glob("labeling/**/*.py"), *ROOT.glob("audit/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and re.match("env_[a-z]+$", node.func.id):
                match node.args:
                    case [ast.Constant(value=str(name)), ast.Constant(value=default), *_]:
                        found[name] = str(int(default) if isinstance(default, bool) else default)
                    case [ast.Constant(value=str(name)), *_]:
                        found[name] = None
    return {name: default for name, default in found.items() if name != "LITMUS_X"}


def test_every_variable_that_is_read_is_documented_with_its_default() -> None:
    documented = _documented()
    for name, default in _read_in_python().items():
        assert name in documented, f"{name} has no row in {SETTINGS_PAGE.name}"
        if default is not None and name not in TOLD_OTHERWISE:
            assert documented[name] == default, f"the default of {name}"


def test_every_documented_variable_is_read_somewhere() -> None:
    sources = [*ROOT.glob("script/*"), *ROOT.glob("*.py"), *ROOT.glob("litmus_site/**/*.py")]
    sources += [*ROOT.glob("labeling/**/*.py"), *ROOT.glob("audit/**/*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources if path.is_file())
    for name in _documented():
        assert name.removesuffix("_FILE") in text, f"{name} is documented and never read"


def test_the_scripts_read_no_variable_that_is_not_documented() -> None:
    for script in ROOT.glob("script/*"):
        if script.is_file():
            used = set(re.findall(r"\bLITMUS_[A-Z_]*[A-Z]\b", script.read_text(encoding="utf-8")))
            assert used <= set(_documented()), script.name


@pytest.mark.parametrize("script", ["script/server", "script/test"])
def test_the_readme_names_the_two_commands_and_they_can_be_run(script: str) -> None:
    assert f"\n{script}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / script).stat().st_mode & 0o111


def test_the_readme_names_the_address_that_the_server_prints() -> None:
    documented = _documented()
    address = f"http://{documented['LITMUS_HOST']}:{documented['LITMUS_PORT']}"
    assert address in (ROOT / "README.md").read_text(encoding="utf-8")
    source = (ROOT / "script" / "serve.py").read_text(encoding="utf-8")
    assert f'or "{documented["LITMUS_HOST"]}"' in source
    assert f'or "{documented["LITMUS_PORT"]}"' in source


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_word_of_the_vocabulary_is_in_the_glossary() -> None:
    page = (REFERENCE / "glossary.md").read_text(encoding="utf-8")
    choices = [each for _, each in inspect.getmembers(vocabulary, inspect.isclass) if issubclass(each, StrEnum)]
    words = {word for each in choices for word in each if word}
    assert {word for word in words if f"`{word}`" not in page and f"**{word}**" not in page} == set()
    assert len(words) > 50


def test_every_format_has_a_section_and_no_other_has() -> None:
    page = (REFERENCE / "formats.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## .+", page, re.MULTILINE)
    assert sorted(re.findall(r"\(`([a-z0-9-]+)`\)", "\n".join(headings))) == sorted(FORMATS)


def test_every_field_of_a_mapping_and_every_meaning_is_documented() -> None:
    page = (REFERENCE / "mapping.md").read_text(encoding="utf-8")
    models = [each for _, each in inspect.getmembers(mapping, inspect.isclass) if issubclass(each, Wire)]
    of_the_mapping = {name for each in models if each.__module__ == mapping.__name__ for name in each.model_fields}
    assert len(of_the_mapping) > 30
    words = (of_the_mapping - {"matches", "becomes"}) | set(vocabulary.Meaning)
    assert {word for word in words if f"`{word}`" not in page} == set()
    assert "{matches: " in page
