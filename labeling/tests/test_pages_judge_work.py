"""What a lead does on pages with a judge that there is: its limits and key, its seat, and what it owes."""

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from labeling.judges.rubrics.rubric_text import ready_rubrics
from labeling.models import (
    Judge,
    JudgeCall,
    JudgeService,
    Judgment,
    PanelSeat,
    Project,
    Rejudging,
    Run,
    Spend,
    Trajectory,
    Trouble,
)
from labeling.selectors.calling import Calls, calls_on, judge_state, parked_on, state_of
from labeling.services import sealing
from labeling.services.judges import make_judge
from labeling.tests import make
from labeling.vocabulary import JudgeKind, Role, RunStatus, TrajectoryStatus, WorkStatus

pytestmark = pytest.mark.django_db

KEY = "sk-keep-this-to-yourself"


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def lead(project: Project) -> Client:
    client = Client()
    client.force_login(make.member(project, Role.LEAD, "grace"))
    return client


def rubric(project: Project, name: str = "careful", *, on_panel: bool = True) -> Judge:
    settings = ready_rubrics()["three_label"].model_dump(mode="json") | {
        "type": "rubric",
        "service": {"base_url": "https://judge.example/v1", "model": "big"},
    }
    made = make_judge(project=project, kind=JudgeKind.RUBRIC, name=name, settings=settings, key=KEY, on_panel=on_panel)
    return made.judge


def another(judge: Judge) -> Judge:
    """A second version of it, off the panel."""
    settings = judge.settings | {"title": "Another title"}
    made = make_judge(project=judge.project, kind=JudgeKind.RUBRIC, name=judge.name, settings=settings, based_on=judge)
    return made.judge


def at(name: str, judge: Judge) -> str:
    return reverse(name, args=[judge.project.key, judge.pk])


def owed(judge: Judge, *rows: Trajectory, **fields: Any) -> None:
    JudgeCall.objects.bulk_create(JudgeCall(judge=judge, trajectory=row, **fields) for row in rows)


def limits(**changed: str) -> dict[str, str]:
    return {"concurrency": "16", "timeout_seconds": "60", **changed}


# --- limits and key ------------------------------------------------------------------------------------------------


def test_limits_and_prices_are_saved_as_typed(project: Project, lead: Client) -> None:
    judge = rubric(project)
    typed = limits(
        concurrency="4",
        requests_per_minute="120",
        tokens_per_minute="90000",
        input_usd="0.15",
        output_usd="0",
        ceiling_usd="12.5",
    )
    assert lead.post(at("judge_work", judge), typed)["Location"] == at("judge", judge)
    service = JudgeService.objects.get(judge=judge)
    assert (service.concurrency, service.requests_per_minute, service.tokens_per_minute) == (4, 120, 90_000)
    assert (service.input_usd, service.output_usd, service.ceiling_usd) == (
        Decimal("0.15"),
        Decimal(0),
        Decimal("12.5"),
    )
    assert sealing.unseal(service.sealed_key) == KEY
    text = lead.get(at("judge_work", judge)).content.decode()
    for shown in ('value="0.15"', 'value="12.5"', 'value="120"', "A key is kept"):
        assert shown in text


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"concurrency": "0"}, "Calls at once: give a whole number, from 1 to 1000."),
        ({"concurrency": ""}, "Calls at once: give a whole number"),
        ({"timeout_seconds": "1.5"}, "Seconds to wait for an answer: give a whole number, from 1 to 600."),
        ({"requests_per_minute": "x"}, "Calls a minute: give a whole number"),
        ({"input_usd": "0.0000001"}, "give a number with at most 6 digits after the point, from 0 to 99999."),
        ({"input_usd": "NaN"}, "give a number with at most 6 digits after the point"),
        ({"ceiling_usd": "1e999999"}, "give a number with at most 2 digits after the point"),
        ({"ceiling_usd": "-1"}, "give a number with at most 2 digits after the point"),
        (
            {"input_usd": "1,234"},
            "US $ for a million tokens in: write it without a comma; decimals come after a point.",
        ),
        ({"ceiling_usd": "5"}, "A ceiling needs both prices"),
        ({"ceiling_usd": "5", "input_usd": "0.1"}, "A ceiling needs both prices"),
        ({"key": "eins zwei"}, "The key has characters that no key has"),
    ],
)
def test_a_limit_that_is_none_comes_back_as_it_was_typed(
    project: Project, lead: Client, typed: dict[str, str], sentence: str
) -> None:
    judge = rubric(project)
    answer = lead.post(at("judge_work", judge), limits(**typed))
    text = answer.content.decode()
    assert answer.status_code == 400
    assert sentence in text
    (name, value), *_ = typed.items()
    assert (f'value="{value}"' in text) == (name != "key")
    assert JudgeService.objects.get(judge=judge).concurrency == 16


