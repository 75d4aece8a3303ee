"""A judge that learned from verdicts is not measured on the cases it learned from."""

import pytest

from audit.selectors.against import against
from audit.selectors.calibration import judge_rows
from audit.tests.test_pages_against import Stage
from labeling.models import TrainedModel, Trajectory
from labeling.selectors.lessons import case_of

pytestmark = pytest.mark.django_db


def agreement(stage: Stage) -> dict[str, tuple[int, int]]:
    rows = judge_rows(project=stage.project, judge_ids=[stage.old.pk, stage.new.pk])
    return {row.judge.version: (row.calibration.agreement.hits, row.calibration.agreement.total) for row in rows}


def test_what_a_judge_learned_from_is_left_out_of_its_calibration_and_of_nobody_elses() -> None:
    stage = Stage()
    # People judged five; the new version is right on four of them, the old one on two.
    assert agreement(stage) == {"old": (2, 5), "new": (4, 5)}
    learned = Trajectory.objects.select_related("run__suite").get(pk=stage.rows[1].pk)
    case = case_of(learned.run.suite.key, learned.base_request)
    TrainedModel.objects.create(judge=stage.new, weights=b"", training_hash="x", cases=[case])
    assert agreement(stage) == {"old": (2, 5), "new": (3, 4)}


def test_nor_is_it_set_against_another_version_on_them() -> None:
    stage = Stage()
    first, second = stage.names
    before = against(project=stage.project, run=None, first=first, second=second).by_decision
    learned = Trajectory.objects.select_related("run__suite").get(pk=stage.rows[1].pk)
    case = case_of(learned.run.suite.key, learned.base_request)
    TrainedModel.objects.create(judge=stage.new, weights=b"", training_hash="x", cases=[case])
    after = against(project=stage.project, run=None, first=first, second=second).by_decision
    assert (before.second, after.second) == (3, 2)
