"""What a person owes a look, and why."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from labeling.models.access import Project
from labeling.models.fields import LosslessJSONField, choices, one_of
from labeling.models.running import Trajectory
from labeling.vocabulary import RequestState


class AuditRequest(models.Model):
    """A place in the review queue; one per trajectory, so that nobody meets it twice.

    `reasons` are routing's. A request that only a random draw asks for has none, and looks the same to a reviewer.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="audit_requests")
    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, related_name="audit_request")
    reasons = LosslessJSONField(default=list)
    slots = models.PositiveSmallIntegerField(default=1)
    # Only a lead may take it: people disagree.
    for_lead = models.BooleanField(default=False)
    # Smaller comes first; equal priorities in the order of a hash, so that a queue is no list of one run after another.
    priority = models.PositiveSmallIntegerField(default=5)
    shuffle = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=choices(RequestState), default=RequestState.OPEN)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            one_of("state", RequestState),
            models.CheckConstraint(name="a_request_has_a_slot", condition=Q(slots__gte=1)),
        ]
        indexes = [
            models.Index(
                F("project"),
                F("for_lead"),
                F("priority"),
                F("shuffle"),
                F("id"),
                name="open_requests_in_order",
                condition=Q(state=RequestState.OPEN),
            )
        ]

    def __str__(self) -> str:
        return f"audit of {self.trajectory_id}"
