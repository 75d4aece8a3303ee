"""The reference runner's memory: a file of finished attempts, one a line, that only grows."""

import hashlib
import json
import os
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path

from litmus_client.api import encoded
from litmus_client.errors import Json, LitmusError

_HEADER = "litmus_run"
_LONGEST_ID = 200


def attempt_id(case_key: str, attempt: int) -> str:
    """The external id of an attempt: the same whenever it is made."""
    name = f"{case_key}#{attempt}"
    return name if len(name) <= _LONGEST_ID else f"{hashlib.sha256(case_key.encode()).hexdigest()}#{attempt}"


class Record:
    """The first line says of which run, every other one is a trajectory line exactly as it is posted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: Json | None = None
        self.done: set[str] = set()
        self._file: RawIOBase | None = None

    def open(self) -> None:
        """Read what is there, cut off a line that broke in the middle, and get ready to write on."""
        try:
            # What models answer is nobody else's to read.
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError as error:
            raise LitmusError(f"The state file {self.path} cannot be written: {error.strerror}.") from None
        # Unbuffered: a line is one write, so that nothing can come between its halves.
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        whole = 0
        with self.path.open("rb") as kept:
            for raw in kept:
                if raw.endswith(b"\n"):
                    self._remember(raw)
                    whole += len(raw)
                elif not whole:
                    raise self._foreign()
        self._file.truncate(whole)
        self._file.seek(whole)

    def begin(self, header: Json) -> None:
        self.header = header
        self._write(encoded({_HEADER: header}))

    def keep(self, line: Json) -> bytes:
        raw = encoded(line)
        self._write(raw)
        self.done.add(line["external_id"])
        return raw

    def lines(self) -> Iterator[bytes]:
        """The attempts kept so far."""
        with self.path.open("rb") as stream:
            next(stream, b"")
            yield from (raw.rstrip(b"\n") for raw in stream)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _remember(self, raw: bytes) -> None:
        try:
            value = json.loads(raw)
            if self.header is None:
                self.header = value[_HEADER]
            else:
                self.done.add(value["external_id"])
        except (ValueError, KeyError, TypeError):
            raise self._foreign() from None

    def _foreign(self) -> LitmusError:
        return LitmusError(f"{self.path} is no state file of litmus run; choose another --state.")

    def _write(self, raw: bytes) -> None:
        assert self._file is not None
        self._file.write(raw + b"\n")
