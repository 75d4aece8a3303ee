"""What a lead does to a run: close it, void it, join it with another into one measurement."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from labeling import tasks
from labeling.errors import DomainError, NotFound
from labeling.models import Membership, Run
from labeling.pages.edge import page, person, person_page, seat, whole_number
from labeling.selectors.access import membership_of
from labeling.services import runs
from labeling.vocabulary import Role


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def close(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    lead, run = _lead_and_run(request, key, run_id)
    audits, expected = request.POST.get("audits_per_side", "").strip(), request.POST.get("expected_count", "").strip()
    complaint = ""
    if request.method == "POST":
        try:
            runs.close_run(run=run, expected_count=_count(expected), audits_per_side=_count(audits))
        except DomainError as error:
            complaint = error.message
        else:
            # The close is committed; the draw follows once no judgment is owed.
            tasks.request_draw(run.pk)
            messages.success(request, "Closed. The random draw comes into the queue once no judgment is owed.")
            return _to(key, run_id)
    planned = run.project.audits_per_side if run.audits_per_side is None else run.audits_per_side
    context = {
        "run": run_words(run),
        "audits": audits or planned,
        "expected": expected or ("" if run.expected_count is None else run.expected_count),
        "complaints": [complaint] if complaint else [],
    }
    return page(request, "run_close.html", seat(lead, "runs", **context), status=409 if complaint else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def void(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    lead, run = _lead_and_run(request, key, run_id)
    reason = request.POST.get("reason", "").strip()
    complaint = ""
    if request.method == "POST":
        try:
            runs.void_run(run=run, by=person(request), reason=reason)
        except DomainError as error:
            complaint = error.message
        else:
            messages.success(request, "Voided. It is in no other report and no list any more.")
            return _to(key, run_id)
    context = {"run": run_words(run), "reason": reason, "complaints": [complaint] if complaint else []}
    return page(request, "run_void.html", seat(lead, "runs", **context), status=409 if complaint else 200)


@require_POST
@person_page
def join(request: HttpRequest, key: str, run_id: int) -> HttpResponse:
    """Make one measurement of this run and another, so that both sides have a pair."""
    lead, run = _lead_and_run(request, key, run_id)
    other = _run(lead, whole_number(request.POST.get("other"), 0))
    runs.join_measurement(run=run, other=other)
    messages.success(request, "Joined: both runs now share one measurement and one pair.")
    return _to(key, run_id)


def run_words(run: Run) -> dict[str, object]:
    return {"id": run.pk, "name": run.name or run.external_id}


def _lead_and_run(request: HttpRequest, key: str, run_id: int) -> tuple[Membership, Run]:
    lead = membership_of(request.user, key, at_least=Role.LEAD)
    return lead, _run(lead, run_id)


def _run(lead: Membership, run_id: int) -> Run:
    run = Run.objects.filter(project=lead.project_id, pk=run_id).select_related("project").first()
    if run is None:
        raise NotFound("There is no such run in this project.")
    return run


def _count(raw: str) -> int | None:
    """A number that may be left out; nonsense is said, not guessed at."""
    if not raw:
        return None
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10):
        raise DomainError("Give a whole number, or leave the field empty.")
    return int(raw)


def _to(key: str, run_id: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("run", args=[key, run_id]))
