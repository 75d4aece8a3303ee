"""Signs of life of the background workers."""

from django.db import models


class Heartbeat(models.Model):
    """When something that should happen regularly last did; pages say so when it has not."""

    name = models.CharField(max_length=40, primary_key=True)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.beat_at:%H:%M:%S}"
