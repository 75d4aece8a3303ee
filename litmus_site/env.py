"""Typed readers of environment variables. A bad value stops the process with the sentence that mends it."""

import os
import secrets
from pathlib import Path


class BadEnvironment(SystemExit):
    """Shown as it is, without a traceback."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"litmus: {sentence}")


def env_str(name: str, default: str) -> str:
    return os.environ.get(name, default)


def env_list(name: str, default: str) -> list[str]:
    """Comma-separated words, blanks dropped."""
    return [word.strip() for word in env_str(name, default).split(",") if word.strip()]


def env_bool(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "1", "true", "yes", "on", "0", "false", "no", "off"):
        return default if value == "" else value in ("1", "true", "yes", "on")
    raise BadEnvironment(f"{name} is {value!r}; set it to 1 or 0.")


def env_int(name: str, default: int, *, least: int, most: int) -> int:
    value = os.environ.get(name, "").strip() or str(default)
    if value.isascii() and value.isdigit() and least <= int(value) <= most:
        return int(value)
    raise BadEnvironment(f"{name} is {value!r}; set it to a whole number from {least} to {most}.")


def env_path(name: str, default: Path) -> Path:
    return Path(os.environ.get(name, "").strip() or default).expanduser().resolve()


def env_secret(name: str, *, keep_in: Path) -> str:
    """The variable, else the file `NAME_FILE` names, else a secret made once and kept in `keep_in`."""
    if value := os.environ.get(name, "").strip():
        return value
    if source := os.environ.get(f"{name}_FILE", "").strip():
        try:
            return Path(source).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadEnvironment(
                f"{name}_FILE names {source}, which cannot be read ({error.strerror}); fix the path or its permissions."
            ) from None
    return _kept_secret(keep_in)


def _kept_secret(path: Path) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(path.parent, error) from None
    try:
        # Exclusive creation: of two processes starting at once, one writes and both read.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    except OSError as error:
        raise _unusable(path.parent, error) from None
    return path.read_text(encoding="utf-8")


def _unusable(folder: Path, error: OSError) -> BadEnvironment:
    return BadEnvironment(f"{folder} cannot be written ({error.strerror}); set LITMUS_DATA_DIR to a folder of yours.")
