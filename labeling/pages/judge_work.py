"""What a lead does with a judge that there is: how hard it works, on the panel or not, what it owes. For leads."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from labeling import tasks
from labeling.errors import Conflict, DomainError
from labeling.models import Judge, JudgeService, Membership, Run
from labeling.pages import judge_limits
from labeling.pages.edge import framed, page, person, person_page, status_of, whole_number
from labeling.pages.judges import FORM, lead_of, taken_off, to_judge
from labeling.selectors.calling import state_of
from labeling.selectors.judges import is_served, judge_in, on_panel_as, version_before
from labeling.selectors.naming import run_in
from labeling.services import judges, rejudging, training
from labeling.services.calling import parking
from labeling.templatetags.litmus import plural


@require_http_methods(FORM)
@person_page
def work(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    """How hard the judge may be worked, what it may cost, and the key to its endpoint."""
    lead, judge = _lead_and_judge(request, key, judge_id)
    if not is_served(judge):
        raise Conflict("This judge makes no calls: it has no limits, no prices and no key.")
    service: JudgeService = getattr(judge, "service", None) or JudgeService()
    texts, complaint = judge_limits.shown(service), None
    if request.method == "POST":
        texts = judge_limits.typed(request.POST)
        try:
            working, new_key = judge_limits.working_of(texts), judge_limits.key_of(request.POST)
            judges.work_judge(judge=judge, working=working, key=new_key)
        except DomainError as error:
            complaint = error
        else:
            tasks.request_calls()
            messages.success(request, "Saved. It counts from the next call on.")
            return to_judge(key, judge_id)
    context = {
        "judge": judge,
        "state": state_of(judge),
        "operator": (judge.settings.get("service") or {}).get("operator", ""),
        "has_key": bool(service.sealed_key),
        "is_mistake": judges.may_be_put_away(judge),
        "limits": [{**limit._asdict(), "value": texts[limit.name]} for limit in judge_limits.LIMITS],
        "complaints": judge_limits.complaints(complaint) if complaint else [],
    }
    status = status_of(complaint) if complaint else 200
    return page(request, "judge_work.html", framed(lead, "judges", **context), status=status)


@require_POST
@person_page
def seat(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    lead, judge = _lead_and_judge(request, key, judge_id)
    before = on_panel_as(lead.project, judge.name)
    judges.seat(judge=judge)
    messages.success(
        request, f"On the panel: what comes in from now on is put to this version.{taken_off(before, judge)}"
    )
    return to_judge(key, judge_id)


@require_POST
@person_page
def unseat(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    _, judge = _lead_and_judge(request, key, judge_id)
    dropped = judges.unseat(judge=judge)
    owed = f" {_calls(dropped)} that it owed to open runs will not be made." if dropped else ""
    messages.success(request, f"Off the panel. Runs whose panel is fixed keep it.{owed}")
    return to_judge(key, judge_id)


@require_POST
@person_page
def resume(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    """Ask a parked judge's endpoint now."""
    _, judge = _lead_and_judge(request, key, judge_id)
    parking.resume(judge=judge)
    tasks.request_calls()
    messages.success(request, "Asked again from now on. If its endpoint is still down, it is parked again.")
    return to_judge(key, judge_id)


@require_POST
@person_page
def try_again(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    """Take up the calls that broke."""
    _, judge = _lead_and_judge(request, key, judge_id)
    taken_up = parking.try_again(judge=judge)
    tasks.request_calls()
    messages.success(request, f"{_calls(taken_up)} will be tried again, up to three times each.")
    return to_judge(key, judge_id)


@require_http_methods(FORM)
@person_page
def give_up(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    """Asked first: what a judge owes becomes undetermined, for good."""
    lead, judge = _lead_and_judge(request, key, judge_id)
    why, complaint = request.POST.get("why", ""), None
    if request.method == "POST":
        try:
            given_up = parking.give_up(judge=judge, by=person(request), why=why)
        except DomainError as error:
            complaint = error
        else:
            messages.success(request, f"{_calls(given_up)} given up: undetermined, with your name and why.")
            return to_judge(key, judge_id)
    state = state_of(judge)
    context = {
        "judge": judge,
        "state": state,
        "waiting": state.owed - state.in_hand + state.parked_calls,
        "why": why,
        "longest_why": parking.LONGEST_WHY,
        "complaint": complaint.message if complaint else "",
    }
    status = status_of(complaint) if complaint else 200
    return page(request, "judge_give_up.html", framed(lead, "judges", **context), status=status)


@require_POST
@person_page
def put_away(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    """Delete a version that was a mistake."""
    _, judge = _lead_and_judge(request, key, judge_id)
    judges.put_away(judge=judge)
    messages.success(request, f"Version {judge.version} of {judge.name} is deleted.")
    return HttpResponseRedirect(reverse("judges", args=[key]))


@require_POST
@person_page
def rejudge(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    """Put this version to a closed run, or to all that people audited; the version before it too, to compare them."""
    lead, judge = _lead_and_judge(request, key, judge_id)
    if "run" in request.POST:
        messages.info(request, _asked(request, judge, run_in(lead.project, whole_number(request.POST["run"], 0))))
    elif request.POST.get("audited") == "both":
        before = version_before(judge)
        if before is None:
            raise DomainError("This is the first version of its name: there is none before it.")
        # The older first: where it no longer runs here, neither is asked.
        for version in (before, judge):
            messages.info(request, f"Version {version.version}: {_asked(request, version, None)}")
    elif "audited" in request.POST:
        messages.info(request, _asked(request, judge, None))
    else:
        raise DomainError("Choose a run, or all that people audited.")
    return to_judge(key, judge_id)


def _asked(request: HttpRequest, judge: Judge, run: Run | None) -> str:
    """Ask for it, and say what that comes to."""
    there = rejudging.extent(judge=judge, run=run)
    what = plural(there.total, "trajectory,trajectories")
    if there.total == there.judged:
        if not there.total:
            return "There is nothing to judge: no trajectory that this judge has a question for."
        return f"Nothing to do: it has judged all of it already ({what}). What was over budget stays so."
    wish = rejudging.request(judge=judge, run=run, by=person(request))
    tasks.request_rejudging(wish.pk)
    left = plural(there.total - there.judged, "trajectory is,trajectories are")
    judged = f" {there.judged} more it has judged already, and what it said stays." if there.judged else ""
    return f"{left} put to this version.{judged} It changes no label; compare it when it is through."


@require_POST
@person_page
def train(request: HttpRequest, key: str) -> HttpResponse:
    """Let a classifier learn from the project's verdicts."""
    lead = lead_of(request, key)
    wish = training.request_training(project=lead.project, by=person(request))
    tasks.request_training(wish.pk)
    return HttpResponseRedirect(f"{reverse('judge_new', args=[key])}#local")


def _calls(count: int) -> str:
    return plural(count, "call,calls")


def _lead_and_judge(request: HttpRequest, key: str, judge_id: int) -> tuple[Membership, Judge]:
    lead = lead_of(request, key)
    return lead, judge_in(lead.project, judge_id)
