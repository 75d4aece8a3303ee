"""The benchmarks run, at a tiny size, and end with the line of JSON that others read."""

import json
import os
import subprocess
import sys
from typing import Any

from django.conf import settings


def last_line_of(script: str, *arguments: str) -> Any:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, f"benchmarks/{script}", *arguments],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def test_ingest() -> None:
    found = last_line_of("ingest.py", "--sizes", "200", "--singles", "5")
    assert {"rest_per_s", "copy_per_s", "ratio", "single_p95_ms"} <= set(found)
    assert [(each["database"], each["transcripts"], each["clients"]) for each in found["measured"]] == [
        ("sqlite", 200, 1),
        ("sqlite", 200, 4),
    ]
    assert found["ratio"] == round(found["rest_per_s"] / found["copy_per_s"], 3)
    assert found["single_p95_ms"] > 0


def test_judging() -> None:
    """Two times 64 calls: the figures are of no use at this size, but every call is made and stored."""
    found = last_line_of("judging.py", "--quick", "--rounds", "2", "--local", "20", "--latencies", "0.5")
    assert {"concurrency_share", "substring_per_s", "with_language_per_s"} <= set(found)
    (served,) = found["served"]
    assert (served["latency"], served["calls"], served["allowed_per_s"]) == (0.5, 128, 128.0)
    assert found["concurrency_share"] == served["share"]
    # The second 64 cannot come back much less than half a second after the first.
    assert 0 < served["share"] < 1.2
    assert set(found["local"]) == {"reading", "labeling", "storing", "routing", "all"}
