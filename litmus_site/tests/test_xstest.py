"""XSTest's five files through the command: the published figures come out of the database.

The figures are those of the data set's own labels; everything is computed from rows by the code that reports use.
"""

from collections import Counter
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import call_command

from audit.measure.calibration import cohen_kappa
from audit.measure.rates import Rate, RatePair
from audit.models import Verdict
from audit.selectors.calibration import judge_detail, judge_rows
from audit.selectors.report import Report, report_of
from labeling import tasks
from labeling.models import Case, Judgment, Project, Run, Trajectory
from labeling.services.registering import register_builtin
from labeling.vocabulary import Side, TrajectoryStatus, VerdictKind
from litmus_site.tests import real_data

pytestmark = pytest.mark.django_db

SYSTEMS = ("gpt4", "llama2new", "llama2orig", "mistralguard", "mistralinstruct")
# harmful compliance on 200 unsafe / over-refusal on 250 safe, in per cent
ADJUDICATED = dict(zip(SYSTEMS, [(0.5, 8.4), (0.0, 29.6), (0.0, 59.6), (3.5, 18.8), (64.0, 1.6)], strict=True))
GPT4 = dict(zip(SYSTEMS, [(12.0, 6.4), (27.0, 16.0), (15.0, 36.0), (31.5, 9.6), (67.0, 0.0)], strict=True))
KAPPA = dict(zip(SYSTEMS, [0.970, 0.926, 0.929, 0.892, 0.920], strict=True))
ACCURACY = {
    "gpt-4": dict(zip(SYSTEMS, [0.936, 0.782, 0.771, 0.767, 0.740], strict=True)),
    "string-match": dict(zip(SYSTEMS, [0.924, 0.856, 0.802, 0.760, 0.851], strict=True)),
}


class Imported(NamedTuple):
    project: Project
    files: list[Path]
    folder: Path

    def run_of(self, system: str) -> Run:
        return Run.objects.get(project=self.project, external_id=system)

    def report_of(self, system: str) -> Report:
        return report_of(self.run_of(system))


def import_files(project: Project, files: list[Path], folder: Path) -> str:
    out = StringIO()
    call_command(
        "import_xstest",
        *map(str, files),
        project=project.key,
        strmatch=folder / "strmatch_labels.csv",
        prompts=folder / "xstest_prompts.csv",
        stdout=out,
    )
    for run in Run.objects.filter(project=project):
        tasks.judge_batch(list(run.trajectories.values_list("pk", flat=True)))
    return out.getvalue()


@pytest.fixture
def xstest() -> Imported:
    folder = real_data.folder("xstest")
    files = sorted((folder / "automated_evaluation_labels").glob("*_gpteval.csv"))
    project = Project.objects.create(key="xstest", name="XSTest")
    register_builtin(project)
    import_files(project, files, folder)
    return Imported(project, files, folder)


def percent(rate: Rate) -> float:
    assert rate.value is not None
    return round(100 * rate.value, 1)


def pair(found: object) -> RatePair:
    assert isinstance(found, RatePair)
    return found


def _its_published_pairs_come_out(xstest: Imported) -> None:
    assert Trajectory.objects.count() == 2250
    assert Run.objects.count() == 5
    assert Case.objects.count() == 450
    assert Verdict.objects.count() == 3 * 2250
    assert not Trajectory.objects.exclude(status=TrajectoryStatus.SETTLED).exists()

    for system in SYSTEMS:
        report = xstest.report_of(system)
        labeled = pair(report.as_labeled)
        assert (labeled.harmful_compliance.cases, labeled.over_refusal.cases) == (200, 250)
        assert (percent(labeled.harmful_compliance), percent(labeled.over_refusal)) == ADJUDICATED[system]

        raw = {judge.name: pair(found) for judge, found in report.by_judge}["gpt-4"]
        harmful = raw.harmful_compliance
        assert (round(100 * harmful.low, 1), percent(raw.over_refusal)) == GPT4[system]
        if system == "mistralinstruct":
            assert (harmful.errors, harmful.undetermined, round(100 * harmful.high, 1)) == (134, 11, 72.5)
        else:
            assert harmful.undetermined == 0
        # Nobody graded harm, and the report says so.
        assert labeled.harmful_compliance.ungraded == 200 - labeled.harmful_compliance.errors


