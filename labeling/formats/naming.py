"""Names over one file: of cases, of attempts on them and of rows, where the runner gave none or gave one twice.

The same file gives the same names whenever it is read. Only hashes are remembered.
"""

from collections import Counter
from hashlib import blake2b
from typing import Any

from labeling.formats.mapping import as_text
from labeling.formats.normal import canonical, digest
from labeling.formats.reading import joined


class Names:
    """Told from each other, row after row, in the order of the file."""

    def __init__(self) -> None:
        self._requests: dict[int, int] = {}
        self._attempts: Counter[int] = Counter()
        self._rows: set[int] = set()

    def case(self, wanted: Any, request: Any) -> str:
        """The key of the case: as wanted, else from the request. One key with two requests is two cases."""
        key = storable(as_text(wanted)) or f"request/{digest(request)[:32]}"
        if self._requests.setdefault(_short(key), _short(request)) == _short(request):
            return key
        return storable(joined(key, digest(request)[:16]))

    def attempt(self, system: str, case: str) -> int:
        """How often this system has been put this case so far, this time included."""
        self._attempts[_short([system, case])] += 1
        return self._attempts[_short([system, case])]

    def row(self, system: str, wanted: Any, number: int) -> str:
        """The row's id: as wanted, else its number; one that comes again gets its number as well."""
        name = storable(as_text(wanted)) or str(number)
        if _short([system, name]) in self._rows:
            name = storable(joined(name, number))
        self._rows.add(_short([system, name]))
        return name


def storable(name: str) -> str:
    """The name as it is where it can be stored and looked up by; else its hash."""
    spoiled = len(name) > 200 or any(char == "\0" or "\ud800" <= char <= "\udfff" for char in name)
    return f"hash/{digest(name)[:32]}" if spoiled else name


def _short(value: Any) -> int:
    return int.from_bytes(blake2b(canonical(value).encode("ascii"), digest_size=8).digest(), "big")
