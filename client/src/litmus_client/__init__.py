"""The client of Litmus: `litmus` on the command line, `Litmus` in Python."""

from litmus_client.client import Litmus, NotMapped, Run
from litmus_client.errors import LitmusError, ServiceError, Unreachable
from litmus_client.importing import Wishes
from litmus_client.pushing import Entry, Pushed

__all__ = ["Entry", "Litmus", "LitmusError", "NotMapped", "Pushed", "Run", "ServiceError", "Unreachable", "Wishes"]
