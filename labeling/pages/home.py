"""Signing in, and where somebody starts."""

from django.contrib.auth import authenticate, login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from labeling.pages.edge import page, person_page
from labeling.selectors.access import projects_of


@require_safe
@person_page
def home(request: HttpRequest) -> HttpResponse:
    """The projects of this person; straight to the only one."""
    seats = projects_of(request.user)
    if len(seats) == 1:
        return HttpResponseRedirect(reverse("project", args=[seats[0].key]))
    return page(request, "home.html", {"seats": seats})


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    onward = _onward(request)
    if request.user.is_authenticated:
        return HttpResponseRedirect(onward)
    username, complaint = "", ""
    if request.method == "POST":
        username = request.POST.get("username", "").strip()
        user = authenticate(request, username=username, password=request.POST.get("password", ""))
        if user is not None:
            login(request, user)
            return HttpResponseRedirect(onward)
        complaint = "This username and password do not belong together. Check both; passwords are case-sensitive."
    context = {"username": username, "complaint": complaint, "next": onward}
    return page(request, "sign_in.html", context, status=400 if complaint else 200)


def _onward(request: HttpRequest) -> str:
    """Where to go once signed in: an address of ours, or home."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if safe else reverse("home")
