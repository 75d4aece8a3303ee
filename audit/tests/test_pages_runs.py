"""Project, run, trajectory and judge pages: both rates or words, what waits, and blindness kept."""

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from audit.models import ContentView
from audit.pages.figures import short_version
from audit.selectors.calibration import judge_rows
from audit.selectors.trajectories import Filters, list_trajectories, trajectory_messages, trajectory_page
from audit.tests.make import claimed, reviewed, saw_opinions
from labeling.formats.wire import RunSpec, TrajectoryLine, read
from labeling.models import Heartbeat, Judge, Measurement, PanelSeat, Project, Run, Suite, Trajectory
from labeling.services.judging import route_trajectories
from labeling.tests import make
from labeling.vocabulary import Role, RunStatus, Side, TrajectoryStatus

pytestmark = pytest.mark.django_db


class Reader:
    """Somebody who reads pages."""

    def __init__(self, project: Project, role: Role = Role.VIEWER) -> None:
        self.membership = make.membership(project, role)
        self.key = project.key
        self.client = Client()
        self.client.force_login(self.membership.user)

    def read(self, name: str, *args: object, **query: str) -> str:
        answer = self.client.get(reverse(name, args=[self.key, *args]), query)
        assert answer.status_code == 200, answer.content
        return answer.content.decode()

    def post(self, name: str, *args: object, **body: str) -> Any:
        return self.client.post(reverse(name, args=[self.key, *args]), body)


def judged_run(project: Project, *, harmful: int = 4, benign: int = 4, settle: bool = True, **fields: Any) -> Run:
    """A closed run: the first harmful case complied with, the first benign one refused, the rest right."""
    run = make.run(project, status=RunStatus.CLOSED, drawn_at=timezone.now(), panel_is_frozen=True, **fields)
    judge, _ = Judge.objects.get_or_create(project=project, name="a judge", version="1", defaults={"kind": "imported"})
    PanelSeat.objects.create(run=run, judge=judge)
    for side, count, right, wrong in (
        (Side.HARMFUL, harmful, make.REFUSED, make.COMPLIED),
        (Side.BENIGN, benign, make.COMPLIED, make.REFUSED),
    ):
        for number in range(count):
            trajectory = make.trajectory(run, side=side, category="fraud" if number % 2 else "weapons")
            make.judgment(trajectory, judge, right if number else wrong)
    if settle:
        route_trajectories(trajectory_ids=list(run.trajectories.values_list("pk", flat=True)))
    return run


@pytest.fixture
def project() -> Project:
    return make.project()


# --- the project -------------------------------------------------------------------------------------------------


def test_runs_are_rows_with_both_rates_side_by_side(project: Project) -> None:
    run = judged_run(project, name="Candidate <7>")
    text = Reader(project).read("project")
    assert "Candidate &lt;7&gt;" in text
    assert reverse("run", args=[project.key, run.pk]) in text
    # One of four on each side; both in one picture's sentence.
    assert re.search(r"harmful compliance 25.0.%, 95 % interval .*, 1 of 4; over-refusal 25.0.%,.*, 1 of 4\.", text)


def test_a_one_sided_run_shows_words_and_no_rate(project: Project) -> None:
    run = judged_run(project, benign=0)
    reader = Reader(project)
    assert "harmful side only: 4 in 4 cases" in reader.read("project")
    text = reader.read("run", run.pk)
    assert "Incomplete, so no rate." in text
    assert "Only 4 harmful cases" in text
    assert "25.0" not in text


def test_a_new_project_is_told_the_three_things_to_do_with_lines_that_work(project: Project) -> None:
    text = Reader(project, Role.LEAD).read("project")
    assert f"create_runner_key --project {project.key}" in text
    commands = [html.unescape(part) for part in re.findall(r'<code class="command">(.*?)</code>', text, re.DOTALL)]
    body = re.search(r"-d '(.*)'$", commands[1], re.DOTALL)
    assert body is not None
    read(RunSpec, json.loads(body[1]))
    lines = [read(TrajectoryLine, json.loads(line)) for line in commands[2].splitlines() if line.startswith("{")]
    assert len(lines) == 2
    assert all(command.startswith("curl http://testserver/api/v1/runs/") for command in commands[1:])


def test_a_demonstration_says_on_every_page_what_it_is() -> None:
    project = make.project(is_demonstration=True)
    run = judged_run(project)
    reader = Reader(project, Role.LEAD)
    for text in (reader.read("project"), reader.read("run", run.pk), reader.read("judges"), reader.read("people")):
        assert "A hand-made demonstration: no real model was run." in text


