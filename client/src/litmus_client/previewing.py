"""An import's preview in words: what was understood, five examples, and everything that was not."""

from collections.abc import Iterator

from litmus_client.errors import Json
from litmus_client.showing import counted, tail, visible

_SHOWN = 100
_MANY = 20


def has_open_questions(preview: Json) -> bool:
    """Is there anything that nobody has said the meaning of?"""
    return bool(preview["unmapped"] or preview["without_side"])


def preview_lines(job: Json) -> Iterator[str]:
    preview: Json = job["preview"]
    kind = job["detected_format"] or job["format"] or "unknown format"
    yield f"{visible(job['filename'], limit=200)}: {visible(kind)}, {counted(preview['rows'], 'row')}"
    if preview["unreadable"]:
        yield f"  {counted(preview['unreadable'], 'row')} cannot be read"
    for system in preview["systems"]:
        name = " ".join(filter(None, (system["name"] or system["model"], system["version"])))
        yield f"  system    {visible(name, limit=_SHOWN)}: {counted(system['rows'], 'row')}"
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
        stopped = f" · stopped: {visible(example['stop_reason'], limit=60)}" if example["stop_reason"] else ""
        key = visible(case.get("key", ""), limit=60)
        yield f"  example {number} ({visible(example['place'])}): {key} · {about}{stopped}"
        yield f"    asked   {visible(example['request'], limit=_SHOWN)}"
        yield f"    said    {tail(example['answer'], limit=_SHOWN)}"
        for score in example["scores"]:
            value = visible(score["value"], limit=40)
            yield f"    score   {visible(score['name'], limit=60)} = {value}: {visible(score['taken_as'])}"
        yield from (f"    problem {_where(problem)}" for problem in example["problems"])


def open_lines(preview: Json) -> Iterator[str]:
    """What is not mapped and what does not fit, in the service's words; nothing of the file itself."""
    for unmapped in preview["unmapped"]:
        what = visible(unmapped["what"], limit=_SHOWN)
        yield f"  not mapped: {what} ({unmapped['count']:,}): {visible(unmapped['say'])}"
    if preview["without_side"]:
        yield f"  {counted(preview['without_side'], 'row')} without a side: say in a mapping which it is"
    for problem in preview["problems"][:_MANY]:
        yield f"  problem: {_where(problem)} ({problem['count']:,})"
    if (more := len(preview["problems"]) - _MANY) > 0:
        yield f"  and {more:,} more problems"


def _where(problem: Json) -> str:
    return f"{visible(problem['path'], limit=_SHOWN)} {visible(problem['reason'])}".strip()
