"""Where the bytes of uploads lie: one folder a project, each file named by its hash."""

import contextlib
import fcntl
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from django.conf import settings

from labeling.errors import Conflict, TooLarge, Unavailable
from labeling.models import ImportJob

_CHUNK = 1024 * 1024
# The other fields of a form that brings a file, and the borders between its parts.
_AROUND = 1024 * 1024


class Written(NamedTuple):
    size: int
    sha256: str


def folder_of(project_id: int) -> Path:
    """Made on the way, for nobody's eyes but the service's."""
    path = Path(settings.UPLOAD_DIR) / str(project_id)
    with _on_disk():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def kept(job: ImportJob) -> Path:
    """The whole file."""
    return folder_of(job.project_id) / job.sha256


def part(job: ImportJob) -> Path:
    """What has come so far."""
    return folder_of(job.project_id) / f"{job.pk}.part"


def write(path: Path, chunks: Iterable[bytes], *, limit: int) -> Written:
    """A new file of these chunks, on disk when this returns. Raises TooLarge past the limit."""
    hashed, size = hashlib.sha256(), 0
    with _on_disk(), path.open("xb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise too_large(None)
            hashed.update(chunk)
            file.write(chunk)
        sync(file)
    return Written(size, hashed.hexdigest())


@contextlib.contextmanager
def appending(path: Path) -> Iterator[BinaryIO]:
    """The file, to be written to at its end, for the caller alone. Raises Conflict where somebody else has it."""
    with _on_disk(), path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _sent_elsewhere() from None
        refuse_if_moved(file, path)
        yield file


def refuse_if_moved(file: BinaryIO, path: Path) -> None:
    """An open file outlives its name: the upload may have been completed, or begun anew, under it meanwhile."""
    if not (path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno()))):
        raise _sent_elsewhere()


def _sent_elsewhere() -> Conflict:
    return Conflict("Another request is sending this file just now; ask again what has been received.")


def hash_of(path: Path) -> str:
    with _on_disk(), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def move(path: Path, to: Path) -> None:
    """In one step, and lasting."""
    with _on_disk():
        path.replace(to)
        descriptor = os.open(to.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def largest_form() -> int:
    """How many bytes a form may have that brings a file."""
    return settings.MAX_UPLOAD_BYTES + _AROUND


def too_large(size: int | None) -> TooLarge:
    limit = settings.MAX_UPLOAD_BYTES
    given = "is larger" if size is None else f"has {size:,}"
    return TooLarge(
        f"A file may have {limit:,} bytes and this one {given}; split it, or raise LITMUS_MAX_UPLOAD_MIB.",
        limit_bytes=limit,
        size_bytes=size,
    )


def whole(job: ImportJob) -> Path:
    """The file, to be read. Raises Unavailable where bytes of it got lost: half of a file reads like a short one."""
    path = kept(job)
    with _on_disk():
        size = path.stat().st_size
    if size != job.size:
        raise Unavailable(f"Of this file {size:,} bytes are here instead of {job.size:,}; upload it again.")
    return path


class Watched:
    """Opens a file as often as its reader likes, and says where in it the reader is."""

    def __init__(self, path: Path, moved: Callable[[int], None]) -> None:
        self._path = path
        self._moved = moved

    def __call__(self) -> BinaryIO:
        with _on_disk():
            return io.BufferedReader(_Telling(self._path, self._moved), _CHUNK)


class _Telling(io.FileIO):
    def __init__(self, path: Path, moved: Callable[[int], None]) -> None:
        super().__init__(path)
        self._moved = moved

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        self._moved(self.tell())
        return count


def sync(file: BinaryIO | io.BufferedIOBase) -> None:
    """What was written is on disk when this returns."""
    file.flush()
    os.fsync(file.fileno())


@contextlib.contextmanager
def _on_disk() -> Iterator[None]:
    """A full or missing disk is nobody's bug, and nobody's who uploads."""
    try:
        yield
    except FileNotFoundError:
        raise Unavailable("The bytes of this file are not here any more; upload it again.") from None
    except OSError as error:
        raise Unavailable(
            f"The service cannot use its upload folder ({error.strerror}); tell whoever runs it, then try again."
        ) from None
