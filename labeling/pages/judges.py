"""Making a judge and changing one: what there is to choose from, the form, and two versions side by side. For leads."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from labeling import tasks
from labeling.errors import Conflict, DomainError, NotFound
from labeling.models import Judge, Membership, Trial
from labeling.pages import judge_form, judge_lines, judge_view
from labeling.pages.edge import framed, page, person, person_page, status_of, whole_number
from labeling.pages.judge_form import Form
from labeling.pages.judge_limits import typed_key
from labeling.pages.judge_starts import Start, start_called, start_of_version
from labeling.selectors import trying as trials
from labeling.selectors.access import membership_of
from labeling.selectors.judges import has_judge_called, judge_in, on_panel_as, versions_of
from labeling.services import judges, trying
from labeling.services.trying import MOST
from labeling.vocabulary import Role

FORM = ["GET", "HEAD", "POST"]


@require_safe
@person_page
def new(request: HttpRequest, key: str) -> HttpResponse:
    """What kinds of judges there are, and what each can and cannot say."""
    lead = lead_of(request, key)
    return page(request, "judge_new.html", framed(lead, "judges", **judge_view.kinds(lead.project)))


@require_http_methods(FORM)
@person_page
def make(request: HttpRequest, key: str, what: str) -> HttpResponse:
    return _made(request, lead_of(request, key), start_called(what), based_on=None)


@require_http_methods(FORM)
@person_page
def edit(request: HttpRequest, key: str, judge_id: int) -> HttpResponse:
    """A new version of a judge."""
    lead = lead_of(request, key)
    judge = judge_in(lead.project, judge_id)
    return _made(request, lead, start_of_version(judge), based_on=judge)


@require_safe
@person_page
def diff(request: HttpRequest, key: str, judge_id: int, other_id: int) -> HttpResponse:
    """Two versions of one judge, the older first, whichever way round they are asked for."""
    lead = lead_of(request, key)
    pair = judge_in(lead.project, judge_id), judge_in(lead.project, other_id)
    older, newer = sorted(pair, key=lambda judge: (judge.created_at, judge.pk))
    if older.name != newer.name:
        raise Conflict("These are versions of two different judges; compare two of one name.")
    lines = judge_lines.compared(judge_lines.lines_of(older.settings), judge_lines.lines_of(newer.settings))
    context = {
        "older": older,
        "newer": newer,
        "sentence": judge_lines.difference(older, newer),
        "lines": lines,
        "versions": versions_of(newer),
    }
    return page(request, "judge_diff.html", framed(lead, "judges", **context))


def lead_of(request: HttpRequest, key: str) -> Membership:
    return membership_of(request.user, key, at_least=Role.LEAD)


def to_judge(key: str, judge_id: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("judge", args=[key, judge_id]))


def taken_off(before: str, judge: Judge) -> str:
    """A sentence where another version of its name left the panel for this one."""
    return f" Version {before} is off it." if before not in ("", judge.version) else ""


# --- the form ------------------------------------------------------------------------------------------------------


def _made(request: HttpRequest, lead: Membership, start: Start, *, based_on: Judge | None) -> HttpResponse:
    """The form; its second button tries what was typed, and a trial's settings come back without being typed again."""
    if request.method != "POST":
        return _shown(request, lead, start, based_on, _begun(request, lead, start, based_on))
    tried = _trial(request.POST.get("trial"), lead, start) if "trial" in request.POST else None
    filled = _of_trial(tried, start) if tried else judge_form.typed(start, request.POST, name=_name(based_on))
    if "more" in request.POST:
        return _shown(request, lead, start, based_on, filled)
    try:
        if "check" in request.POST:
            return _checked(request, lead, start, based_on, filled)
        answer = _tried if "try" in request.POST else _saved
        return answer(request, lead, start, based_on, filled)
    except DomainError as error:
        return _shown(request, lead, start, based_on, filled, complaint=error)


def _begun(request: HttpRequest, lead: Membership, start: Start, based_on: Judge | None) -> Form:
    if "trial" in request.GET:
        return _of_trial(_trial(request.GET.get("trial"), lead, start), start)
    if based_on is None:
        return judge_form.shown(start, start.given, name=start.name, on_panel=False)
    return judge_form.shown(start, based_on.settings, name=based_on.name, on_panel=based_on.active)


