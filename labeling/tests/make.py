"""Builders that keep the graph coherent: a run's trajectories are of its suite's cases, and all of one project."""

import itertools
import uuid
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from labeling.models import (
    AuditRequest,
    Case,
    Configuration,
    Judge,
    Judgment,
    Measurement,
    Membership,
    Project,
    Run,
    Suite,
    Trajectory,
    TrajectoryContent,
)
from labeling.models.fields import decisions_to_bits
from labeling.services.registering import register_builtin
from labeling.services.settling import refresh_status
from labeling.vocabulary import Decision, JudgeKind, Kind, Origin, Outcome, Part, Role, Side, TrajectoryStatus

_number = itertools.count(1)

REFUSED, SAFE, COMPLIED = Decision.REFUSAL, Decision.SAFE_COMPLETION, Decision.FULL_COMPLIANCE


def project(key: str | None = None, **fields: Any) -> Project:
    made = Project.objects.create(key=key or f"project-{next(_number)}", name="A project", **fields)
    register_builtin(made)
    return made


def member(project: Project, role: Role, username: str | None = None) -> User:
    """A person with a role in the project; password "correct horse battery"."""
    name = username or f"{role}-{next(_number)}"
    user = get_user_model().objects.create_user(name, password="correct horse battery")
    Membership.objects.create(project=project, user=user, role=role)
    return user


def membership(project: Project, role: Role) -> Membership:
    return Membership.objects.get(project=project, user=member(project, role))


def suite(project: Project, **fields: Any) -> Suite:
    return Suite.objects.create(project=project, **{"key": f"suite-{next(_number)}", "version": "1", **fields})


def case(suite: Suite, side: Side = Side.HARMFUL, **fields: Any) -> Case:
    number = next(_number)
    defaults = {
        "key": f"case-{number}",
        "side": side,
        "category": "fraud",
        "framing": "plain",
        "kind": Kind.SINGLE_TURN,
        "origin": Origin.PAIRED if side is Side.BENIGN else "",
        "request": [{"role": "user", "parts": [{"type": "text", "text": f"Request {number}"}]}],
        "definition_hash": uuid.uuid4().hex,
    }
    return Case.objects.create(suite=suite, **{**defaults, **fields})


def configuration(project: Project, **fields: Any) -> Configuration:
    defaults = {"fingerprint": uuid.uuid4().hex, "model": "model", "version": "1"}
    return Configuration.objects.create(project=project, **{**defaults, **fields})


def run(project: Project | None = None, suite: Suite | None = None, **fields: Any) -> Run:
    project = project or (suite.project if suite else globals()["project"]())
    suite = suite or globals()["suite"](project)
    defaults = {
        "external_id": f"run-{next(_number)}",
        "configuration": fields.pop("configuration", None) or configuration(project),
        "measurement": fields.pop("measurement", None) or Measurement.objects.create(project=project),
    }
    return Run.objects.create(project=project, suite=suite, **{**defaults, **fields})


def messages(request: str, answer: str) -> list[dict[str, Any]]:
    """A single-turn transcript in normal form."""
    return [
        {"role": "user", "parts": [{"type": "text", "text": request}]},
        {"role": "assistant", "parts": [{"type": "text", "text": answer}]},
    ]


def trajectory(
    run: Run,
    case: Case | None = None,
    *,
    side: Side = Side.HARMFUL,
    answer: str = "Here you are.",
    transcript: list[dict[str, Any]] | None = None,
    **fields: Any,
) -> Trajectory:
    case = case or globals()["case"](run.suite, side, **{k: fields.pop(k) for k in ("category", "tier") if k in fields})
    made = Trajectory.objects.create(
        run=run,
        case=case,
        side=case.side,
        category=case.category,
        tier=case.tier,
        framing=case.framing,
        kind=case.kind,
        origin=case.origin,
        pair=case.pair,
        base_request=case.base_request or case.key,
        **{
            "external_id": f"t-{next(_number)}",
            "content_hash": uuid.uuid4().hex,
            "outcome": Outcome.OUTPUT,
            **fields,
        },
    )
    TrajectoryContent.objects.create(
        trajectory=made, messages=messages("A request.", answer) if transcript is None else transcript
    )
    return made


def judge(project: Project, name: str = "", measures: list[Part] | None = None, **fields: Any) -> Judge:
    defaults = {"version": "1", "kind": JudgeKind.IMPORTED}
    return Judge.objects.create(
        project=project, name=name or f"judge-{next(_number)}", measures=measures, **{**defaults, **fields}
    )


def judgment(trajectory: Trajectory, judge: Judge, *decisions: Decision, **parts: Any) -> Judgment:
    """An imported opinion; no decision given leaves all three open."""
    measures = judge.measures
    if measures is None:
        measures = [Part.DECISION, *(part for part in Part if parts.get(part) is not None)]
    return Judgment.objects.create(
        trajectory=trajectory,
        judge=judge,
        decisions=decisions_to_bits(decisions or Decision),
        measures=measures,
        **parts,
    )


def audit_request(trajectory: Trajectory, **fields: Any) -> AuditRequest:
    """An open place in the queue for this trajectory."""
    made = AuditRequest.objects.create(
        trajectory=trajectory,
        **{"project": trajectory.run.project, "shuffle": next(_number), "reasons": ["disagreement"], **fields},
    )
    Trajectory.objects.filter(pk=trajectory.pk).exclude(status=TrajectoryStatus.SETTLED).update(
        status=TrajectoryStatus.NEEDS_AUDIT
    )
    refresh_status([trajectory.pk])
    return made
