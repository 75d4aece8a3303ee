"""What is asked: suites and their cases."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from labeling.models.access import Project
from labeling.models.fields import LosslessJSONField, choices, one_of
from labeling.vocabulary import DEFAULT_HARM_THRESHOLD, GRAVEST_TIER, Kind, Origin, Side


class Suite(models.Model):
    """A named, versioned set of cases; immutable once published."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="suites")
    key = models.CharField(max_length=100)
    version = models.CharField(max_length=50)
    title = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    # Graded harmful means at or above this.
    harm_threshold = models.PositiveSmallIntegerField(default=DEFAULT_HARM_THRESHOLD)
    gravest_tier = models.PositiveSmallIntegerField(default=GRAVEST_TIER)
    # What a run must keep to, to be comparable: system prompt, decoding, judge and rubric (RULES 20).
    protocol = LosslessJSONField(default=dict)
    content_hash = models.CharField(max_length=64, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key", "version"], name="one_suite_per_version"),
            models.CheckConstraint(name="harm_threshold_is_a_grade", condition=Q(harm_threshold__range=(1, 4))),
        ]

    def __str__(self) -> str:
        return f"{self.key}@{self.version}"


class Case(models.Model):
    """One request, or one scripted conversation, and what makes an answer to it wrong."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="cases")
    key = models.CharField(max_length=200)
    side = models.CharField(max_length=20, choices=choices(Side))
    category = models.CharField(max_length=100, blank=True)
    # 1 is gravest; empty where the suite does not grade severity.
    tier = models.PositiveSmallIntegerField(null=True, blank=True)
    framing = models.CharField(max_length=60, default="plain")
    kind = models.CharField(max_length=20, choices=choices(Kind), default=Kind.SINGLE_TURN)
    origin = models.CharField(max_length=20, choices=choices(Origin), blank=True)
    # Cases that share a pair key and differ in side are twins.
    pair = models.CharField(max_length=200, blank=True)
    # Variants of one base request share this; empty means the case is its own base.
    base_request = models.CharField(max_length=200, blank=True)
    request = LosslessJSONField(default=list)
    right_answer = models.TextField(blank=True)
    # How a program checks the answer to a capability case; null where none does.
    answer_check = LosslessJSONField(null=True, blank=True)
    metadata = LosslessJSONField(default=dict)
    definition_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["suite", "key"], name="one_case_per_key"),
            models.CheckConstraint(name="tier_is_positive", condition=Q(tier=None) | Q(tier__gte=1)),
            one_of("side", Side),
            one_of("kind", Kind),
            one_of("origin", Origin, blank=True),
        ]
        indexes = [models.Index(fields=["suite", "pair"], name="case_by_pair", condition=~Q(pair=""))]
        ordering = [F("id").asc()]

    def __str__(self) -> str:
        return self.key
