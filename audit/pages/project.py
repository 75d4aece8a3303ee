"""The project page: what needs a person now, and the runs with their pairs."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from audit.pages.checks import passes_words
from audit.pages.figures import FigureRow, figure_row, judge_words, shared_scale, short_version
from audit.pages.words import sentence
from audit.selectors.checked import are_checks_alone
from audit.selectors.overview import RunRow, overview
from labeling.pages.edge import framed, page, person_page, whole_number
from labeling.selectors.access import membership_of
from labeling.selectors.calling import in_trouble
from labeling.selectors.progress import is_missing


@require_safe
@person_page
def project(request: HttpRequest, key: str) -> HttpResponse:
    membership = membership_of(request.user, key)
    shown = overview(project=membership.project, page=whole_number(request.GET.get("page")))
    scale, axis = shared_scale([row.pair for row in shown.runs])
    context = framed(
        membership,
        "runs",
        overview=shown,
        axis=axis,
        rows=[_row(row, scale) for row in shown.runs],
        down=[
            {"judge": one, "name": f"{one.title or one.name} {short_version(one.version)}", "why": sentence(one.reason)}
            for one in in_trouble(membership.project)
        ],
        stuck=shown.pending > 0 and is_missing(shown.worker_seen),
        address=request.build_absolute_uri("/").rstrip("/"),
    )
    return page(request, "project.html", context)


def _row(row: RunRow, scale: float) -> dict[str, object]:
    figure: FigureRow = figure_row(row.run.name, row.pair, scale=scale)
    if are_checks_alone(row.pair, row.checks):
        figure = replace(figure, words="capability alone")
    return {
        "run": row.run,
        "posted": row.posted,
        "open_audits": row.open_audits,
        "pending": row.pending,
        "closed": row.closed,
        "created_at": row.created_at,
        "judged_by": [judge_words(judge) for judge in row.judged_by],
        "figure": figure,
        "checks": passes_words(row.checks) if row.checks else "",
    }
