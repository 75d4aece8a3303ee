"""How far a push has come, kept on this machine: a broken one goes on there. Without it, all is posted again."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_SHAPE = 1


@dataclass(slots=True)
class Place:
    """What was acknowledged: bytes, lines, and what became of them."""

    offset: int = 0
    number: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)


class PlaceFile:
    """A small file in the user's cache. `name` is everything that must be the same for the place to hold."""

    def __init__(self, *name: object) -> None:
        key = hashlib.sha256(json.dumps([_SHAPE, *map(str, name)]).encode()).hexdigest()
        self.path = cache_folder() / f"push-{key[:32]}.json"

    def read(self) -> Place:
        with suppress(OSError, ValueError, TypeError):
            return Place(**json.loads(self.path.read_text(encoding="ascii")))
        return Place()

    def write(self, place: Place) -> None:
        """Whole or not at all. Where nothing can be written, a push is merely not resumed."""
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            draft = self.path.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps(asdict(place)), encoding="ascii")
            draft.replace(self.path)

    def forget(self) -> None:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "litmus"
