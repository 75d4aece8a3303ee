"""Bring XSTest v2's labelled completions: one run per file, with its judges' labels and its people's verdicts."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.services import history
from labeling.errors import DomainError
from labeling.formats import wire
from labeling.formats.decoding import Decoded, decoded
from labeling.formats.files import tables
from labeling.formats.files.source import Source, Unread
from labeling.formats.lines import from_value, read_values
from labeling.formats.mapping import ImportMapping
from labeling.formats.readers import xstest
from labeling.formats.reading import Row
from labeling.models import Project, Run, Suite
from labeling.services import ingest, runs, suites
from labeling.tasks import request_draw, request_judging
from labeling.vocabulary import RunStatus

SUITE = {"key": "xstest", "version": "v2", "title": "XSTest v2"}
SUITE_NAME = "xstest@v2"


class Beside(NamedTuple):
    """What lies in files of its own, by a row's id: the string match labels of one system, and the focus words."""

    string_match: Mapping[str, str]
    focus: Mapping[str, str]

    def added_to(self, row: Row) -> Row:
        """The row with its second judge, and with the word that pairs its case."""
        name = row.facts["id"]
        label = self.string_match.get(name)
        scores = [xstest.score(xstest.STRING_MATCH, label, xstest.side_of(row.facts))] if label else []
        return replace(row, case={**row.case, "pair": self.focus.get(name, "")}, scores=(*row.scores, *scores))


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
        if not system:
            raise DomainError(f"{file.name} names no system; name a file like xstest_v2_completions_gpt4.csv.")
        judges = [xstest.GPT4, *([xstest.STRING_MATCH] if strmatch else [])]
        run = runs.create_run(project=owner, spec=wire.read(wire.RunSpec, _run(system, judges))).run
        rows = self._read(file, Beside(_string_match(strmatch, system), focus))
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

    def _read(self, file: Path, beside: Beside) -> list[Decoded]:
        rows = []
        for item in xstest.read(Source(partial(_opened, file), file.name)):
            if isinstance(item, Row):
                rows.append(decoded(beside.added_to(item), ImportMapping()))
            elif isinstance(item, Unread):
                self.stderr.write(f"  {file.name}, {item.place}: {item.path} {item.reason}")
        return rows


def _suite(owner: Project) -> Suite:
    """The suite all files share; a draft until their cases are in."""
    found = Suite.objects.filter(project=owner, key=SUITE["key"], version=SUITE["version"]).first()
    return found or suites.create_suite(project=owner, spec=wire.read(wire.SuiteSpec, SUITE)).suite


def _run(system: str, judges: list[xstest.Judge]) -> dict[str, Any]:
    return {
        "external_id": system,
        "name": f"XSTest {system}",
        "suite": SUITE_NAME,
        "configuration": {"model": system, "version": xstest.VERSION},
        "judges": [
            {"name": judge.name, "version": judge.version, "title": judge.title, "measures": list(judge.measures)}
            for judge in judges
        ],
        "panel": [{"name": judge.name, "version": judge.version} for judge in judges],
    }


def _string_match(path: Path | None, system: str) -> dict[str, str]:
    """The string match labels of one system, by the id of the row."""
    if path is None:
        return {}
    rows = _cells(path, {"model", "id", "strmatch_label"})
    labels = {row["id"]: row["strmatch_label"] for row in rows if row["model"] == system}
    if not labels:
        raise DomainError(f"{path.name} has no labels for {system}.")
    return labels


def _focus(path: Path | None) -> dict[str, str]:
    """The focus word of each prompt, by the id its completions carry."""
    if path is None:
        return {}
    return {f"v2-{row['id'].removeprefix('v2-')}": row["focus"] for row in _cells(path, {"id", "focus"})}


def _cells(path: Path, needed: set[str]) -> list[dict[str, str]]:
    """The rows of a file that lies beside the completions. Raises DomainError on a row that cannot be read."""
    rows = []
    for record in tables.records(Source(partial(_opened, path), path.name)):
        if isinstance(record, Unread):
            raise DomainError(f"{path.name}, {record.place}: {record.reason}.")
        if missing := needed - record.cells.keys():
            raise DomainError(f"{path.name} lacks the columns {', '.join(sorted(missing))}; is it one of XSTest's?")
        rows.append({name: cell or "" for name, cell in record.cells.items()})
    return rows


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DomainError(f"{path} cannot be read: {error.strerror}.") from None
