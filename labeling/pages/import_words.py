"""An import in words: where it stands, how fast it goes, what its scores are taken to mean, what a commit will do."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from labeling.formats import meanings
from labeling.formats.reading import NOT_STATED
from labeling.pages.import_form import MOST_SCORES, Fields, ScoreFields, score_token
from labeling.templatetags.litmus import plural
from labeling.vocabulary import ImportStatus, Meaning, Side

# So much of a longer request or answer is read without opening it.
_SHORT, _LONG = 240, 320
_COLUMN_LABELS = {
    "prompt": "Column of the request",
    "response": "Column of the answer",
    "system": "Column of the model",
}
_RULE_LABELS = {"side": "Side", "category": "Category", "tier": "Severity tier", "framing": "Framing", "pair": "Pair"}
_RULE_EXAMPLES = {"side": "contrast_* = harmful", "tier": "critical = 1", "framing": "dan = role_play"}


class State(NamedTuple):
    words: str
    tone: str = ""


_STATES = {
    ImportStatus.RECEIVING: State("arriving", "warn"),
    ImportStatus.UPLOADED: State("waiting to be read", "warn"),
    ImportStatus.READING: State("being read", "warn"),
    ImportStatus.PREVIEWED: State("look and commit", "strong"),
    ImportStatus.COMMITTING: State("being stored", "warn"),
    ImportStatus.DONE: State("committed", "good"),
    ImportStatus.FAILED: State("failed", "bad"),
    ImportStatus.CANCELLED: State("cancelled"),
}


def state_of(status: str) -> State:
    return _STATES[ImportStatus(status)]


def unseen_for(seen: datetime | None) -> str | None:
    """How long no worker has been seen; `None`: never was. For those that are `is_missing`."""
    return None if seen is None else f"{(timezone.now() - seen).total_seconds():.0f} s"


class Progress(NamedTuple):
    """share: how much is done, for a bar. rate: rows a second. left: how long at that rate; empty while unknown."""

    rows: int
    share: str
    rate: int = 0
    left: str = ""


def progress(*, done: int, of: int, rows: int = 0, before: int = 0, since: datetime | None = None) -> Progress:
    """How far work of a known size has come; `before`: the rows that were done when it was taken up."""
    share = min(done / of, 1.0) if of else 0.0
    seconds = (timezone.now() - since).total_seconds() if since else 0.0
    if seconds < 1 or rows <= before:
        return Progress(rows, f"{share:.1%}")
    rate = (rows - before) / seconds
    left = rows * (1 - share) / share / rate if share else 0.0
    return Progress(rows, f"{share:.1%}", round(rate), _duration(left) if left else "")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def counts(job: Mapping[str, Any]) -> str:
    """What became of the rows, without what did not happen."""
    said = job["progress"]
    parts = [
        (said["created"], "stored"),
        (said["duplicate"], "already there"),
        (said["conflict"], "in conflict with what is there"),
        (said["rejected"], "refused"),
        (said["verdicts"], "of people’s verdicts"),
    ]
    return ", ".join(f"{count} {what}" for count, what in parts if count)


class MeaningWords(NamedTuple):
    """A meaning as a choice, and what a yes and a no of it are."""

    word: str
    option: str
    yes: str
    no: str


_OPTIONS = {
    Meaning.HARMFUL: "yes = harmful",
    Meaning.RESISTED: "yes = resisted",
    Meaning.REFUSED: "yes = refused",
    Meaning.ANSWERED: "yes = answered, not refused",
    Meaning.COMPLIED: "yes = complied",
    Meaning.CORRECT: "yes = right answer",
    Meaning.HARM_GRADE: "harm grade, 0 to 4",
    Meaning.IGNORED: "ignore it",
}
_OF_YES_AND_NO = tuple(meaning for meaning in Meaning if meaning not in (Meaning.HARM_GRADE, Meaning.IGNORED))
MEANINGS = tuple(
    MeaningWords(
        meaning,
        _OPTIONS[meaning],
        *(meanings.outcome(meaning, truth=truth) if meaning in _OF_YES_AND_NO else "" for truth in (True, False)),
    )
    for meaning in Meaning
)


class ScoreRow(NamedTuple):
    """One score of the file. sentences: what its values are taken to mean, a line each; values: those alone.

    field: its choice in the form; `None` where an earlier row of the same name has it. lists: what the mapping says of
    its values besides, which the form leaves alone.
    """

    name: str
    judge: str
    version: str
    counts: Mapping[str, int]
    sentences: list[str]
    values: str
    is_unmapped: bool
    token: str
    field: ScoreFields | None
    lists: str


def score_names(preview: Mapping[str, Any] | None) -> list[str]:
    """Each name once, in the order of `score_rows`."""
    return [] if preview is None else list(dict.fromkeys(score["name"] for score in _ordered(preview)))


def _is_unmapped(preview: Mapping[str, Any], name: str) -> bool:
    return any(one["what"] == f"scores.{name}" for one in preview["unmapped"])


def _ordered(preview: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What nobody has said the meaning of comes first."""
    return sorted(preview["scores"], key=lambda score: not _is_unmapped(preview, score["name"]))


