"""The project page: what needs a person now, and the runs with their pairs."""

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audit.pages.figures import FigureRow, figure_row, judge_words, shared_scale
from audit.selectors.overview import Overview, RunRow, overview
from labeling.pages.edge import framed, page, person_page, whole_number
from labeling.selectors.access import membership_of


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
        stuck=_is_stuck(shown),
        address=request.build_absolute_uri("/").rstrip("/"),
    )
    return page(request, "project.html", context)


def _row(row: RunRow, scale: float) -> dict[str, object]:
    figure: FigureRow = figure_row(row.run.name, row.pair, scale=scale)
    return {
        "run": row.run,
        "posted": row.posted,
        "open_audits": row.open_audits,
        "pending": row.pending,
        "closed": row.closed,
        "created_at": row.created_at,
        "judged_by": [judge_words(judge) for judge in row.judged_by],
        "figure": figure,
    }


def _is_stuck(shown: Overview) -> bool:
    """Judgments are owed and the worker has missed several sweeps."""
    patience = timedelta(seconds=4 * settings.SWEEP_SECONDS + 30)
    seen = shown.worker_seen
    return shown.pending > 0 and (seen is None or timezone.now() - seen > patience)