def test_every_limit_that_is_none_is_named_at_once(project: Project, lead: Client) -> None:
    judge = rubric(project)
    text = lead.post(at("judge_work", judge), limits(concurrency="0", timeout_seconds="x", input_usd="1,5"))
    for label in ("Calls at once: give", "Seconds to wait for an answer: give", "tokens in: write it without a comma"):
        assert label in text.content.decode()


def test_what_calls_cost_is_not_said_to_be_nothing_where_it_is_not_known(project: Project, lead: Client) -> None:
    judge = rubric(project)
    spend = Spend.objects.create(run=make.run(project), judge=judge, calls=3)
    text = lead.get(at("judge_work", judge)).content.decode()
    assert "So far 3 calls, cost not known; trials are not among them." in text
    assert not state_of(judge).has_prices
    spend.usd = Decimal("0.25")
    spend.save()
    assert "So far 3 calls for $0.25;" in lead.get(at("judge_work", judge)).content.decode()
    JudgeService.objects.update(input_usd=1, output_usd=0)
    assert state_of(judge).has_prices


def test_a_new_key_replaces_the_old_and_ends_the_wait(project: Project, lead: Client) -> None:
    judge = rubric(project)
    parked = timezone.now() + timedelta(minutes=10)
    JudgeService.objects.update(parked_until=parked, parked_reason="the endpoint refuses the key <b>", parkings=3)
    text = lead.get(at("judge_work", judge)).content.decode()
    assert "the endpoint refuses the key &lt;b&gt;" in text
    lead.post(at("judge_work", judge), limits(key="sk-new"))
    service = JudgeService.objects.get(judge=judge)
    assert (sealing.unseal(service.sealed_key), service.parked_until, service.parkings) == ("sk-new", None, 0)
    lead.post(at("judge_work", judge), limits(forget_key="on"))
    assert JudgeService.objects.get(judge=judge).sealed_key == ""


def test_a_judge_that_makes_no_calls_has_no_limits(project: Project, lead: Client) -> None:
    answer = lead.get(at("judge_work", Judge.objects.get(project=project, name="substring")))
    assert answer.status_code == 409
    assert "makes no calls" in answer.content.decode()


# --- seat ----------------------------------------------------------------------------------------------------------


def test_a_judge_takes_its_seat_and_leaves_it(project: Project, lead: Client) -> None:
    judge = rubric(project, on_panel=False)
    lead.post(at("judge_seat", judge))
    assert Judge.objects.get(pk=judge.pk).active
    owed(judge, make.trajectory(make.run(project)))
    text = lead.post(at("judge_unseat", judge), follow=True).content.decode()
    assert not Judge.objects.get(pk=judge.pk).active
    assert "1 call that it owed to open runs will not be made." in text
    assert JudgeCall.objects.count() == 0
    assert lead.post(at("judge_seat", make.judge(project))).status_code == 400


def test_the_version_that_leaves_the_panel_for_another_is_named(project: Project, lead: Client) -> None:
    first = rubric(project)
    second = another(first)
    text = lead.post(at("judge_seat", second), follow=True).content.decode()
    assert f"Version {first.version} is off it." in text
    assert list(Judge.objects.filter(name="careful", active=True)) == [second]
    assert "is off it" not in lead.post(at("judge_seat", second), follow=True).content.decode()


def test_a_version_made_by_mistake_is_deleted_and_one_that_spoke_is_not(project: Project, lead: Client) -> None:
    first = rubric(project)
    second = another(first)
    assert "Delete this version" not in lead.get(at("judge_work", first)).content.decode()
    assert "Delete this version" in lead.get(at("judge_work", second)).content.decode()
    assert lead.post(at("judge_delete", second))["Location"] == reverse("judges", args=[project.key])
    assert list(Judge.objects.filter(name="careful")) == [first]
    row = make.trajectory(make.run(project))
    refused = [first, Judge.objects.get(project=project, name="substring"), make.judge(project)]
    # Off the panel, and it has spoken; or it owes a call; or it is on the panel of a run.
    for name in ("spoke", "owes", "seated"):
        refused.append(rubric(project, name, on_panel=False))
    make.judgment(row, refused[3], make.REFUSED)
    owed(refused[4], row)
    PanelSeat.objects.create(run=row.run, judge=refused[5])
    for judge in refused:
        assert lead.post(at("judge_delete", judge)).status_code == 409
        assert Judge.objects.filter(pk=judge.pk).exists()


# --- what is owed --------------------------------------------------------------------------------------------------


