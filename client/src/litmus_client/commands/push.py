"""litmus push"""

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from litmus_client import importing, runs
from litmus_client.api import Api
from litmus_client.commands.common import NOT_TAKEN, TROUBLE, connected, say_what_became
from litmus_client.errors import Json
from litmus_client.importing import Wishes
from litmus_client.previewing import has_open_questions, preview_lines
from litmus_client.progress import bar
from litmus_client.pushing import push_source
from litmus_client.showing import counted, note, say, visible
from litmus_client.sources import Source, is_our_own, sources
from litmus_client.yaml_files import object_in, written_out

_OURS = "litmus"
_SHOWN = 20


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--run", help="The run's name. Pushing to the same name again is harmless.")
@click.option("--format", "format_", help="Which format the files have; without it, the content tells.")
@click.option("--suite", help="KEY@VERSION; without it, what is pushed defines its cases.")
@click.option("--model", help="The model that was measured, where the file or the run does not say.")
@click.option("--model-version", help="Its version.")
@click.option("--mapping", help="What is what: a YAML file, the name of a saved mapping, or a mapping itself.")
@click.option("--save-mapping", metavar="NAME", help="Keep the mapping in the project under this name.")
@click.option("--blind", is_flag=True, help="People's labels in the file were given without seeing any judge's.")
@click.option("--yes", is_flag=True, help="Do not ask; import even what is not mapped.")
@click.option("--close", is_flag=True, help="Close the run when everything is in.")
@click.option("--rejected", type=click.Path(dir_okay=False, writable=True), help="Keep rejected rows in this file.")
@connected
def push(
    api: Api,
    files: tuple[str, ...],
    *,
    run: str | None,
    format_: str | None,
    suite: str | None,
    model: str | None,
    model_version: str | None,
    mapping: str | None,
    save_mapping: str | None,
    blind: bool,
    yes: bool,
    close: bool,
    rejected: str | None,
) -> None:
    """Push FILES, of any format a runner writes, gzip or not; - is standard input."""
    wishes = Wishes(format_, run, suite, _mapping(mapping), model, model_version, save_mapping)
    if save_mapping and not isinstance(wishes.mapping, dict):
        raise click.UsageError("There is no mapping to save: give one with --mapping, in a file or written out.")
    complete, touched = True, {}
    with sources(files) as given:
        for source in given:
            if format_ in (None, _OURS) and mapping is None and is_our_own(source):
                target = _run_for_lines(api, wishes)
                complete &= _push_lines(api, source, target)
                touched[target["id"]] = target["external_id"]
            else:
                job = _import(api, source, wishes, blind=blind, yes=yes)
                complete &= _say_import(api, job, rejected=rejected)
                touched.update({each["id"]: each["external_id"] for each in job["runs"]})
    _finish(api, touched, close=close, complete=complete)
    if not complete:
        raise click.exceptions.Exit(NOT_TAKEN)


def _finish(api: Api, touched: dict[int, str], *, close: bool, complete: bool) -> None:
    """Close the runs that rows went into, if that was asked for and nothing is missing; or say how to go on."""
    if close and not complete:
        note("Not closed: mend what was not taken, push again, then close.")
    elif close:
        for run_id, name in touched.items():
            runs.close_run(api, run_id)
            say(f"closed run {visible(name, limit=200)}")
    elif complete and touched:
        note(f"Next: litmus watch {shlex.quote(visible(next(iter(touched.values())), limit=200))}")


def _mapping(given: str | None) -> str | Json | None:
    """A mapping that is written out, or in a file that is there, else the name of a saved one."""
    if given is None:
        return None
    if mapping := written_out(given):
        return mapping
    if Path(given).is_file():
        return object_in(Path(given), kind="mapping", hint="it is an object, such as case: {side: harmful}")
    return given


def _run_for_lines(api: Api, wishes: Wishes) -> Json:
    if wishes.run is None:
        raise click.UsageError("Say which run the lines belong to: --run NAME.")
    if wishes.model and wishes.model_version:
        configuration = {"model": wishes.model, "version": wishes.model_version}
        return runs.create_run(api, wishes.run, configuration=configuration, suite=wishes.suite)
    run = runs.run_named(api, wishes.run)
    if run is None:
        raise click.UsageError("There is no such run yet; to create it, give --model and --model-version.")
    return run


def _push_lines(api: Api, source: Source, run: Json) -> bool:
    with bar(f"pushing {visible(source.filename, limit=60)}", source.size) as advance:
        pushed = push_source(api, run, source, advance=advance)
    say_what_became(source.filename, pushed)
    return pushed.is_complete


def _import(api: Api, source: Source, wishes: Wishes, *, blind: bool, yes: bool) -> Json:
    name = visible(source.filename, limit=60)
    with bar(f"uploading {name}", source.size) as advance:
        job = importing.upload(api, source, wishes, advance=advance)
    with bar(f"reading {name}", source.size) as advance:
        job = importing.preview(api, job, wishes, advance=advance)
    for line in preview_lines(job):
        say(line)
    _agree(has_open_questions(job["preview"]), yes=yes)
    with bar(f"importing {name}", source.size) as advance:
        return importing.commit(api, job, blind=blind, advance=advance)


def _agree(open_questions: bool, *, yes: bool) -> None:
    """Nothing is written to a run before somebody said so."""
    if yes:
        return
    if open_questions:
        note("Not imported: not everything is mapped. Give a --mapping, or --yes to import it as it is.")
        raise click.exceptions.Exit(TROUBLE)
    if not sys.stdin.isatty():
        note("Not imported: there is nobody to ask. Look at the preview and give --yes.")
        raise click.exceptions.Exit(TROUBLE)
    if not click.confirm("Import this?", err=True):
        raise click.exceptions.Exit(NOT_TAKEN)


def _say_import(api: Api, job: Json, *, rejected: str | None) -> bool:
    progress: dict[str, Any] = job["progress"]
    names = ", ".join(visible(each["external_id"], limit=100) for each in job["runs"])
    counts = ", ".join(f"{progress[word]:,} {word}" for word in ("created", "duplicate", "conflict", "rejected"))
    verdicts = f", {counted(progress['verdicts'], 'verdict')}" if progress["verdicts"] else ""
    say(f"{visible(job['filename'], limit=200)}: {counts}{verdicts}" + (f", in {names}" if names else ""))
    if importing.is_all_there(job):
        return True
    _say_rejected(api, job, rejected)
    return False


def _say_rejected(api: Api, job: Json, keep_in: str | None) -> None:
    """The first rows that were not taken; all of them into a file, if one was given."""
    rows = importing.rejected_rows(api, job)
    with nullcontext() if keep_in is None else Path(keep_in).open("ab") as kept:
        for number, row in enumerate(rows):
            if number < _SHOWN:
                who = f" ({visible(row['external_id'], limit=100)})" if row["external_id"] else ""
                reason = visible(f"{row['path']} {row['reason']}".strip())
                say(f"  {visible(row['place'], limit=100)}{who} {visible(row['status'])}: {reason}")
            elif kept is None:
                break
            if kept is not None:
                kept.write(importing.as_line(row))
    more = job["progress"]["rejected"] + job["progress"]["conflict"] - _SHOWN
    if more > 0:
        say(f"  and {counted(more, 'more row')}" + ("; --rejected FILE keeps all of them" if keep_in is None else ""))
