"""A mapping as people write it: YAML or JSON, without the traps of either.

`yes` and `no` are fields of a mapping, so they are words here and not truth values; `010` and `2024-02-01` are text;
keys are text as they are written. A key given twice is an error, because the second would silently win.
"""

import json
import re
from typing import Any

import yaml

from labeling.errors import DomainError

LONGEST = 200_000  # characters; a mapping is small

_PLAIN = (
    ("tag:yaml.org,2002:null", r"~|null|", ["~", "n", ""]),
    ("tag:yaml.org,2002:bool", r"true|false", ["t", "f"]),
    ("tag:yaml.org,2002:int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "tag:yaml.org,2002:float",
        r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+][0-9]+)",
        list("-+0123456789"),
    ),
)


class _Loader(yaml.SafeLoader):
    """Plain data only, and each piece of it once: no anchors, which grow a short text into a huge one."""

    yaml_implicit_resolvers = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            sentence = "an alias (*) is not read here; write it out"
            raise yaml.composer.ComposerError(None, None, sentence, event.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be text", key_node.start_mark)
            if key_node.value in made:
                raise yaml.constructor.ConstructorError(
                    None, None, "this key is already there; keep one of the two", key_node.start_mark
                )
            made[key_node.value] = self.construct_object(value_node, deep=deep)
        return made


class _Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers = {}

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - likewise
        super().increase_indent(flow, indentless=False)


for _tag, _pattern, _first in _PLAIN:
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), _first)


def mapping_of(text: str) -> dict[str, Any]:
    """The mapping this text writes; an empty text is an empty mapping. Raises DomainError with the line."""
    if len(text) > LONGEST:
        raise DomainError(f"A mapping has at most {LONGEST} characters; this one has {len(text)}.")
    loaded = _loaded(text)
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise DomainError("A mapping is an object: write `case:` or `scores:` on a line, and what belongs to it below.")
    return loaded


def _loaded(text: str) -> Any:
    try:
        # JSON may be indented by tabs, which YAML forbids.
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        pass
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"Line {mark.line + 1}, column {mark.column + 1} of the mapping" if mark else "The mapping"
        raise DomainError(f"{where}: {error.problem or 'it cannot be read'}.") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DomainError(f"Line {line} of the mapping holds a character that YAML forbids.") from None
    except (ValueError, RecursionError):
        raise DomainError("The mapping is nested too deeply, or a number in it is too long.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is given twice")  # YAML's reader says where
    return made


def text_of(mapping: dict[str, Any], *, ascii_only: bool = False) -> str:
    """The mapping as YAML that `mapping_of` reads back equal; `ascii_only` writes everything else as escapes."""
    if not mapping:
        return ""
    text: str = yaml.dump(mapping, Dumper=_Dumper, sort_keys=False, allow_unicode=not ascii_only, width=100)
    # YAML takes these for ends of lines where they stand by themselves.
    if not ascii_only and any(character in text for character in "\x85\u2028\u2029"):
        return text_of(mapping, ascii_only=True)
    return text