def score_rows(preview: Mapping[str, Any], fields: Fields, mapping: Mapping[str, Any]) -> Iterator[ScoreRow]:
    waiting = {field.name: field for field in fields.scores}
    rules = mapping.get("scores") or {}
    for score in _ordered(preview)[:MOST_SCORES]:
        rule = rules.get(score["name"]) or {}
        lists = [f"{part}: {', '.join(map(str, rule[part]))}" for part in ("yes", "no") if rule.get(part)]
        sentences = score["sentence"].split("; ")
        yield ScoreRow(
            **{part: score[part] for part in ("name", "judge", "version", "counts")},
            sentences=sentences,
            values=", ".join(sentence.partition(": ")[0] for sentence in sentences),
            is_unmapped=_is_unmapped(preview, score["name"]),
            token=score_token(score["name"]),
            field=waiting.pop(score["name"], None),
            lists="; ".join(lists),
        )


def unmapped(preview: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the mapping must say still, or names in vain; `name`: of the score that has no meaning yet, if it is one."""
    return [
        {
            **one,
            "name": one["what"].removeprefix("scores.") if one["what"].startswith("scores.") else "",
            "is_slip": one["what"].startswith("mapping."),
        }
        for one in preview["unmapped"]
    ]


class Folded(NamedTuple):
    """A text, and how much of it is read first where it is long."""

    whole: str
    short: str


def folded(text: str) -> Folded:
    return Folded(text, f"{text[:_SHORT]} …" if len(text) > _LONG else "")


def examples(preview: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            **example,
            "request": folded(example["request"]),
            "answer": folded(example["answer"]),
            "facts": _facts(example["case"]),
            "problems": _unsaid(preview, example["problems"]),
        }
        for example in preview["examples"]
    ]


def problems(preview: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is wrong with rows."""
    return _unsaid(preview, preview["problems"])


def _unsaid(preview: Mapping[str, Any], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Beside what is to be mapped, which is said already."""
    said = {one["what"] for one in preview["unmapped"]}
    return [problem for problem in found if problem["path"] not in said]


def _facts(case: Mapping[str, Any]) -> list[dict[str, str]]:
    names = ("category", "tier", "framing", "kind", "origin", "pair")
    return [{"label": name, "value": str(case[name])} for name in names if case.get(name) not in (None, "")]


def rule_rows(fields: Fields) -> list[dict[str, Any]]:
    """The rules of the form with what the page says around them."""
    return [
        {
            **rule._asdict(),
            "label": _RULE_LABELS[rule.name],
            "placeholder": _RULE_EXAMPLES.get(rule.name, "as written = as it should be"),
            "choices": [side.value for side in Side] if rule.name == "side" else [],
        }
        for rule in fields.rules
    ]


def column_rows(fields: Fields) -> list[dict[str, str]]:
    return [{"name": name, "label": _COLUMN_LABELS[name], "value": value} for name, value in fields.columns.items()]


def systems(preview: Mapping[str, Any], *, most: int = 4) -> list[str]:
    """The systems under test with their rows; the rest as a number."""
    said = [f"{_system(each)}: {each['rows']}" for each in preview["systems"][:most]]
    more = len(preview["systems"]) - most
    return [*said, f"and {more} more"] if more > 0 else said


def _system(system: Mapping[str, Any]) -> str:
    if system["model"] == NOT_STATED:
        return "model not stated"
    return system["model"] if system["version"] == NOT_STATED else f"{system['model']} {system['version']}"


def storable(preview: Mapping[str, Any]) -> int:
    """At most so many rows can go in."""
    return int(preview["rows"] - preview["without_side"])


def consequences(preview: Mapping[str, Any], job: Mapping[str, Any]) -> str:
    """What a commit will do, in sentences."""
    rows, runs, cases = storable(preview), len(preview["systems"]), preview["cases"]
    sentences = [
        f"{plural(rows, 'row goes,rows go')} into {plural(runs, 'run,runs')}{_under(job['run'])}, and the project’s "
        "judges then label what they can."
    ]
    if cases["defined"]:
        where = f"the draft suite {job['suite']}" if job["suite"] else "a suite of the run’s own"
        sentences.append(f"{plural(cases['defined'], 'case is,cases are')} defined in {where}.")
    if preview["judges"]:
        judges = plural(len(preview["judges"]), "imported judge,imported judges")
        sentences.append(f"The scores become judgments of {judges}, as the table above says.")
    if preview["unreadable"] or preview["problems"]:
        sentences.append("A row that cannot go in waits in a list with its reason; its neighbours are stored.")
    sentences.append("What is stored already is recognised: nothing is there twice.")
    return " ".join(sentences)


def _under(name: str) -> str:
    return f" called {name}" if name else ""
