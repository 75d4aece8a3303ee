"""Members, invitations and runner keys: what a lead manages."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from labeling.errors import Conflict, DomainError, NotAllowed
from labeling.models import Membership
from labeling.pages.edge import framed, page, person, person_page, status_of
from labeling.selectors import members
from labeling.selectors.access import membership_of
from labeling.services import people
from labeling.vocabulary import ROLE_ORDER, Role


@require_safe
@person_page
def people_page(request: HttpRequest, key: str) -> HttpResponse:
    return _page(request, _lead(request, key))


@require_POST
@person_page
def change_role(request: HttpRequest, key: str, membership_id: int) -> HttpResponse:
    lead = _lead(request, key)
    target = members.member(lead.project, membership_id)
    try:
        changed = people.change_role(membership=target, role=_role(request), by=lead)
    except (Conflict, NotAllowed) as error:
        return _page(request, lead, complaint=error)
    messages.success(request, f"{changed.user.get_username()} is {changed.role} now.")
    return _back(key)


@require_POST
@person_page
def invite(request: HttpRequest, key: str) -> HttpResponse:
    """The link is in this answer and nowhere else: only its hash is kept."""
    lead = _lead(request, key)
    label = request.POST.get("label", "").strip()
    try:
        made = people.invite(project=lead.project, by=lead, label=label, role=_role(request))
    except DomainError as error:
        return _page(request, lead, complaint=error)
    link = request.build_absolute_uri(reverse("join", args=[made.token]))
    return _page(request, lead, new_invitation={"label": label, "link": link, "expires_at": made.invitation.expires_at})


@require_POST
@person_page
def revoke_invitation(request: HttpRequest, key: str, invitation_id: int) -> HttpResponse:
    lead = _lead(request, key)
    invitation = members.invitation(lead.project, invitation_id)
    people.revoke_invitation(invitation=invitation, by=lead)
    messages.success(request, f"The invitation for {invitation.label} is revoked; its link no longer works.")
    return _back(key)


@require_POST
@person_page
def make_key(request: HttpRequest, key: str) -> HttpResponse:
    """The secret is in this answer and nowhere else."""
    lead = _lead(request, key)
    name = request.POST.get("name", "").strip()
    try:
        made = people.create_runner_key(project=lead.project, name=name, by=person(request))
    except DomainError as error:
        return _page(request, lead, complaint=error)
    return _page(request, lead, new_key={"name": made.key.name, "secret": made.secret})


@require_POST
@person_page
def revoke_key(request: HttpRequest, key: str, key_id: int) -> HttpResponse:
    lead = _lead(request, key)
    runner_key = members.runner_key(lead.project, key_id)
    people.revoke_runner_key(key=runner_key, by=lead)
    messages.success(request, f"The key {runner_key.name} is revoked; what is posted with it from now on is refused.")
    return _back(key)


def _lead(request: HttpRequest, key: str) -> Membership:
    return membership_of(request.user, key, at_least=Role.LEAD)


def _role(request: HttpRequest) -> Role:
    role = request.POST.get("role", "")
    if role not in set(Role):
        raise DomainError(f"Choose one of the roles: {', '.join(Role)}.")
    return Role(role)


def _back(key: str) -> HttpResponse:
    return HttpResponseRedirect(reverse("people", args=[key]))


def _page(
    request: HttpRequest, lead: Membership, *, complaint: DomainError | None = None, **shown: Any
) -> HttpResponse:
    context = framed(
        lead,
        "people",
        members=[{**row._asdict(), "is_me": row.user_id == lead.user_id} for row in members.members(lead.project)],
        invitations=members.open_invitations(lead.project),
        keys=members.runner_keys(lead.project),
        roles=[role.value for role in ROLE_ORDER if lead.may(role)],
        complaints=[complaint.message] if complaint else [],
        typed=request.POST if complaint else {},
        **shown,
    )
    return page(request, "people.html", context, status=status_of(complaint) if complaint else 200)