def test_a_worker_that_is_gone_is_said_loudly_only_while_work_is_owed(project: Project) -> None:
    reader = Reader(project)
    assert "no worker has been seen" not in reader.read("project")
    run = judged_run(project, settle=False)
    assert "no worker has been seen yet" in reader.read("project")
    beat = Heartbeat.objects.create(name="worker", beat_at=timezone.now())
    assert "no worker has been seen" not in reader.read("project")
    Heartbeat.objects.filter(pk=beat.pk).update(beat_at=timezone.now() - timedelta(hours=3))
    assert "3 hours ago" in reader.read("project")
    run.trajectories.update(status=TrajectoryStatus.SETTLED)
    assert "no worker has been seen" not in reader.read("project")


def test_what_needs_a_person_is_counted(project: Project) -> None:
    run = judged_run(project)
    make.audit_request(Trajectory.objects.filter(run=run)[0])
    make.audit_request(Trajectory.objects.filter(run=run)[1], for_lead=True)
    text = Reader(project, Role.LEAD).read("project")
    assert re.search(r"<b>1</b>\s*audit left in the queue", text)
    assert re.search(r"<b>1</b>\s*where people disagree: a lead decides", text)


def test_the_main_pages_take_a_known_number_of_queries(project: Project, django_assert_max_num_queries: Any) -> None:
    runs = [judged_run(project) for _ in range(3)]
    reader = Reader(project, Role.LEAD)
    row = Trajectory.objects.filter(run=runs[0]).values_list("pk", flat=True)[0]
    for name, args, most in (
        ("project", [], 11),
        ("run", [runs[0].pk], 19),
        ("run_trajectories", [runs[0].pk], 15),
        ("judges", [], 12),
        ("trajectory", [row], 15),
    ):
        with django_assert_max_num_queries(most):
            reader.read(name, *args)


# --- one run -----------------------------------------------------------------------------------------------------


def test_the_report_shows_the_pair_the_judges_the_slices_and_the_configuration(project: Project) -> None:
    configuration = make.configuration(project, model="Halden-1", version="9", system_prompt="Be <b>kind</b>.")
    run = judged_run(project, configuration=configuration)
    text = Reader(project).read("run", run.pk)
    assert "each judge alone: sampling only, judge error not included" in text
    for shown in ("By category", "By severity tier", "By framing", "weapons", "Be &lt;b&gt;kind&lt;/b&gt;."):
        assert shown in text
    assert configuration.fingerprint in text
    assert "leaks not measured (4 ungraded)" not in text
    assert "leaks not measured (3 ungraded)" in text


def test_what_makes_the_numbers_less_than_they_look_is_said_first(project: Project) -> None:
    run = judged_run(project, settle=False)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.OPEN)
    make.case(run.suite, Side.BENIGN)
    text = Reader(project).read("run", run.pk)
    assert "The run is open" in text
    assert "8 trajectories wait for the judges" in text
    assert "The benign side lacks 1 case of 5." in text
    assert text.index("The run is open") < text.index("as labeled")


def test_runs_that_complete_a_pair_are_offered_and_a_lead_joins_them(project: Project) -> None:
    configuration = make.configuration(project)
    one = judged_run(project, benign=0, configuration=configuration, name="Harmful half")
    other = judged_run(project, harmful=0, configuration=configuration, name="Benign half")
    assert "Join into one measurement" not in Reader(project).read("run", one.pk)
    lead = Reader(project, Role.LEAD)
    text = lead.read("run", one.pk)
    assert "Benign half" in text
    assert "Join into one measurement" in text
    assert lead.post("run_join", one.pk, other=str(other.pk)).status_code == 302
    assert "Incomplete, so no rate." not in lead.read("run", one.pk)


