"""The judges of a project: which they are, and what a name in a request stands for."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.db.models import Count, Value

from labeling.errors import DomainError, NotFound
from labeling.formats.problems import shown
from labeling.formats.wire import JudgeRef
from labeling.judges import registry
from labeling.models import Judge, Judgment, Project, Run, Trajectory
from labeling.vocabulary import NOT_JUDGED, JudgeKind, Side, TrajectoryStatus

# Nobody posts judgments under the names of judges that run in every project.
RESERVED = frozenset(registry.BUILT_IN) | {kind.value for kind in JudgeKind if kind is not JudgeKind.IMPORTED}


class JudgeRow(NamedTuple):
    """One version of one judge. measures: `None` if it never declared what it measures."""

    id: int
    name: str
    version: str
    title: str
    kind: JudgeKind
    measures: list[str] | None
    active: bool
    judgments: int


def judge_in(project: Project, judge_id: int) -> Judge:
    """A judge version of this project. Raises NotFound."""
    found = Judge.objects.filter(project=project, pk=judge_id).select_related("service", "project").first()
    if found is None:
        raise NotFound("There is no such judge in this project.")
    return found


def judge_numbered(judge_id: int) -> Judge:
    """A judge version of any project, for the edge to say whose it is. Raises NotFound."""
    found = Judge.objects.filter(pk=judge_id).select_related("service", "project").first()
    if found is None:
        raise NotFound("There is no such judge, or it is not in a project of yours.")
    return found


def is_served(judge: Judge) -> bool:
    """Is it asked over a network? Told by its settings, so that no code is loaded to say so."""
    return judge.settings.get("type") in registry.SERVED.values()


def versions_of(judge: Judge) -> list[Judge]:
    """All versions under its name, newest first."""
    return list(Judge.objects.filter(project=judge.project_id, name=judge.name).order_by("-created_at", "-pk"))


def version_before(judge: Judge) -> Judge | None:
    """The version that this one followed; None for the first."""
    older = [each for each in versions_of(judge) if (each.created_at, each.pk) < (judge.created_at, judge.pk)]
    return older[0] if older else None


def on_panel_as(project: Project, name: str) -> str:
    """The version of this name that is on the panel, "" where none is."""
    rows = Judge.objects.filter(project=project, name=name, active=True).exclude(kind=JudgeKind.IMPORTED)
    return rows.values_list("version", flat=True).first() or ""


def has_judge_called(project: Project, name: str) -> bool:
    return Judge.objects.filter(project=project, name=name).exists()


def off_the_panel(project: Project) -> list[Judge]:
    """The judges that come with every project, run here, and are not put to what comes in, in one query."""
    rows = Judge.objects.filter(project=project, name__in=registry.BUILT_IN, active=False).order_by("name", "-pk")
    return [row for row in rows if registry.running(row) is not None]


class JudgeName(NamedTuple):
    id: int
    name: str
    version: str


def judges_of(project: Project) -> list[JudgeRow]:
    """Every judge version of a project with its number of judgments, in one query."""
    judges = Judge.objects.filter(project=project).annotate(said=Count("judgments")).order_by("name", "pk")
    return [
        JudgeRow(row.pk, row.name, row.version, row.title, JudgeKind(row.kind), row.measures, row.active, row.said)
        for row in judges
    ]


def seated(project: Project, choices: Iterable[str | JudgeRef]) -> list[Judge]:
    """The judge versions these choices stand for. Raises DomainError for what names none, or more than one."""
    refs = [JudgeRef(name=choice) if isinstance(choice, str) else choice for choice in choices]
    there = list(Judge.objects.filter(project=project, name__in={ref.name for ref in refs}).order_by("pk"))
    return list({judge.pk: judge for judge in (_meant(ref, there) for ref in refs)}.values())


def _meant(ref: JudgeRef, there: Sequence[Judge]) -> Judge:
    found = [judge for judge in there if judge.name == ref.name and ref.version in (None, judge.version)]
    alive = [judge for judge in found if judge.kind == JudgeKind.IMPORTED or registry.running(judge) is not None]
    wanted = shown(f"{ref.name} {ref.version}" if ref.version else ref.name)
    if not found:
        raise DomainError(f"panel: there is no judge {wanted}; declare it in `judges`.", field="panel")
    if not alive:
        raise DomainError(f"panel: judge {wanted} no longer runs here; name another version.", field="panel")
    if len(alive) > 1:
        versions = [judge.version for judge in alive]
        raise DomainError(f"panel: judge {wanted} has several versions; name one.", field="panel", versions=versions)
    return alive[0]


def speaking_judges(runs: Iterable[Run]) -> list[Judge]:
    """The judges of these runs while no panel is named: those with a judgment, and those that still owe one.

    Were the latter left out, a panel would depend on how far the worker had come. In two queries.
    """
    runs = list(runs)
    judges = Judge.objects.filter(project__in={run.project_id for run in runs})
    owed = Trajectory.objects.filter(run__in=runs, status=TrajectoryStatus.PENDING).exclude(outcome__in=NOT_JUDGED)
    sides = {Side(side) for side in owed.order_by().values_list("side", flat=True).distinct()}
    said = Judgment.objects.filter(trajectory__run__in=runs).order_by().values("judge")
    active = judges.filter(active=True).exclude(kind=JudgeKind.IMPORTED)
    # A union, because an OR of the two would read every judgment of the project.
    found = list(judges.filter(pk__in=said).annotate(has_said=Value(1)).union(active.annotate(has_said=Value(0))))
    speaking = {judge.pk: judge for judge in found if judge.has_said or _asked_about(judge, sides)}
    return sorted(speaking.values(), key=lambda judge: (judge.name, judge.pk))


def _asked_about(judge: Judge, sides: Collection[Side]) -> bool:
    """Is it put to cases of one of these sides?"""
    code = registry.running(judge)
    return code is not None and not code.sides.isdisjoint(sides)
