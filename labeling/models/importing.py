"""Files that were uploaded, what became of them, and what a project has to say about their columns."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from labeling.models.access import Project, RunnerKey
from labeling.models.fields import LosslessJSONField, choices, one_of
from labeling.models.running import Run
from labeling.vocabulary import IMPORTS_OWED, ImportStatus


class ImportJob(models.Model):
    """One uploaded file on its way into runs. Its bytes lie on disk under their hash, never here.

    Known by the bytes and by what was asked with them. The row is the job: a worker claims it, and tells in it how far
    it has come.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    runner_key = models.ForeignKey(RunnerKey, on_delete=models.PROTECT, null=True, related_name="+")
    filename = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    received = models.BigIntegerField(default=0)
    # Of everything that was asked with the bytes at first; what is changed later changes no identity.
    asked_hash = models.CharField(max_length=64)

    format = models.CharField(max_length=40, blank=True)
    run_name = models.CharField(max_length=200, blank=True)
    suite = models.CharField(max_length=200, blank=True)
    mapping = LosslessJSONField(default=dict)
    # People whose labels are in the file had seen no judge's opinion (RULES 7).
    blind = models.BooleanField(default=False)

    status = models.CharField(max_length=12, choices=choices(ImportStatus), default=ImportStatus.RECEIVING)
    detected_format = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    preview = LosslessJSONField(null=True)

    # Of the work in hand, or the last one. Rows are all that the file holds, readable or not.
    bytes_read = models.BigIntegerField(default=0)
    rows_total = models.BigIntegerField(default=0)
    rows_done = models.BigIntegerField(default=0)
    created = models.BigIntegerField(default=0)
    duplicate = models.BigIntegerField(default=0)
    conflict = models.BigIntegerField(default=0)
    rejected = models.BigIntegerField(default=0)
    verdicts = models.BigIntegerField(default=0)

    # Whose turn it is to write: the worker that holds this number, until it is taken away. Null: nobody's.
    claim = models.UUIDField(null=True)
    # How often it was claimed since rows of it were last stored.
    attempts = models.PositiveSmallIntegerField(default=0)
    # When the work in hand was taken up, and the rows that were done by then: how fast it goes.
    started_at = models.DateTimeField(null=True)
    rows_before = models.BigIntegerField(default=0)
    # The last sign of the work: the bell was rung, or a worker came forward.
    worked_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    committed_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "sha256", "asked_hash"], name="one_import_per_upload"),
            models.CheckConstraint(
                name="no_more_received_than_there_is", condition=Q(received__gte=0) & Q(received__lte=F("size"))
            ),
            one_of("status", ImportStatus),
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="imports_newest_first"),
            models.Index(
                fields=["worked_at"],
                name="imports_owed",
                condition=Q(status__in=list(IMPORTS_OWED)),
            ),
        ]

    def __str__(self) -> str:
        return f"import {self.pk}"


class ImportedRun(models.Model):
    """The run that one system of a file became."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="runs")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="imports")
    system = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "run"], name="an_import_names_a_run_once")]

    def __str__(self) -> str:
        return f"{self.job_id} into {self.run_id}"


class ImportLook(models.Model):
    """Somebody was shown what judges say of a row of a file that was not in a run yet; external_id: as it was shown."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="looks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    external_id = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "user", "external_id"], name="one_look_per_person_and_row")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} at {self.external_id} of {self.job_id}"


class ImportRejection(models.Model):
    """The quarantine: a row of a file that did not go in, and why. number: its place among the file's rows."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="rejections")
    number = models.BigIntegerField()
    place = models.CharField(max_length=200, blank=True)
    external_id = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=10)
    path = models.CharField(max_length=200, blank=True)
    reason = models.TextField()
    # The row's bytes in the file, packed.
    raw = models.BinaryField(default=b"")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="one_rejection_per_row"),
            models.CheckConstraint(
                name="a_rejection_says_its_kind", condition=Q(status__in=["rejected", "conflict", "unread"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} row {self.number}: {self.status}"


class SavedMapping(models.Model):
    """A mapping that a project uses again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="mappings")
    name = models.CharField(max_length=100)
    content = LosslessJSONField(default=dict)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_mapping_per_name")]

    def __str__(self) -> str:
        return self.name
