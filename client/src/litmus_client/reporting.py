"""A run's report for the terminal. Both rates stand in every row, or neither does."""

import re
from collections.abc import Iterator

from rich.table import Table

from litmus_client.errors import Json
from litmus_client.showing import counted, ends, visible

_COLUMNS = ("", "harmful compliance", "over-refusal")
# A version that is a hash needs but its start; any other tells two readings of one score apart at its end.
_DIGEST = re.compile("[0-9a-f]{12,}")


def headline(report: Json) -> Iterator[str]:
    run, configuration = report["run"], report["configuration"]
    name = visible(run["external_id"], limit=200)
    if run["name"] not in ("", run["external_id"]):
        name += f": {visible(run['name'], limit=200)}"
    yield f"{name} ({run['status']}), suite {visible(run['suite'], limit=200)}"
    attack = report["attack"]
    yield (
        f"{visible(configuration['model'], limit=100)}, version {visible(configuration['version'], limit=100)}, "
        f"layer {configuration['layer']}, {attack['kind']} attack, {counted(attack['attempts'], 'attempt')}, "
        f"{counted(attack['turns'], 'turn')}"
    )
    seats = [_judge(judge) for judge in report["panel"]]
    frozen = "" if report["panel_is_frozen"] else " (so far: the run is not closed)"
    yield f"judged by {', '.join(seats) or 'nobody yet'}{frozen}"
    if report["as_labeled"]["status"] == "incomplete":
        missing = " and no ".join(report["as_labeled"]["missing"])
        yield f"INCOMPLETE: no {missing} case was run, so there is no rate; a pair needs both sides."


def tables(report: Json) -> Iterator[Table]:
    """The pair as labeled and by each judge, then every slice of it; an incomplete one has no slices to show."""
    whole = _table("")
    _row(whole, "as labeled", report["as_labeled"])
    for judged in report["by_judge"]:
        _row(whole, f"{_judge(judged['judge'])} alone*", judged["pair"])
    yield whole
    if report["as_labeled"]["status"] == "incomplete":
        return
    for slicing in report["slicings"]:
        table = _table(f"as labeled, by {slicing['title']}")
        for row in slicing["rows"]:
            _row(table, visible(row["name"], limit=60), row["pair"])
        yield table


def footnotes(report: Json) -> Iterator[str]:
    if report["by_judge"]:
        yield "* sampling only: the judge's own error is not in its intervals"
    yield "in brackets: 95 % intervals; a range instead of a rate: some of it is undetermined"
    for side in report["sides"]:
        yield (
            f"{side['side']}: {side['answered_cases']:,} of {side['suite_cases']:,} cases answered, "
            f"{side['undetermined']:,} undetermined, {side['not_run']:,} not run, {side['pending']:,} pending, "
            f"{side['needs_audit']:,} wait for a person, {counted(side['human_labels'], 'human label')}"
        )
    for draw in report["draws"]:
        yield f"random draw, {draw['side']}: {draw['done']:,} of {draw['asked']:,} audits done, of {draw['size']:,}"
    for name, words in (
        ("leaks", "refusals that leak"),
        ("bare_refusals", "stopped by a filter without a word"),
        ("provisional", "labels that a second verdict may still change"),
    ):
        if report[name]:
            yield f"{words}: {report[name]:,}"
    if report["is_demonstration"]:
        yield "This is a demonstration: the numbers are invented."


def _table(title: str) -> Table:
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, overflow="fold")
    return table


def _row(table: Table, name: str, pair: Json) -> None:
    if pair["status"] == "complete":
        table.add_row(name, _rate(pair["harmful_compliance"]), _rate(pair["over_refusal"]))
        return
    there = f"incomplete: {counted(pair['harmful_cases'], 'harmful case')}"
    table.add_row(name, there, f"incomplete: {counted(pair['benign_cases'], 'benign case')}")


def _rate(rate: Json) -> str:
    """3.5 % (1.3–8.2) 7/200; a range where something is undetermined."""
    counts = f"{rate['errors']:,}/{rate['attempts']:,}"
    if rate["cases"] != rate["attempts"]:
        counts += f" in {counted(rate['cases'], 'case')}"
    counts += f", {rate['undetermined']:,} undetermined" if rate["undetermined"] else ""
    counts += f", leaks not measured on {rate['ungraded']:,}" if rate["ungraded"] else ""
    value = _span(rate["low"], rate["high"]) if rate["value"] is None else f"{100 * rate['value']:.1f}"
    return f"{value} % ({_span(*rate['interval'])}) {counts}"


def _span(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f}"


def _judge(judge: Json) -> str:
    version = judge["version"]
    short = version[:12] if _DIGEST.fullmatch(version) else ends(version, limit=40)
    return f"{visible(judge['name'], limit=60)} {short}"
