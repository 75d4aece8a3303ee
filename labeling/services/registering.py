"""The rows of the built-in judges in each project."""

from django.db import transaction

from labeling.judges.registry import BUILT_IN
from labeling.models import Judge, Project


def register_builtin(project: Project) -> None:
    """A row for the current version of each built-in judge; older versions retire. Inside the caller's transaction."""
    for judge in BUILT_IN.values():
        Judge.objects.get_or_create(
            project=project,
            name=judge.name,
            version=judge.version,
            defaults={"kind": judge.kind, "title": judge.title, "measures": sorted(judge.measures)},
        )
        Judge.objects.filter(project=project, name=judge.name, active=True).exclude(version=judge.version).update(
            active=False
        )


@transaction.atomic(durable=True)
def register_everywhere() -> None:
    """The same for every project that lacks a version: new code comes with a new worker, which asks for this."""
    for judge in BUILT_IN.values():
        having = Judge.objects.filter(name=judge.name, version=judge.version, active=True)
        for project in Project.objects.exclude(pk__in=having.values("project")):
            register_builtin(project)