def test_every_count_of_a_report_leads_to_as_many_trajectories(project: Project) -> None:
    shared: dict[str, Any] = {
        "configuration": make.configuration(project),
        "measurement": Measurement.objects.create(project=project),
    }
    one = judged_run(project, benign=1, name="Harmful half", **shared)
    judged_run(project, harmful=1, name="Benign half", **shared)
    lone = judged_run(project)
    reader = Reader(project)
    for run in (one, lone):
        links = re.findall(r'/trajectories/\?([^"]+)">(\d+)</a>', reader.read("run", run.pk))
        assert len(links) >= 2
        for query, count in links:
            listed = reader.client.get(
                f"{reverse('run_trajectories', args=[project.key, run.pk])}?{html.unescape(query)}"
            )
            assert re.search(rf"\b{count} trajector", listed.content.decode()), query
    both = reader.read("run_trajectories", one.pk, over="measurement")
    assert "10 trajectories" in both
    assert '<span class="sub">Benign half</span>' in both
    assert 'name="over"' not in reader.read("run_trajectories", lone.pk)
    assert "None has all of this." in reader.read("run_trajectories", one.pk, over="everything")


def test_a_voided_run_shows_its_reason_and_no_rate(project: Project) -> None:
    run = judged_run(project)
    lead = Reader(project, Role.LEAD)
    assert lead.post("run_void", run.pk, reason="  ").status_code == 400
    assert lead.post("run_void", run.pk, reason="Wrong <model>").status_code == 302
    text = lead.read("run", run.pk)
    assert "Wrong &lt;model&gt;" in text
    assert "as labeled" not in text


# --- its trajectories --------------------------------------------------------------------------------------------


def test_filters_stand_in_the_address(project: Project) -> None:
    run = judged_run(project)
    reader = Reader(project)
    assert "8 trajectories" in reader.read("run_trajectories", run.pk)
    assert "4 trajectories with these filters" in reader.read("run_trajectories", run.pk, side="benign")
    assert "2 trajectories with these filters" in reader.read("run_trajectories", run.pk, label="error")
    assert "2 trajectories" in reader.read("run_trajectories", run.pk, category="weapons", side="harmful")
    assert "None has all of this." in reader.read("run_trajectories", run.pk, status="nonsense")


def test_long_lists_come_in_pages_of_fifty_that_keep_the_filters(project: Project) -> None:
    run = judged_run(project, harmful=60, benign=1)
    text = Reader(project).read("run_trajectories", run.pk, side="harmful")
    assert text.count('<th scope="row">') == 50
    assert "?side=harmful&amp;page=2" in text


def test_labels_of_what_one_may_be_asked_are_hidden_until_one_asks_to_see_them(project: Project) -> None:
    run = judged_run(project, harmful=1, benign=1)
    asked = Trajectory.objects.get(run=run, side=Side.HARMFUL)
    make.audit_request(asked, reasons=["leak"])
    assert ">hidden<" not in Reader(project).read("run_trajectories", run.pk)
    reviewer = Reader(project, Role.REVIEWER)
    text = reviewer.read("run_trajectories", run.pk)
    assert text.count(">hidden<") == 1
    assert "a refusal graded harmful</span>" not in text
    # A filter by label would tell as well, so it waits for the same consent.
    filtered = reviewer.read("run_trajectories", run.pk, label="error")
    assert "Filters by label or reason tell what judges said." in filtered
    assert "2 trajectories" in filtered
    seen = ContentView.objects.filter(user=reviewer.membership.user_id, showed_opinions=True)
    assert not seen.filter(trajectory=asked).exists()
    # What was shown is kept, also of what nobody asks about now: people may come to dispute it.
    assert seen.count() == 1
    answer = reviewer.post("run_labels", run.pk, show="yes", label="error")
    assert answer["Location"].endswith("?label=error")
    assert ">hidden<" not in reviewer.read("run_trajectories", run.pk, label="error")
    assert seen.filter(trajectory=asked).exists()


def test_what_one_holds_stays_hidden_even_then(project: Project) -> None:
    run = judged_run(project, harmful=1, benign=1)
    make.audit_request(Trajectory.objects.get(run=run, side=Side.HARMFUL))
    reviewer = Reader(project, Role.REVIEWER)
    claimed(reviewer.membership)
    reviewer.post("run_labels", run.pk, show="yes")
    # It is not even listed: the page around it names the model.
    assert reviewer.read("run_trajectories", run.pk).count('<th scope="row">') == 1
    filtered = reviewer.read("run_trajectories", run.pk, label="error")
    assert filtered.count('<th scope="row">') == 1
    # Nor does the count tell.
    assert "1 trajectory with these filters" in filtered
    held = Trajectory.objects.get(run=run, side=Side.HARMFUL)
    assert not ContentView.objects.filter(trajectory=held, showed_opinions=True).exists()


# --- one trajectory ----------------------------------------------------------------------------------------------


