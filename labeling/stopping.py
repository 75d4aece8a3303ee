"""Whether this worker was told to stop, known in its child processes too: long work then comes to a good end."""

import multiprocessing

_told = multiprocessing.get_context("fork").Event()


def tell() -> None:
    _told.set()


def is_told() -> bool:
    return _told.is_set()
