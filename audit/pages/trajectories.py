"""One trajectory with everything said of it, and its transcript alone."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from audit.pages import words
from audit.pages.checks import check_words
from audit.pages.opinions import told
from audit.pages.transcript import BEGINNING, Place, count_invisible, transcript, whole_message
from audit.selectors.asking import labels_for
from audit.selectors.trajectories import TrajectoryPage, trajectory_in, trajectory_messages, trajectory_page
from audit.services import viewing
from labeling.models import Membership
from labeling.pages.edge import framed, page, person, person_page, whole_number
from labeling.selectors.access import membership_of
from labeling.vocabulary import Side

_COULD_BE_ASKED = "You may still be asked to judge this one, and a verdict counts most while it is blind."


@require_safe
@person_page
def trajectory(request: HttpRequest, key: str, trajectory_id: int) -> HttpResponse:
    membership = membership_of(request.user, key)
    shown = trajectory_page(project=membership.project, trajectory_id=trajectory_id)
    labels = labels_for(membership=membership, trajectory_ids=[trajectory_id], chose_to_see=False)
    tells = trajectory_id in labels.shown
    if labels.held or not _recorded(request, trajectory_id, showed_opinions=tells):
        return _held(request, membership)
    start, transcript_url = whole_number(request.GET.get("from")), reverse("transcript", args=[key, trajectory_id])
    context = framed(
        membership,
        "runs",
        shown=shown,
        transcript_url=transcript_url,
        marked=count_invisible(shown.messages),
        target_error=words.error_text(shown.error),
        check=check_words(shown.check) if shown.row.side == Side.CAPABILITY else None,
        **(_told(shown, transcript_url, start) if tells else _untold(shown, start)),
    )
    return page(request, "trajectory.html", context)


def _told(shown: TrajectoryPage, transcript_url: str, start: int) -> dict[str, Any]:
    both = told(
        (shown.judges, shown.people),
        side=Side(shown.row.side),
        messages=shown.messages,
        transcript_url=transcript_url,
        start=start,
    )
    judges, people = both.groups
    return {
        "transcript": both.transcript,
        "told": both,
        "label": words.label_words(shown.row),
        "why": f"A person is asked because {words.reasons_words(shown.row.reasons)}." if shown.row.reasons else "",
        "judges": judges,
        "people": people,
    }


def _untold(shown: TrajectoryPage, start: int) -> dict[str, Any]:
    """The transcript alone, without a mark: where somebody looked would tell what they thought."""
    return {"transcript": transcript(shown.messages, start=start), "opinions_hidden": _COULD_BE_ASKED}


@require_POST
@person_page
def show_opinions(request: HttpRequest, key: str, trajectory_id: int) -> HttpResponse:
    """This person wants to see what was said, and knows what it means for a verdict of theirs."""
    membership = membership_of(request.user, key)
    trajectory_in(membership.project, trajectory_id)
    if not _recorded(request, trajectory_id, showed_opinions=True):
        return _held(request, membership)
    return HttpResponseRedirect(reverse("trajectory", args=[key, trajectory_id]))


@require_safe
@person_page
def transcript_alone(request: HttpRequest, key: str, trajectory_id: int) -> HttpResponse:
    """A stretch of messages, or one whole message: nothing that says whose work it is or what anybody thinks of it."""
    membership = membership_of(request.user, key)
    messages = trajectory_messages(project=membership.project, trajectory_id=trajectory_id)
    _recorded(request, trajectory_id, showed_opinions=False)
    stop = request.GET.get("to")
    start = Place(max(1, whole_number(request.GET.get("part"))), whole_number(request.GET.get("at"), 0))
    context = framed(
        membership,
        "",
        message=whole_message(messages, whole_number(request.GET.get("message"), 0), start=start),
        continued=start != BEGINNING,
        transcript=transcript(
            messages, start=whole_number(request.GET.get("from")), stop=whole_number(stop) if stop else None
        ),
        transcript_url=reverse("transcript", args=[key, trajectory_id]),
    )
    return page(request, "transcript.html", context)


def _recorded(request: HttpRequest, trajectory_id: int, *, showed_opinions: bool) -> bool:
    """Is the view on record? Only then is the page made."""
    seen = viewing.record_views(trajectory_ids=[trajectory_id], user=person(request), showed_opinions=showed_opinions)
    return trajectory_id in seen


def _held(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Instead of a page that would tell whose work it is and what others said."""
    return page(request, "trajectory_held.html", framed(membership, "runs"), status=403)
