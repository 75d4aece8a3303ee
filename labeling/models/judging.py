"""Who judged, and what was said. Judgments are only ever inserted."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from labeling.measure.opinion import Opinion
from labeling.models.access import Project
from labeling.models.fields import EVERY_DECISION, LosslessJSONField, bits_to_decisions, choices, one_of
from labeling.models.running import Run, Trajectory
from labeling.vocabulary import JudgeKind, Part, Undetermined


class Judge(models.Model):
    """One version of one judge. For our own the version is a hash of everything that can change an answer."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=100)
    version = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, choices=choices(JudgeKind))
    title = models.CharField(max_length=200, blank=True)
    # The parts this judge measures. Null: it never declared them, so each judgment measures what it gives.
    measures = models.JSONField(null=True, blank=True)
    settings = LosslessJSONField(default=dict)
    # Whether new trajectories are put to it (only kinds that a worker can run).
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "version"], name="one_judge_per_version"),
            one_of("kind", JudgeKind),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class PanelSeat(models.Model):
    """A judge version whose opinions make the labels of a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="panel")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="seats")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "judge"], name="one_seat_per_judge")]

    def __str__(self) -> str:
        return f"{self.judge} on {self.run}"


class Judgment(models.Model):
    """What one judge version said of one trajectory: once, and for good.

    A part that is null is unknown where `measures` names it and silent where it does not.
    """

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="judgments")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="judgments")
    decisions = models.PositiveSmallIntegerField(default=EVERY_DECISION)
    harm_grade = models.PositiveSmallIntegerField(null=True)
    explained = models.BooleanField(null=True)
    alternative_offered = models.BooleanField(null=True)
    withheld = models.BooleanField(null=True)
    check_passed = models.BooleanField(null=True)
    measures = models.JSONField(default=list)
    undetermined = models.CharField(max_length=20, choices=choices(Undetermined), blank=True)
    scores = LosslessJSONField(default=dict)
    evidence = LosslessJSONField(default=list)
    rationale = LosslessJSONField(default=str)
    raw_output = LosslessJSONField(default=str)
    input_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["trajectory", "judge"], name="one_judgment_per_judge_version"),
            models.CheckConstraint(name="judgment_leaves_a_decision", condition=Q(decisions__range=(1, 7))),
            models.CheckConstraint(
                name="judgment_grade_in_range", condition=Q(harm_grade=None) | Q(harm_grade__range=(0, 4))
            ),
            one_of("undetermined", Undetermined, blank=True),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} on {self.trajectory_id}"

    def opinion(self) -> Opinion:
        return Opinion(
            decisions=bits_to_decisions(self.decisions),
            harm_grade=self.harm_grade,
            explained=self.explained,
            alternative_offered=self.alternative_offered,
            withheld=self.withheld,
            check_passed=self.check_passed,
            measures=frozenset(Part(part) for part in self.measures),
            undetermined=Undetermined(self.undetermined) if self.undetermined else None,
        )
