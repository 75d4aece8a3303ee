"""Judges that a project makes: new ones and new versions, who is on the panel, how hard they may be worked."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import transaction
from pydantic import ValidationError

from labeling.errors import Conflict, DomainError
from labeling.formats.problems import problems_of, refusal
from labeling.judges import registry
from labeling.judges.base import RunningJudge, ServedJudge
from labeling.judges.service import Service
from labeling.models import Judge, JudgeService, Project
from labeling.selectors.judges import RESERVED
from labeling.services import sealing
from labeling.services.calling.addressing import check_service
from labeling.services.registering import copy_service, new_version, owe_nothing, put_on_panel
from labeling.vocabulary import GOING_ON, JudgeKind

_LONGEST_KEY = 4_000


class Made(NamedTuple):
    """created: it was not there before. retitled: it was, under another title."""

    judge: Judge
    created: bool
    retitled: bool = False


class Working(NamedTuple):
    """How hard a judge may be worked: what `JudgeService` says, as a person gives it, all of it at once."""

    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    timeout_seconds: int
    input_usd: Decimal | None
    output_usd: Decimal | None
    ceiling_usd: Decimal | None


# The most that each of these may be, on the page and over the API alike.
MOST = {
    "concurrency": 1_000,
    "requests_per_minute": 1_000_000,
    "tokens_per_minute": 1_000_000_000,
    "timeout_seconds": 600,
    "input_usd": 99_999,
    "output_usd": 99_999,
    "ceiling_usd": 99_999,
}


def working_of(judge: Judge) -> Working:
    """How hard it may be worked now."""
    service = JudgeService.objects.filter(judge=judge).first() or JudgeService()
    return Working(**{name: getattr(service, name) for name in Working._fields})


def judge_of(*, kind: JudgeKind, name: str, settings: Mapping[str, Any]) -> RunningJudge:
    """A judge of these settings. Raises DomainError with every problem found."""
    if kind not in registry.SERVED:
        kinds = " and ".join(registry.SERVED)
        raise DomainError(f"A project makes judges of the kinds {kinds}, and no {kind}.", field="kind")
    try:
        judge = registry.make(kind=kind, name=name, settings=dict(settings))
    except ValidationError as error:
        raise refusal(problems_of(error, has_metadata=False)) from None
    if isinstance(judge, ServedJudge):
        check_service(judge.service)
    return judge


@transaction.atomic(durable=True)
def make_judge(
    *,
    project: Project,
    kind: JudgeKind,
    name: str,
    settings: Mapping[str, Any],
    based_on: Judge | None = None,
    key: str = "",
    on_panel: bool = False,
) -> Made:
    """A judge, or a new version of one: settings that differ in one word are another version.

    based_on: the version whose limits and key it takes along, the key only to the same address.
    """
    code = judge_of(kind=kind, name=name, settings=settings)
    _refuse_name(project, name, kind)
    sealed = sealed_key(key)
    # Pages tell by its type what a judge is, and a request need not say it.
    said = {**settings, "type": registry.SERVED[kind]}
    judge, created = new_version(project=project, name=name, code=code, settings=said, on_panel=on_panel)
    if created and isinstance(code, ServedJudge):
        service = _service(judge, code.service, based_on)
        if sealed:
            JudgeService.objects.filter(pk=service.pk).update(sealed_key=sealed)
    if retitled := not created and judge.title != code.title:
        # Where a title is no part of the version, there is nothing else that could be new.
        judge.title, judge.settings = code.title, said
        judge.save(update_fields=["title", "settings"])
    return Made(judge, created, retitled)


def sealed_key(key: str) -> str:
    """As it is kept; "" for none. Raises DomainError on what cannot be sent in a header, and does not repeat it."""
    key = key.strip()
    if len(key) > _LONGEST_KEY or not (key.isascii() and key.isprintable()) or " " in key:
        raise DomainError("The key has characters that no key has; copy it again, without line ends.", field="key")
    return sealing.seal(key) if key else ""


def _refuse_name(project: Project, name: str, kind: JudgeKind) -> None:
    if not name.isprintable() or name != name.strip():
        raise DomainError("The name must be on one line, of characters that can be seen.", field="name")
    if name in RESERVED:
        raise DomainError(f"{name} is the name of a judge that comes with every project; choose another.", field="name")
    other = Judge.objects.filter(project=project, name=name).exclude(kind=kind).first()
    if other is not None:
        sentence = f"There is a judge {name} already, of another kind ({other.kind}); choose another name."
        raise Conflict(sentence, field="name")


def _service(judge: Judge, service: Service, based_on: Judge | None) -> JudgeService:
    if based_on is None:
        return JudgeService.objects.create(judge=judge)
    return copy_service(based_on, judge, with_key=is_asked_at(based_on, service.base_url))


def is_asked_at(judge: Judge, base_url: str) -> bool:
    """Is this the address that the version's key was given for?"""
    code = registry.made(judge)
    return isinstance(code, ServedJudge) and code.service.base_url == base_url


