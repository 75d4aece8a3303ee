"""One trajectory with everything said of it, and its transcript alone."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from audit.pages import words
from audit.pages.transcript import transcript, whole_message
from audit.selectors.asking import still_askable
from audit.selectors.queue import may_see_opinions
from audit.selectors.trajectories import TrajectoryPage, trajectory_page
from audit.services import viewing
from labeling.errors import NotFound
from labeling.models import Membership, TrajectoryContent
from labeling.pages.edge import page, person, person_page, seat, whole_number
from labeling.selectors.access import membership_of
from labeling.vocabulary import Side

_COULD_BE_ASKED = "You may still be asked to judge this one, and a verdict counts most while it is blind."


@require_safe
@person_page
def trajectory(request: HttpRequest, key: str, trajectory_id: int) -> HttpResponse:
    membership = membership_of(request.user, key)
    shown = trajectory_page(project=membership.project, trajectory_id=trajectory_id)
    if not may_see_opinions(user=membership.user, trajectory_id=trajectory_id):
        return page(request, "trajectory_held.html", seat(membership, "runs"), status=403)
    askable = still_askable(membership=membership, trajectory_ids=[trajectory_id])
    hidden = _COULD_BE_ASKED if askable else ""
    viewing.record_view(trajectory_id=trajectory_id, user=person(request), showed_opinions=not hidden)
    side = Side(shown.row.side)
    context = seat(
        membership,
        "runs",
        shown=shown,
        transcript=transcript(shown.messages, start=whole_number(request.GET.get("from"))),
        transcript_url=reverse("transcript", args=[key, trajectory_id]),
        target_error=words.error_text(shown.error),
        opinions_hidden=hidden,
        **({} if hidden else _opinions(shown, side)),
    )
    return page(request, "trajectory.html", context)


def _opinions(shown: TrajectoryPage, side: Side) -> dict[str, Any]:
    return {
        "label": words.label_words(shown.row),
        "why": f"A person is asked because {words.reasons_words(shown.row.reasons)}." if shown.row.reasons else "",
        "judges": [words.opinion_words(opinion, side=side) for opinion in shown.opinions],
        "people": [words.opinion_words(verdict, side=side) for verdict in shown.verdicts],
    }


@require_POST
@person_page
def show_opinions(request: HttpRequest, key: str, trajectory_id: int) -> HttpResponse:
    """This person wants to see what was said, and knows what it means for a verdict of theirs."""
    membership = membership_of(request.user, key)
    _content(membership, trajectory_id)
    viewing.record_view(trajectory_id=trajectory_id, user=person(request), showed_opinions=True)
    return HttpResponseRedirect(reverse("trajectory", args=[key, trajectory_id]))


@require_safe
@person_page
def transcript_alone(request: HttpRequest, key: str, trajectory_id: int) -> HttpResponse:
    """A stretch of messages, or one whole message: nothing that says whose work it is or what anybody thinks of it."""
    membership = membership_of(request.user, key)
    messages = _content(membership, trajectory_id).messages
    viewing.record_view(trajectory_id=trajectory_id, user=person(request), showed_opinions=False)
    stop = request.GET.get("to")
    context = seat(
        membership,
        "",
        message=whole_message(messages, whole_number(request.GET.get("message"), 0)),
        transcript=transcript(
            messages, start=whole_number(request.GET.get("from")), stop=whole_number(stop) if stop else None
        ),
        transcript_url=reverse("transcript", args=[key, trajectory_id]),
    )
    return page(request, "transcript.html", context)


def _content(membership: Membership, trajectory_id: int) -> TrajectoryContent:
    found = TrajectoryContent.objects.filter(trajectory=trajectory_id, trajectory__run__project=membership.project_id)
    content = found.defer("raw", "metadata").first()
    if content is None:
        raise NotFound("There is no such trajectory in this project.")
    return content
