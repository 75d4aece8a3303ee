"""Names over one file: of systems, cases, attempts on them and rows, where the runner gave none or gave one twice.

The same file gives the same names whenever it is read. Only hashes are remembered.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from labeling.formats.mapping import ImportMapping, as_text, found
from labeling.formats.normal import canonical, digest
from labeling.formats.reading import System
from labeling.formats.scalars import is_storable


class Names:
    """Told from each other, row after row, in the order of the file."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._key_rule = mapping.case.key
        self._systems: set[str] = set()
        self._requests: dict[int, int] = {}
        self._attempts: Counter[int] = Counter()
        self._rows: set[int] = set()

    def once(self, system: System) -> Iterator[System]:
        """The system, before the first of its rows."""
        if system.key not in self._systems:
            self._systems.add(system.key)
            yield system

    def case(self, wanted: Any, request: Any) -> str:
        """The key of the case: as wanted, else from the request. One key with two requests is two cases."""
        key = storable(as_text(wanted)) or f"request/{digest(request)[:32]}"
        asked = short(request)
        if self._requests.setdefault(short(key), asked) == asked:
            return key
        return storable(joined(key, digest(request)[:16]))

    def attempt(self, system: str, case: str, facts: Mapping[str, Any]) -> int:
        """How often this system has been put this case so far, this time included; under the key a mapping gives it."""
        mapped = found(self._key_rule, facts)
        counted = short([system, case if mapped is None else as_text(mapped)])
        self._attempts[counted] += 1
        return self._attempts[counted]

    def row(self, system: str, wanted: Any, number: int) -> str:
        """The row's id: as wanted, else its number; one that comes again gets its number as well."""
        name = storable(as_text(wanted)) or str(number)
        if short([system, name]) in self._rows:
            name = storable(joined(name, number))
        self._rows.add(short([system, name]))
        return name


def storable(name: str) -> str:
    """The name as it is where it can be stored and looked up by; else its hash."""
    return name if len(name) <= 200 and is_storable(name) else f"hash/{digest(name)[:32]}"


def joined(*words: object) -> str:
    """The words that are there, one key of them: for external ids and keys of systems."""
    return "/".join(str(word) for word in words if word not in (None, ""))


def short(value: Any) -> int:
    """A hash of eight bytes, to remember what has been seen by."""
    return int.from_bytes(blake2b(canonical(value).encode("ascii"), digest_size=8).digest(), "big")
