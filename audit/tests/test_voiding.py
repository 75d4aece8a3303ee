"""A run voided while people hold its items: what they say is kept, and asks nobody for anything."""

import pytest

from audit.models import Verdict
from audit.services import history, reviewing
from audit.tests.make import claimed, draft, historic, queue
from labeling.models import AuditRequest, Trajectory
from labeling.services import runs
from labeling.tests import make
from labeling.vocabulary import Decision, RequestState, Role, TrajectoryStatus

pytestmark = pytest.mark.django_db


def test_a_verdict_after_the_void_is_kept_and_reopens_nothing() -> None:
    run = make.run()
    (request,) = queue(run, 1, slots=2)
    first = historic(request.trajectory)
    history.store_verdicts(run=run, lines=[first], blind=True)
    held = claimed(make.membership(run.project, Role.REVIEWER))
    runs.void_run(run=run, by=None, reason="wrong prompt")
    reviewing.submit_verdict(token=held.token, reviewer=held.reviewer, draft=draft(decision=Decision.REFUSAL))
    assert Verdict.objects.count() == 2
    assert AuditRequest.objects.get().state == RequestState.DONE
    assert Trajectory.objects.get().status == TrajectoryStatus.SETTLED
