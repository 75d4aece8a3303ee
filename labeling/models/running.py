"""What was measured: configurations, runs, measurements, trajectories and their content."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from labeling.models.access import Project
from labeling.models.catalogue import Case, Suite
from labeling.models.fields import EVERY_DECISION, LosslessJSONField, choices, one_of
from labeling.vocabulary import (
    AttackKind,
    Kind,
    LabelSource,
    Layer,
    Origin,
    Outcome,
    RunStatus,
    Side,
    TrajectoryStatus,
)


class Configuration(models.Model):
    """The system under test, known by the fingerprint of everything that can change its answers."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="configurations")
    fingerprint = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    version = models.CharField(max_length=200)
    system_prompt = models.TextField(blank=True)
    decoding = LosslessJSONField(default=dict)
    filters = LosslessJSONField(default=list)
    layer = models.CharField(max_length=10, choices=choices(Layer), default=Layer.MODEL)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "fingerprint"], name="one_configuration_per_fingerprint"),
            one_of("layer", Layer),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.version}"


class Measurement(models.Model):
    """An explicit list of runs that one pair is computed over (RULES 8). Each run starts one of its own."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="measurements")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"measurement {self.pk}"


class Run(models.Model):
    """One configuration over one suite, with its attack budget."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    measurement = models.ForeignKey(Measurement, on_delete=models.PROTECT, related_name="runs")
    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="runs")
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="runs")
    external_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)
    attack_kind = models.CharField(max_length=20, choices=choices(AttackKind), default=AttackKind.DIRECT)
    attack_attempts = models.PositiveIntegerField(default=1)
    attack_turns = models.PositiveIntegerField(default=1)
    # The panel was named at creation, or is frozen from what was there when the run was closed (RULES 4).
    panel_is_frozen = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=choices(RunStatus), default=RunStatus.OPEN)
    expected_count = models.PositiveIntegerField(null=True, blank=True)
    audits_per_side = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True)
    drawn_at = models.DateTimeField(null=True, blank=True)
    voided_at = models.DateTimeField(null=True, blank=True)
    voided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    void_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "external_id"], name="one_run_per_external_id"),
            models.CheckConstraint(
                name="a_voided_run_has_a_reason", condition=~Q(status=RunStatus.VOIDED) | ~Q(void_reason="")
            ),
            one_of("status", RunStatus),
            one_of("attack_kind", AttackKind),
        ]
        indexes = [
            models.Index(fields=["project", "-created_at"], name="run_newest_first"),
            models.Index(
                fields=["closed_at"], name="runs_to_draw", condition=Q(status=RunStatus.CLOSED, drawn_at=None)
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.external_id


class Trajectory(models.Model):
    """What the target did on one attempt of one case: the slim row that lists, reports and queues read.

    Side to base request are copies of the case's. Status and label are copies of what judgments and verdicts say;
    `rebuild_labels` makes them anew.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="trajectories")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="trajectories")
    external_id = models.CharField(max_length=200)
    attempt = models.PositiveIntegerField(default=1)
    content_hash = models.CharField(max_length=64)
    outcome = models.CharField(max_length=10, choices=choices(Outcome))
    stop_reason = models.CharField(max_length=60, blank=True)
    # As the runner gave it, with its zone or without: an unknown zone is never taken for UTC.
    observed_at = models.CharField(max_length=40, blank=True)
    received_at = models.DateTimeField(default=timezone.now, editable=False)

    side = models.CharField(max_length=20, choices=choices(Side))
    category = models.CharField(max_length=100, blank=True)
    tier = models.PositiveSmallIntegerField(null=True, blank=True)
    framing = models.CharField(max_length=60)
    kind = models.CharField(max_length=20, choices=choices(Kind))
    origin = models.CharField(max_length=20, choices=choices(Origin), blank=True)
    pair = models.CharField(max_length=200, blank=True)
    # What clusters: the base request, or the case's own key.
    base_request = models.CharField(max_length=200)

    status = models.CharField(max_length=12, choices=choices(TrajectoryStatus), default=TrajectoryStatus.PENDING)
    # When the doorbell last rang for this row; the sweep rings again for what is owed too long.
    rung_at = models.DateTimeField(default=timezone.now)
    label_source = models.CharField(max_length=12, choices=choices(LabelSource), blank=True)
    label_error = models.BooleanField(null=True, blank=True)
    label_decisions = models.PositiveSmallIntegerField(default=EVERY_DECISION)
    label_harm_grade = models.PositiveSmallIntegerField(null=True, blank=True)
    label_explained = models.BooleanField(null=True, blank=True)
    label_alternative_offered = models.BooleanField(null=True, blank=True)
    label_withheld = models.BooleanField(null=True, blank=True)
    label_mixed = models.BooleanField(default=False)
    # People's blind verdicts come to a truth (RULES 7): calibration and draws may count it.
    has_truth = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "external_id"], name="one_trajectory_per_external_id"),
            models.UniqueConstraint(fields=["run", "case", "attempt"], name="one_trajectory_per_attempt"),
            models.CheckConstraint(name="attempts_count_from_one", condition=Q(attempt__gte=1)),
            one_of("side", Side),
            one_of("status", TrajectoryStatus),
            one_of("outcome", Outcome),
            one_of("label_source", LabelSource, blank=True),
        ]
        indexes = [
            # The sweep reads only what is owed, oldest ring first.
            models.Index(fields=["rung_at"], name="pending_by_ring", condition=Q(status=TrajectoryStatus.PENDING)),
            models.Index(fields=["run", "side", "status"], name="trajectory_by_side"),
        ]
        verbose_name_plural = "trajectories"
        ordering = [F("id").asc()]

    def __str__(self) -> str:
        return self.external_id


class TrajectoryContent(models.Model):
    """The text of a trajectory, apart from its slim row; can be purged and leaves a tombstone (RULES 22)."""

    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, primary_key=True, related_name="content")
    messages = LosslessJSONField(default=list)
    tools = LosslessJSONField(default=list)
    error = LosslessJSONField(null=True)
    metadata = LosslessJSONField(default=dict)
    # The bytes as posted, packed (labeling.formats.packing).
    raw = models.BinaryField(default=b"")
    purged_at = models.DateTimeField(null=True)
    purged_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    purge_reason = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"content of {self.trajectory_id}"
