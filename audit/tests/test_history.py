"""Verdicts from elsewhere: stored once, line by line, and the labels follow."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Verdict
from audit.services import history
from audit.services.history import BulkAnswer
from audit.tests.make import MORNING, at_once, historic, queue
from labeling.errors import Conflict
from labeling.formats.lines import Rejected, read_values
from labeling.formats.problems import Problem
from labeling.formats.wire import VerdictLine
from labeling.models import AuditRequest, Run, Trajectory
from labeling.tests import make
from labeling.vocabulary import (
    Decision,
    LabelSource,
    RequestState,
    RunStatus,
    Side,
    TrajectoryStatus,
    VerdictKind,
    VerdictSource,
)

LINE = {
    "external_id": "abc-1",
    "author": "Ada",
    "decided_at": "2026-11-29T10:00:00+01:00",
    "decision": "refusal",
    "harm_grade": 0,
}


# --- one line ----------------------------------------------------------------------------------------------------


def read(value: Any) -> VerdictLine | Rejected:
    return read_values(VerdictLine, [value])[0]


def test_a_line_is_read_with_its_time_in_utc() -> None:
    line = read({**LINE, "explained": True, "note": None})
    assert isinstance(line, VerdictLine)
    assert line.model_dump() == {
        "external_id": "abc-1",
        "author": "Ada",
        "decided_at": datetime(2026, 11, 29, 9, 0, tzinfo=UTC),
        "kind": VerdictKind.REVIEW,
        "decision": Decision.REFUSAL,
        "harm_grade": 0,
        "explained": True,
        "alternative_offered": None,
        "withheld": None,
        "note": "",
        "blind": None,
    }


@pytest.mark.parametrize(
    ("changes", "path", "reason"),
    [
        ({"author": None}, "author", "must be text"),
        ({"author": ""}, "author", "must not be empty"),
        ({"author": "a" * 201}, "author", "must have at most 200 characters"),
        ({"author": "a\0"}, "author", "must not hold NUL or lone surrogates"),
        ({"author": "a\ud800"}, "author", "must not hold NUL or lone surrogates"),
        ({"external_id": 7}, "external_id", "must be text"),
        ({"decided_at": "yesterday"}, "decided_at", "must be a time in ISO 8601 with its zone"),
        ({"decided_at": 1700000000}, "decided_at", "must be a time in ISO 8601 with its zone"),
        ({"decided_at": "0001-01-01T00:00:00+14:00"}, "decided_at", "must be a time in ISO 8601 with its zone"),
        ({"decided_at": "2026-11-29T10:00:00"}, "decided_at", "gives no time zone"),
        ({"decision": "refused"}, "decision", "must be 'full_compliance', 'safe_completion' or 'refusal'"),
        ({"decision": ["refusal"]}, "decision", "must be 'full_compliance', 'safe_completion' or 'refusal'"),
        ({"decision": None, "harm_grade": None}, "decision", "is missing, and so is every other part"),
        ({"kind": "vote"}, "kind", "must be 'review' or 'adjudication'"),
        ({"harm_grade": "2"}, "harm_grade", "must be a whole number"),
        ({"harm_grade": True}, "harm_grade", "must be a whole number"),
        ({"harm_grade": 5}, "harm_grade", "must be at most 4"),
        ({"explained": "yes"}, "explained", "must be true or false"),
        ({"note": 3}, "note", "must be text"),
        ({"verdict": "refusal"}, "verdict", "is not a field here"),
    ],
)
def test_a_line_that_cannot_be_read_says_where_and_why(changes: dict[str, Any], path: str, reason: str) -> None:
    line = read({**LINE, **changes})
    assert isinstance(line, Rejected)
    assert [problem.path for problem in line.problems] == [path]
    assert line.problems[0].reason.startswith(reason)


def test_a_line_is_told_everything_that_is_wrong_with_it() -> None:
    line = read({"external_id": "abc-1", "decision": "no", "harm_grade": "2", "blind": 1})
    assert isinstance(line, Rejected)
    assert {problem.path for problem in line.problems} == {"author", "decided_at", "decision", "harm_grade", "blind"}


def test_a_note_is_kept_as_it_is_nul_and_lone_surrogates_included() -> None:
    line = read({**LINE, "note": " \0\ud83d\n"})
    assert isinstance(line, VerdictLine)
    assert line.note == " \0\ud83d\n"


def test_a_line_that_is_no_object_is_refused() -> None:
    assert read(["abc-1"]) == Rejected(0, "", (Problem("", "must be an object"),))


def test_hostile_names_are_shown_legibly_in_the_answer() -> None:
    line = read({**LINE, "external_id": "\ud83d\0", "x\n": 1})
    assert line == Rejected(
        0,
        "\\ud83d\\x00",
        (
            Problem("external_id", "must not hold NUL or lone surrogates"),
            Problem("x\\n", "is not a field here"),
        ),
    )


# --- storing -----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(db: None) -> Run:
    return make.run()


def store(run: Run, *lines: VerdictLine | Rejected, blind: bool = True) -> BulkAnswer:
    return history.store_verdicts(run=run, lines=lines, blind=blind)


def counts(answer: BulkAnswer) -> tuple[int, int, int, int]:
    return answer[:4]


def label(trajectory: Trajectory) -> tuple[str, bool | None, bool]:
    row = Trajectory.objects.get(pk=trajectory.pk)
    return row.label_source, row.label_error, row.has_truth


def test_a_historic_verdict_is_stored_with_its_author_its_time_and_its_parts(run: Run) -> None:
    trajectory = make.trajectory(run)
    assert counts(store(run, historic(trajectory, note="\0 clear"))) == (1, 0, 0, 0)
    verdict = Verdict.objects.get()
    assert (verdict.author, verdict.reviewer, verdict.decided_at) == ("Ada", None, MORNING)
    assert (verdict.kind, verdict.source, verdict.blind) == (VerdictKind.REVIEW, VerdictSource.IMPORT, True)
    assert (verdict.decision, verdict.harm_grade, verdict.explained, verdict.note) == (
        Decision.FULL_COMPLIANCE,
        3,
        None,
        "\0 clear",
    )
    assert verdict.created_at > MORNING
    assert label(trajectory) == (LabelSource.HUMAN, True, True)


def test_posting_the_same_again_changes_nothing(run: Run) -> None:
    """B2.8, B2.9: a repeat is a duplicate, not an error and not a second row; times stay."""
    one, two = make.trajectory(run), make.trajectory(run)
    lines = [historic(one), historic(two), historic(two, author="Bo")]
    assert counts(store(run, *lines)) == (3, 0, 0, 0)
    rows = list(Verdict.objects.order_by("pk").values())
    answer = store(run, *reversed(lines))
    assert counts(answer) == (0, 3, 0, 0)
    assert [(entry.index, entry.status, entry.external_id) for entry in answer.entries] == [
        (0, "duplicate", two.external_id),
        (1, "duplicate", two.external_id),
        (2, "duplicate", one.external_id),
    ]
    assert list(Verdict.objects.order_by("pk").values()) == rows


def test_the_same_moment_in_another_zone_is_the_same_verdict(run: Run) -> None:
    trajectory = make.trajectory(run)
    store(run, historic(trajectory))
    elsewhere = datetime.fromisoformat("2026-11-29T10:00:00+01:00")
    assert counts(store(run, historic(trajectory, decided_at=elsewhere))) == (0, 1, 0, 0)


def test_another_opinion_under_the_same_identity_is_a_conflict_and_the_first_stays(run: Run) -> None:
    trajectory = make.trajectory(run)
    store(run, historic(trajectory))
    answer = store(run, historic(trajectory, decision=make.REFUSED), historic(trajectory, harm_grade=4))
    assert counts(answer) == (0, 0, 2, 0)
    assert Verdict.objects.get().decision == Decision.FULL_COMPLIANCE


def test_blindness_cannot_be_declared_afterwards(run: Run) -> None:
    trajectory = make.trajectory(run)
    store(run, historic(trajectory), blind=False)
    answer = store(run, historic(trajectory), blind=True)
    assert [(entry.status, entry.path) for entry in answer.entries] == [("conflict", "blind")]
    assert label(trajectory) == (LabelSource.HUMAN, True, False)


def test_a_line_may_declare_its_own_blindness(run: Run) -> None:
    one, two = make.trajectory(run), make.trajectory(run)
    store(run, historic(one, blind=False), historic(two), blind=True)
    assert (label(one)[2], label(two)[2]) == (False, True)


def test_several_authors_kinds_and_times_are_several_verdicts(run: Run) -> None:
    """B2.16: the identity includes the author."""
    trajectory = make.trajectory(run)
    answer = store(
        run,
        historic(trajectory),
        historic(trajectory, author="Bo"),
        historic(trajectory, kind=VerdictKind.ADJUDICATION),
        historic(trajectory, decided_at=MORNING + timedelta(seconds=1)),
        historic(trajectory),
    )
    assert counts(answer) == (4, 1, 0, 0)


def test_bad_lines_are_rejected_one_by_one_and_good_ones_go_in(run: Run) -> None:
    trajectory = make.trajectory(run)
    elsewhere = make.trajectory(make.run())
    answer = store(
        run,
        historic(elsewhere),
        Rejected(1, "x", (Problem("harm_grade", "must be at most 4"),)),
        historic(trajectory, decided_at=MORNING.replace(tzinfo=None)),
        historic(trajectory),
        historic(trajectory, decision=None, harm_grade=None, author="Bo"),
    )
    assert counts(answer) == (1, 0, 0, 4)
    assert [(entry.index, entry.path) for entry in answer.entries] == [
        (0, "external_id"),
        (1, "harm_grade"),
        (2, "decided_at"),
        (4, "decision"),
    ]
    assert answer.entries[2].reason.startswith("gives no time zone")
    assert Verdict.objects.get().author == "Ada"


def test_a_verdict_may_be_no_more_than_a_decision_or_a_grade(run: Run) -> None:
    trajectory = make.trajectory(run, side=Side.HARMFUL)
    store(run, historic(trajectory, decision=None, harm_grade=3))
    assert label(trajectory) == (LabelSource.HUMAN, True, True)


def test_a_closed_run_takes_historic_verdicts_and_a_voided_one_does_not(run: Run) -> None:
    trajectory = make.trajectory(run)
    Run.objects.update(status=RunStatus.CLOSED)
    assert store(run, historic(trajectory)).created == 1
    Run.objects.update(status=RunStatus.VOIDED, void_reason="wrong prompt", voided_at=timezone.now())
    with pytest.raises(Conflict, match="voided"):
        store(run, historic(trajectory, author="Bo"))


@pytest.mark.django_db(transaction=True)
def test_two_clients_posting_the_same_at_once_store_it_once(transactional_db: None) -> None:
    run = make.run()
    lines = [historic(make.trajectory(run), author=author) for _ in range(10) for author in ("Ada", "Bo")]
    answers = at_once(*(lambda: store(run, *lines) for _ in range(3)))
    assert sorted(counts(answer) for answer in answers) == [(0, 20, 0, 0), (0, 20, 0, 0), (20, 0, 0, 0)]
    assert Verdict.objects.count() == 20


# --- what follows ------------------------------------------------------------------------------------------------


def test_two_historic_verdicts_that_disagree_make_an_adjudication(run: Run) -> None:
    trajectory = make.trajectory(run, status=TrajectoryStatus.SETTLED)
    store(run, historic(trajectory), historic(trajectory, author="Bo", decision=make.REFUSED, harm_grade=0))
    assert label(trajectory) == (LabelSource.NONE, None, False)
    request = AuditRequest.objects.get()
    assert (request.state, request.for_lead) == (RequestState.OPEN, True)
    assert Trajectory.objects.get(pk=trajectory.pk).status == TrajectoryStatus.NEEDS_AUDIT


def test_an_adjudication_that_comes_with_them_settles_it(run: Run) -> None:
    trajectory = make.trajectory(run)
    store(
        run,
        historic(trajectory),
        historic(trajectory, author="Bo", decision=make.REFUSED, harm_grade=0),
        historic(trajectory, author="Cy", kind=VerdictKind.ADJUDICATION, decision=make.REFUSED, harm_grade=0),
    )
    assert label(trajectory) == (LabelSource.ADJUDICATION, False, True)
    assert not AuditRequest.objects.filter(state=RequestState.OPEN).exists()


def test_a_historic_verdict_answers_an_open_request_and_half_of_one_with_two_slots(run: Run) -> None:
    single, double = queue(run, 1)[0], queue(run, 1, slots=2)[0]
    store(run, historic(single.trajectory), historic(double.trajectory))
    states = dict(AuditRequest.objects.values_list("pk", "state"))
    assert states == {single.pk: RequestState.DONE, double.pk: RequestState.OPEN}
    assert label(double.trajectory)[0] == LabelSource.NONE


def queries(action: Callable[[], object]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        action()
    return len(captured)


def test_the_number_of_queries_does_not_grow_with_the_lines(run: Run) -> None:
    few, many = ([make.trajectory(run) for _ in range(number)] for number in (2, 40))
    assert queries(lambda: store(run, *map(historic, few))) == queries(lambda: store(run, *map(historic, many)))
