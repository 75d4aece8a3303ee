"""Runs: created once, joined into measurements, closed, voided."""

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from labeling.errors import Conflict, DomainError, NotFound
from labeling.formats.normal import digest
from labeling.formats.scalars import OWN_SUITE
from labeling.formats.wire import ConfigurationSpec, JudgeDeclaration, RunSpec
from labeling.models import Configuration, Judge, JudgeCall, Measurement, PanelSeat, Project, Run, Suite, Trajectory
from labeling.selectors.judges import RESERVED, seated, speaking_judges
from labeling.selectors.naming import measurement_numbered, run_called, suite_named, suite_ref
from labeling.selectors.traits import Traits, difference, panel_of, seats_of, traits_of
from labeling.services import settling, sharing
from labeling.services.calling import claims
from labeling.vocabulary import JudgeKind, RunStatus

OWN_SUITE_VERSION = "draft"


class Created(NamedTuple):
    """created: it was not there before."""

    run: Run
    created: bool


@transaction.atomic(durable=True)
def create_run(*, project: Project, spec: RunSpec) -> Created:
    """Create a run, or recognise the one already there under this external id."""
    _declare(project, spec.judges)
    if existing := run_called(project, spec.external_id):
        return _recognised(existing, spec)
    suite = _own_suite(project, spec) if spec.suite is None else suite_named(project, spec.suite)
    configuration = _configuration(project, spec.configuration)
    panel = None if spec.panel is None else seated(project, spec.panel)
    measurement, others = _measurement(project, spec)
    if panel is None and others:
        panel = panel_of(others[0])
    traits = Traits(
        suite.pk, configuration.pk, _attack(spec), None if panel is None else frozenset(j.pk for j in panel)
    )
    _refuse_mismatch(traits, others)
    try:
        with transaction.atomic():
            run = Run.objects.create(
                project=project,
                measurement=measurement or Measurement.objects.create(project=project),
                suite=suite,
                configuration=configuration,
                external_id=spec.external_id,
                name=spec.name,
                attack_kind=spec.attack.kind,
                attack_attempts=spec.attack.attempts,
                attack_turns=spec.attack.turns,
                panel_is_frozen=panel is not None,
                expected_count=spec.expected_count,
                audits_per_side=spec.audits_per_side,
            )
            PanelSeat.objects.bulk_create(PanelSeat(run=run, judge=judge) for judge in panel or ())
    except IntegrityError:
        # Another request created it in the same moment.
        if existing := run_called(project, spec.external_id):
            return _recognised(existing, spec)
        raise
    return Created(run, created=True)


@transaction.atomic(durable=True)
def close_run(*, run: Run, expected_count: int | None, audits_per_side: int | None) -> Run:
    """No more trajectories: the panel is fixed and the run may be drawn from. Closing twice is harmless."""
    sharing.take_turn(run.pk)
    runs = _held(run)
    run = next(each for each in runs if each.pk == run.pk)
    if run.status == RunStatus.VOIDED:
        raise Conflict("This run is voided; a voided run cannot be closed.", status=run.status)
    expected = run.expected_count if expected_count is None else expected_count
    posted = Trajectory.objects.filter(run=run).count()
    if expected is not None and expected != posted:
        raise Conflict(
            f"{expected} trajectories were expected and {posted} are there; post the rest or close with that count.",
            expected=expected,
            posted=posted,
        )
    if run.status == RunStatus.CLOSED:
        return run
    if not run.panel_is_frozen:
        _freeze_panels([each for each in runs if not each.panel_is_frozen])
    run.status, run.closed_at, run.panel_is_frozen, run.expected_count = (
        RunStatus.CLOSED,
        timezone.now(),
        True,
        expected,
    )
    if audits_per_side is not None:
        run.audits_per_side = audits_per_side
    run.save(update_fields=["status", "closed_at", "expected_count", "audits_per_side"])
    return run


@transaction.atomic(durable=True)
def void_run(*, run: Run, by: User | None, reason: str) -> Run:
    """Take a run out of every report and out of the queue, for good. The first reason stays."""
    if not reason.strip():
        raise DomainError("Say why the run is voided; the reason stays with it.", field="reason")
    sharing.take_turn(run.pk)
    Run.objects.filter(pk=run.pk).exclude(status=RunStatus.VOIDED).update(
        status=RunStatus.VOIDED, voided_at=timezone.now(), voided_by=by, void_reason=reason
    )
    settling.ask_nobody(run.pk)
    # Nor is anything paid for any more.
    JudgeCall.objects.filter(claims.in_nobodys_hands(), trajectory__run=run).delete()
    run.refresh_from_db()
    return run


