"""The judges a worker can run, by name, and their rows in a project."""

from labeling.judges.base import RunningJudge
from labeling.judges.substring import SubstringJudge
from labeling.models import Judge, Project

BUILT_IN: dict[str, RunningJudge] = {judge.name: judge for judge in (SubstringJudge(),)}


def register_builtin(project: Project) -> None:
    """Make sure the current version of each built-in judge has a row in the project; older versions retire."""
    for judge in BUILT_IN.values():
        Judge.objects.get_or_create(
            project=project,
            name=judge.name,
            version=judge.version,
            defaults={
                "kind": judge.kind,
                "title": judge.title,
                "measures": sorted(judge.measures),
            },
        )
        Judge.objects.filter(project=project, name=judge.name, active=True).exclude(version=judge.version).update(
            active=False
        )


def running(row: Judge) -> RunningJudge | None:
    """The code behind a judge's row, where this service still has that very version."""
    judge = BUILT_IN.get(row.name)
    return judge if judge is not None and judge.version == row.version else None
