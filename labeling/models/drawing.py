"""Random audit draws: samples with known probabilities, apart from requests (RULES 13)."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from labeling.models.fields import LosslessJSONField, choices, one_of
from labeling.models.running import Run, Trajectory
from labeling.vocabulary import Side, Stratum


class AuditDraw(models.Model):
    """One draw over one side of one closed run. Frame, strata and opinions are those of its moment."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="draws")
    side = models.CharField(max_length=20, choices=choices(Side))
    number = models.PositiveSmallIntegerField(default=1)
    seed = models.BigIntegerField()
    # The judge ids whose opinions made the strata.
    panel = LosslessJSONField(default=list)
    budget = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "side", "number"], name="one_draw_per_number"),
            one_of("side", Side),
        ]

    def __str__(self) -> str:
        return f"draw of {self.run}, {self.side}"


class DrawStratum(models.Model):
    """A cell of a draw: how many there are, how many are asked for, and the highest rank ever handed to anyone."""

    draw = models.ForeignKey(AuditDraw, on_delete=models.CASCADE, related_name="strata")
    name = models.CharField(max_length=20, choices=choices(Stratum))
    size = models.PositiveIntegerField()
    allocated = models.PositiveIntegerField()
    # Never moves back (RULES 15).
    cursor = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["draw", "name"], name="one_stratum_per_name"),
            models.CheckConstraint(
                name="a_stratum_is_not_overdrawn",
                condition=Q(allocated__lte=F("size")) & Q(cursor__lte=F("size")),
            ),
            one_of("name", Stratum),
        ]
        verbose_name_plural = "draw strata"

    def __str__(self) -> str:
        return f"{self.draw_id}: {self.name}"


class DrawMember(models.Model):
    """A trajectory of the frame with its random rank; the first `allocated` ranks are queued.

    `probability` is the inclusion probability at allocation, null beyond it.
    """

    stratum = models.ForeignKey(DrawStratum, on_delete=models.CASCADE, related_name="members")
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="draw_members")
    rank = models.PositiveIntegerField()
    probability = models.FloatField(null=True)
    non_response_at = models.DateTimeField(null=True)
    non_response_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stratum", "rank"], name="one_member_per_rank"),
            models.UniqueConstraint(fields=["stratum", "trajectory"], name="a_member_once_per_stratum"),
            models.CheckConstraint(name="ranks_count_from_one", condition=Q(rank__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.stratum_id} #{self.rank}"
