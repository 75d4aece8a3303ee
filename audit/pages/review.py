"""The page where auditors spend their day: one item at a time, blind, and what others said only afterwards."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from audit.models import Assignment
from audit.pages.opinions import disputed_words, told
from audit.pages.transcript import count_invisible, excerpt, transcript
from audit.pages.verdict_form import draft_of, typed_before, verdict_form
from audit.selectors.asking import assignment_of, held_assignment
from audit.selectors.places import NothingLeft
from audit.selectors.queue import disputed, draft_on, judges_said, queue_counts, review_item
from audit.selectors.trajectories import trajectory_messages
from audit.services import reviewing, viewing
from labeling.errors import Conflict, DomainError, NotFound
from labeling.models import Membership
from labeling.pages.edge import framed, page, person, person_page, status_of, whole_number
from labeling.selectors.access import membership_of
from labeling.vocabulary import Role, Side

_NOTICES = {
    "released": "Put back. Somebody else can take it now.",
    "declined": "Declined. You will not be asked again.",
}


@require_safe
@person_page
def review(request: HttpRequest, key: str) -> HttpResponse:
    """The item this person holds, or a button to take one. Looking takes nothing."""
    membership = membership_of(request.user, key, at_least=Role.REVIEWER)
    held = held_assignment(membership=membership)
    after = _after(request.GET, membership)
    if held is None:
        context = {"counts": queue_counts(membership.project, membership.user), "nothing": None, **after}
        return page(request, "review_start.html", framed(membership, "review", **context))
    return _item_page(request, membership, held, after=after)


def posted(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The address of a form stays in the bar after a complaint; asked for again, it leads back to the review page."""

    @wraps(view)
    def wrapper(request: HttpRequest, key: str) -> HttpResponse:
        return view(request, key) if request.method == "POST" else HttpResponseRedirect(reverse("review", args=[key]))

    return wrapper


@posted
@person_page
def start(request: HttpRequest, key: str) -> HttpResponse:
    membership = membership_of(request.user, key, at_least=Role.REVIEWER)
    return _next_item(request, membership, {})


@posted
@person_page
def submit(request: HttpRequest, key: str) -> HttpResponse:
    """Store the verdict and go on to the next item; whatever is wrong is said, and what was typed stays."""
    membership = membership_of(request.user, key, at_least=Role.REVIEWER)
    token, reviewer = request.POST.get("token", ""), person(request)
    try:
        done = reviewing.submit_verdict(token=token, reviewer=reviewer, draft=draft_of(request.POST))
    except NotFound:
        raise
    except DomainError as error:
        return _complain(request, membership, token, error)
    return _next_item(request, membership, {"saved": str(done.verdict.trajectory_id)})


@posted
@person_page
def decline(request: HttpRequest, key: str) -> HttpResponse:
    membership = membership_of(request.user, key, at_least=Role.REVIEWER)
    token, reason = request.POST.get("token", ""), request.POST.get("reason", "")
    if not reason:
        lack = DomainError("Say why you decline: choose one of the four reasons.")
        return _complain(request, membership, token, lack)
    try:
        reviewing.decline(token=token, reviewer=person(request), reason=reason)
    except Conflict as error:
        return _complain(request, membership, token, error)
    return _next_item(request, membership, {"notice": "declined"})


@posted
@person_page
def release(request: HttpRequest, key: str) -> HttpResponse:
    membership_of(request.user, key, at_least=Role.REVIEWER)
    reviewing.release(token=request.POST.get("token", ""), reviewer=person(request))
    return HttpResponseRedirect(f"{reverse('review', args=[key])}?notice=released")


