"""Bars where there is a terminal, a line now and then where there is none."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from litmus_client.showing import console, note

Advance = Callable[[int, str], None]
_A_LINE_EVERY = 10.0


@contextmanager
def bar(title: str, total: int) -> Iterator[Advance]:
    """Call what this gives with how much is done, and with words about it."""
    errors = console(stderr=True)
    if not errors.is_terminal:
        yield _lines(title, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[words]}"),
                  console=errors) as progress:  # fmt: skip
        task = progress.add_task(title, total=total or None, words="")
        yield lambda done, words: progress.update(task, completed=done, words=words)


def _lines(title: str, total: int) -> Advance:
    said = time.monotonic()

    def advance(done: int, words: str) -> None:
        nonlocal said
        if time.monotonic() - said < _A_LINE_EVERY:
            return
        said = time.monotonic()
        share = f"{done / total:.0%}" if total else f"{done:,}"
        note(f"{title}: {share} {words}".rstrip())

    return advance
