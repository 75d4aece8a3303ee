"""Typed readers of environment variables. A bad value stops the process with the sentence that mends it."""

import os
import re
import secrets
from pathlib import Path

_JUDGE_URL, _JUDGE_KEY = "LITMUS_JUDGE_URL_", "LITMUS_JUDGE_KEY_"


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


def env_endpoints() -> dict[str, tuple[str, str]]:
    """By NAME, the address in LITMUS_JUDGE_URL_NAME with the key in LITMUS_JUDGE_KEY_NAME, or in the file it names."""
    urls = {name.removeprefix(_JUDGE_URL): name for name in sorted(os.environ) if name.startswith(_JUDGE_URL)}
    found = {
        name: (_endpoint(variable), _given(_JUDGE_KEY + name) or "")
        for name, variable in urls.items()
        if os.environ[variable].strip()
    }
    for variable in os.environ:
        name = variable.removeprefix(_JUDGE_KEY)
        if name != variable and os.environ[variable] and not {name, name.removesuffix("_FILE")} & found.keys():
            url = _JUDGE_URL + name.removesuffix("_FILE")
            raise BadEnvironment(
                f"{variable} has no {url}; set it too, for a key is sent only to the address beside it."
            )
    return found


def _endpoint(variable: str) -> str:
    url, name = os.environ[variable].strip().rstrip("/"), variable.removeprefix(_JUDGE_URL)
    if not re.fullmatch(r"[A-Z0-9_]{1,60}", name):
        raise BadEnvironment(f"{variable} must end in a name of capital letters, digits and underscores.")
    if re.fullmatch(r"https?://[^/@?#\s]+(/[^@?#\s]*)?", url):
        return url
    raise BadEnvironment(f"{variable} cannot be read; write it as https://host/path, without a user name or a query.")


def env_secret(name: str, *, keep_in: Path) -> str:
    """The variable, else the file `NAME_FILE` names, else a secret made once and kept in `keep_in`."""
    given = _given(name)
    return _kept_secret(keep_in) if given is None else given


def _given(name: str) -> str | None:
    """A secret that somebody set, in the variable or in the file that `NAME_FILE` names."""
    if value := os.environ.get(name, "").strip():
        return value
    source = os.environ.get(f"{name}_FILE", "").strip()
    if not source:
        return None
    try:
        return Path(source).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadEnvironment(
            f"{name}_FILE names {source}, which cannot be read ({error.strerror}); fix the path or its permissions."
        ) from None


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
