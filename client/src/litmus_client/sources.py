"""What is pushed: a file or standard input, decompressed where it is gzip, and whether its lines are our own."""

import gzip
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from litmus_client.errors import LitmusError

_GZIP = b"\x1f\x8b"
_CHUNK = 1024 * 1024
# The first line decides what a file is. Longer than this, it is no line of ours.
_LONGEST_FIRST_LINE = 256 * _CHUNK


@dataclass(frozen=True, slots=True)
class Source:
    """filename: how the service will know it. sha256 and size are of what is inside the gzip, if it is one."""

    path: Path
    filename: str
    sha256: str
    size: int

    def open(self, *, at: int = 0) -> BinaryIO:
        """The bytes inside, from this offset on."""
        stream = _opened(self.path)
        stream.seek(at)
        return stream


@contextmanager
def sources(names: tuple[str, ...]) -> Iterator[Iterator[Source]]:
    """Each file in turn. Standard input, named -, is kept in a temporary file, so that it can be read again."""
    with tempfile.TemporaryDirectory(prefix="litmus-push-") as folder:
        yield (_spooled(Path(folder)) if name == "-" else source(Path(name)) for name in names)


def source(path: Path, *, filename: str | None = None) -> Source:
    digest, size = hashlib.sha256(), 0
    try:
        with _opened(path) as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
    except (OSError, EOFError) as error:
        raise LitmusError(f"{path} cannot be read: {error}.") from None
    return Source(path, filename or path.name.removesuffix(".gz"), digest.hexdigest(), size)


def is_our_own(given: Source) -> bool:
    """Is the first line a trajectory as runners post them (docs/how-to/post-from-a-runner.md)?"""
    with given.open() as stream:
        for line in iter(lambda: stream.readline(_LONGEST_FIRST_LINE), b""):
            if line.strip().removeprefix(b"\xef\xbb\xbf").strip():
                return _is_trajectory(line)
    return False


def _is_trajectory(line: bytes) -> bool:
    try:
        value = json.loads(line.decode("utf-8-sig", "surrogatepass"))
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or not {"external_id", "case"} <= value.keys():
        return False
    # An export has the line as it was posted inside.
    return bool({"messages", "error"} & value.keys()) and "posted" not in value


def _opened(path: Path) -> BinaryIO:
    plain = path.open("rb")
    start = plain.read(2)
    plain.seek(0)
    if start != _GZIP:
        return plain
    plain.close()
    return cast("BinaryIO", gzip.open(path, "rb"))


def _spooled(folder: Path) -> Source:
    path = folder / "stdin"
    with path.open("wb") as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept, _CHUNK)
    return source(path)
