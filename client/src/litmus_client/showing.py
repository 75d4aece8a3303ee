"""Words for people. What a model or a file wrote is shown and never obeyed by the terminal."""

import sys
from io import TextIOWrapper

import click
from rich.console import Console


def visible(text: object, *, limit: int | None = None) -> str:
    """On one line, printable, short: control and direction characters, surrogates and breaks as escapes."""
    whole = str(text)
    cut = whole if limit is None or len(whole) <= limit else whole[: limit - 1] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)


def ends(text: str, *, limit: int) -> str:
    """The start of a text and its end, as `visible` shows the start alone."""
    half = (limit - 3) // 2
    return visible(text if len(text) <= limit else f"{text[:half]} … {text[-half:]}")


def say(text: str = "") -> None:
    """A result, to standard output."""
    click.echo(text)


def note(text: str) -> None:
    """About the work, to standard error."""
    click.echo(text, err=True)


def console(*, stderr: bool = False) -> Console:
    """Nothing in a text is taken for markup."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def survive_odd_characters() -> None:
    """A terminal that cannot show a character shows its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def counted(number: int, one: str, several: str | None = None) -> str:
    """1 row, 2 rows."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"
