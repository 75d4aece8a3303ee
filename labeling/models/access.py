"""Who may see and do what: projects, members, invitations, runner keys."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from labeling.models.fields import choices, one_of
from labeling.vocabulary import ROLE_ORDER, Role


class Project(models.Model):
    """The border nobody sees across. Everything else belongs to exactly one."""

    key = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    # How many audits per side a run's random draw hands out when the run is closed.
    audits_per_side = models.PositiveIntegerField(default=60)
    is_demonstration = models.BooleanField(default=False)
    retention_days = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.key


class Membership(models.Model):
    """One person's role in one project. Deactivated, not deleted: their verdicts stay theirs."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=choices(Role))
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_person"),
            one_of("role", Role),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}: {self.role}"

    def may(self, role: Role) -> bool:
        """Does this membership include what `role` may do?"""
        return self.active and ROLE_ORDER.index(Role(self.role)) >= ROLE_ORDER.index(role)


class Invitation(models.Model):
    """A link that makes whoever opens it first a member. Only the token's hash is kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    label = models.CharField(max_length=200)
    role = models.CharField(max_length=20, choices=choices(Role))
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [one_of("role", Role)]

    def __str__(self) -> str:
        return f"{self.label} to {self.project}"

    @property
    def is_open(self) -> bool:
        return self.accepted_at is None and self.revoked_at is None and self.expires_at > timezone.now()


class RunnerKey(models.Model):
    """What a runner posts with. Bound to one project, shown once, kept as a hash, revocable."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runner_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    key_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=Q(revoked_at=None), name="one_live_runner_key_per_name"
            ),
            models.CheckConstraint(
                name="runner_key_revoked_after_creation",
                condition=Q(revoked_at=None) | Q(revoked_at__gte=F("created_at")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    # DRF asks these of whatever authenticates.
    is_authenticated = True
    is_anonymous = False

    def has_perm(self, *_args: Any) -> bool:
        return False
