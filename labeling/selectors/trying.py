"""Trials of judges' settings, and what they can be tried on."""

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import Q, QuerySet

from labeling.errors import DomainError, NotFound
from labeling.formats.problems import shown
from labeling.models import Project, Run, Trajectory, Trial
from labeling.vocabulary import NOT_JUDGED, PEOPLE_SOURCES, RunStatus, Side

# Looked for among the newest of the newest runs: a page must not read a project to offer ten of its rows.
_RUNS, _ROWS = 20, 5_000


class Tryable(NamedTuple):
    """A trajectory by its names, without anything that anybody said of it."""

    id: int
    external_id: str
    run: str


class PeoplesLabel(NamedTuple):
    """What people's verdicts on a trajectory came to; what they did not give is None."""

    decisions: int
    harm_grade: int | None
    explained: bool | None
    alternative_offered: bool | None
    withheld: bool | None


class ToTry(NamedTuple):
    """The newest that people have audited, and the newest that they have not."""

    audited: tuple[Tryable, ...]
    others: tuple[Tryable, ...]


def trial_in(project: Project, trial_id: int) -> Trial:
    """A trial of this project. Raises NotFound."""
    found = Trial.objects.filter(project=project, pk=trial_id).select_related("based_on", "requested_by").first()
    if found is None:
        raise NotFound("There is no such trial in this project.")
    return found


def trials_of(project: Project, *, limit: int) -> list[Trial]:
    """The newest, without what they came to, in one query."""
    trials = Trial.objects.filter(project=project).select_related("requested_by").defer("settings", "results")
    return list(trials.order_by("-pk")[:limit])


def to_try_on(project: Project, *, limit: int) -> ToTry:
    """In three queries."""
    runs = Run.objects.filter(project=project).exclude(status=RunStatus.VOIDED).order_by("-created_at", "-pk")
    run_ids = list(runs.values_list("pk", flat=True)[:_RUNS])
    newest = Trajectory.objects.filter(run__in=run_ids).order_by("-pk").values("pk")[:_ROWS]
    rows = _judged().filter(pk__in=newest)
    audited = Q(has_truth=True) | Q(label_source__in=PEOPLE_SOURCES)
    return ToTry(_tryable(rows.filter(audited)[:limit]), _tryable(rows.exclude(audited)[:limit]))


def tryable(project: Project, trajectory_ids: Collection[int]) -> tuple[Tryable, ...]:
    """Those of these that are the project's, in one query."""
    return _tryable(Trajectory.objects.filter(run__project=project, pk__in=trajectory_ids).order_by("pk"))


def people_on(project: Project, trajectory_ids: Collection[int]) -> dict[int, PeoplesLabel]:
    """People's labels on those of these that have one, in one query; only for who may be told opinions on them."""
    columns = (f"label_{name}" for name in PeoplesLabel._fields)
    rows = Trajectory.objects.filter(run__project=project, pk__in=trajectory_ids, label_source__in=PEOPLE_SOURCES)
    return {pk: PeoplesLabel(*label) for pk, *label in rows.values_list("pk", *columns)}


def ids_of(project: Project, external_ids: Collection[str]) -> list[int]:
    """The trajectories of these external ids, each of the newest run that has it. Raises DomainError for others."""
    rows = _judged().filter(run__project=project, external_id__in=external_ids).exclude(run__status=RunStatus.VOIDED)
    found: dict[str, int] = {}
    for external_id, pk in rows.values_list("external_id", "pk"):
        found.setdefault(external_id, pk)
    if missing := [each for each in external_ids if each not in found]:
        raise DomainError(
            f"There is no trajectory {shown(missing[0])} with an answer in this project; look at its external id.",
            field="trajectories",
        )
    return list(found.values())


def _judged() -> QuerySet[Trajectory]:
    """What a judge could say something of, newest first."""
    rows = Trajectory.objects.filter(side__in=(Side.HARMFUL, Side.BENIGN), content__purged_at=None)
    return rows.exclude(outcome__in=NOT_JUDGED).order_by("-pk")


def _tryable(rows: QuerySet[Trajectory]) -> tuple[Tryable, ...]:
    columns = ("pk", "external_id", "run__name", "run__external_id")
    return tuple(Tryable(pk, own, name or run) for pk, own, name, run in rows.values_list(*columns))
