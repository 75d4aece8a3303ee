"""Doing something several times at once, each time in a connection of its own."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")


def at_once(works: Sequence[Callable[[], Result]]) -> list[Result]:
    """What each came to, in their order. The first exception of any of them is raised here."""
    start = threading.Barrier(len(works))
    results: dict[int, Result] = {}
    failures: list[BaseException] = []

    def run(index: int, work: Callable[[], Result]) -> None:
        try:
            start.wait(10)
            results[index] = work()
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[index] for index in range(len(works))]
