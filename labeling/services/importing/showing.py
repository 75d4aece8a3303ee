"""Who is shown what judges say in a file. The human side decides: it knows who judges the same rows (RULES 7)."""

from collections.abc import Collection
from typing import Any, Protocol

from django.contrib.auth.models import User

from labeling.errors import NotAllowed
from labeling.formats.problems import shown
from labeling.models import ImportJob, ImportLook, Run, Trajectory
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


class Record(Protocol):
    """These people were told opinions on these rows before they were in a run: pairs of user id and trajectory id."""

    def __call__(self, *, told: Collection[tuple[int, int]]) -> None: ...


_audiences: list[Audience] = []
_records: list[Record] = []


def register(audience: Audience, record: Record) -> None:
    """The one audience, and the one record, from now on."""
    _audiences[:], _records[:] = [audience], [record]


def shown_to(job: ImportJob, user: User | None) -> dict[str, Any]:
    """The import as the API and the page have it: to who may yet judge its rows blind, without what is said of those.

    user: None for a runner, who is told everything.
    """
    told = importing.shown(job)
    preview = told["preview"]
    if user is None or preview is None:
        return told
    told_of = [each["external_id"] for each in preview["examples"] if each["scores"]]
    try:
        hidden = _hidden(job, user, told_of, chose_to_see=False) if told["runs"] else ()
    except NotAllowed:
        return {**told, "preview": None}
    # Rows that are in no run yet will be: then it counts that this person has seen what is said of them.
    looks = [ImportLook(job=job, user=user, external_id=each) for each in told_of if each not in hidden]
    ImportLook.objects.bulk_create(looks, ignore_conflicts=True)
    examples = [{**each, "scores": []} if each["external_id"] in hidden else each for each in preview["examples"]]
    return {**told, "preview": {**preview, "examples": examples}}


def record_looks(job: ImportJob, run: Run, external_ids: Collection[str]) -> None:
    """These rows are in the run now: who was shown before what is said of them has seen it."""
    given = {shown(each, limit=200): each for each in external_ids}
    looks = ImportLook.objects.filter(job=job, external_id__in=given).values_list("user_id", "external_id")
    if wanted := [(user_id, given[external_id]) for user_id, external_id in looks]:
        rows = Trajectory.objects.filter(run=run, external_id__in={each for _, each in wanted}).order_by()
        ids = dict(rows.values_list("external_id", "pk"))
        _records[0](told=[(user_id, ids[each]) for user_id, each in wanted if each in ids])


def record_rows_taken(job: ImportJob, user: User, external_ids: Collection[str]) -> None:
    """These rows are told with all that judges say of them. Raises NotAllowed."""
    _hidden(job, user, external_ids, chose_to_see=True)


def _hidden(job: ImportJob, user: User, external_ids: Collection[str], *, chose_to_see: bool) -> Collection[str]:
    run_ids = [each.run_id for each in job.runs.all()]
    return _audiences[0](user=user, run_ids=run_ids, external_ids=external_ids, chose_to_see=chose_to_see)