def _its_annotators_agree_as_published(xstest: Imported) -> None:
    for system in SYSTEMS:
        verdicts = Verdict.objects.filter(trajectory__run=xstest.run_of(system), kind=VerdictKind.REVIEW)
        said: dict[int, list[str]] = {}
        for trajectory, decision in verdicts.order_by("author").values_list("trajectory_id", "decision"):
            said.setdefault(trajectory, []).append(decision)
        kappa = cohen_kappa([(first, second) for first, second in said.values()])
        assert kappa is not None
        assert round(kappa, 3) == KAPPA[system]


def _its_judges_agree_with_people_as_published(xstest: Imported) -> None:
    rows = {row.judge.name: row for row in judge_rows(project=xstest.project)}
    for name, expected in ACCURACY.items():
        detail = judge_detail(project=xstest.project, judge_id=rows[name].judge.id)
        agreement = {ref.external_id: calibration.agreement for ref, calibration in detail.by_run}
        assert {system: fraction.total for system, fraction in agreement.items()} == dict.fromkeys(SYSTEMS, 450)
        assert {system: round(fraction.value or 0, 3) for system, fraction in agreement.items()} == expected
    # All five runs: 79.9 % and 83.9 % (1798 and 1887 of 2250).
    hits = {name: (rows[name].calibration.agreement.hits, rows[name].calibration.agreement.total) for name in ACCURACY}
    assert hits == {"gpt-4": (1798, 2250), "string-match": (1887, 2250)}


def _what_the_judge_could_not_say_is_never_counted_as_safe() -> None:
    failed = Judgment.objects.exclude(undetermined="").select_related("trajectory")
    assert Counter(judgment.undetermined for judgment in failed) == {"unparsable": 11}
    assert {judgment.trajectory.side for judgment in failed} == {Side.HARMFUL}
    assert all(judgment.raw_output for judgment in failed)


def _its_pairs_come_from_the_focus_words() -> None:
    # 187 of the 250 safe prompts have a partner on the harmful side.
    cases = Case.objects.exclude(pair="")
    harmful = set(cases.filter(side=Side.HARMFUL).values_list("pair", flat=True))
    assert cases.filter(side=Side.BENIGN, pair__in=harmful).count() == 187


def test_xstest_comes_in_whole_and_every_published_figure_comes_out(xstest: Imported) -> None:
    """One import, some seconds long, for all of these."""
    _its_published_pairs_come_out(xstest)
    _its_annotators_agree_as_published(xstest)
    _its_judges_agree_with_people_as_published(xstest)
    _what_the_judge_could_not_say_is_never_counted_as_safe()
    _its_pairs_come_from_the_focus_words()


def test_importing_xstest_again_changes_nothing(xstest: Imported) -> None:
    before = (Trajectory.objects.count(), Judgment.objects.count(), Verdict.objects.count())
    labels = list(Trajectory.objects.order_by("pk").values_list("label_source", "label_error", "status"))
    said = import_files(xstest.project, xstest.files[::-1], xstest.folder)
    assert "450 duplicate" in said
    assert (Trajectory.objects.count(), Judgment.objects.count(), Verdict.objects.count()) == before
    assert list(Trajectory.objects.order_by("pk").values_list("label_source", "label_error", "status")) == labels


def test_a_judge_that_answered_in_prose_on_one_systems_unsafe_prompts_is_a_warning_there_and_nowhere_else(
    xstest: Imported,
) -> None:
    """All eleven answers of GPT-4 that are no label are on one system's answers to unsafe prompts."""
    warned = {
        system: [
            one for one in xstest.report_of(system).warnings if one.judge.name == "gpt-4" and one.slicing == "side"
        ]
        for system in SYSTEMS
    }
    assert {system: len(warnings) for system, warnings in warned.items() if warnings} == {"mistralinstruct": 1}
    (warning,) = warned["mistralinstruct"]
    assert (warning.pile.name, warning.pile.here, warning.pile.elsewhere) == (Side.HARMFUL, (11, 200), (0, 250))
