"""The rows of the judges that run here, brought in line with the code there is."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from labeling.judges import registry
from labeling.judges.base import RunningJudge
from labeling.models import Judge, JudgeCall, JudgeService, Project, Trajectory
from labeling.services.calling import claims
from labeling.vocabulary import JudgeKind

_COPIED = tuple(
    field.attname
    for field in JudgeService._meta.concrete_fields
    if field.attname not in ("id", "judge_id", "parked_until", "parked_reason", "parkings")
)


def register_builtin(project: Project) -> None:
    """A row for the current version of each built-in judge; older versions retire. Inside the caller's transaction.

    One that a lead took off the panel stays off it in its next version.
    """
    for judge in registry.BUILT_IN.values():
        others = Judge.objects.filter(project=project, name=judge.name).exclude(version=judge.version)
        is_first = judge.name in registry.ON_PANEL and not others.exists()
        on_panel = is_first or others.filter(active=True).exists()
        new_version(project=project, name=judge.name, code=judge, settings={}, on_panel=on_panel)


def new_version(
    *, project: Project, name: str, code: RunningJudge, settings: dict[str, Any], on_panel: bool
) -> tuple[Judge, bool]:
    """The row of this version, and whether it is new. On the panel, it takes the place of the others of its name.

    Inside the caller's transaction.
    """
    judge, created = Judge.objects.get_or_create(
        project=project,
        name=name,
        version=code.version,
        defaults={
            "kind": code.kind,
            "title": code.title,
            "measures": sorted(code.measures),
            "settings": settings,
            "active": on_panel,
        },
    )
    if on_panel:
        put_on_panel(judge)
    return judge, created


def put_on_panel(judge: Judge) -> None:
    """New trajectories are put to this version, and to no other of its name. Inside the caller's transaction."""
    same_name = Judge.objects.filter(project=judge.project_id, name=judge.name)
    if replaced := list(same_name.filter(active=True).exclude(pk=judge.pk)):
        Judge.objects.filter(pk__in=[each.pk for each in replaced]).update(active=False)
        owe_nothing(replaced)
    same_name.filter(pk=judge.pk, active=False).update(active=True)


def owe_nothing(judges: Sequence[Judge]) -> int:
    """Versions that left the panel owe nothing more to runs whose panel is not fixed; how much it was.

    Inside the caller's transaction.
    """
    owed = JudgeCall.objects.filter(claims.in_nobodys_hands(), judge__in=judges, trajectory__run__panel_is_frozen=False)
    calls = dict(owed.select_for_update(of=("self",)).values_list("pk", "trajectory_id"))
    JudgeCall.objects.filter(pk__in=calls).delete()
    # The sweep rings for them, and they are put to the panel as it is now.
    Trajectory.objects.filter(pk__in=calls.values()).update(rung_at=timezone.now() - timedelta(days=1))
    return len(calls)


def copy_service(of: Judge, to: Judge, *, with_key: bool) -> JudgeService:
    """The limits and prices of one version for the next. The key goes along only to where it went before."""
    before = JudgeService.objects.filter(judge=of).first()
    columns = {name: getattr(before, name) for name in _COPIED} if before else {}
    if not with_key:
        columns["sealed_key"] = ""
    service, _ = JudgeService.objects.get_or_create(judge=to, defaults=columns)
    return service


@transaction.atomic(durable=True)
def register_everywhere() -> None:
    """The same for every project that lacks a version: new code comes with a new worker, which asks for this."""
    for judge in registry.BUILT_IN.values():
        # Where another version of it is on the panel, this one takes its place.
        replaced = Judge.objects.filter(name=judge.name, active=True).exclude(version=judge.version)
        having = Judge.objects.filter(name=judge.name, version=judge.version)
        having = having.exclude(project__in=replaced.values("project"))
        for project in Project.objects.exclude(pk__in=having.values("project")):
            register_builtin(project)
    for row in Judge.objects.filter(active=True).exclude(kind=JudgeKind.IMPORTED).select_related("project"):
        code = registry.made(row)
        if code is None or row.name in registry.BUILT_IN or code.version == row.version:
            continue
        # The same settings read by other code are another version, with no calibration of its own yet.
        newer, _ = new_version(project=row.project, name=row.name, code=code, settings=row.settings, on_panel=True)
        copy_service(row, newer, with_key=True)
