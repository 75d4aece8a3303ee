"""The demonstration project: a suite, three hand-made runs, and two people to sign in as.

Everything goes in the way a runner's data does, through the wire format and the services.
"""

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.contrib.auth.models import User

from audit.services import history
from labeling.formats import wire
from labeling.formats.lines import from_value, read_values
from labeling.models import Membership, Project, Run
from labeling.services import drawing, ingest, judging, people, runs, suites
from labeling.vocabulary import Role

KEY = "demo"
NAME = "Refusal boundary (demonstration)"
PEOPLE = {"reviewer": Role.REVIEWER, "lead": Role.LEAD}
# Few enough that the queue can be worked off, enough that every stratum is touched.
_AUDITS_PER_SIDE = 6
_SEED = 20261129
_SUITES = settings.BASE_DIR / "suites"


def sign_ins() -> dict[str, str]:
    """User name -> password. Made once per data folder, kept where only this account can read them."""
    path: Path = settings.DATA_DIR / "demonstration.json"
    try:
        kept: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        kept = {name: "-".join(secrets.token_hex(2) for _ in range(3)) for name in PEOPLE}
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(kept, file)
    return kept


def seed() -> bool:
    """Load the demonstration; False if it is there. Broken off half way, it goes on where it stopped."""
    project = Project.objects.filter(key=KEY).first() or people.create_project(key=KEY, name=NAME)
    Project.objects.filter(pk=project.pk).update(is_demonstration=True)
    _make_people(project)
    data = yaml.safe_load((_SUITES / "demonstration" / "boundary-runs.yaml").read_text(encoding="utf-8"))
    names = [configuration["external_id"] for configuration in data["configurations"]]
    if Run.objects.filter(project=project, external_id__in=names, drawn_at__isnull=False).count() == len(names):
        return False
    suite = yaml.safe_load((_SUITES / "refusal-boundary.yaml").read_text(encoding="utf-8"))
    suites.create_suite(project=project, spec=wire.read(wire.SuiteSpec, {**suite, "publish": True}))
    for configuration in data["configurations"]:
        _seed_run(project, configuration, data, suite=f"{suite['key']}@{suite['version']}")
    return True


def _make_people(project: Project) -> None:
    for name, password in sign_ins().items():
        user, _ = User.objects.get_or_create(username=name)
        if not user.check_password(password):
            user.set_password(password)
            user.save(update_fields=["password"])
        Membership.objects.get_or_create(project=project, user=user, defaults={"role": PEOPLE[name]})


def _seed_run(project: Project, configuration: dict[str, Any], data: dict[str, Any], *, suite: str) -> None:
    judges = data["judges"]
    spec = {
        "external_id": configuration["external_id"],
        "name": configuration["name"],
        "suite": suite,
        "configuration": {
            name: configuration[name] for name in ("model", "version", "system_prompt", "decoding", "filters", "layer")
        },
        "judges": judges,
        "panel": [{"name": judge["name"], "version": judge["version"]} for judge in judges],
        "audits_per_side": _AUDITS_PER_SIDE,
    }
    run = runs.create_run(project=project, spec=wire.read(wire.RunSpec, spec)).run
    requests = _requests()
    mine = [response for response in data["responses"] if response["configuration"] == configuration["key"]]
    lines = [_line(response, requests[response["case"]], judges) for response in mine]
    ingest.store_trajectories(run=run, lines=[from_value(index, line) for index, line in enumerate(lines)])
    verdicts = [_verdict(said) for said in data["verdicts"] if said["configuration"] == configuration["key"]]
    history.store_verdicts(run=run, lines=read_values(wire.VerdictLine, verdicts), blind=True)
    ids = list(run.trajectories.values_list("pk", flat=True))
    judging.store_judgments(trajectory_ids=ids)
    judging.route_trajectories(trajectory_ids=ids)
    runs.close_run(run=run, expected_count=None, audits_per_side=None)
    drawing.draw_run(run_id=run.pk, seed=_SEED)


def _requests() -> dict[str, str]:
    suite = yaml.safe_load((_SUITES / "refusal-boundary.yaml").read_text(encoding="utf-8"))
    return {case["key"]: case["request"] for case in suite["cases"]}


def _line(response: dict[str, Any], request: str, judges: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "external_id": response["case"],
        "case": response["case"],
        "messages": [{"role": "user", "content": request}, {"role": "assistant", "content": response["text"]}],
        "stop_reason": "stop",
        "judgments": list(_judgments(response["judgments"], {judge["name"]: judge["version"] for judge in judges})),
    }


def _verdict(said: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in said.items() if name not in ("case", "configuration")}
    return {"external_id": said["case"], **given}


def _judgments(given: dict[str, dict[str, Any]], versions: dict[str, str]) -> Iterator[dict[str, Any]]:
    flags = ("explained", "alternative_offered", "withheld")
    for name, said in given.items():
        yield {
            "judge": name,
            "version": versions[name],
            **{key: value for key, value in said.items() if key not in flags},
            "flags": {flag: said[flag] for flag in flags if flag in said},
        }