@require_safe
@person_page
def said(request: HttpRequest, key: str, trajectory_id: int) -> HttpResponse:
    """What judges and colleagues said of an item this person has judged."""
    membership = membership_of(request.user, key, at_least=Role.REVIEWER)
    after = judges_said(membership=membership, trajectory_id=trajectory_id)
    if after is None:
        # Nothing of theirs to compare with: the trajectory's own page asks before it shows anything.
        return HttpResponseRedirect(reverse("trajectory", args=[key, trajectory_id]))
    viewing.record_views(trajectory_ids=[trajectory_id], user=person(request), showed_opinions=True)
    messages = trajectory_messages(project=membership.project, trajectory_id=trajectory_id)
    transcript_url = reverse("transcript", args=[key, trajectory_id])
    everything = told(
        (after.mine, after.others, after.judges),
        side=Side(after.side),
        messages=messages,
        transcript_url=transcript_url,
        start=whole_number(request.GET.get("from")),
    )
    mine, others, judges = everything.groups
    context = framed(
        membership,
        "review",
        run=after.run,
        trajectory_id=trajectory_id,
        transcript=everything.transcript,
        transcript_url=transcript_url,
        marked=count_invisible(messages),
        told=everything,
        judges=judges,
        mine=mine,
        others=others,
    )
    return page(request, "said.html", context)


def _next_item(request: HttpRequest, membership: Membership, query: Mapping[str, str]) -> HttpResponse:
    """Take the next item and go to it; where there is none, say which of the three reasons it is."""
    claimed = reviewing.claim(membership=membership)
    if not isinstance(claimed, NothingLeft):
        address = reverse("review", args=[membership.project.key])
        return HttpResponseRedirect(f"{address}?{urlencode(query)}" if query else address)
    counts = queue_counts(membership.project, membership.user)
    context = {"counts": counts, "nothing": claimed, **_after(query, membership)}
    return page(request, "review_start.html", framed(membership, "review", **context))


def _complain(request: HttpRequest, membership: Membership, token: str, error: DomainError) -> HttpResponse:
    """The same page again, with the complaint and everything that was typed."""
    assignment = assignment_of(membership=membership, token=token)
    if assignment is None:
        raise error
    return _item_page(request, membership, assignment, error=error)


def _item_page(
    request: HttpRequest,
    membership: Membership,
    assignment: Assignment,
    *,
    error: DomainError | None = None,
    after: Mapping[str, Any] | None = None,
) -> HttpResponse:
    item = review_item(assignment)
    side = Side(item.side)
    draft = draft_on(assignment)
    typed = request.POST if error else typed_before(draft.parts) if draft else {}
    context = framed(
        membership,
        "review",
        item=item,
        counts=queue_counts(membership.project, membership.user),
        transcript=transcript(item.messages),
        transcript_url=reverse("transcript", args=[membership.project.key, item.trajectory_id]),
        marked=count_invisible(item.messages),
        asked=() if _contains(item.messages, item.request) else excerpt(item.request),
        twin=None if item.twin is None else {"side": item.twin.side, "messages": excerpt(item.twin.request)},
        form=verdict_form(typed),
        draft=draft,
        draft_url=reverse("review_draft", args=[item.assignment_id]),
        restored=draft is not None and error is None,
        complaints=_complaints(error),
        lost=isinstance(error, Conflict),
        readers=disputed_words(disputed(assignment), side=side),
        heartbeat_url=reverse("review_heartbeat", args=[item.assignment_id]),
        **(after or {}),
    )
    return page(request, "review.html", context, status=status_of(error) if error else 200)


def _complaints(error: DomainError | None) -> tuple[str, ...]:
    """What is missing, each in its own sentence, or else the one thing that is wrong."""
    if error is None:
        return ()
    missing = error.details.get("missing")
    return tuple(missing.values()) if isinstance(missing, dict) else (error.message,)


def _contains(messages: Sequence[dict[str, Any]], request: Sequence[dict[str, Any]]) -> bool:
    """Was the case put to the target as it stands, so that the transcript shows it already?"""
    said = {part.get("text") for message in messages for part in message["parts"]}
    return all(part.get("text") in said for message in request for part in message["parts"])


def _after(query: Mapping[str, str], membership: Membership) -> dict[str, Any]:
    """The quiet line about what was done last."""
    saved = whole_number(query.get("saved"), 0)
    return {
        "said_url": reverse("review_said", args=[membership.project.key, saved]) if saved else "",
        "notice": _NOTICES.get(query.get("notice", ""), ""),
    }
