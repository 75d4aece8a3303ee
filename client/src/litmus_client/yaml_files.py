"""Objects in YAML files, as JSON would hold them: `yes`, dates and `010` are text, as they are to the service."""

import re
from pathlib import Path

import yaml

from litmus_client.errors import Json, LitmusError
from litmus_client.showing import visible


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}


for _tag, _pattern, _first in (
    ("null", r"~|null|", ["~", "n", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)", list("-0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def object_in(path: Path, *, kind: str, hint: str) -> Json:
    """The object in a file that should hold a `kind`. Raises LitmusError; `hint` is what such an object looks like."""
    try:
        value = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a SafeLoader
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise LitmusError(f"{path} cannot be read as a {kind}: {visible(error, limit=300)}") from None
    if not isinstance(value, dict):
        raise LitmusError(f"{path} holds no {kind}: {hint}.")
    return value


def written_out(text: str) -> Json | None:
    """The object that this text is, as `case: {side: harmful}` is one; None where it is but a word, or no YAML."""
    try:
        value = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except (ValueError, RecursionError, yaml.YAMLError):
        return None
    return value if isinstance(value, dict) else None
