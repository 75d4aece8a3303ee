"""Members who go and come back, and signing out: what they hold goes back into the queue."""

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from audit.services import people
from labeling.pages.edge import person_page
from labeling.selectors import members
from labeling.selectors.access import membership_of
from labeling.vocabulary import Role


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    if isinstance(request.user, User):
        people.release_all(user=request.user)
    logout(request)
    return HttpResponseRedirect(reverse("sign_in"))


@require_POST
@person_page
def deactivate(request: HttpRequest, key: str, membership_id: int) -> HttpResponse:
    lead = membership_of(request.user, key, at_least=Role.LEAD)
    gone = people.deactivate_member(membership=members.member(lead.project, membership_id), by=lead)
    messages.success(request, f"{gone.user.get_username()} is deactivated; what they held is back in the queue.")
    return HttpResponseRedirect(reverse("people", args=[key]))


@require_POST
@person_page
def reactivate(request: HttpRequest, key: str, membership_id: int) -> HttpResponse:
    lead = membership_of(request.user, key, at_least=Role.LEAD)
    back = people.reactivate_member(membership=members.member(lead.project, membership_id), by=lead)
    messages.success(request, f"{back.user.get_username()} is a member again, as {back.role}.")
    return HttpResponseRedirect(reverse("people", args=[key]))
