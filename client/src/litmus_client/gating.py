"""A run's gate as an exit code."""

from litmus_client.api import Api
from litmus_client.errors import LitmusError, NotFound

EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3, "needs_sign_off": 4}


def gate_outcome(api: Api, run_id: int) -> str:
    """pass, fail, undecided or needs_sign_off. Raises LitmusError where the service has no gates, or another word."""
    try:
        outcome = str(api.get(f"runs/{run_id}/gate/").get("outcome"))
    except NotFound:
        raise LitmusError("This service has no gates yet.") from None
    if outcome not in EXIT_CODES:
        raise LitmusError("The service's gate says something that this client does not know; install a newer one.")
    return outcome