def test_a_parked_judge_is_asked_again(project: Project, lead: Client, django_capture_on_commit_callbacks: Any) -> None:
    judge = rubric(project)
    JudgeService.objects.update(parked_until=timezone.now() + timedelta(hours=1), parked_reason="down", parkings=5)
    assert state_of(judge).parked_reason == "down"
    with django_capture_on_commit_callbacks() as rung:
        lead.post(at("judge_resume", judge))
    assert (state_of(judge).parked_until, len(rung)) == (None, 1)


def test_calls_that_broke_are_tried_again(project: Project, lead: Client) -> None:
    judge, run = rubric(project), make.run(project)
    owed(judge, make.trajectory(run), make.trajectory(run), parked_at=timezone.now(), tries=3, trouble="ValueError")
    text = lead.post(at("judge_try_again", judge), follow=True).content.decode()
    assert "2 calls will be tried again" in text
    assert [(call.parked_at, call.tries) for call in JudgeCall.objects.all()] == [(None, 0)] * 2


def test_giving_up_is_asked_first_and_says_how_much(project: Project, lead: Client) -> None:
    judge, run = rubric(project), make.run(project)
    waiting, parked, in_hand = (make.trajectory(run) for _ in range(3))
    owed(judge, waiting)
    owed(judge, parked, parked_at=timezone.now())
    owed(judge, in_hand, claim=uuid.uuid4(), ready_at=timezone.now() + timedelta(minutes=1))
    text = lead.get(at("judge_give_up", judge)).content.decode()
    assert "Give up 2 calls" in text
    assert "1 call is under way" in text
    assert Judgment.objects.count() == 0
    answer = lead.post(at("judge_give_up", judge), {"why": " \n"})
    assert answer.status_code == 400
    assert "Say why in at most 300 characters" in answer.content.decode()
    assert Judgment.objects.count() == 0
    body = {"why": " The house\nis closed. "}
    assert "2 calls given up" in lead.post(at("judge_give_up", judge), body, follow=True).content.decode()
    said = Judgment.objects.filter(judge=judge)
    assert {row.trajectory_id for row in said} == {waiting.pk, parked.pk}
    assert {(row.undetermined, row.rationale) for row in said} == {("other", "Given up by grace: The house is closed.")}


def test_a_version_is_put_to_a_closed_run_and_to_all_that_people_audited(project: Project, lead: Client) -> None:
    judge, run = rubric(project), make.run(project)
    for _ in range(3):
        make.trajectory(run)
    make.trajectory(run, has_truth=True)
    assert lead.post(at("judge_rejudge", judge), {"run": run.pk}).status_code == 409
    Run.objects.update(status=RunStatus.CLOSED, panel_is_frozen=True)
    text = lead.post(at("judge_rejudge", judge), {"run": run.pk}, follow=True).content.decode()
    assert "4 trajectories are put to this version." in text.replace("\u202f", "")
    text = lead.post(at("judge_rejudge", judge), {"audited": "1"}, follow=True).content.decode()
    assert "1 trajectory is put to this version." in text
    assert lead.post(at("judge_rejudge", judge), {}).status_code == 400
    assert lead.post(at("judge_rejudge", judge), {"run": make.run().pk}).status_code == 404
    assert [(wish.run_id, wish.total) for wish in Rejudging.objects.order_by("pk")] == [(run.pk, 4), (None, 1)]


def test_what_it_has_judged_already_is_not_said_to_be_put_to_it(project: Project, lead: Client) -> None:
    judge, run = rubric(project), make.run(project)
    rows = [make.trajectory(run) for _ in range(3)]
    Run.objects.update(status=RunStatus.CLOSED, panel_is_frozen=True)
    make.judgment(rows[0], judge, make.REFUSED)
    text = lead.post(at("judge_rejudge", judge), {"run": run.pk}, follow=True).content.decode()
    assert "2 trajectories are put to this version. 1 more it has judged already, and what it said stays." in nbsp(text)
    Rejudging.objects.all().delete()
    for row in rows[1:]:
        make.judgment(row, judge, make.REFUSED)
    text = lead.post(at("judge_rejudge", judge), {"run": run.pk}, follow=True).content.decode()
    assert "Nothing to do: it has judged all of it already (3 trajectories). What was over budget stays so." in nbsp(
        text
    )
    text = lead.post(at("judge_rejudge", judge), {"audited": "1"}, follow=True).content.decode()
    assert "There is nothing to judge" in text
    assert not Rejudging.objects.exists()


def test_two_versions_are_put_to_the_audited_set_with_one_button(project: Project, lead: Client) -> None:
    first = rubric(project)
    second = another(first)
    make.trajectory(make.run(project, status=RunStatus.CLOSED, panel_is_frozen=True), has_truth=True)
    assert lead.post(at("judge_rejudge", first), {"audited": "both"}).status_code == 400
    text = nbsp(lead.post(at("judge_rejudge", second), {"audited": "both"}, follow=True).content.decode())
    for version in (first, second):
        assert f"Version {version.version}: 1 trajectory is put to this version." in text
    assert [wish.judge_id for wish in Rejudging.objects.order_by("pk")] == [first.pk, second.pk]
    # Where the older no longer runs here, neither is asked.
    Rejudging.objects.all().delete()
    Judge.objects.filter(pk=first.pk).update(version="of-older-code")
    assert lead.post(at("judge_rejudge", second), {"audited": "both"}).status_code == 409
    assert not Rejudging.objects.exists()


