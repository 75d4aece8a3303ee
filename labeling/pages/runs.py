"""What a lead does to a run: close it, void it, join it with another into one measurement."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from labeling import tasks
from labeling.errors import DomainError
from labeling.models import Membership, Run
from labeling.pages.edge import framed, page, person, person_page, status_of, whole_number
from labeling.selectors.access import membership_of
from labeling.selectors.naming import run_in
from labeling.services import runs, troubles
from labeling.templatetags.litmus import plural
from labeling.vocabulary import Role


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def close(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    lead, run = _lead_and_run(request, key, run_id)
    audits, expected = request.POST.get("audits_per_side", "").strip(), request.POST.get("expected_count", "").strip()
    complaint: DomainError | None = None
    if request.method == "POST":
        try:
            runs.close_run(run=run, expected_count=_count(expected), audits_per_side=_count(audits))
        except DomainError as error:
            complaint = error
        else:
            # The close is committed; the draw follows once no judgment is owed.
            tasks.request_draw(run.pk)
            messages.success(request, "Closed. The random draw comes into the queue once no judgment is owed.")
            return _to(key, run_id)
    planned = run.project.audits_per_side if run.audits_per_side is None else run.audits_per_side
    typed = {
        "audits": audits or planned,
        "expected": expected or ("" if run.expected_count is None else run.expected_count),
    }
    return _asked(request, "run_close.html", lead, run=run, complaint=complaint, **typed)


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def void(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    lead, run = _lead_and_run(request, key, run_id)
    reason = request.POST.get("reason", "").strip()
    complaint: DomainError | None = None
    if request.method == "POST":
        try:
            runs.void_run(run=run, by=person(request), reason=reason)
        except DomainError as error:
            complaint = error
        else:
            messages.success(request, "Voided. It is in no other report and no list any more.")
            return _to(key, run_id)
    return _asked(request, "run_void.html", lead, run=run, complaint=complaint, reason=reason)


@require_POST
@person_page
def join(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    """Make one measurement of this run and another, so that both sides have a pair."""
    lead, run = _lead_and_run(request, key, run_id)
    other = run_in(lead.project, whole_number(request.POST.get("other"), 0))
    runs.join_measurement(run=run, other=other)
    messages.success(request, "Joined: both runs now share one measurement and one pair.")
    return _to(key, run_id)


@require_POST
@person_page
def try_again(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    """Judge the trajectories again that were parked because the work on them broke."""
    _, run = _lead_and_run(request, key, run_id)
    parked = troubles.try_again(run_id=run.pk)
    tasks.request_judging(parked)
    told = plural(len(parked), "trajectory,trajectories")
    messages.success(request, f"{told} will be judged again, up to three times.")
    return _to(key, run_id)


def _asked(
    request: HttpRequest,
    template: str,
    lead: Membership,
    *,
    run: Run,
    complaint: DomainError | None,
    **typed: object,
) -> HttpResponse:
    """The page that asks first; again, and with what was typed, if something was wrong with the answer."""
    context = {"run": {"id": run.pk, "name": str(run)}, "complaints": [complaint.message] if complaint else [], **typed}
    return page(request, template, framed(lead, "runs", **context), status=status_of(complaint) if complaint else 200)


def _lead_and_run(request: HttpRequest, key: str, run_id: int) -> tuple[Membership, Run]:
    lead = membership_of(request.user, key, at_least=Role.LEAD)
    return lead, run_in(lead.project, run_id)


def _count(raw: str) -> int | None:
    """A number that may be left out; nonsense is said, not guessed at."""
    if not raw:
        return None
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10):
        raise DomainError("Give a whole number, or leave the field empty.")
    return int(raw)


def _to(key: str, run_id: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("run", args=[key, run_id]))
