"""The judges a worker can run: those that come with every project, and those that projects have made."""

import json
from functools import lru_cache
from importlib import import_module
from typing import Any

from labeling.judges.base import LocalJudge, RunningJudge
from labeling.judges.checking.checks import ChecksJudge
from labeling.judges.classifiers.served import ServedClassifier
from labeling.judges.classifiers.served_settings import ServedSettings
from labeling.judges.phrases.substring import SUBSTRING_JUDGES
from labeling.judges.rubrics.rubric import RubricJudge
from labeling.judges.rubrics.rubric_text import RubricSettings
from labeling.models import Judge
from labeling.vocabulary import JudgeKind

_BUILT_IN: tuple[LocalJudge, ...] = (*SUBSTRING_JUDGES, ChecksJudge())
BUILT_IN: dict[str, LocalJudge] = {judge.name: judge for judge in _BUILT_IN}
# The built-in judges that a new project starts with on its panel; a lead may add the others.
ON_PANEL = frozenset({"substring", "checks"})
# The types of settings: what a project makes, by kind, is asked over a network; what learned here has weights beside.
SERVED = {JudgeKind.RUBRIC: "rubric", JudgeKind.CLASSIFIER: "served"}
LOCAL = "local"


def running(row: Judge) -> RunningJudge | None:
    """The code behind a judge's row, where this service still has that very version."""
    judge = made(row)
    return judge if judge is not None and judge.version == row.version else None


def made(row: Judge) -> RunningJudge | None:
    """A judge made of the row's settings by the code there is, whichever version that comes to; `None` without any."""
    if row.kind == JudgeKind.IMPORTED:
        return None
    if row.name in BUILT_IN:
        return BUILT_IN[row.name]
    try:
        if row.settings.get("type") == LOCAL:
            return _learned(row.pk)
        return _made(JudgeKind(row.kind), row.name, json.dumps(row.settings, sort_keys=True))
    except ValueError:
        # Settings, or weights, that an older version of this code wrote.
        return None


def make(*, kind: JudgeKind, name: str, settings: dict[str, Any]) -> RunningJudge:
    """A judge of new settings. Raises pydantic's ValidationError where they say nothing that could run."""
    if kind is JudgeKind.CLASSIFIER:
        return ServedClassifier(name, "", ServedSettings.model_validate(settings))
    rubric = RubricSettings.model_validate(settings)
    return RubricJudge(name, rubric.title, rubric)


@lru_cache(maxsize=256)
def _made(kind: JudgeKind, name: str, settings: str) -> RunningJudge:
    return make(kind=kind, name=name, settings=json.loads(settings))


@lru_cache(maxsize=8)
def _learned(pk: int) -> RunningJudge:
    """Its library is large, so it is loaded by processes that judge with it and by no other."""
    learned = import_module("labeling.judges.learned.local").LocalClassifier
    judge: RunningJudge = learned.of(Judge.objects.select_related("trained").get(pk=pk))
    return judge
