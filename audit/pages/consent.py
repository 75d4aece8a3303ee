"""Whether somebody chose, in this session, to see labels of what they may still be asked to judge."""

from django.http import HttpRequest

from labeling.models import Project

_SHOWS_LABELS = "shows_labels"


def chose_to_see(request: HttpRequest, project: Project) -> bool:
    return project.pk in request.session.get(_SHOWS_LABELS, [])


def choose(request: HttpRequest, project: Project, *, show: bool) -> None:
    shown = {*request.session.get(_SHOWS_LABELS, [])} - {project.pk}
    request.session[_SHOWS_LABELS] = sorted(shown | {project.pk} if show else shown)