@transaction.atomic(durable=True)
def work_judge(*, judge: Judge, working: Working, key: str | None = None) -> JudgeService:
    """Change how hard a judge may be worked, from the next call on. key: a new one; "" takes it away."""
    if working.ceiling_usd is not None and None in (working.input_usd, working.output_usd):
        raise DomainError(
            "A ceiling needs both prices: without them nobody knows what a call costs.", field="ceiling_usd"
        )
    service, _ = JudgeService.objects.select_for_update().get_or_create(judge=judge)
    columns = working._asdict() | ({} if key is None else {"sealed_key": sealed_key(key)})
    if key is not None:
        # Another key: what was wrong with the one before says nothing of it.
        columns |= {"parked_until": None, "parked_reason": "", "parkings": 0}
    for column, value in columns.items():
        setattr(service, column, value)
    service.save(update_fields=list(columns))
    return service


@transaction.atomic(durable=True)
def put_away(*, judge: Judge) -> None:
    """Delete a version that was a mistake: one that has said nothing yet and is on no panel."""
    # What a worker would store of it now waits for this, and then finds no judge.
    row = Judge.objects.select_for_update().get(pk=judge.pk)
    if hindrance := _hindrance(row):
        raise Conflict(hindrance)
    row.delete()


def may_be_put_away(judge: Judge) -> bool:
    return not _hindrance(judge)


def _hindrance(row: Judge) -> str:
    """What keeps a version from being deleted, in a sentence."""
    if row.kind == JudgeKind.IMPORTED or row.name in registry.BUILT_IN:
        return "This judge is not made here: it comes with Litmus, or with what runners post."
    if row.judgments.exists() or row.spends.exists():
        return "This version has judged something, and what was said stays; take it off the panel instead."
    if row.active or row.seats.exists():
        return "This version is on the panel, or on that of a run; take it off the project's panel first."
    if row.calls.exists() or row.rejudgings.filter(status__in=GOING_ON).exists():
        return "This version still owes calls; wait until they are made, or give them up."
    return ""


@transaction.atomic(durable=True)
def seat(*, judge: Judge) -> None:
    """Put a version on the project's panel: new trajectories are put to it, and to no other version of its name."""
    if judge.kind == JudgeKind.IMPORTED:
        raise DomainError("An imported judge speaks where its judgments are posted; it is put to nothing here.")
    if registry.running(judge) is None:
        raise Conflict("This version no longer runs here; put its newest version on the panel.")
    put_on_panel(judge)


@transaction.atomic(durable=True)
def unseat(*, judge: Judge) -> int:
    """Take a version off the panel: it owes nothing more to runs whose panel is not fixed. How much it did."""
    Judge.objects.filter(pk=judge.pk).update(active=False)
    return owe_nothing([judge])
