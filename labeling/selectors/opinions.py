"""What judges said, as opinions."""

from collections.abc import Iterable

from labeling.measure.opinion import Opinion
from labeling.models import Judgment, PanelSeat, Trajectory
from labeling.selectors.stored import chunked


def panel_opinions(rows: Iterable[Trajectory]) -> dict[int, dict[int, Opinion]]:
    """Per trajectory the opinion of each judge of its run's panel (any judge while no panel is frozen)."""
    rows = list(rows)
    frozen = {row.run_id for row in rows if row.run.panel_is_frozen}
    seated = set(PanelSeat.objects.filter(run__in=frozen).values_list("run_id", "judge_id"))
    run_of = {row.pk: row.run_id for row in rows}
    opinions: dict[int, dict[int, Opinion]] = {pk: {} for pk in run_of}
    for chunk in chunked(run_of):
        judgments = Judgment.objects.filter(trajectory__in=chunk).order_by("judge_id")
        for judgment in judgments.defer("scores", "evidence", "rationale", "raw_output"):
            run = run_of[judgment.trajectory_id]
            if run not in frozen or (run, judgment.judge_id) in seated:
                opinions[judgment.trajectory_id][judgment.judge_id] = judgment.opinion()
    return opinions
