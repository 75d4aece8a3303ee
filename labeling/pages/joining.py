"""The page behind an invitation link."""

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from labeling.errors import DomainError, NotFound
from labeling.models import Invitation, Membership
from labeling.pages.edge import error_page, page
from labeling.selectors.access import open_invitation
from labeling.services import people
from labeling.vocabulary import Role

_ROLES = {
    Role.VIEWER: "You read reports and trajectories.",
    Role.REVIEWER: "You read what models did and give verdicts.",
    Role.LEAD: "You give verdicts, decide where people disagree, close runs, and manage people and keys.",
    Role.ADMIN: "You may do everything in this project.",
}


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Join as the person signed in, or with a new account."""
    try:
        invitation = open_invitation(token)
    except NotFound as error:
        return error_page(request, error)
    if request.method != "POST":
        return _join_page(request, invitation)
    try:
        membership = _accept(request, token)
    except NotFound as error:
        return error_page(request, error)
    except DomainError as error:
        return _join_page(request, invitation, complaint=error.message)
    return HttpResponseRedirect(reverse("project", args=[membership.project.key]))


def _accept(request: HttpRequest, token: str) -> Membership:
    if isinstance(request.user, User):
        return people.accept_invitation(token=token, user=request.user)
    membership = people.accept_invitation_as_new(
        token=token,
        username=request.POST.get("username", "").strip(),
        password=request.POST.get("password", ""),
    )
    login(request, membership.user, backend="django.contrib.auth.backends.ModelBackend")
    return membership


def _join_page(request: HttpRequest, invitation: Invitation, *, complaint: str = "") -> HttpResponse:
    context = {
        "invitation": {"project_name": invitation.project.name, "role": invitation.role},
        "role_sentence": _ROLES[Role(invitation.role)],
        "complaints": [complaint] if complaint else [],
        "username": request.POST.get("username", ""),
    }
    # 200 also with a complaint: the address holds the token, and Django logs the address of every error.
    return page(request, "join.html", context)