def opinionated(project: Project) -> Trajectory:
    run = judged_run(project, harmful=1, benign=1, name="Candidate")
    trajectory = Trajectory.objects.get(run=run, side=Side.HARMFUL)
    judge = make.judge(project, "rubric", title="Rubric judge")
    make.judgment(trajectory, judge, make.REFUSED, rationale="It <b>declines</b>.", evidence=[{"text": "I can't"}])
    return trajectory


def test_a_viewer_sees_all_opinions_side_by_side(project: Project) -> None:
    trajectory = opinionated(project)
    text = Reader(project).read("trajectory", trajectory.pk)
    for shown in ("Rubric judge", "a judge", "It &lt;b&gt;declines&lt;/b&gt;.", "I can&#x27;t"):
        assert shown in text
    assert "counts as harmful compliance" in text


def test_while_a_run_is_open_every_judge_is_on_its_panel(project: Project) -> None:
    trajectory = opinionated(project)
    reader = Reader(project)
    # In its row and on its card.
    assert reader.read("trajectory", trajectory.pk).count("not on the panel") == 2
    assert "not on the panel" in reader.read("run", trajectory.run_id)
    PanelSeat.objects.filter(run=trajectory.run_id).delete()
    Run.objects.filter(pk=trajectory.run_id).update(panel_is_frozen=False)
    assert "not on the panel" not in reader.read("trajectory", trajectory.pk)
    assert "not on the panel" not in reader.read("run", trajectory.run_id)


def test_wide_columns_are_read_only_where_they_are_shown(project: Project) -> None:
    trajectory = opinionated(project)
    with CaptureQueriesContext(connection) as queries:
        trajectory_page(project=project, trajectory_id=trajectory.pk)
        trajectory_messages(project=project, trajectory_id=trajectory.pk)
        list_trajectories(run=trajectory.run, filters=Filters())
    read = " ".join(query["sql"] for query in queries)
    assert '"messages"' in read
    for column in ("raw", "metadata", "tools", "request"):
        assert f'"{column}"' not in read


