"""Bring XSTest v2's labelled completions: one run per file, with its judges' labels and its people's verdicts."""

import argparse
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.services import history
from labeling.errors import DomainError
from labeling.formats import wire, xstest
from labeling.formats.lines import from_value, read_values
from labeling.models import Project, Run, Suite
from labeling.services import ingest, runs, suites
from labeling.tasks import request_draw, request_judging
from labeling.vocabulary import RunStatus

SUITE = {"key": "xstest", "version": "v2", "title": "XSTest v2"}
SUITE_NAME = "xstest@v2"


class Command(BaseCommand):
    help = "Import XSTest's completion files. Safe to repeat: what is there already is recognised."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="xstest_v2_completions_SYSTEM….csv")
        parser.add_argument("--project", required=True, help="The key of the project.")
        parser.add_argument("--strmatch", type=Path, help="CSV with model, id, strmatch_label: a second judge.")
        parser.add_argument("--prompts", type=Path, help="CSV with id, focus: the focus word pairs the cases.")
        parser.add_argument(
            "--blind",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="People labelled without seeing the judges' labels (so with XSTest; --no-blind: the opposite).",
        )
        parser.add_argument("--close", action="store_true", help="Close the runs, asking for no further audits.")

    def handle(self, *_args: Any, files: list[Path], project: str, blind: bool, close: bool, **options: Any) -> None:
        owner = Project.objects.filter(key=project).first()
        if owner is None:
            raise CommandError(f"There is no project {project!r}; make it with manage.py create_project {project}.")
        focus = _focus(options["prompts"])
        try:
            suite = _suite(owner)
            imported = [self._import(owner, file, options["strmatch"], focus, blind=blind) for file in files]
            suites.publish_suite(suite=suite)
            for run in imported if close else ():
                runs.close_run(run=run, expected_count=None, audits_per_side=0)
                request_draw(run.pk)
        except DomainError as error:
            raise CommandError(error.message) from None

    def _import(self, owner: Project, file: Path, strmatch: Path | None, focus: dict[str, str], *, blind: bool) -> Run:
        system = xstest.system_of(file.name)
        judges = [xstest.GPT4, *([xstest.STRING_MATCH] if strmatch else [])]
        run = runs.create_run(project=owner, spec=wire.read(wire.RunSpec, _run(system, judges))).run
        with _opened(file) as stream:
            rows = list(xstest.read(stream, string_match=_string_match(strmatch, system), focus=focus))
        if run.status != RunStatus.OPEN:
            self.stdout.write(f"{system}: the run is {run.status} and takes no more; left as it is.")
            return run
        stored = ingest.store_trajectories(
            run=run, lines=[from_value(index, row.line) for index, row in enumerate(rows)]
        )
        verdicts = [verdict for row in rows for verdict in row.verdicts]
        said = history.store_verdicts(run=run, lines=read_values(wire.VerdictLine, verdicts), blind=blind)
        request_judging(stored.owed)
        for name, answer in (("trajectories", stored), ("verdicts", said)):
            self.stdout.write(
                f"{system}: {answer.created} {name} created, {answer.duplicate} duplicate, "
                f"{answer.conflict} conflict, {answer.rejected} rejected"
            )
            for entry in answer.entries:
                if entry.status != "duplicate":
                    self.stderr.write(f"  {entry.external_id}: {entry.path} {entry.reason}")
        return run


def _suite(owner: Project) -> Suite:
    """The suite all files share; a draft until their cases are in."""
    found = Suite.objects.filter(project=owner, key=SUITE["key"], version=SUITE["version"]).first()
    return found or suites.create_suite(project=owner, spec=wire.read(wire.SuiteSpec, SUITE)).suite


def _run(system: str, judges: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "external_id": system,
        "name": f"XSTest {system}",
        "suite": SUITE_NAME,
        "configuration": {"model": system, "version": "as published with XSTest v2"},
        "judges": judges,
        "panel": [{"name": judge["name"], "version": judge["version"]} for judge in judges],
    }


def _focus(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    with _opened(path) as stream:
        return xstest.read_focus(stream)


def _string_match(path: Path | None, system: str) -> dict[str, str]:
    if path is None:
        return {}
    with _opened(path) as stream:
        labels = xstest.read_string_match(stream, system=system)
    if not labels:
        raise DomainError(f"{path.name} has no labels for {system}.")
    return labels


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DomainError(f"{path} cannot be read: {error.strerror}.") from None
