"""Long texts that Inspect keeps once and refers to from wherever they stand, as `attachment://NAME`."""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.files.elements import MAX_ELEMENT_BYTES, Broken
from labeling.formats.normal import MAX_DEPTH, too_deep

_ATTACHMENT = "attachment://"


def attachments_in(value: Any) -> set[str]:
    """The names of the attachments that this refers to."""
    return {text.removeprefix(_ATTACHMENT) for text in _texts(value) if text.startswith(_ATTACHMENT)}


def with_attachments(value: Any, attachments: Mapping[str, Any]) -> Any:
    """The value with its attachments in place; a reference that leads nowhere stays as it is.

    Raises Broken where that would fill the memory: few bytes can refer to one large attachment any number of times.
    """
    if too_deep(value):
        raise Broken(f"It is nested more than {MAX_DEPTH} levels deep.")
    texts = (attachments.get(text.removeprefix(_ATTACHMENT)) for text in _texts(value) if text.startswith(_ATTACHMENT))
    if sum(len(text) for text in texts if isinstance(text, str)) > MAX_ELEMENT_BYTES:
        raise Broken(f"Its attachments would have more than {MAX_ELEMENT_BYTES:,} characters.")
    return _filled(value, attachments)


def _filled(value: Any, attachments: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, dict):
        return {name: _filled(each, attachments) for name, each in value.items()}
    return [_filled(each, attachments) for each in value] if isinstance(value, list) else value


def _texts(value: Any) -> Iterator[str]:
    """Every text inside, without recursion."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)
