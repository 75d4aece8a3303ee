"""What the names in a request stand for: suites, runs, measurements."""

from typing import NamedTuple

from django.db.models import QuerySet

from labeling.errors import DomainError, NotFound
from labeling.formats.problems import shown
from labeling.formats.wire import SuiteRef
from labeling.models import Measurement, Project, Run, Suite
from labeling.vocabulary import RunStatus


def suite_ref(choice: str | SuiteRef) -> SuiteRef:
    """`key` or `key@version`, as an object."""
    if isinstance(choice, SuiteRef):
        return choice
    key, at, version = choice.partition("@")
    return SuiteRef(key=key, version=version if at else None)


def suite_named(project: Project, choice: str | SuiteRef) -> Suite:
    """The suite meant. A key alone means its version published last, else its only draft."""
    ref = suite_ref(choice)
    found = list(project.suites.filter(key=ref.key).order_by("published_at", "pk"))
    if ref.version is not None:
        found = [suite for suite in found if suite.version == ref.version]
    published = [suite for suite in found if suite.published_at is not None]
    wanted = shown(ref.key if ref.version is None else f"{ref.key}@{ref.version}")
    if not found:
        raise DomainError(
            f"There is no suite {wanted} in this project; post it to /api/v1/suites/ first.", field="suite"
        )
    if not published and len(found) > 1:
        versions = [suite.version for suite in found]
        raise DomainError(f"Suite {wanted} has several drafts; name the version.", field="suite", versions=versions)
    return (published or found)[-1]


def run_numbered(run_id: int) -> Run:
    """The run with this id, whoever may see it: check the project before anything else."""
    return _there(_runs().filter(pk=run_id).first())


def run_in(project: Project, run_id: int) -> Run:
    """The run with this id, if it is one of this project."""
    return _there(_runs().filter(project=project, pk=run_id).first())


def run_called(project: Project, external_id: str) -> Run | None:
    return _runs().filter(project=project, external_id=external_id).first()


def _runs() -> QuerySet[Run]:
    return Run.objects.select_related("project", "suite", "configuration")


def _there(run: Run | None) -> Run:
    if run is None:
        raise NotFound("There is no such run, or it is not in a project of yours.")
    return run


def measurement_numbered(project: Project, measurement_id: int) -> Measurement:
    """The measurement with this id, held until the transaction ends: who joins it waits for its turn."""
    found = Measurement.objects.select_for_update(no_key=True).filter(project=project, pk=measurement_id).first()
    if found is None:
        raise DomainError(
            f"There is no measurement {measurement_id} in this project; take it from another run's answer.",
            field="measurement",
        )
    return found


class RunPage(NamedTuple):
    """total: of all that match, not only of this page."""

    total: int
    runs: list[Run]


def runs_listed(
    project: Project, *, external_id: str | None, status: RunStatus | None, offset: int, limit: int
) -> RunPage:
    """A page of the project's runs, newest first, in two queries."""
    runs = _runs().filter(project=project)
    if external_id is not None:
        runs = runs.filter(external_id=external_id)
    if status is not None:
        runs = runs.filter(status=status)
    return RunPage(runs.count(), list(runs.order_by("-created_at", "-pk")[offset : offset + limit]))
