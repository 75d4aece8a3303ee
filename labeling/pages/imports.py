"""Importing a file: upload it, look at how it is read, map what it does not say, commit. For leads."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from labeling import tasks
from labeling.errors import DomainError
from labeling.formats.mapping_text import LONGEST, mapping_of
from labeling.models import ImportJob, Membership
from labeling.pages import import_form, import_view
from labeling.pages.edge import framed, page, person, person_page, status_of, whole_number
from labeling.pages.import_words import score_names
from labeling.selectors import importing
from labeling.selectors.access import membership_of
from labeling.selectors.catalogue import suite_names
from labeling.services.importing import claims, committing, files, options, uploads
from labeling.vocabulary import Role

_UPLOAD_FIELDS = ("format", "run", "suite", "saved_mapping")
_LISTED = 25
_SUITES = 100


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def imports(request: HttpRequest, key: str) -> HttpResponse:
    """The imports of a project. Who may not upload, or sends too much, is told before the form is read."""
    lead = _lead(request, key)
    if request.method != "POST":
        return _list(request, lead)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > files.largest_form():
        raise files.too_large(int(length))
    return _upload(request, lead)


# Nobody reads its form before it does: see litmus_site.middleware.
imports.reads_its_form = True  # type: ignore[attr-defined]


@csrf_protect
def _upload(request: HttpRequest, lead: Membership) -> HttpResponse:
    """One import a file. What was wrong with one takes nothing from those before it."""
    made: list[ImportJob] = []
    name = ""
    try:
        asked = _asked(request)
        for file in request.FILES.getlist("file"):
            name = f"{file.name}: "
            wishes = options.asked(project=lead.project, filename=file.name or "", **asked)
            received = uploads.receive(project=lead.project, asked=wishes, chunks=file.chunks(), by=person(request))
            tasks.request_import(received.job)
            made.append(received.job)
        if not made:
            raise DomainError("Choose a file first.")
    except DomainError as error:
        return _list(request, lead, complaint=error, about=name)
    if len(made) == 1:
        return _to(lead.project.key, made[0].pk)
    messages.success(request, f"{len(made)} files are here. Look at each before you commit it.")
    return HttpResponseRedirect(reverse("imports", args=[lead.project.key]))


@require_safe
@person_page
def import_page(request: HttpRequest, key: str, job_id: int) -> HttpResponse:
    lead, job = _lead_and_job(request, key, job_id)
    return _job(request, lead, job)


@require_POST
@person_page
def preview(request: HttpRequest, key: str, job_id: int) -> HttpResponse:
    """Read the file anew: as the form says, as the text says, or by a saved mapping."""
    lead, job = _lead_and_job(request, key, job_id)
    try:
        changed = options.change(job=job, by=person(request), **_changes(request, job))
    except DomainError as error:
        return _job(request, lead, job, complaint=error)
    tasks.request_import(changed)
    return _to(key, job_id)


@require_POST
@person_page
def commit(request: HttpRequest, key: str, job_id: int) -> HttpResponse:
    lead, job = _lead_and_job(request, key, job_id)
    try:
        asked = committing.request_commit(job=job, blind=request.POST.get("blind") == "yes")
    except DomainError as error:
        return _job(request, lead, job, complaint=error)
    tasks.request_import(asked)
    return _to(key, job_id)


@require_POST
@person_page
def cancel(request: HttpRequest, key: str, job_id: int) -> HttpResponse:
    _, job = _lead_and_job(request, key, job_id)
    claims.cancel(job=job)
    return _to(key, job_id)


def _asked(request: HttpRequest) -> dict[str, Any]:
    """What was asked beside the files."""
    if any("\0" in value for value in request.POST.values()):
        raise DomainError("A field holds a NUL character; remove it.")
    sent = request.FILES.get("mapping_file")
    if sent is not None and (sent.size or 0) > LONGEST:
        raise DomainError(f"A mapping file has at most {LONGEST} bytes; this is another file.")
    mapping = None if sent is None else mapping_of(sent.read().decode("utf-8-sig", "replace"))
    format, run, suite, saved = (request.POST.get(name, "").strip() for name in _UPLOAD_FIELDS)
    return {"format": format, "run": run, "suite": suite, "saved": saved, "mapping": mapping}


def _changes(request: HttpRequest, job: ImportJob) -> dict[str, Any]:
    """What one of the three forms asks to be otherwise."""
    post = request.POST
    if "saved_mapping" in post:
        return {"saved": post["saved_mapping"]}
    if "text" in post:
        return {"mapping": mapping_of(post["text"])}
    fields = import_form.typed(post, score_names(job.preview))
    return {
        "mapping": import_form.mapping_with(fields, job.mapping),
        "save_as": post.get("save_as", "").strip(),
        **{name: post.get(name, "").strip() for name in ("format", "run", "suite")},
    }


def _list(
    request: HttpRequest, lead: Membership, *, complaint: DomainError | None = None, about: str = ""
) -> HttpResponse:
    number = max(whole_number(request.GET.get("page")), 1)
    listed = importing.jobs_listed(lead.project, offset=(number - 1) * _LISTED, limit=_LISTED)
    context = framed(
        lead,
        "imports",
        **import_view.listed(listed.jobs),
        **_choices(lead),
        page=number,
        pages=-(-listed.total // _LISTED),
        most_bytes=settings.MAX_UPLOAD_BYTES,
        complaints=[about + complaint.message] if complaint else [],
        typed=request.POST if complaint else {},
    )
    return page(request, "imports.html", context, status=status_of(complaint) if complaint else 200)


def _job(
    request: HttpRequest, lead: Membership, job: ImportJob, *, complaint: DomainError | None = None
) -> HttpResponse:
    """The job; with a complaint, and what was typed, where a form could not be taken."""
    after = whole_number(request.GET.get("after"), -1)
    context = framed(
        lead,
        "imports",
        **import_view.job(job, reader=person(request), typed=request.POST if complaint else None),
        **import_view.quarantine(job, after=after),
        **_choices(lead),
        complaints=[complaint.message] if complaint else [],
    )
    return page(request, "import.html", context, status=status_of(complaint) if complaint else 200)


def _choices(lead: Membership) -> dict[str, Any]:
    """What can be chosen from in both forms."""
    return {
        "format_choices": import_view.FORMAT_CHOICES,
        "saved_mappings": importing.saved_mappings(lead.project),
        "suites": suite_names(lead.project, limit=_SUITES),
    }


def _lead(request: HttpRequest, key: str) -> Membership:
    return membership_of(request.user, key, at_least=Role.LEAD)


def _lead_and_job(request: HttpRequest, key: str, job_id: int) -> tuple[Membership, ImportJob]:
    lead = _lead(request, key)
    return lead, importing.job_in(lead.project, job_id)


def _to(key: str, job_id: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("import", args=[key, job_id]))
