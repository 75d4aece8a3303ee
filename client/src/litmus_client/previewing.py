"""An import's preview in words: what was understood, five examples, and everything that was not."""

from collections.abc import Iterator

from litmus_client.errors import Json
from litmus_client.showing import counted, ends, visible

_SHOWN = 100
_MANY = 20
_MOST_COLUMNS = 60
# How the service says that a file does not tell.
_NOT_STATED = "not stated"


def has_open_questions(preview: Json) -> bool:
    """Is there anything that nobody has said the meaning of?"""
    return bool(preview["unmapped"] or preview["without_side"])


def preview_lines(job: Json) -> Iterator[str]:
    preview: Json = job["preview"]
    kind = job["detected_format"] or job["format"] or "unknown format"
    yield f"{visible(job['filename'], limit=200)}: {visible(kind)}, {counted(preview['rows'], 'row')}"
    if preview["unreadable"]:
        yield f"  {counted(preview['unreadable'], 'row')} cannot be read"
    if preview["not_run"]:
        yield f"  {counted(preview['not_run'], 'row')} {'was' if preview['not_run'] == 1 else 'were'} not run"
    for system in preview["systems"]:
        yield f"  system    {_system(system)}: {counted(system['rows'], 'row')}"
    yield f"  sides     {_sides(preview['sides'])}"
    cases = preview["cases"]
    yield (
        f"  cases     {cases['total']:,}: {cases['matched']:,} of the suite, {cases['defined']:,} will be defined, "
        f"{cases['unknown']:,} unknown"
    )
    yield from map(_score, preview["scores"])
    if preview["verdicts"]:
        yield f"  verdicts  {counted(preview['verdicts'], 'verdict')} of people"
    yield from _examples(preview)
    yield from open_lines(preview)
    if has_open_questions(preview):
        yield from _columns(preview["columns"])


def _system(system: Json) -> str:
    name = visible(system["name"] or system["model"], limit=_SHOWN)
    if system["model"] == _NOT_STATED:
        return f"{name}, model not stated"
    version = visible(system["version"], limit=_SHOWN)
    return f"{name}, version {version}" if version == _NOT_STATED else f"{name} {version}"


def _sides(sides: dict[str, int]) -> str:
    return " · ".join(f"{visible(side) or 'no side'} {count:,}" for side, count in sides.items() if count) or "none"


def _score(score: Json) -> str:
    judge = " ".join(filter(None, (score["judge"], score["version"])))
    counts = " · ".join(f"{name} {count:,}" for name, count in score["counts"].items())
    meaning = visible(score["sentence"] or score["meaning"] or "meaning unknown: it is kept as a number only")
    return f"  score     {visible(score['name'], limit=60)} by {visible(judge, limit=60)}: {meaning} ({counts})"


def _examples(preview: Json) -> Iterator[str]:
    for number, example in enumerate(preview["examples"], start=1):
        case = example["case"] or {}
        about = ", ".join(visible(case[name], limit=60) for name in ("side", "category", "framing") if case.get(name))
        stopped = f"stopped: {visible(example['stop_reason'], limit=60)}" if example["stop_reason"] else ""
        said = filter(None, (visible(case.get("key", ""), limit=60), about, stopped))
        yield f"  example {number} ({visible(example['place'])}): {' · '.join(said)}"
        yield f"    asked   {visible(example['request'], limit=_SHOWN)}"
        yield f"    said    {ends(example['answer'], limit=_SHOWN) or '(nothing)'}"
        for score in example["scores"]:
            value = visible(score["value"], limit=40)
            yield f"    score   {visible(score['name'], limit=60)} = {value}: {visible(score['taken_as'])}"
        yield from (f"    problem {_where(problem)}" for problem in _unsaid(preview, example["problems"]))


def open_lines(preview: Json) -> Iterator[str]:
    """What is not mapped and what does not fit, in the service's words; nothing of the file itself."""
    for unmapped in preview["unmapped"]:
        what = visible(unmapped["what"], limit=_SHOWN)
        yield f"  not mapped: {what} ({unmapped['count']:,}): {visible(unmapped['say'])}"
    problems = _unsaid(preview, preview["problems"])
    for problem in problems[:_MANY]:
        yield f"  problem: {_where(problem)} ({problem['count']:,})"
    if (more := len(problems) - _MANY) > 0:
        yield f"  and {more:,} more problems"


def _columns(columns: list[Json]) -> Iterator[str]:
    """What a mapping can look into."""
    if columns:
        yield "  columns for a mapping, with what they hold:"
    for column in columns[:_MOST_COLUMNS]:
        values = ", ".join(visible(value, limit=40) for value in column["values"])
        yield f"    {visible(column['path'], limit=_SHOWN)}: {visible(values, limit=_SHOWN)}"


def _unsaid(preview: Json, problems: list[Json]) -> list[Json]:
    """Beside what is to be mapped, which is said already."""
    said = {unmapped["what"] for unmapped in preview["unmapped"]}
    return [problem for problem in problems if problem["path"] not in said]


def _where(problem: Json) -> str:
    return f"{visible(problem['path'], limit=_SHOWN)} {visible(problem['reason'])}".strip()
