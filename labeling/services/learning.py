"""Learning itself: from verdicts to a judge version with its weights. Its library is large; only a worker needs it."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import transaction

from labeling.judges.learned import local
from labeling.judges.learned.local import LocalClassifier, LocalSettings
from labeling.judges.learned.training import (
    PARAMETERS,
    Alive,
    Learned,
    Lessons,
    Unlearnable,
    learned,
    lessons_of,
    tried,
)
from labeling.measure.learning import Marked, report_of, what_is_missing
from labeling.models import Judge, TrainedModel, Training
from labeling.selectors.lessons import Lesson, lessons, training_hash, with_answers
from labeling.services import training as trainings
from labeling.services.registering import new_version
from labeling.services.training import Lost
from labeling.vocabulary import WorkStatus

# Reading so many answers takes a second or two.
_SIGN_EACH = 1000


def train(*, training_id: int) -> None:
    """Do what was asked for, once. Nothing is held in the database while it learns."""
    training = trainings.claim(training_id=training_id)
    if training is None:
        return
    try:
        _train(training)
    except Unlearnable as error:
        trainings.finish(training=training, status=WorkStatus.FAILED, outcome=str(error))
    except Lost:
        # Whoever took it up is at work.
        return


def _train(training: Training) -> None:
    chosen = lessons(training.project_id)
    if missing := _missing(chosen):
        trainings.finish(training=training, status=WorkStatus.DONE, outcome=missing)
        return

    def alive() -> None:
        trainings.alive(training=training)

    taught, material = _material(chosen, alive)
    # Some may say nothing, or have been purged meanwhile.
    if missing := _missing(taught):
        trainings.finish(training=training, status=WorkStatus.DONE, outcome=missing)
        return
    settings = LocalSettings(
        training_hash=training_hash(taught, PARAMETERS),
        parameters=PARAMETERS,
        lessons=len(taught),
        cases=len({lesson.mark.case for lesson in taught}),
    )
    known = Judge.objects.filter(project=training.project_id, name=local.NAME, version=settings.version).first()
    if known is not None:
        outcome = "There are no new verdicts since this version learned."
        trainings.finish(training=training, status=WorkStatus.DONE, outcome=outcome, judge_id=known.pk)
        return
    _learn(training, settings, taught, material, alive)


def _learn(
    training: Training, settings: LocalSettings, taught: Sequence[Lesson], material: Lessons, alive: Alive
) -> None:
    trial = tried(material, alive=alive)
    report = report_of(material.marks, trial.chances, trial.harm, confidence=settings.confidence)
    cases = sorted({lesson.mark.case for lesson in taught})
    _store(training, settings, learned(material, alive=alive), report, cases)


def _missing(taught: Sequence[Lesson]) -> str:
    return what_is_missing([lesson.mark for lesson in taught])


def _material(chosen: Sequence[Lesson], alive: Alive) -> tuple[list[Lesson], Lessons]:
    """What is learned from, and the same as numbers. The texts pass through and are not kept."""
    taught: list[Lesson] = []

    def passing() -> Iterator[tuple[Marked, str]]:
        for lesson, answer in with_answers(chosen):
            if len(taught) % _SIGN_EACH == 0:
                alive()
            taught.append(lesson)
            yield lesson.mark, answer

    material = lessons_of(passing())
    return taught, material


@transaction.atomic(durable=True)
def _store(
    training: Training, settings: LocalSettings, weights: Learned, report: dict[str, Any], cases: list[str]
) -> None:
    """A version, its weights and the end of the training, or none of them. A lead puts it on the panel."""
    judge, _ = new_version(
        project=training.project,
        name=local.NAME,
        code=LocalClassifier(local.NAME, settings, weights),
        settings=settings.model_dump(mode="json"),
        on_panel=False,
    )
    TrainedModel.objects.create(
        judge=judge,
        weights=local.packed(weights),
        training_hash=settings.training_hash,
        cases=cases,
        report=report,
    )
    outcome = f"Learned from {settings.lessons:,} verdicts on {settings.cases:,} cases."
    trainings.end(training, status=WorkStatus.DONE, outcome=outcome, judge_id=judge.pk)
