"""litmus run"""

import json
import os
import re
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import httpx

from litmus_client.api import Api
from litmus_client.attempts import Record
from litmus_client.commands.common import INTERRUPTED, NOT_TAKEN, connected, say_what_became
from litmus_client.endpoint import Endpoint, Pace, address
from litmus_client.errors import Json, LitmusError
from litmus_client.patience import Patience
from litmus_client.progress import bar
from litmus_client.running import Plan, Runner, Summary
from litmus_client.runs import close_run, the_run
from litmus_client.showing import counted, note, say, visible
from litmus_client.suites import cases_of, suite_of

# These the runner sets itself: one answer, whole, to the case's messages.
_OURS = {"model", "messages", "n", "stream"}


@click.command()
@click.argument("suite")
@click.option("--run", "name", required=True, help="The run's name. The same command again goes on with it.")
@click.option("--base-url", required=True, help="An OpenAI-compatible endpoint, as in https://host/v1.")
@click.option("--model", required=True, help="The model to ask for.")
@click.option("--model-version", help="Its version; without it, the name of the model in the first answer.")
@click.option("--system-prompt", help="The system prompt of the configuration.")
@click.option(
    "--system-prompt-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="It in a file."
)
@click.option("--temperature", type=float)
@click.option("--max-tokens", type=click.IntRange(min=1))
@click.option("--param", "params", multiple=True, metavar="K=V", help="Another field of the request; V may be JSON.")
@click.option("--layer", type=click.Choice(["model", "system"]), default="model", show_default=True)
@click.option(
    "--attempts", default=1, show_default=True, type=click.IntRange(min=1), help="How often to ask each case."
)
@click.option("--concurrency", default=4, show_default=True, type=click.IntRange(1, 256), help="Requests at a time.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="The most requests a minute.")
@click.option("--timeout", default=120.0, show_default=True, type=click.FloatRange(min=0, min_open=True))
@click.option("--tries", default=6, show_default=True, type=click.IntRange(min=1), help="Of one request.")
@click.option(
    "--api-key-env", default="OPENAI_API_KEY", show_default=True, help="The variable with the endpoint's key."
)
@click.option("--state", type=click.Path(dir_okay=False, path_type=Path), help="Finished attempts [RUN.litmus.jsonl].")
@click.option("--close", is_flag=True, help="Close the run when every attempt is in.")
@connected
def run(
    api: Api,
    suite: str,
    *,
    name: str,
    base_url: str,
    model: str,
    model_version: str | None,
    system_prompt: str | None,
    system_prompt_file: Path | None,
    temperature: float | None,
    max_tokens: int | None,
    params: tuple[str, ...],
    layer: str,
    attempts: int,
    concurrency: int,
    rate: float | None,
    timeout: float,
    tries: int,
    api_key_env: str,
    state: Path | None,
    close: bool,
) -> None:
    """Put the cases of SUITE (KEY@VERSION, or a YAML file) to a model, and post what comes back as it goes."""
    found = suite_of(api, suite)
    plan = Plan(
        run=name,
        suite=f"{found['key']}@{found['version']}",
        cases=list(cases_of(api, found["id"])),
        attempts=attempts,
        model=model,
        version=model_version,
        system_prompt=_prompt(system_prompt, system_prompt_file),
        decoding=_decoding(temperature, max_tokens, params),
        layer=layer,
        concurrency=concurrency,
    )
    _say_plan(plan)
    record = Record(state or Path(re.sub(r"[^\w.-]+", "_", name) + ".litmus.jsonl"))
    with closing(record), _http(os.environ.get(api_key_env), timeout, concurrency) as http:
        record.open()
        stop = threading.Event()
        endpoint = Endpoint(
            http, address(base_url), {"model": model, **plan.decoding}, Pace(rate, stop), Patience(tries=tries)
        )
        wanted = attempts * len(plan.runnable())
        with bar(f"running {visible(name, limit=60)}", wanted) as advance:
            before = len(record.done)
            runner = Runner(
                api, plan, endpoint, record, stop=stop, notice=note,
                advance=lambda done, words: advance(before + done, words),
            )  # fmt: skip
            try:
                summary = runner.go()
            except LitmusError:
                note(f"What is finished is kept in {record.path}; the same command goes on with it.")
                raise
    _say_end(plan, summary, record)
    if close and not summary.left and summary.pushed.is_complete:
        close_run(api, the_run(api, name)["id"], expected_count=wanted)
        say("closed")
    if summary.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)
    if not summary.pushed.is_complete:
        raise click.exceptions.Exit(NOT_TAKEN)


def _prompt(given: str | None, file: Path | None) -> str:
    if given is not None and file is not None:
        raise click.UsageError("Give --system-prompt or --system-prompt-file, not both.")
    return file.read_text(encoding="utf-8") if file else given or ""


def _decoding(temperature: float | None, max_tokens: int | None, params: tuple[str, ...]) -> Json:
    decoding: Json = {"temperature": temperature, "max_tokens": max_tokens}
    decoding = {name: value for name, value in decoding.items() if value is not None}
    for param in params:
        name, equals, text = param.partition("=")
        if not equals or not name or name in _OURS:
            raise click.UsageError(
                f"--param {visible(param, limit=60)}: write K=V, and K none of {', '.join(sorted(_OURS))}."
            )
        decoding[name] = _value(text)
    return decoding


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _http(key: str | None, timeout: float, concurrency: int) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    return httpx.Client(headers=headers, timeout=httpx.Timeout(timeout, connect=min(timeout, 20.0)), limits=limits)


def _say_plan(plan: Plan) -> None:
    for reason, count in plan.unable().items():
        note(f"{counted(count, 'case')} cannot be run yet and {'is' if count == 1 else 'are'} left out: {reason}.")
    if not plan.runnable():
        raise LitmusError(f"Suite {visible(plan.suite, limit=200)} has no case that can be run.")


def _say_end(plan: Plan, summary: Summary, record: Record) -> None:
    say_what_became(plan.run, summary.pushed)
    left_out = sum(plan.unable().values())
    say(
        f"{counted(summary.new, 'attempt')} made"
        + (f", {counted(summary.errors, 'error')} of the endpoint among them" if summary.errors else "")
        + (f", {summary.left:,} left" if summary.left else "")
        + (f"; {counted(left_out, 'case')} of the suite left out" if left_out else "")
    )
    others = {name: count for name, count in summary.models.items() if name != summary.version}
    if others and plan.version is None:
        named = ", ".join(f"{visible(name, limit=60)} ({count:,})" for name, count in others.items())
        note(f"Not every answer came from {visible(summary.version, limit=60)}: {named}. The run mixes versions.")
    if summary.interrupted:
        note(f"Stopped. Everything finished is kept in {record.path}; the same command goes on with it.")
