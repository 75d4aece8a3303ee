"""What every command has: where the service is, and how it ends."""

import functools
from collections.abc import Callable
from contextlib import closing
from typing import Any

import click

from litmus_client.api import DEFAULT_URL, Api
from litmus_client.pushing import Pushed
from litmus_client.showing import counted, note, say, visible

# Exit codes beside 0; docs/reference/command-line.md says when.
NOT_TAKEN, TROUBLE, INTERRUPTED = 1, 2, 130
_SHOWN = 20


def connected(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the service as its first argument."""

    @click.option(
        "--url", envvar="LITMUS_URL", default=DEFAULT_URL, show_default=True, help="The service [LITMUS_URL]."
    )
    @click.option("--key", envvar="LITMUS_KEY", help="A runner key; better in LITMUS_KEY, which others do not see.")
    @click.option("--project", envvar="LITMUS_PROJECT", help="Refuse to work on another project [LITMUS_PROJECT].")
    @functools.wraps(command)
    def wrapper(*args: Any, url: str, key: str | None, project: str | None, **kwargs: Any) -> None:
        with closing(Api(url, key, project, notice=note)) as api:
            command(api, *args, **kwargs)

    return wrapper


def say_what_became(name: str, pushed: Pushed) -> None:
    """The counts, and the lines that were not taken with their reasons."""
    counts = ", ".join(f"{count:,} {word}" for word, count in pushed.counts().items())
    say(f"{visible(name, limit=200)}: {counts}")
    for entry in pushed.entries[:_SHOWN]:
        who = f" ({visible(entry.external_id, limit=100)})" if entry.external_id else ""
        say(f"  line {entry.line}{who} {entry.status}: {visible(f'{entry.path} {entry.reason}'.strip())}")
    if (more := pushed.conflict + pushed.rejected - min(len(pushed.entries), _SHOWN)) > 0:
        say(f"  and {counted(more, 'more line')}")
