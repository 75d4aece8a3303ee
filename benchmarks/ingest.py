"""How fast transcripts go in over REST, next to plain COPY (PostgreSQL) and executemany (SQLite) of the same rows.

See benchmarks/README.md. Ends with one line of JSON.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, NamedTuple

from tables import PostgreSQL, SQLite, Tables
from throwaway import Client, Litmus, litmus
from transcripts import lines, suite

SEED = 20261129
SIZES, QUICK_SIZES = (10_000, 50_000), (2_000, 6_000)
CLIENTS = (1, 4)
BATCH = 1000
SINGLES, QUICK_SINGLES = 500, 200
NDJSON = "application/x-ndjson"


class Plan(NamedTuple):
    sizes: Sequence[int]
    singles: int


class Measured(NamedTuple):
    """Trajectories a second over REST and straight into the tables."""

    database: str
    transcripts: int
    clients: int
    rest_per_s: int
    copy_per_s: int

    @property
    def ratio(self) -> float:
        return round(self.rest_per_s / self.copy_per_s, 3)


class Singles(NamedTuple):
    database: str
    posts: int
    median_ms: float
    p95_ms: float


def main() -> None:
    arguments = _arguments()
    plan = Plan(
        arguments.sizes or (QUICK_SIZES if arguments.quick else SIZES),
        arguments.singles or (QUICK_SINGLES if arguments.quick else SINGLES),
    )
    transcripts = list(lines(max(plan.sizes), seed=SEED))
    mean = statistics.mean(len(line) for line in transcripts)
    sizes = ", ".join(f"{size:,}" for size in plan.sizes)
    print(f"{sizes} transcripts of 2-12 messages, {mean:,.0f} bytes on average, seed {SEED};")
    print(f"NDJSON bodies of {BATCH:,} lines without gzip, each on a connection of its own;")
    print(f"{os.cpu_count()} processors, clients included; gunicorn as script/server starts it, no worker.\n")
    measured: list[Measured] = []
    singles: list[Singles] = []
    for database, server_url in _databases(arguments):
        with litmus(server_url) as served:
            tables = PostgreSQL(served.database_url) if served.database_url else SQLite(served.sqlite)
            served.client().post("/api/v1/suites/", json.dumps(suite("benchmark")).encode())
            _warm_up(served, transcripts)
            for size in plan.sizes:
                for clients in CLIENTS:
                    measured.append(_bulk(served, tables, database, transcripts[:size], clients))
                    _print_bulk(measured)
            singles.append(_singles(served, database, transcripts[: plan.singles]))
            print(f"{database}: a single post takes {singles[-1].median_ms} ms, p95 {singles[-1].p95_ms} ms\n")
    print(json.dumps(_conclusion(measured, singles, mean)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; at most a minute on two processors")
    parser.add_argument("--database", default=os.environ.get("DATABASE_URL", ""), metavar="URL")
    parser.add_argument("--only", choices=["postgresql", "sqlite"], help="one of the two databases")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of transcripts, instead of the usual ones")
    parser.add_argument("--singles", type=int, help="number of single posts")
    return parser.parse_args()


def _databases(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Name and server. PostgreSQL first: its figures are the ones that the last line leads with."""
    both = {"postgresql": arguments.database, "sqlite": ""}
    if not arguments.database:
        print("No PostgreSQL: set DATABASE_URL or --database to measure it too.")
        del both["postgresql"]
    return [(name, url) for name, url in both.items() if arguments.only in (None, name)]


# --- over REST ---------------------------------------------------------------------------------------------------


def _new_run(client: Client, name: str) -> str:
    """The path that its trajectories are posted to."""
    body = {"external_id": name, "suite": "benchmark@1", "configuration": {"model": "none", "version": "1"}}
    return f"/api/v1/runs/{client.post('/api/v1/runs/', json.dumps(body).encode())['id']}/trajectories/"


def _warm_up(served: Litmus, transcripts: Sequence[bytes]) -> None:
    """Each process of the server imports and connects at its first request."""
    path = _new_run(served.client(), "warm-up")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda line: served.client().post(path, line), transcripts[:40]))


def _bulk(served: Litmus, tables: Tables, database: str, transcripts: Sequence[bytes], clients: int) -> Measured:
    tables.empty()
    path = _new_run(served.client(), f"{len(transcripts)} by {clients}")
    bodies = [b"\n".join(transcripts[first : first + BATCH]) for first in range(0, len(transcripts), BATCH)]
    shares = [bodies[client::clients] for client in range(clients)]
    with ThreadPoolExecutor(clients) as threads:
        start = time.perf_counter()
        created = sum(threads.map(lambda share: _posted(served, path, share), shares))
        rest = time.perf_counter() - start
    assert created == tables.count() == len(transcripts), (created, tables.count())
    copy = tables.copy_again(clients)
    assert tables.count() == len(transcripts)
    return Measured(database, len(transcripts), clients, round(created / rest), round(created / copy))


def _posted(served: Litmus, path: str, bodies: Sequence[bytes]) -> int:
    """How many were created. Each body has a connection of its own: kept ones may all stay with one process."""
    created = 0
    for body in bodies:
        with closing(served.client()) as client:
            created += client.post(path, body, NDJSON)["created"]
    return created


def _singles(served: Litmus, database: str, transcripts: Sequence[bytes]) -> Singles:
    """One transcript a post, one after the other, to a run of their own beside what is there."""
    client = served.client()
    path = _new_run(client, "singles")
    took = []
    for line in transcripts:
        start = time.perf_counter()
        client.post(path, line)
        took.append((time.perf_counter() - start) * 1000)
    return Singles(
        database, len(took), round(statistics.median(took), 1), round(statistics.quantiles(took, n=20)[-1], 1)
    )


# --- what is printed ---------------------------------------------------------------------------------------------


def _print_bulk(measured: Sequence[Measured]) -> None:
    if len(measured) == 1:
        print(f"{'database':<12}{'transcripts':>12}{'clients':>9}{'REST/s':>9}{'plain/s':>9}{'ratio':>8}")
    last = measured[-1]
    figures = f"{last.rest_per_s:>9,}{last.copy_per_s:>9,}{last.ratio:>8}"
    print(f"{last.database:<12}{last.transcripts:>12,}{last.clients:>9}{figures}", flush=True)


def _conclusion(measured: Sequence[Measured], singles: Sequence[Singles], mean: float) -> dict[str, Any]:
    """The largest size by most clients on the first database leads; everything is in the lists."""
    first = [each for each in measured if each.database == measured[0].database]
    lead = max(first, key=lambda each: (each.transcripts, each.clients))
    return {
        "rest_per_s": lead.rest_per_s,
        "copy_per_s": lead.copy_per_s,
        "ratio": lead.ratio,
        "single_p95_ms": max(each.p95_ms for each in singles),
        "database": lead.database,
        "transcripts": lead.transcripts,
        "clients": lead.clients,
        "mean_bytes": round(mean),
        "seed": SEED,
        "measured": [{**each._asdict(), "ratio": each.ratio} for each in measured],
        "singles": [each._asdict() for each in singles],
    }


if __name__ == "__main__":
    main()