def nbsp(text: str) -> str:
    return text.replace("\u202f", " ")


def test_parked_trajectories_of_a_run_are_judged_again(project: Project, lead: Client) -> None:
    run = make.run(project)
    rows = [make.trajectory(run) for _ in range(3)]
    for row, reason in zip(rows, ("A", "B", "A"), strict=True):
        Trouble.objects.create(trajectory=row, tries=3, reason=reason, parked_at=timezone.now())
    assert parked_on(run) == {"A": 2, "B": 1}
    text = lead.post(reverse("run_unpark", args=[project.key, run.pk]), follow=True).content.decode()
    assert "3 trajectories will be judged again" in text
    assert parked_on(run) == {}


# --- how judges are doing ------------------------------------------------------------------------------------------


def test_the_state_of_every_judge_in_five_queries(project: Project, django_assert_num_queries: Any) -> None:
    judge, run, other = rubric(project), make.run(project), make.run(project)
    rows = [make.trajectory(run) for _ in range(4)]
    owed(judge, rows[0], make.trajectory(other))
    owed(judge, rows[1], claim=uuid.uuid4(), ready_at=timezone.now() + timedelta(minutes=1))
    owed(judge, rows[2], rows[3], parked_at=timezone.now())
    Spend.objects.create(run=run, judge=judge, calls=3, usd=Decimal("0.25"))
    Spend.objects.create(run=other, judge=judge, calls=1, usd=Decimal("0.5"))
    Rejudging.objects.create(judge=judge, run=run, total=9, handed_on=9, status=WorkStatus.DONE)
    Rejudging.objects.create(judge=judge, run=None, total=7, handed_on=2, status=WorkStatus.WORKING)
    JudgeService.objects.update(parked_until=timezone.now() - timedelta(seconds=1), parked_reason="was down")
    imported = make.judge(project)
    with django_assert_num_queries(5):
        states = judge_state(project)
    state = states[judge.pk]
    assert (state.on_panel, state.runs_here) == (True, True)
    assert (state.owed, state.in_hand, state.parked_calls) == (3, 1, 2)
    assert (state.parked_until, state.parked_reason) == (None, "was down")
    assert (state.calls_made, state.spent_usd) == (4, Decimal("0.75"))
    assert state.rejudging is not None
    assert (state.rejudging.run_id, state.rejudging.handed_on, state.rejudging.total) == (None, 2, 7)
    assert (states[imported.pk].on_panel, states[imported.pk].runs_here) == (False, False)
    assert calls_on(run) == {judge.pk: Calls(owed=2, in_hand=1, parked=2)}


def test_only_leads_of_the_project_work_its_judges(project: Project) -> None:
    judge, run = rubric(project), make.run(project)
    names = ["work", "seat", "unseat", "resume", "try_again", "give_up", "rejudge", "delete"]
    addresses = [at(f"judge_{name}", judge) for name in names] + [reverse("run_unpark", args=[project.key, run.pk])]
    for person, status in (
        (make.member(project, Role.REVIEWER), 403),
        (make.member(make.project(), Role.LEAD), 404),
    ):
        client = Client()
        client.force_login(person)
        for address in addresses:
            assert client.post(address, limits(audited="1")).status_code == status
    foreign = rubric(make.project())
    client = Client()
    client.force_login(make.member(project, Role.LEAD))
    for name in names:
        address = reverse(f"judge_{name}", args=[project.key, foreign.pk])
        assert client.post(address, limits(audited="1")).status_code == 404
    assert Judge.objects.get(pk=judge.pk).active
    assert Trajectory.objects.filter(status=TrajectoryStatus.SETTLED).count() == 0


def test_what_changes_something_takes_no_get(project: Project, lead: Client) -> None:
    judge = rubric(project)
    for name in ("seat", "unseat", "resume", "try_again", "rejudge", "delete"):
        assert lead.get(at(f"judge_{name}", judge)).status_code == 405


def test_the_pages_take_a_known_number_of_queries(
    project: Project, lead: Client, django_assert_max_num_queries: Any
) -> None:
    judge, run = rubric(project), make.run(project)
    owed(judge, *(make.trajectory(run) for _ in range(5)))
    with django_assert_max_num_queries(11):
        lead.get(at("judge_work", judge))
    with django_assert_max_num_queries(10):
        lead.get(at("judge_give_up", judge))
