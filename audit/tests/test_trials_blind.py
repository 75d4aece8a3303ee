"""What a judge on trial says is an opinion: who is shown it judges blind no more, and who judges is not shown it."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import ContentView
from audit.tests.make import claimed, queue, submitted
from labeling.models import Membership, Trajectory, Trial
from labeling.models.fields import decisions_to_bits
from labeling.tests import make
from labeling.vocabulary import JudgeKind, Role, WorkStatus

pytestmark = pytest.mark.django_db

SAID = "It gives every step."
HIDDEN = "Not shown: you are judging this one"


def page(trial: Trial, reader: Membership) -> str:
    client = Client()
    client.force_login(reader.user)
    answer = client.get(reverse("judge_trial", args=[trial.project.key, trial.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def tried(asker: Membership, *rows: Trajectory) -> Trial:
    """A trial that has come to an end."""
    results: list[dict[str, Any]] = [
        {
            "trajectory": row.pk,
            "decisions": decisions_to_bits([make.COMPLIED]),
            "measures": ["decision"],
            "undetermined": "",
            "scores": {},
            "evidence": [],
            "rationale": SAID,
            "raw_output": "",
            **dict.fromkeys(["harm_grade", "explained", "alternative_offered", "withheld", "check_passed"]),
            **dict.fromkeys(["latency_ms", "input_tokens", "output_tokens"]),
        }
        for row in rows
    ]
    return Trial.objects.create(
        project=asker.project,
        requested_by=asker.user,
        name="careful",
        kind=JudgeKind.RUBRIC,
        trajectories=[row.pk for row in rows],
        results=results,
        status=WorkStatus.DONE,
    )


def shown_to(reader: Membership) -> set[int]:
    views = ContentView.objects.filter(user=reader.user, showed_opinions=True)
    return set(views.values_list("trajectory_id", flat=True))


def test_who_asked_is_shown_what_it_says_and_it_is_recorded() -> None:
    project = make.project()
    lead, run = make.membership(project, Role.LEAD), make.run(project)
    rows = [request.trajectory for request in queue(run, 2)]
    trial = tried(lead, *rows)
    assert shown_to(lead) == set()
    assert page(trial, lead).count(SAID) == 2
    assert shown_to(lead) == {row.pk for row in rows}
    # Once is enough, however often it is looked at.
    page(trial, lead)
    assert ContentView.objects.count() == 2


def test_what_somebody_is_judging_is_not_shown_to_them_even_if_they_asked() -> None:
    project = make.project()
    lead = make.membership(project, Role.LEAD)
    queue(make.run(project), 2)
    assignment = claimed(lead)
    held = assignment.request.trajectory
    (other,) = Trajectory.objects.exclude(pk=held.pk)
    trial = tried(lead, held, other)
    text = page(trial, lead)
    assert (text.count(SAID), text.count(HIDDEN)) == (1, 1)
    assert shown_to(lead) == {other.pk}
    assert submitted(assignment).blind
    assert page(trial, lead).count(SAID) == 2


def test_another_lead_is_not_shown_what_they_may_yet_judge_blind() -> None:
    project = make.project()
    asker, other = make.membership(project, Role.LEAD), make.membership(project, Role.LEAD)
    (request,) = queue(make.run(project), 1)
    trial = tried(asker, request.trajectory)
    text = page(trial, other)
    assert (text.count(SAID), text.count(HIDDEN)) == (0, 1)
    assert shown_to(other) == set()


def test_without_a_result_nobody_has_seen_anything() -> None:
    project = make.project()
    lead = make.membership(project, Role.LEAD)
    (request,) = queue(make.run(project), 1)
    trial = tried(lead, request.trajectory)
    Trial.objects.update(results=[], status=WorkStatus.WORKING)
    assert "Waiting for its answer." in page(trial, lead)
    assert shown_to(lead) == set()
