"""What the worker does when its broker goes away: it waits for it, and goes on."""

from typing import Any

from celery.worker.consumer import Consumer as CelerysConsumer


class Consumer(CelerysConsumer):
    """Celery's own ends the worker where the broker went away before a message was acknowledged.

    It closes the lost connection a second time, when that knows no address any more.
    """

    def on_connection_error_after_connected(self, exc: Exception) -> Any:
        try:
            return super().on_connection_error_after_connected(exc)
        except AttributeError:
            self.connection = None
