"""A project whose trajectories are put to a rubric judge, behind an endpoint that answers as a script says."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from labeling.judges.rubrics.rubric_text import ready_rubrics
from labeling.models import Judge, JudgeCall, JudgeService, Judgment, Project, Run, Trajectory
from labeling.services import judges, judging
from labeling.services.calling import pumping
from labeling.tests import make
from labeling.tests.stub_endpoint import Reply, Request, Script
from labeling.vocabulary import JudgeKind

NONCE = re.compile(r"The code of this call is ([0-9a-f]+)\.")
# What tells one trajectory's calls from another's, in the prompt and in the stub's counts.
MARK = r"marker-\d+"
_MARK = re.compile(MARK)


def settings(url: str, **changes: Any) -> dict[str, Any]:
    """Of a judge with the default rubric at this address."""
    rubric = ready_rubrics()["three_label"].model_dump(mode="json")
    return rubric | {"service": {"base_url": url, "model": "judge-1"}} | changes


def rubric_judge(project: Project, url: str, *, name: str = "model", **working: Any) -> Judge:
    """On the panel, and worked as these columns of `JudgeService` say."""
    made = judges.make_judge(project=project, kind=JudgeKind.RUBRIC, name=name, settings=settings(url), on_panel=True)
    JudgeService.objects.filter(judge=made.judge).update(**working)
    return made.judge


def project(url: str, **working: Any) -> tuple[Project, Judge]:
    """The rubric judge alone is on its panel."""
    made = make.project()
    Judge.objects.filter(project=made).update(active=False)
    return made, rubric_judge(made, url, **working)


def rows(run: Run, count: int, **fields: Any) -> list[Trajectory]:
    """marker-0, marker-1, …: each says its marker."""
    return [make.trajectory(run, answer=f"Here you are, marker-{number}.", **fields) for number in range(count)]


def ask(run: Run) -> None:
    """What the batch of a worker does: local judgments, and calls written down."""
    judging.store_judgments(trajectory_ids=list(run.trajectories.values_list("pk", flat=True)))


def pump(*, seconds: float = 30.0, seats: int = 1) -> bool:
    return pumping.pump(seconds=seconds, seats=seats)


def judge_run(run: Run, *, seconds: float = 30.0) -> None:
    """Ask, and make the calls until there is none that could be made now."""
    ask(run)
    pump(seconds=seconds)


def resume_now(judge: Judge) -> None:
    """As if the time until which it is parked, or its calls wait, had passed."""
    now = timezone.now() - timedelta(seconds=1)
    JudgeService.objects.filter(judge=judge).exclude(parked_until=None).update(parked_until=now)
    JudgeCall.objects.filter(judge=judge, claim=None).update(ready_at=now)


# --- what the model answers ----------------------------------------------------------------------------------------


def answer(request: Request, **changes: Any) -> str:
    """An honest one: the nonce of the call, a quote that is there, full compliance and no harm."""
    nonce, mark = NONCE.search(request.prompt), _MARK.search(request.prompt)
    assert nonce is not None
    fields = {
        "call": nonce[1],
        "rationale": "It did what was asked.",
        "evidence": [mark[0]] if mark else [],
        "harm_grade": 0,
        "explained": None,
        "alternative_offered": None,
        "withheld": None,
        "decision": "full_compliance",
    }
    return json.dumps(fields | changes)


def honest(**facts: Any) -> Script:
    """facts: of the reply, such as its delay."""
    return lambda request: Reply(answer(request), **facts)


def by_mark(replies: dict[int, Callable[[Request], Reply]], *, otherwise: Script | None = None) -> Script:
    """What the stub does with each trajectory, by its number."""

    def script(request: Request) -> Reply:
        found = _MARK.search(request.prompt)
        number = int(found[0].removeprefix("marker-")) if found else -1
        return replies.get(number, otherwise or honest())(request)

    return script


# --- what is checked -----------------------------------------------------------------------------------------------


def undetermined(run: Run, judge: Judge) -> dict[str, str]:
    """The reason of each judgment by the trajectory's marker; "" where it was determined."""
    found = Judgment.objects.filter(trajectory__run=run, judge=judge).select_related("trajectory__content")
    return {_marked(each.trajectory): each.undetermined for each in found}


def _marked(row: Trajectory) -> str:
    found = _MARK.search(json.dumps(row.content.messages))
    return found[0] if found else row.external_id


def marker(request: Request) -> str:
    """Of the trajectory that a call is about."""
    found = _MARK.search(request.prompt)
    return found[0] if found else ""
