"""The judges a worker can run, by name."""

from labeling.judges.base import RunningJudge
from labeling.judges.substring import SubstringJudge
from labeling.models import Judge

BUILT_IN: dict[str, RunningJudge] = {judge.name: judge for judge in (SubstringJudge(),)}


def running(row: Judge) -> RunningJudge | None:
    """The code behind a judge's row, where this service still has that very version."""
    judge = BUILT_IN.get(row.name)
    return judge if judge is not None and judge.version == row.version else None
