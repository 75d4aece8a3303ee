"""The rows of a run, straight from the tables and back: what plain COPY and executemany make of them.

The rows are serialised before the clock starts: for COPY as its own text, for executemany as tuples.
"""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import psycopg

TABLES = ("labeling_trajectory", "labeling_trajectorycontent")
PER_CONNECTION = 1000
# As litmus_site/settings.py opens it.
_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-32000", "foreign_keys=ON")


class Tables(Protocol):
    def count(self) -> int: ...
    def empty(self) -> None: ...
    def copy_again(self, connections: int) -> float:
        """Take the rows out, put the same rows in again, and give the seconds that putting in took."""
        ...


class PostgreSQL:
    def __init__(self, url: str) -> None:
        self._url = url

    def count(self) -> int:
        with psycopg.connect(self._url) as connection:
            row = connection.execute("SELECT count(*) FROM labeling_trajectorycontent").fetchone()
        assert row is not None
        return int(row[0])

    def empty(self) -> None:
        with psycopg.connect(self._url) as connection:
            connection.execute("TRUNCATE labeling_trajectory CASCADE")
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")

    def copy_again(self, connections: int) -> float:
        shares = [self._taken(connections, part) for part in range(connections)]
        self.empty()
        with ThreadPoolExecutor(connections) as threads:
            start = time.perf_counter()
            list(threads.map(self._put, shares))
            return time.perf_counter() - start

    def _taken(self, parts: int, part: int) -> list[bytes]:
        """Every table's share as the text that COPY reads."""
        keys = (("labeling_trajectory", "id"), ("labeling_trajectorycontent", "trajectory_id"))
        with psycopg.connect(self._url) as connection, connection.cursor() as cursor:
            taken = []
            for table, key in keys:
                query = f"COPY (SELECT * FROM {table} WHERE {key} / {PER_CONNECTION} % {parts} = {part}) TO STDOUT"
                with cursor.copy(query) as copy:
                    taken.append(b"".join(copy))
            return taken

    def _put(self, share: list[bytes]) -> None:
        with psycopg.connect(self._url) as connection, connection.cursor() as cursor:
            for table, text in zip(TABLES, share, strict=True):
                with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                    copy.write(text)


class SQLite:
    """It has one writer, so the rows go in by one connection."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def count(self) -> int:
        with self._opened() as connection:
            return int(connection.execute("SELECT count(*) FROM labeling_trajectorycontent").fetchone()[0])

    def empty(self) -> None:
        with self._opened() as connection:
            connection.execute("PRAGMA foreign_keys=OFF")
            for table in TABLES:
                connection.execute(f"DELETE FROM {table}")
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def copy_again(self, connections: int) -> float:  # noqa: ARG002 - see the class
        with self._opened() as connection:
            taken = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES]
        self.empty()
        with self._opened() as connection:
            start = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            for table, rows in zip(TABLES, taken, strict=True):
                marks = ",".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.execute("COMMIT")
            return time.perf_counter() - start

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        return connection
