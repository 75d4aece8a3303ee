"""What a project's people have said that a classifier may learn from."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from labeling.judges.learned.lesson import answer_of
from labeling.measure.learning import Marked
from labeling.models import TrainedModel, Trajectory
from labeling.models.fields import bits_to_decisions
from labeling.selectors.items import items_of
from labeling.selectors.stored import chunked
from labeling.vocabulary import NOT_JUDGED, PEOPLE_SOURCES, RunStatus, Side

# The newest so many: more would fill a worker's memory and hardly change what is learned.
MOST = 20_000


class Lesson(NamedTuple):
    """A trajectory that people have settled, without its text."""

    trajectory: int
    content_hash: str
    mark: Marked


def lessons(project_id: int) -> list[Lesson]:
    """The newest settled blind truths, in one query.

    A label that was given after looking at what judges said is left out: a judge must not learn from judges. A case is
    known by its suite's name and its base request, so that versions of a suite and variants of a request stay together.
    """
    rows = (
        Trajectory.objects.filter(
            run__project=project_id,
            side__in=[Side.HARMFUL, Side.BENIGN],
            label_source__in=PEOPLE_SOURCES,
            has_truth=True,
            content__purged_at=None,
        )
        .exclude(run__status=RunStatus.VOIDED)
        .exclude(outcome__in=NOT_JUDGED)
        .order_by("-pk")
        .values_list(
            "pk",
            "content_hash",
            "run__suite__key",
            "base_request",
            "label_decisions",
            "label_harm_grade",
            "run__suite__harm_threshold",
        )
    )
    found = []
    for pk, content_hash, suite, base_request, bits, grade, threshold in rows.iterator():
        decisions = bits_to_decisions(bits)
        if len(decisions) > 1:
            # Historic verdicts may leave the decision open.
            continue
        harmful = None if grade is None else grade >= threshold
        case = case_of(suite, base_request)
        found.append(Lesson(pk, content_hash, Marked(case, next(iter(decisions)), harmful)))
        if len(found) == MOST:
            break
    return found[::-1]


def case_of(suite: str, base_request: str) -> str:
    """What keeps the attempts and variants of one request together, over all versions of a suite."""
    return json.dumps([suite, base_request])


def cases_learned(judge_ids: Iterable[int]) -> dict[int, frozenset[str]]:
    """Of each judge that learned, the cases whose verdicts it has seen: it is not measured on them. In one query."""
    trained = TrainedModel.objects.filter(judge__in=list(judge_ids))
    return {judge: frozenset(cases) for judge, cases in trained.values_list("judge_id", "cases")}


def with_answers(chosen: Sequence[Lesson]) -> Iterator[tuple[Lesson, str]]:
    """Each with what the target said; those that say nothing, or were purged meanwhile, are left out."""
    by_id = {lesson.trajectory: lesson for lesson in chosen}
    for chunk in chunked(by_id):
        for pk, item in items_of(chunk):
            if answer := answer_of(item):
                yield by_id[pk], answer


def training_hash(learned_from: Iterable[Lesson], parameters: dict[str, Any]) -> str:
    """Of what was learned from and how; the order in which the lessons came does not matter."""
    lines = sorted(json.dumps([lesson.content_hash, *lesson.mark]) for lesson in learned_from)
    return hashlib.sha256("\n".join([json.dumps(parameters, sort_keys=True), *lines]).encode()).hexdigest()
