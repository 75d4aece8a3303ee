"""What holds for every template and script: one place for rates, nothing inline, nothing unescaped."""

import re
from pathlib import Path

import pytest
from django.conf import settings

TEMPLATES = sorted(
    path for path in (settings.BASE_DIR / "templates").rglob("*.html") if path.parent.name != "drf_spectacular"
)
SCRIPTS = sorted((settings.BASE_DIR / "static").glob("*.js"))
STYLESHEET = settings.BASE_DIR / "static" / "litmus.css"


def test_a_rate_is_shown_by_one_template_alone() -> None:
    """`pair.left` and `pair.right` are the two rates of a figure; the fields of a RatePair are named nowhere."""
    showing = [path.name for path in TEMPLATES if re.search(r"\bpair\.(left|right)\b|wing\.", path.read_text())]
    assert showing == ["_rate_pair.html"]
    naming = [path.name for path in TEMPLATES if re.search(r"harmful_compliance|over_refusal", path.read_text())]
    assert naming == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_nothing_is_inline_and_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle=", text)
    assert not re.search(r"\son[a-z]+=", text)
    assert "<style" not in text
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    assert not re.search(r"(src|href|action)=\"(https?:)?//", text)
    assert "|safe" not in text
    assert "autoescape off" not in text
    assert "javascript:" not in text


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_make_no_markup_from_text_and_no_code_from_anything(path: Path) -> None:
    text = path.read_text()
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert forbidden not in text


def test_pages_stay_light() -> None:
    assert STYLESHEET.stat().st_size < 42_000
    assert sum(path.stat().st_size for path in SCRIPTS) < 30_000
    assert "url(http" not in STYLESHEET.read_text()
    assert "@import" not in STYLESHEET.read_text()
