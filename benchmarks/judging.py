"""How much of what an endpoint allows one worker process uses, and how fast the substring judge labels.

See benchmarks/README.md. Ends with one line of JSON.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import django
from substring_speed import substring_per_second
from throwaway import ROOT, database

# So many times all calls at once, that the last ones do not leave some of them idle.
ROUNDS, QUICK_ROUNDS = 24, 9
LATENCIES = (1.0, 0.2)
LOCAL, QUICK_LOCAL = 4000, 500


def main() -> None:
    arguments = _arguments()
    folder = Path(tempfile.mkdtemp(prefix="litmus-benchmark-"))
    try:
        with database(arguments.database) as url:
            _set_up(folder, url, arguments.redis)
            # Settings are read on import, and the address of the database is only known by now.
            import judging_steps as steps  # noqa: PLC0415

            where = f"{'PostgreSQL' if url else 'SQLite'} and {'Redis' if arguments.redis else 'a broker in files'}"
            print(f"{os.cpu_count()} processors, the endpoint included; load {os.getloadavg()[0]:.1f}; {where}.\n")
            with steps.tables():
                served = [steps.served(latency, arguments.rounds, folder) for latency in arguments.latencies]
                local = steps.local(arguments.local)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    substring = substring_per_second(quick=arguments.quick)
    for name, rate in substring.items():
        print(f"{name:<24}{rate:>10,.0f}")
    print(json.dumps(_conclusion(served, local, substring)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; under a minute on two processors")
    parser.add_argument("--database", default=os.environ.get("DATABASE_URL", ""), metavar="URL")
    parser.add_argument("--redis", default=os.environ.get("REDIS_URL", ""), metavar="URL")
    parser.add_argument("--rounds", type=int, help="of 64 calls each, instead of the usual number")
    parser.add_argument("--latencies", type=float, nargs="+", default=LATENCIES, metavar="SECONDS")
    parser.add_argument("--local", type=int, help="trajectories for the judge that runs here")
    given = parser.parse_args()
    given.rounds = given.rounds or (QUICK_ROUNDS if given.quick else ROUNDS)
    given.local = given.local or (QUICK_LOCAL if given.quick else LOCAL)
    return given


def _set_up(folder: Path, database_url: str, redis_url: str) -> None:
    """Django in this process and in the worker that it starts, on the same empty database."""
    for name in [name for name in os.environ if name.startswith("LITMUS_")]:
        del os.environ[name]
    os.environ |= {
        "LITMUS_DATA_DIR": str(folder),
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "LITMUS_JUDGE_HOSTS": "127.0.0.1",
        "LITMUS_LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "litmus_site.settings",
    }
    sys.path.insert(0, str(ROOT))
    django.setup()


def _conclusion(served: Sequence[Any], local: dict[str, float], substring: dict[str, float]) -> dict[str, Any]:
    """The first latency leads; everything is in the lists."""
    return {
        "concurrency_share": served[0].share,
        "calls_per_s": served[0].per_s,
        **substring,
        "served": [each._asdict() | {"share": each.share} for each in served],
        "local": local,
    }


if __name__ == "__main__":
    main()
