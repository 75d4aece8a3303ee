"""Where the real data lies, which tests use when it is there and never copy."""

import os
from pathlib import Path

import pytest

_DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def folder(name: str) -> Path:
    """The folder of one data set; skips the test, with the reason, where it is absent."""
    path = Path(os.environ.get("LITMUS_REAL_DATA") or _DEFAULT) / name
    if not path.is_dir():
        pytest.skip(f"no real data: {name} is neither in ../shared/data nor in LITMUS_REAL_DATA")
    return path