def _trial(number: str | None, lead: Membership, start: Start) -> Trial:
    tried = trials.trial_in(lead.project, whole_number(number, 0))
    if tried.kind != start.kind or any(tried.settings.get(name) != value for name, value in start.fixed.items()):
        raise NotFound("That trial was of another kind of judge.")
    return tried


def _of_trial(tried: Trial, start: Start) -> Form:
    on_panel = tried.based_on is not None and tried.based_on.active
    filled = judge_form.shown(start, tried.settings, name=tried.name, on_panel=on_panel)
    return filled._replace(chosen=frozenset(tried.trajectories))


def _name(based_on: Judge | None) -> str:
    return "" if based_on is None else based_on.name


def _saved(request: HttpRequest, lead: Membership, start: Start, based_on: Judge | None, filled: Form) -> HttpResponse:
    name, key = judge_form.name_of(filled), typed_key(request.POST)
    if based_on is None and has_judge_called(lead.project, name):
        raise Conflict("There is a judge of this name already: change that one, or choose another name.")
    on_panel = "on_panel" in request.POST
    before = on_panel_as(lead.project, name)
    made = judges.make_judge(
        project=lead.project,
        kind=start.kind,
        name=name,
        settings=judge_form.settings_of(start, filled),
        based_on=based_on,
        key=key,
        on_panel=on_panel,
    )
    if made.retitled:
        messages.success(request, f"It has another title now, and is version {made.judge.version} still.")
    elif not made.created:
        kept = " The key you typed was not taken: it is changed under “Limits and key”." if key else ""
        messages.info(request, f"Nothing is new: version {made.judge.version} says just this already.{kept}")
    elif on_panel:
        off = taken_off(before, made.judge)
        messages.success(request, f"Made, and on the panel: what comes in from now on is put to it.{off}")
    else:
        messages.success(request, "Made. It is not on the panel: nothing is put to it until somebody says so.")
    return to_judge(lead.project.key, made.judge.pk)


def _checked(
    request: HttpRequest, lead: Membership, start: Start, based_on: Judge | None, filled: Form
) -> HttpResponse:
    """What the Enter key asks for in a field: is it right so far?"""
    settings = judge_form.settings_of(start, filled)
    judges.judge_of(kind=start.kind, name=judge_form.name_of(filled), settings=settings)
    messages.info(request, "All of it can be read. Nothing is made yet: try it, or make it, at the end of the form.")
    return _shown(request, lead, start, based_on, filled)


def _tried(request: HttpRequest, lead: Membership, start: Start, based_on: Judge | None, filled: Form) -> HttpResponse:
    typed = list(dict.fromkeys(filter(None, map(str.strip, filled.ids.splitlines()))))
    if len(typed) > MOST:
        raise DomainError(f"Choose 1 to {MOST} trajectories; there are {len(typed):,} external ids.", field="ids")
    tried = trying.request(
        project=lead.project,
        kind=start.kind,
        name=judge_form.name_of(filled),
        settings=judge_form.settings_of(start, filled),
        trajectory_ids=sorted(filled.chosen | set(trials.ids_of(lead.project, typed))),
        based_on=based_on,
        key=typed_key(request.POST),
        by=person(request),
    )
    tasks.request_trial(tried.pk)
    return HttpResponseRedirect(reverse("judge_trial", args=[lead.project.key, tried.pk]))


def _shown(
    request: HttpRequest,
    lead: Membership,
    start: Start,
    based_on: Judge | None,
    filled: Form,
    *,
    complaint: DomainError | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "wants_more": "more" in request.POST or len(filled.categories) == 1,
        **judge_view.form(lead.project, start, filled, based_on=based_on, wrong=complaint is not None),
        "complaints": judge_form.complaints(complaint, start) if complaint else [],
    }
    return page(
        request,
        "judge_form.html",
        framed(lead, "judges", **context),
        status=status_of(complaint) if complaint else 200,
    )
