"""Judges that are reached over a network: how, what is owed to them, what it has cost; and work that broke."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from labeling.models.access import Project
from labeling.models.fields import LosslessJSONField, choices, one_of
from labeling.models.judging import Judge
from labeling.models.running import Run, Trajectory
from labeling.vocabulary import GOING_ON, WorkStatus

_GOING_ON = Q(status__in=[status.value for status in GOING_ON])


class JudgeService(models.Model):
    """How a judge is reached and how hard it may be worked. Nothing here changes an answer, so nothing is its version.

    Prices are US dollars a million tokens; the ceiling is for each run.
    """

    judge = models.OneToOneField(Judge, on_delete=models.CASCADE, related_name="service")
    # The key to its endpoint, sealed (labeling.services.sealing); empty where it needs none, or the operator gives it.
    sealed_key = models.TextField(blank=True)
    concurrency = models.PositiveSmallIntegerField(default=16)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    timeout_seconds = models.PositiveSmallIntegerField(default=60)
    input_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    output_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    ceiling_usd = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    # No call is made before this time: its endpoint is down. It resumes by itself. The reason stays until it answers.
    parked_until = models.DateTimeField(null=True, blank=True)
    parked_reason = models.CharField(max_length=300, blank=True)
    # How often it was parked since it last answered; each time it waits for longer.
    parkings = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_judge_takes_a_call_at_a_time", condition=Q(concurrency__gte=1)),
            models.CheckConstraint(
                name="a_judge_takes_a_call_a_minute",
                condition=(Q(requests_per_minute=None) | Q(requests_per_minute__gte=1))
                & (Q(tokens_per_minute=None) | Q(tokens_per_minute__gte=1)),
            ),
        ]

    def __str__(self) -> str:
        return f"service of {self.judge_id}"

    @property
    def is_parked(self) -> bool:
        """Is there no call to be made now? The time may lie behind us: what comes next shows whether it answers."""
        return self.parked_until is not None and self.parked_until > timezone.now()

    @property
    def has_prices(self) -> bool:
        """Is it known what a call costs?"""
        return self.input_usd is not None and self.output_usd is not None


class JudgeCall(models.Model):
    """A call that is owed: one per trajectory and judge version, gone once its judgment is stored.

    The row is the job, and its claim is what keeps a call from being paid twice.
    """

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="calls")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="calls")
    # How often a worker took it up. What the endpoint's failures undo is taken back.
    tries = models.PositiveSmallIntegerField(default=0)
    # Not to be taken up before; while a worker has it, the time at which the worker is taken for dead.
    ready_at = models.DateTimeField(default=timezone.now)
    claim = models.UUIDField(null=True)
    # Out of work until a person says so; trouble: why, in our own words.
    parked_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trajectory", "judge"], name="one_call_per_judge_version")]
        indexes = [
            models.Index(fields=["judge", "ready_at"], name="calls_by_time", condition=Q(parked_at=None)),
            models.Index(fields=["judge"], name="calls_parked", condition=Q(parked_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} owes {self.trajectory_id}"


class Spend(models.Model):
    """What one judge version has cost on one run: a counter kept with the judgments, so that no page adds them up."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="spends")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="spends")
    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "judge"], name="one_spend_per_run_and_judge")]

    def __str__(self) -> str:
        return f"{self.judge_id} on {self.run_id}: {self.usd}"


class Trouble(models.Model):
    """A trajectory on which the work of judging broke. After three tries it is parked until a person says so.

    reason: the kind of the exception and its place, never a text of anybody.
    """

    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, primary_key=True, related_name="trouble")
    tries = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(max_length=300, blank=True)
    last_at = models.DateTimeField(default=timezone.now)
    parked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["parked_at"], name="trouble_parked", condition=Q(parked_at__isnull=False))]

    def __str__(self) -> str:
        return f"trouble with {self.trajectory_id}"


class Rejudging(models.Model):
    """A lead's wish that one judge version says something of a run, or (run empty) of all that people have audited.

    cursor: the last trajectory handed on; the calls that are left are JudgeCalls.
    """

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="rejudgings")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="rejudgings")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    total = models.PositiveIntegerField(default=0)
    handed_on = models.PositiveIntegerField(default=0)
    cursor = models.BigIntegerField(default=0)
    # How often it was taken up since it last came on.
    tries = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=choices(WorkStatus), default=WorkStatus.WAITING)
    worked_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "run"], name="one_rejudging_of_a_run_at_a_time", condition=_GOING_ON
            ),
            models.UniqueConstraint(
                fields=["judge"], name="one_rejudging_of_all_at_a_time", condition=_GOING_ON & Q(run=None)
            ),
            one_of("status", WorkStatus),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} over {self.run_id or 'the audited'}"


class TrainedModel(models.Model):
    """The weights of a classifier that learned from this project's verdicts, and how it did where it had not learned.

    weights: as skops writes them. report: what the grouped cross-validation measured.
    """

    judge = models.OneToOneField(Judge, on_delete=models.CASCADE, related_name="trained")
    weights = models.BinaryField()
    training_hash = models.CharField(max_length=64)
    # The cases it has seen people's verdicts on (labeling.selectors.lessons.case_of): none of them can test it.
    cases = LosslessJSONField(default=list)
    report = LosslessJSONField(default=dict)

    def __str__(self) -> str:
        return f"weights of {self.judge_id}"


class Training(models.Model):
    """A lead's wish that a classifier learns from the verdicts there are."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trainings")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    status = models.CharField(max_length=10, choices=choices(WorkStatus), default=WorkStatus.WAITING)
    # What it came to: a judge version, or the sentence that says what is missing.
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, null=True, related_name="+")
    outcome = models.TextField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    worked_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project"], name="one_training_at_a_time", condition=_GOING_ON),
            one_of("status", WorkStatus),
        ]

    def __str__(self) -> str:
        return f"training in {self.project_id}"


class Trial(models.Model):
    """A judge's settings tried on a few trajectories before they become a version. Its answers are no judgments.

    results: one for each trajectory, in their order, as they come in.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trials")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    # The version whose key and limits it borrows, if it starts from one.
    based_on = models.ForeignKey(Judge, on_delete=models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=20)
    settings = LosslessJSONField(default=dict)
    sealed_key = models.TextField(blank=True)
    trajectories = LosslessJSONField(default=list)
    results = LosslessJSONField(default=list)
    status = models.CharField(max_length=10, choices=choices(WorkStatus), default=WorkStatus.WAITING)
    problem = models.TextField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    worked_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [one_of("status", WorkStatus)]
        indexes = [models.Index(fields=["project", "-id"], name="trials_newest_first")]

    def __str__(self) -> str:
        return f"trial {self.pk}"


class RateLimit(models.Model):
    """A limit on requests or tokens a minute, where there is no Redis to keep it: until when it is used up."""

    key = models.CharField(max_length=100, primary_key=True)
    # Seconds since 1970: the time at which all that was let through so far will be within the limit.
    used_until = models.FloatField(default=0)

    def __str__(self) -> str:
        return self.key


class SlotHolding(models.Model):
    """How many calls at once one worker may make of a judge, where there is no Redis to keep it."""

    key = models.CharField(max_length=100)
    holder = models.CharField(max_length=64)
    slots = models.PositiveSmallIntegerField()
    until = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "holder"], name="one_holding_per_worker")]

    def __str__(self) -> str:
        return f"{self.slots} of {self.key}"
