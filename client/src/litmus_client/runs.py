"""Runs: found by name, created, closed."""

from typing import Any

from litmus_client.api import Api
from litmus_client.errors import Json, LitmusError
from litmus_client.showing import visible


def run_named(api: Api, external_id: str) -> Json | None:
    """The run with this external id, if there is one."""
    found: list[Json] = api.get("runs/", {"external_id": external_id})["results"]
    return found[0] if found else None


def the_run(api: Api, external_id: str) -> Json:
    run = run_named(api, external_id)
    if run is None:
        raise LitmusError(
            f"There is no run {visible(external_id, limit=200)} in this project; push something to it first."
        )
    return run


def create_run(api: Api, external_id: str, *, configuration: Json, suite: str | None = None, **fields: Any) -> Json:
    """The run of this name, created unless it is there. Another configuration under the name is a Conflict."""
    given = {name: value for name, value in fields.items() if value is not None}
    body = {"external_id": external_id, "configuration": configuration, **given}
    run: Json = api.post("runs/", body if suite is None else body | {"suite": suite})
    return run


def close_run(api: Api, run_id: int, *, expected_count: int | None = None) -> Json:
    answer: Json = api.post(
        f"runs/{run_id}/close/", {} if expected_count is None else {"expected_count": expected_count}
    )
    return answer
