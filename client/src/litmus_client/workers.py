"""Is anybody at work on the service? What waits for a worker nobody should watch in vain."""

from datetime import datetime

from litmus_client.api import Api

# A worker gives a sign of life every few seconds.
SILENT_AFTER = 90.0


def silence(api: Api, seen_at: str | None) -> str:
    """A sentence when no worker has been seen lately, else ""."""
    if seen_at is None:
        return "No worker of this service has ever been seen: start one (script/server does), or ask who runs it."
    seconds = (api.now() - datetime.fromisoformat(seen_at)).total_seconds()
    if seconds < SILENT_AFTER:
        return ""
    return f"No worker of this service has been seen for {seconds:,.0f} s: start one, or ask who runs it."
