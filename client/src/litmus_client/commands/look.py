"""litmus watch, litmus report, litmus gate"""

import json

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from litmus_client import gating, reporting, watching
from litmus_client.api import Api
from litmus_client.commands.common import connected
from litmus_client.runs import the_run
from litmus_client.showing import console, note, say, visible
from litmus_client.watching import Standing


@click.command()
@click.argument("run")
@click.option("--until-settled", is_flag=True, help="Go on until nobody has to look at anything any more.")
@click.option("--every", default=2.0, show_default=True, type=click.FloatRange(min=0.05), help="Seconds between looks.")
@connected
def watch(api: Api, run: str, *, until_settled: bool, every: float) -> None:
    """Follow RUN until the judges are through with it."""
    run_id = the_run(api, run)["id"]
    screen = console(stderr=True)
    if screen.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,} of {task.total:,}"))
        with Progress(*columns, TimeElapsedColumn(), TextColumn("{task.fields[words]}"), console=screen) as progress:
            judged = progress.add_task("judged", total=1, words="")
            settled = progress.add_task("settled", total=1, words="")

            def show(now: Standing) -> None:
                waits = f"{now.needs_audit:,} wait for a person" if now.needs_audit else ""
                progress.update(judged, total=now.posted, completed=now.judged, words=now.silent)
                progress.update(settled, total=now.posted, completed=now.settled, words=waits)

            end = watching.watch(api, run_id, until_settled=until_settled, every=every, show=show)
    else:
        end = watching.watch(api, run_id, until_settled=until_settled, every=every, show=_Changes())
    say(f"{visible(run, limit=200)}: {end.words()} ({end.status})")


class _Changes:
    """Says what is new, for logs."""

    def __init__(self) -> None:
        self._said: tuple[str, bool] | None = None

    def __call__(self, now: Standing) -> None:
        # The seconds in the sentence about workers change all the time; that there is none does not.
        if (news := (now.words(), bool(now.silent))) != self._said:
            self._said = news
            note(" ".join(filter(None, (f"{now.words()}.", now.silent))))


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="The service's answer as it is.")
@connected
def report(api: Api, run: str, *, as_json: bool) -> None:
    """Print RUN's pair: harmful compliance and over-refusal, with intervals, counts and who judged."""
    answer = api.get(f"runs/{the_run(api, run)['id']}/report/")
    if as_json:
        say(json.dumps(answer, indent=2))
        return
    for line in reporting.headline(answer):
        say(line)
    screen = console()
    for table in reporting.tables(answer):
        screen.print()
        screen.print(table)
    say()
    for line in reporting.footnotes(answer):
        say(line)


@click.command()
@click.argument("run")
@connected
def gate(api: Api, run: str) -> None:
    """Exit with RUN's gate: 0 pass, 1 fail, 3 undecided, 4 needs sign-off."""
    outcome = gating.gate_outcome(api, the_run(api, run)["id"])
    say(outcome.replace("_", " "))
    raise click.exceptions.Exit(gating.EXIT_CODES[outcome])
