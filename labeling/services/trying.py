"""Trying a judge's settings on a few trajectories before they become a version. What it says there is no judgment."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from labeling.endpoints.caller import Caller
from labeling.endpoints.exchange import Answer, Broken, Down, Failed, Outcome, Question, Slow
from labeling.errors import DomainError, told
from labeling.judges.base import Item, LocalJudge, RunningJudge, Said, ServedJudge, abstained
from labeling.judges.service import Service
from labeling.models import Judge, JudgeService, Project, Trajectory, Trial
from labeling.selectors.items import items_of
from labeling.services import judges, judging
from labeling.services.calling.addressing import address_of
from labeling.services.calling.mending import trouble
from labeling.vocabulary import NOT_JUDGED, JudgeKind, Undetermined, WorkStatus

MOST = 10
MOST_TRIES = 3
_GIVEN_UP = "The worker ended three times while it tried this; look at its log."


@transaction.atomic(durable=True)
def request(
    *,
    project: Project,
    kind: JudgeKind,
    name: str,
    settings: Mapping[str, Any],
    trajectory_ids: Sequence[int],
    based_on: Judge | None,
    key: str,
    by: User,
) -> Trial:
    """Ask a worker to try them; the settings must be ones that could become a version."""
    judges.judge_of(kind=kind, name=name, settings=settings)
    rows = Trajectory.objects.filter(run__project=project, pk__in=trajectory_ids).exclude(outcome__in=NOT_JUDGED)
    ids = sorted(rows.values_list("pk", flat=True))
    if not ids or len(ids) > MOST:
        raise DomainError(f"Choose 1 to {MOST} trajectories of this project that have an answer.", field="trajectories")
    return Trial.objects.create(
        project=project,
        requested_by=by,
        based_on=based_on,
        name=name,
        kind=kind,
        settings=dict(settings),
        sealed_key=judges.sealed_key(key),
        trajectories=ids,
    )


def work(*, trial_id: int) -> bool:
    """Try it; True if this worker did."""
    if not _claimed(trial_id):
        return False
    trial = Trial.objects.select_related("based_on__service").get(pk=trial_id)
    if trial.tries > MOST_TRIES:
        _end(trial, problem=_GIVEN_UP)
        return True
    try:
        judge = judges.judge_of(kind=JudgeKind(trial.kind), name=trial.name, settings=trial.settings)
        _try(trial, judge)
    except DomainError as error:
        _end(trial, problem=error.message)
    except Exception as error:
        _end(trial, problem=f"This broke ({told(error)}); it is a fault of Litmus.")
        raise
    else:
        _end(trial)
    return True


@transaction.atomic(durable=True)
def _claimed(trial_id: int) -> bool:
    waiting = Trial.objects.filter(pk=trial_id, status=WorkStatus.WAITING)
    return bool(waiting.update(status=WorkStatus.WORKING, worked_at=timezone.now(), tries=F("tries") + 1, results=[]))


def take_up_again() -> list[int]:
    """The trials that nobody works on."""
    silent = timezone.now() - timedelta(seconds=django_settings.RING_AGAIN_SECONDS)
    Trial.objects.filter(status=WorkStatus.WORKING, worked_at__lt=silent).update(status=WorkStatus.WAITING)
    return list(Trial.objects.filter(status=WorkStatus.WAITING).values_list("pk", flat=True)[:20])


def _try(trial: Trial, judge: RunningJudge) -> None:
    items = list(items_of(trial.trajectories))
    if isinstance(judge, LocalJudge):
        for (pk, _), said in zip(items, judge.judge([item for _, item in items]), strict=True):
            _add(trial, pk, said)
        return
    assert isinstance(judge, ServedJudge)
    with Caller[int]() as caller:
        service = _service(trial, judge.service)
        address = address_of(judge.service, service)
        concurrency = min(MOST, service.concurrency)
        caller.open_line("trial", address=address, concurrency=concurrency, timeout=float(service.timeout_seconds))
        asked: dict[int, tuple[Item, Question]] = {}
        for pk, item in items:
            question = judge.ask(item, secrets.token_hex(8))
            if isinstance(question, Said):
                _add(trial, pk, question)
            else:
                asked[pk] = (item, question)
                caller.submit(pk, line="trial", question=question)
        while asked:
            # A sign of life, whether anything came or not: an answer may take long.
            Trial.objects.filter(pk=trial.pk).update(worked_at=timezone.now())
            for pk, outcome in caller.results(wait=1.0):
                item, question = asked.pop(pk)
                _add(trial, pk, _said(judge, item, question, outcome, has_key=bool(address.key)), outcome)


def _service(trial: Trial, asked: Service) -> JudgeService:
    """The limits and the key it borrows; the key only for the address that it was given for."""
    of = trial.based_on
    service = JudgeService() if of is None else getattr(of, "service", JudgeService())
    if trial.sealed_key or of is None or not judges.is_asked_at(of, asked.base_url):
        service.sealed_key = trial.sealed_key
    return service


def _said(judge: ServedJudge, item: Item, question: Question, outcome: Outcome, *, has_key: bool) -> Said:
    match outcome:
        case Answer():
            return judge.read(item, question, outcome)
        case Failed(reason, detail):
            return abstained(reason, judge.measures, rationale=detail)
        case Slow(detail):
            return abstained(Undetermined.TIMED_OUT, judge.measures, rationale=detail)
        case Down():
            words = trouble(outcome, operator=judge.service.operator, has_key=has_key, where="")
            raise DomainError(f"{words[:1].upper()}{words[1:]}.")
        case Broken(detail):
            raise DomainError(f"The call broke ({detail}); it is a fault of Litmus.")


def _add(trial: Trial, pk: int, said: Said, outcome: Outcome | None = None) -> None:
    trial.results.append(
        {
            "trajectory": pk,
            **judging.columns_of(said),
            "latency_ms": getattr(outcome, "latency_ms", None),
            "input_tokens": getattr(outcome, "input_tokens", None),
            "output_tokens": getattr(outcome, "output_tokens", None),
        }
    )
    Trial.objects.filter(pk=trial.pk).update(results=trial.results, worked_at=timezone.now())


def _end(trial: Trial, *, problem: str = "") -> None:
    Trial.objects.filter(pk=trial.pk).update(
        status=WorkStatus.FAILED if problem else WorkStatus.DONE,
        problem=problem,
        # The key was for this trial alone.
        sealed_key="",
        worked_at=timezone.now(),
    )
