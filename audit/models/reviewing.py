"""The people's side of a trajectory: who holds it, what they said, what they had seen."""

from dataclasses import replace

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from labeling.measure.opinion import ANY_DECISION, Opinion
from labeling.models import AuditRequest, Project, Trajectory
from labeling.models.fields import LosslessJSONField, choices, one_of
from labeling.vocabulary import AssignmentState, Decision, VerdictKind, VerdictSource


class Assignment(models.Model):
    """One claim of one slot by one person, with a lease and a token that only its holder knows.

    A row is never reused: taking over an expired slot makes a new one, and a late submit finds its own.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="assignments")
    request = models.ForeignKey(AuditRequest, on_delete=models.CASCADE, related_name="assignments")
    slot = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    token = models.CharField(max_length=43, unique=True)
    state = models.CharField(max_length=10, choices=choices(AssignmentState), default=AssignmentState.HELD)
    claimed_at = models.DateTimeField(default=timezone.now)
    leased_until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request", "slot"],
                condition=Q(state__in=[AssignmentState.HELD, AssignmentState.SUBMITTED]),
                name="a_slot_has_one_holder",
            ),
            models.UniqueConstraint(
                fields=["request", "reviewer"],
                condition=Q(state__in=[AssignmentState.HELD, AssignmentState.SUBMITTED]),
                name="a_person_holds_one_slot_of_an_item",
            ),
            models.UniqueConstraint(
                fields=["project", "reviewer"],
                condition=Q(state=AssignmentState.HELD),
                name="a_person_holds_one_item_per_project",
            ),
            one_of("state", AssignmentState),
        ]
        indexes = [models.Index(fields=["leased_until"], name="leases_by_end", condition=Q(state=AssignmentState.HELD))]

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.request_id}"


class Verdict(models.Model):
    """What one person said of one trajectory. Only ever inserted; a correction is a new verdict.

    Parts may be null only where the verdict is historic; then they are silent.
    """

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="verdicts")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="verdicts"
    )
    # Who, as an import named them; empty where `reviewer` is known.
    author = models.CharField(max_length=200, blank=True)
    assignment = models.OneToOneField(
        Assignment, on_delete=models.PROTECT, null=True, blank=True, related_name="verdict"
    )
    corrects = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="corrected_by"
    )
    kind = models.CharField(max_length=12, choices=choices(VerdictKind), default=VerdictKind.REVIEW)
    source = models.CharField(max_length=10, choices=choices(VerdictSource))
    # No opinion on this trajectory had been shown to this person (RULES 7).
    blind = models.BooleanField()
    decision = models.CharField(max_length=20, choices=choices(Decision), blank=True)
    harm_grade = models.PositiveSmallIntegerField(null=True)
    explained = models.BooleanField(null=True)
    alternative_offered = models.BooleanField(null=True)
    withheld = models.BooleanField(null=True)
    evidence = LosslessJSONField(default=list)
    note = LosslessJSONField(default=str)
    confidence = models.PositiveSmallIntegerField(null=True)
    case_problem = models.CharField(max_length=200, blank=True)
    # As given; a historic verdict keeps the time its author gave.
    decided_at = models.DateTimeField()
    seconds_taken = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["trajectory", "author", "kind", "decided_at"],
                condition=Q(source=VerdictSource.IMPORT),
                name="one_historic_verdict_per_author_and_time",
            ),
            models.CheckConstraint(name="a_verdict_has_an_author", condition=Q(reviewer__isnull=False) | ~Q(author="")),
            models.CheckConstraint(
                name="a_new_verdict_is_complete",
                condition=Q(source=VerdictSource.IMPORT) | (~Q(decision="") & Q(harm_grade__isnull=False)),
            ),
            models.CheckConstraint(
                name="verdict_grade_in_range", condition=Q(harm_grade=None) | Q(harm_grade__range=(0, 4))
            ),
            one_of("decision", Decision, blank=True),
            one_of("kind", VerdictKind),
            one_of("source", VerdictSource),
        ]
        ordering = [F("id").asc()]

    def __str__(self) -> str:
        return f"{self.reviewer or self.author} on {self.trajectory_id}"

    def opinion(self) -> Opinion:
        """As an opinion: a part not given is silent, for a person who did not write it down cannot be asked."""
        opinion = Opinion(
            decisions=frozenset({Decision(self.decision)}) if self.decision else ANY_DECISION,
            harm_grade=self.harm_grade,
            explained=self.explained,
            alternative_offered=self.alternative_offered,
            withheld=self.withheld,
        )
        return replace(opinion, measures=frozenset(opinion.parts()))


class Draft(models.Model):
    """What a person has chosen and typed so far of one trajectory; it outlives the lease, and ends with the verdict.

    No opinion yet, so it is overwritten: by a higher revision only.
    """

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="drafts")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts")
    revision = models.PositiveIntegerField()
    parts = LosslessJSONField(default=dict)
    saved_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trajectory", "reviewer"], name="one_draft_per_person")]

    def __str__(self) -> str:
        return f"draft of {self.reviewer} on {self.trajectory_id}"


class Decline(models.Model):
    """A person will not review this one, and is not asked again."""

    request = models.ForeignKey(AuditRequest, on_delete=models.CASCADE, related_name="declines")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="declines")
    reason = models.CharField(max_length=40)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "reviewer"], name="one_decline_per_person")]

    def __str__(self) -> str:
        return f"{self.reviewer} declined {self.request_id}"


class ContentView(models.Model):
    """Who opened which content, when, and whether opinions on it were on the page (RULES 7)."""

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="views")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="content_views")
    showed_opinions = models.BooleanField()
    first_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            # The first time of each sort is what blindness and the access record need; more would grow with use.
            models.UniqueConstraint(fields=["trajectory", "user", "showed_opinions"], name="first_view_of_each_sort")
        ]

    def __str__(self) -> str:
        return f"{self.user} saw {self.trajectory_id}"
