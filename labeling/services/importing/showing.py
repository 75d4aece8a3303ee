"""Who is shown what judges say in a file. The human side decides: it knows who judges the same rows (RULES 7)."""

from collections.abc import Collection
from typing import Any, Protocol

from django.contrib.auth.models import User

from labeling.errors import NotAllowed
from labeling.models import ImportJob
from labeling.selectors import importing

JUDGING = (
    "You are judging an item of a run that this file went into: what judges say in it is shown once you have given "
    "your verdict or put it back."
)


class Audience(Protocol):
    """Of rows of these runs, those on which this person is now told no opinions; the others are recorded as told.

    Raises NotAllowed where nothing may be told. chose_to_see: the person asked for the opinions.
    """

    def __call__(
        self, *, user: User, run_ids: Collection[int], external_ids: Collection[str], chose_to_see: bool
    ) -> Collection[str]: ...


_audiences: list[Audience] = []


def register(audience: Audience) -> None:
    """The one audience from now on."""
    _audiences[:] = [audience]


def shown_to(job: ImportJob, user: User | None) -> dict[str, Any]:
    """The import as the API and the page have it: to who may yet judge its rows blind, without what is said of those.

    user: None for a runner, who is told everything.
    """
    told = importing.shown(job)
    preview = told["preview"]
    if user is None or preview is None or not told["runs"]:
        return told
    try:
        told_of = [each["external_id"] for each in preview["examples"] if each["scores"]]
        hidden = _hidden(job, user, told_of, chose_to_see=False)
    except NotAllowed:
        return {**told, "preview": None}
    examples = [{**each, "scores": []} if each["external_id"] in hidden else each for each in preview["examples"]]
    return {**told, "preview": {**preview, "examples": examples}}


def record_rows_taken(job: ImportJob, user: User, external_ids: Collection[str]) -> None:
    """These rows are told with all that judges say of them. Raises NotAllowed."""
    _hidden(job, user, external_ids, chose_to_see=True)


def _hidden(job: ImportJob, user: User, external_ids: Collection[str], *, chose_to_see: bool) -> Collection[str]:
    run_ids = [each.run_id for each in job.runs.all()]
    return _audiences[0](user=user, run_ids=run_ids, external_ids=external_ids, chose_to_see=chose_to_see)
