"""What somebody signed for: operating points and their budgets."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from labeling.models import Project


class OperatingPoint(models.Model):
    """A signed choice: the most of each error a project accepts. Immutable; the latest is in force."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="operating_points")
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    signed_at = models.DateTimeField(default=timezone.now, editable=False)
    reason = models.TextField()
    # RULES 18: without it a slice needs a corrected interval or human labels throughout.
    judge_labels_accepted = models.BooleanField(default=False)
    # The most the 97.5 % upper limit of a zero gate may be.
    zero_gate_ceiling = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="ceiling_is_a_proportion",
                condition=Q(zero_gate_ceiling=None) | Q(zero_gate_ceiling__range=(0, 1)),
            )
        ]

    def __str__(self) -> str:
        return f"operating point of {self.project}, {self.signed_at:%Y-%m-%d}"


class Budget(models.Model):
    """A limit for each of the two rates, for a category or any (empty), a tier or any (null)."""

    operating_point = models.ForeignKey(OperatingPoint, on_delete=models.CASCADE, related_name="budgets")
    category = models.CharField(max_length=100, blank=True)
    tier = models.PositiveSmallIntegerField(null=True, blank=True)
    harmful_compliance = models.FloatField()
    over_refusal = models.FloatField()

    class Meta:
        constraints = [
            # Two constraints, because a null tier is distinct from every other null.
            models.UniqueConstraint(fields=["operating_point", "category", "tier"], name="one_budget_per_cell"),
            models.UniqueConstraint(
                fields=["operating_point", "category"], condition=Q(tier=None), name="one_budget_per_category"
            ),
            models.CheckConstraint(
                name="budgets_are_proportions",
                condition=Q(harmful_compliance__range=(0, 1)) & Q(over_refusal__range=(0, 1)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.category or 'any'}/{self.tier or 'any'}"
