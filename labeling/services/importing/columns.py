"""Which columns the rows of a file have, so that a mapping can name them; a bounded number, with a few values each."""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.formats.mapping import as_text
from labeling.formats.problems import shown

_MOST = 100
_DEPTH = 4
_VALUES = 5
_CUT = 40
# Columns and their usual values are known long before the end of a large file.
_LOOKED_AT = 2000


class Columns:
    """Told of the facts of each row, it knows the columns by their dotted paths, in the order they came."""

    def __init__(self) -> None:
        self._rows = 0
        self._values: dict[str, list[str]] = {}

    def row(self, facts: Mapping[str, Any]) -> None:
        self._rows += 1
        if self._rows > _LOOKED_AT:
            return
        for path, value in _leaves(facts, "", _DEPTH):
            if path not in self._values and len(self._values) == _MOST:
                continue
            values = self._values.setdefault(path, [])
            text = shown(as_text(value), limit=_CUT) if len(values) < _VALUES else ""
            if text and text not in values:
                values.append(text)

    def shown(self) -> list[dict[str, Any]]:
        """Of each its path and the first few different values."""
        return [{"path": path, "values": values} for path, values in self._values.items()]


def _leaves(facts: Mapping[str, Any], under: str, depth: int) -> Iterator[tuple[str, Any]]:
    """What a mapping can look up: everything that is no object itself."""
    for key, value in facts.items():
        path = f"{under}{key}"
        # A mapping names no longer path, and none that does not show.
        if len(path) > 200 or shown(path, limit=200) != path:
            continue
        if isinstance(value, Mapping) and depth:
            yield from _leaves(value, f"{path}.", depth - 1)
        elif not isinstance(value, list | Mapping):
            yield path, value
