"""Suites by name or from a YAML file, and their cases as an OpenAI-compatible endpoint takes them."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from litmus_client.api import Api
from litmus_client.errors import Json, LitmusError
from litmus_client.showing import visible
from litmus_client.yaml_files import object_in

_PAGE = 500


class Case(NamedTuple):
    """messages: what is asked. unable: why this runner cannot ask it, or ""."""

    key: str
    messages: list[Json]
    unable: str


def suite_of(api: Api, choice: str) -> Json:
    """A suite of the service by KEY or KEY@VERSION; a file is posted first, as it is written."""
    path = Path(choice)
    if path.suffix in (".yaml", ".yml", ".json") or path.is_file():
        suite: Json = api.post("suites/", object_in(path, kind="suite", hint="its keys are key, version and cases"))
        return suite
    key, _, version = choice.partition("@")
    found: list[Json] = api.get("suites/", {"key": key, "version": version or None})["results"]
    published = sorted((each for each in found if each["published_at"]), key=lambda each: str(each["published_at"]))
    if published:
        return published[-1]
    if len(found) == 1:
        return found[0]
    shown = visible(choice, limit=200)
    if found:
        raise LitmusError(f"Suite {shown} has several drafts; name one as {visible(key, limit=100)}@VERSION.")
    raise LitmusError(f"There is no suite {shown} in this project, and no file of that name.")


def cases_of(api: Api, suite_id: int) -> Iterator[Case]:
    after: int | None = 0
    while after is not None:
        page = api.get(f"suites/{suite_id}/cases/", {"after": after, "limit": _PAGE})
        yield from map(_case, page["results"])
        after = page["next"]


def _case(case: Json) -> Case:
    request: list[Json] = case["request"]
    unable = _unable(case["kind"], request)
    return Case(case["key"], [] if unable else [_message(each) for each in request], unable)


def _unable(kind: str, request: list[Json]) -> str:
    """One answer is asked for, to the user's last words. What needs more than that comes with a later version."""
    if kind in ("tool_use", "injected"):
        return "needs tools"
    if not request or request[-1]["role"] != "user":
        return "does not end with the user's words"
    roles = [message["role"] for message in request]
    if any(one == two == "user" for one, two in pairwise(roles)):
        return "is a script of several turns"
    if any(part["type"] not in ("text", "media") for message in request for part in message["parts"]):
        return "holds more than text and media"
    return ""


def _message(message: Json) -> Json:
    parts: list[Json] = message["parts"]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return {"role": message["role"], "content": parts[0]["text"]}
    return {"role": message["role"], "content": [_part(part) for part in parts]}


def _part(part: Json) -> Any:
    return part["raw"] if part["type"] == "media" else {"type": "text", "text": part["text"]}