def test_a_list_takes_four_queries_however_long_it_is(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = judged_run(project, harmful=10, benign=10)
    for filters in (Filters(), Filters(side="harmful", label="no_error", over="measurement")):
        with django_assert_num_queries(4):
            list_trajectories(run=run, filters=filters)


def test_somebody_who_may_be_asked_sees_opinions_only_on_request_and_knows_what_it_costs(project: Project) -> None:
    trajectory = opinionated(project)
    make.audit_request(trajectory)
    reviewer = Reader(project, Role.REVIEWER)
    text = reviewer.read("trajectory", trajectory.pk)
    assert "Opinions are hidden." in text
    assert "Rubric judge" not in text
    assert "will not count as blind" in text
    assert not ContentView.objects.filter(showed_opinions=True).exists()
    assert reviewer.post("trajectory_opinions", trajectory.pk).status_code == 302
    assert "Rubric judge" in reviewer.read("trajectory", trajectory.pk)
    assert reviewed(reviewer.membership).blind is False


def test_somebody_who_holds_it_gets_no_opinions_by_any_way(project: Project) -> None:
    trajectory = opinionated(project)
    make.audit_request(trajectory)
    reviewer = Reader(project, Role.REVIEWER)
    claimed(reviewer.membership)
    answer = reviewer.client.get(reverse("trajectory", args=[project.key, trajectory.pk]))
    text = answer.content.decode()
    assert answer.status_code == 403
    assert "You hold this item now" in text
    for secret in ("Rubric judge", "Candidate", trajectory.external_id, "counts as"):
        assert secret not in text
    assert reviewer.post("trajectory_opinions", trajectory.pk).status_code == 403
    assert not ContentView.objects.filter(showed_opinions=True).exists()


def test_before_the_draw_of_a_run_everything_of_it_may_still_be_asked(project: Project) -> None:
    trajectory = opinionated(project)
    reviewer = Reader(project, Role.REVIEWER)
    assert "Rubric judge" in reviewer.read("trajectory", trajectory.pk)
    ContentView.objects.all().delete()
    Run.objects.filter(pk=trajectory.run_id).update(drawn_at=None)
    assert "Opinions are hidden." in reviewer.read("trajectory", trajectory.pk)
    saw_opinions(reviewer.membership, trajectory)
    assert "Rubric judge" in reviewer.read("trajectory", trajectory.pk)


def test_who_opened_what_is_recorded(project: Project) -> None:
    trajectory = opinionated(project)
    viewer = Reader(project)
    for _ in range(2):
        viewer.read("trajectory", trajectory.pk)
        viewer.read("transcript", trajectory.pk)
    assert sorted(ContentView.objects.values_list("user", "showed_opinions")) == [
        (viewer.membership.user_id, False),
        (viewer.membership.user_id, True),
    ]


# --- judges ------------------------------------------------------------------------------------------------------


def test_a_judge_nobody_measured_says_what_to_do(project: Project) -> None:
    run = judged_run(project)
    judge = Judge.objects.get(project=project, name="a judge")
    reviewer = Reader(project, Role.REVIEWER)
    assert "Nothing measured yet" in reviewer.read("judges")
    text = reviewer.read("judge", judge.pk)
    assert "Nothing measured yet." in text
    assert reverse("review", args=[project.key]) in text
    assert "not measured yet" in reviewer.read("run", run.pk)


def test_a_blind_verdict_changes_the_judges_page(project: Project) -> None:
    run = judged_run(project)
    judge = Judge.objects.get(project=project, name="a judge")
    make.audit_request(Trajectory.objects.filter(run=run, side=Side.HARMFUL)[0])
    reviewer = Reader(project, Role.REVIEWER)
    reviewed(reviewer.membership, make.REFUSED, 0)
    text = reviewer.read("judge", judge.pk)
    assert "0/1" in text
    assert "Over-sensitive: 1 of the 1 that people clear it did not clear." in text
    assert "Nothing measured yet" not in text
    assert "0/1" in reviewer.read("judges")


def test_a_report_reads_the_calibration_of_its_own_judges_only(project: Project) -> None:
    run = judged_run(project)
    (judge,) = Judge.objects.filter(project=project, name="a judge")
    make.judgment(make.trajectory(make.run(project)), make.judge(project, "elsewhere"), make.REFUSED)
    assert "elsewhere" not in Reader(project).read("run", run.pk)
    assert [row.judge.id for row in judge_rows(project=project, judge_ids=[judge.pk])] == [judge.pk]
    assert len(judge_rows(project=project)) > 1


def test_names_that_are_markup_stay_text_everywhere(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(name="<b>P</b>\u202e")
    configuration = make.configuration(project, model="<u>M</u>", version="<s>V")
    run = judged_run(project, name="<i>R</i>", configuration=configuration)
    Suite.objects.filter(pk=run.suite_id).update(key="<em>S</em>")
    Judge.objects.filter(project=project).update(title="<q>J</q>")
    row = Trajectory.objects.filter(run=run)[0]
    Trajectory.objects.filter(pk=row.pk).update(external_id="<tt>T</tt>", category="<dfn>C", stop_reason="<var>")
    reader = Reader(project, Role.LEAD)
    pages = [
        reader.read("project"),
        reader.read("run", run.pk),
        reader.read("run_trajectories", run.pk),
        reader.read("trajectory", row.pk),
        reader.read("judges"),
        reader.read("judge", Judge.objects.filter(project=project)[0].pk),
        reader.read("people"),
        reader.read("run_void", run.pk),
    ]
    for text in pages:
        for raw in ("<b>P", "<i>R", "<u>M", "<s>V", "<em>S", "<q>J", "<tt>", "<dfn>", "<var>", "\u202e"):
            assert raw not in text


def test_who_judges_an_item_of_a_run_sees_no_figure_that_could_tell_of_it(project: Project) -> None:
    run = judged_run(project, harmful=1, benign=1)
    make.audit_request(Trajectory.objects.get(run=run, side=Side.HARMFUL))
    reader = Reader(project, Role.REVIEWER)
    assert "By category" in reader.read("run", run.pk)
    claimed(reader.membership)
    text = reader.read("run", run.pk)
    assert "You are judging an item of this run" in text
    assert "By category" not in text
    assert "each judge alone: sampling only" not in text
    assert "Who judged" not in text
    assert "graded harmful)" not in text
    assert "By category" in Reader(project).read("run", run.pk)


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("2026-11", "2026-11"),
        ("ab" * 32, "abababab"),
        ("inspect_ai 0.3.285 openai/judge yes=complied", "inspect_ai 0.3.2 … dge yes=complied"),
    ],
)
def test_a_long_version_keeps_what_tells_it_from_others(version: str, shown: str) -> None:
    assert short_version(version) == shown
