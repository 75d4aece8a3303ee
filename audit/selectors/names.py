"""Runs and judges as pages and reports name them."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from labeling.models import Judge, Project, Run


class JudgeName(NamedTuple):
    """A judge version. on_panel: its opinions make the labels of the run at hand."""

    id: int
    name: str
    version: str
    kind: str
    title: str
    on_panel: bool

    @classmethod
    def of(cls, judge: Judge, *, on_panel: bool = False) -> "JudgeName":
        return cls(judge.pk, judge.name, judge.version, judge.kind, judge.title, on_panel)


class RunRef(NamedTuple):
    id: int
    name: str
    external_id: str
    suite: str
    status: str
    model: str
    version: str

    @classmethod
    def of(cls, run: Run) -> "RunRef":
        """Needs the run's suite and configuration selected along."""
        return cls(
            run.pk,
            run.name or run.external_id,
            run.external_id,
            str(run.suite),
            run.status,
            run.configuration.model,
            run.configuration.version,
        )


def run_refs(runs: Iterable[Run]) -> tuple[RunRef, ...]:
    return tuple(RunRef.of(run) for run in runs)


def judge_names(*, project: Project, judge_ids: Collection[int]) -> dict[int, JudgeName]:
    """Those of these judges that are this project's, by id; in one query."""
    return {judge.pk: JudgeName.of(judge) for judge in Judge.objects.filter(project=project, pk__in=judge_ids)}
