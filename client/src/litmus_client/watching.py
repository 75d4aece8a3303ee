"""Following a run until the judges, or people too, are through with it."""

import time
from collections.abc import Callable
from typing import NamedTuple

from litmus_client.api import Api
from litmus_client.errors import Json
from litmus_client.workers import silence


class Standing(NamedTuple):
    """How far a run has come. silent: the sentence when judgments are owed and no worker is at work."""

    posted: int
    pending: int
    needs_audit: int
    settled: int
    not_run: int
    status: str
    silent: str

    @property
    def judged(self) -> int:
        return self.posted - self.pending

    def words(self) -> str:
        parts = [f"{self.judged:,} of {self.posted:,} judged", f"{self.settled:,} settled"]
        parts += [f"{self.needs_audit:,} wait for a person"] if self.needs_audit else []
        parts += [f"{self.not_run:,} were not run"] if self.not_run else []
        return ", ".join(parts)


def standing(api: Api, run_id: int) -> Standing:
    run: Json = api.get(f"runs/{run_id}/")
    progress: Json = run["progress"]
    counts = {name: progress[name] for name in ("posted", "pending", "needs_audit", "settled", "not_run")}
    silent = silence(api, run["worker_seen_at"]) if progress["pending"] else ""
    return Standing(**counts, status=run["status"], silent=silent)


def watch(api: Api, run_id: int, *, until_settled: bool, every: float, show: Callable[[Standing], None]) -> Standing:
    """Show how it stands until nothing is owed by the judges, and with `until_settled` nothing by people either."""
    while True:
        now = standing(api, run_id)
        show(now)
        if now.pending == 0 and (now.needs_audit == 0 or not until_settled):
            return now
        time.sleep(every)
