"""The suites of a project and their cases, as pages."""

from typing import NamedTuple

from django.db.models import Count

from labeling.errors import NotFound
from labeling.formats.scalars import OWN_SUITE
from labeling.models import Case, Project, Suite
from labeling.vocabulary import Side


class SuiteRow(NamedTuple):
    suite: Suite
    cases: int


class SuitePage(NamedTuple):
    """total: of all that match, not only of this page."""

    total: int
    suites: list[SuiteRow]


class CasePage(NamedTuple):
    """next: the id to go on after; `None` on the last page."""

    cases: list[Case]
    next: int | None


def suites_listed(project: Project, *, key: str | None, version: str | None, offset: int, limit: int) -> SuitePage:
    """A page of the project's suites, newest first, in three queries."""
    suites = Suite.objects.filter(project=project)
    if key is not None:
        suites = suites.filter(key=key)
    if version is not None:
        suites = suites.filter(version=version)
    page = list(suites.order_by("-created_at", "-pk")[offset : offset + limit])
    asked = Case.objects.filter(suite__in=[suite.pk for suite in page]).order_by()
    counts = dict(asked.values_list("suite").annotate(Count("pk")))
    return SuitePage(suites.count(), [SuiteRow(suite, counts.get(suite.pk, 0)) for suite in page])


def suite_names(project: Project, *, limit: int) -> list[str]:
    """`key@version` of the newest suites that are no run's own, in one query."""
    suites = Suite.objects.filter(project=project).exclude(key__startswith=OWN_SUITE).order_by("-created_at", "-pk")
    return [f"{key}@{version}" for key, version in suites.values_list("key", "version")[:limit]]


def categories_of(project: Project, *, limit: int) -> dict[str, int]:
    """The categories of the cases that people review, in all suites, with how many cases each has, in one query."""
    cases = Case.objects.filter(suite__project=project, side__in=(Side.HARMFUL, Side.BENIGN)).exclude(category="")
    return dict(cases.order_by("category").values_list("category").annotate(Count("pk"))[:limit])


def suite_numbered(project: Project, suite_id: int) -> Suite:
    """The suite with this id, if it is one of this project."""
    found = Suite.objects.filter(project=project, pk=suite_id).first()
    if found is None:
        raise NotFound("There is no such suite, or it is not in a project of yours.")
    return found


def cases_listed(suite: Suite, *, after: int, limit: int) -> CasePage:
    """The suite's cases in the order they came, after the one with the id `after`, in one query."""
    found = list(suite.cases.filter(pk__gt=after).order_by("pk")[: limit + 1])
    page = found[:limit]
    last = page[-1].pk if page else after
    return CasePage(page, last if len(found) > limit else None)
