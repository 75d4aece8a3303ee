"""Whose request it is and which project it is about. What belongs to another project is not there."""

from typing import NamedTuple

from django.contrib.auth.models import User
from rest_framework.request import Request

from labeling.errors import DomainError, NotFound
from labeling.models import ImportJob, Judge, Project, Run, RunnerKey
from labeling.selectors.access import membership_of, projects_of
from labeling.selectors.importing import job_numbered
from labeling.selectors.judges import judge_numbered
from labeling.selectors.naming import run_numbered
from labeling.vocabulary import Role


class Caller(NamedTuple):
    """user: the person, or None for a runner."""

    project: Project
    user: User | None


def caller(request: Request, *, at_least: Role, project: str | None = None) -> Caller:
    """The project a request is about: the runner key's; for a person the one named in the body or in `?project=`."""
    wanted = project or request.query_params.get("project")
    if isinstance(request.auth, RunnerKey):
        if wanted not in (None, request.auth.project.key):
            raise NotFound("There is no such project, or this runner key is not one of it.")
        return Caller(request.auth.project, None)
    if not wanted:
        keys = [seat.key for seat in projects_of(request.user)]
        raise DomainError("Say which project: ?project=KEY.", field="project", projects=keys)
    return Caller(membership_of(request.user, wanted, at_least=at_least).project, _person(request))


def caller_on_run(request: Request, run_id: int, *, at_least: Role) -> tuple[Run, Caller]:
    """The run and who is asking. A run of a foreign project and one that never was get the same answer."""
    run = run_numbered(run_id)
    return run, _caller_in(request, run.project, at_least=at_least, what="run")


def caller_on_judge(request: Request, judge_id: int, *, at_least: Role) -> tuple[Judge, Caller]:
    """The judge version and who is asking; as with runs."""
    judge = judge_numbered(judge_id)
    return judge, _caller_in(request, judge.project, at_least=at_least, what="judge")


def caller_on_import(request: Request, import_id: int, *, at_least: Role) -> tuple[ImportJob, Caller]:
    """The import and who is asking; as with runs."""
    job = job_numbered(import_id)
    return job, _caller_in(request, job.project, at_least=at_least, what="import")


def _caller_in(request: Request, project: Project, *, at_least: Role, what: str) -> Caller:
    foreign = NotFound(f"There is no such {what}, or it is not in a project of yours.")
    if isinstance(request.auth, RunnerKey):
        if project != request.auth.project:
            raise foreign
        return Caller(project, None)
    try:
        membership_of(request.user, project.key, at_least=at_least)
    except NotFound:
        raise foreign from None
    return Caller(project, _person(request))


def _person(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user
