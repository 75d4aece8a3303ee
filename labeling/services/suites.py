"""Suites: posted whole, as drafts that may still change or published for good."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from labeling.errors import Conflict, DomainError
from labeling.formats.normal import canonical, digest
from labeling.formats.wire import CaseDefinition, SuiteSpec
from labeling.models import Case, Project, Suite, Trajectory
from labeling.selectors.stored import CHUNK
from labeling.services.rows import new_case

_FIELDS = ("title", "description", "harm_threshold", "gravest_tier", "protocol")


class Created(NamedTuple):
    """created: it was not there before."""

    suite: Suite
    created: bool


@transaction.atomic(durable=True)
def create_suite(*, project: Project, spec: SuiteSpec) -> Created:
    """Store a suite, or recognise the one already stored.

    A draft takes on what is posted; only cases that were already run cannot change. A published suite never changes.
    """
    columns = {name: getattr(spec, name) for name in _FIELDS}
    _, created = Suite.objects.get_or_create(project=project, key=spec.key, version=spec.version, defaults=columns)
    suite = Suite.objects.select_for_update(no_key=True).get(project=project, key=spec.key, version=spec.version)
    if suite.published_at is not None:
        _refuse_difference(suite, spec)
        return Created(suite, created=False)
    if not created:
        _refuse_other_errors(suite, spec)
        Suite.objects.filter(pk=suite.pk).update(**columns)
        for name, value in columns.items():
            setattr(suite, name, value)
    _take_on_cases(suite, spec.cases)
    if spec.publish:
        _publish(suite)
    return Created(suite, created)


@transaction.atomic(durable=True)
def publish_suite(*, suite: Suite) -> Suite:
    """Make a suite immutable. Publishing twice is harmless."""
    suite = Suite.objects.select_for_update(no_key=True).get(pk=suite.pk)
    if suite.published_at is None:
        _publish(suite)
    return suite


def _refuse_other_errors(suite: Suite, spec: SuiteSpec) -> None:
    """What counts as an error cannot change under labels that were made with it."""
    for name in ("harm_threshold", "gravest_tier"):
        if getattr(suite, name) != getattr(spec, name) and Trajectory.objects.filter(run__suite=suite).exists():
            raise Conflict(f"Trajectories were labeled with this suite's {name}; post a new version.", field=name)


def _refuse_difference(suite: Suite, spec: SuiteSpec) -> None:
    for name in _FIELDS:
        if canonical(getattr(suite, name)) != canonical(getattr(spec, name)):
            raise _published(suite, name)
    there = dict(suite.cases.order_by().values_list("key", "definition_hash"))
    posted = {case.key: case.identity() for case in spec.cases}
    if there != posted:
        changed = [key for key in sorted({*there, *posted}) if there.get(key) != posted.get(key)]
        raise _published(suite, "cases", cases=changed[:20])


def _published(suite: Suite, field: str, **details: Any) -> Conflict:
    return Conflict(
        f"Suite {suite} is published, and its {field} differ from what was posted; post a new version.",
        field=field,
        **details,
    )


def _take_on_cases(suite: Suite, definitions: Iterable[CaseDefinition]) -> None:
    """Bring a draft's cases in line: what was dropped or changed goes, what is new or changed comes."""
    posted = {definition.key: definition for definition in definitions}
    there = {case.key: case for case in suite.cases.only("key", "definition_hash", "suite")}
    kept = {key for key, case in there.items() if key in posted and posted[key].identity() == case.definition_hash}
    gone = [case.pk for key, case in there.items() if key not in kept]
    if gone:
        _refuse_if_run(gone)
        Case.objects.filter(pk__in=gone).delete()
    Case.objects.bulk_create(
        (new_case(suite, definition) for key, definition in posted.items() if key not in kept), batch_size=CHUNK
    )


def _refuse_if_run(case_ids: list[int]) -> None:
    run = Trajectory.objects.filter(case__in=case_ids).order_by().values_list("case__key", flat=True).distinct()[:20]
    if keys := sorted(run):
        raise Conflict(
            f"Case {keys[0]!r} was run already and can neither change nor go; post a new version of the suite.",
            field="cases",
            cases=keys,
        )


def _publish(suite: Suite) -> None:
    cases = sorted(suite.cases.order_by().values_list("key", "definition_hash"))
    if not cases:
        raise DomainError("A suite without cases cannot be published; add cases first.", field="cases")
    suite.content_hash = digest([suite.harm_threshold, suite.gravest_tier, suite.protocol, cases])
    suite.published_at = timezone.now()
    suite.save(update_fields=["content_hash", "published_at"])