@transaction.atomic(durable=True)
def join_measurement(*, run: Run, other: Run) -> Measurement:
    """Compute one pair over both runs from now on: the one that stands alone moves to the other's measurement."""
    if run.project_id != other.project_id:
        raise NotFound("There is no such run, or it is not in a project of yours.")
    ids = {run.measurement_id, other.measurement_id}
    measurements = list(Measurement.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
    together = {each.pk: list(each.runs.select_related("suite", "configuration")) for each in measurements}
    mine, theirs = together.get(run.measurement_id, []), together.get(other.measurement_id, [])
    if run not in mine or other not in theirs:
        raise Conflict("One of the runs was joined elsewhere in the same moment; look again.", field="measurement")
    if run.measurement_id == other.measurement_id:
        return measurements[0]
    if len(mine) > 1 and len(theirs) > 1:
        raise Conflict("Both runs are already computed together with others.", field="measurement")
    moving, staying = (mine[0], theirs) if len(mine) == 1 else (theirs[0], mine)
    if RunStatus.VOIDED in (moving.status, *(each.status for each in (run, other))):
        raise Conflict("A voided run cannot be computed together with another.", field="status")
    _refuse_mismatch(traits_of(moving), staying)
    Run.objects.filter(pk=moving.pk).update(measurement=staying[0].measurement_id)
    Measurement.objects.filter(pk=moving.measurement_id).delete()
    return staying[0].measurement


def _recognised(run: Run, spec: RunSpec) -> Created:
    """The same run again, or a Conflict that names the field in which the two differ."""
    ref = None if spec.suite is None else suite_ref(spec.suite)
    own = _own_key(spec)
    same = {
        "suite": run.suite.key == own
        if ref is None
        else (run.suite.key == ref.key and ref.version in (None, run.suite.version)),
        "configuration": run.configuration.fingerprint == spec.configuration.fingerprint(),
        "attack": (run.attack_kind, run.attack_attempts, run.attack_turns) == _attack(spec),
        "panel": spec.panel is None or seats_of(panel_of(run)) == seats_of(seated(run.project, spec.panel)),
        "measurement": spec.measurement in (None, run.measurement_id),
    }
    for field, holds in same.items():
        if not holds:
            raise Conflict(
                f"There is a run with this external_id already, with another {field}; choose another external_id.",
                field=field,
                run=run.pk,
            )
    return Created(run, created=False)


def _attack(spec: RunSpec) -> tuple[str, int, int]:
    return spec.attack.kind.value, spec.attack.attempts, spec.attack.turns


def _own_key(spec: RunSpec) -> str:
    """A key that no posted suite can have. Long external ids are cut; what tells them apart is the hash."""
    return OWN_SUITE + (spec.external_id if len(spec.external_id) <= 90 else digest(spec.external_id))


def _own_suite(project: Project, spec: RunSpec) -> Suite:
    """The draft that a run's trajectories define their cases in."""
    title = f"Cases of {spec.name or spec.external_id}"[:200]
    suite, _ = Suite.objects.get_or_create(
        project=project, key=_own_key(spec), version=OWN_SUITE_VERSION, defaults={"title": title}
    )
    return suite


def _configuration(project: Project, spec: ConfigurationSpec) -> Configuration:
    configuration, _ = Configuration.objects.get_or_create(
        project=project, fingerprint=spec.fingerprint(), defaults=spec.model_dump()
    )
    return configuration


def _measurement(project: Project, spec: RunSpec) -> tuple[Measurement | None, list[Run]]:
    """The measurement to join, and the runs in it that count."""
    if spec.measurement is None:
        return None, []
    measurement = measurement_numbered(project, spec.measurement)
    return measurement, list(measurement.runs.exclude(status=RunStatus.VOIDED))


def _refuse_mismatch(traits: Traits, others: Sequence[Run]) -> None:
    """RULES 8: runs of one measurement differ in their suite and in nothing else that matters."""
    for other in others:
        if other.status != RunStatus.VOIDED and (found := difference(traits, traits_of(other))):
            raise Conflict(
                f"The runs cannot be computed together: {found.sentence} (run {other.external_id!r}).",
                field=found.field,
                run=other.pk,
            )


def _held(run: Run) -> list[Run]:
    """The runs of a run's measurement, held in one order: first the measurement, then the runs."""
    measurement = Measurement.objects.select_for_update(of=("self",), no_key=True).get(runs=run.pk)
    together = Run.objects.filter(Q(measurement=measurement) | Q(pk=run.pk)).order_by("pk")
    return list(
        together.select_related("project", "suite", "configuration").select_for_update(of=("self",), no_key=True)
    )


def _freeze_panels(runs: Sequence[Run]) -> None:
    """Fix the panel of runs computed together: they share it, so the first that closes fixes it for all (RULES 4, 8).

    For the others nothing changes at this moment: a judge that has said nothing of a run makes no label of it.
    """
    panel = list(speaking_judges(runs))
    PanelSeat.objects.bulk_create(PanelSeat(run=run, judge=judge) for run in runs for judge in panel)
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(panel_is_frozen=True)


def _declare(project: Project, declarations: Sequence[JudgeDeclaration]) -> None:
    """Make rows for judges whose judgments will be posted. A declaration, once made, stands."""
    for declared in sorted(declarations, key=lambda each: (each.name, each.version)):
        if declared.name in RESERVED:
            raise DomainError(f"{declared.name} is the name of a judge that runs here; choose another.", field="judges")
        measures = None if declared.measures is None else sorted(set(declared.measures))
        judge, _ = Judge.objects.get_or_create(
            project=project,
            name=declared.name,
            version=declared.version,
            defaults={"kind": JudgeKind.IMPORTED, "title": declared.title, "measures": measures},
        )
        if measures is None or judge.measures == measures:
            continue
        if judge.measures is not None:
            raise Conflict(
                f"Judge {judge.name} {judge.version} was declared to measure {', '.join(judge.measures)}; "
                "what measures something else is another version.",
                field="judges",
            )
        Judge.objects.filter(pk=judge.pk, measures__isnull=True).update(measures=measures)
