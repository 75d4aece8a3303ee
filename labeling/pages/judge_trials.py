"""A judge on trial: what it says of a few trajectories, before it is a version. For leads."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from labeling.pages import judge_view
from labeling.pages.edge import framed, page, person, person_page
from labeling.pages.judges import lead_of
from labeling.selectors.trying import trial_in
from labeling.services.telling import may_be_told


@require_safe
@person_page
def trial(request: HttpRequest, key: str, trial_id: int) -> HttpResponse:
    """Who asked for it chose to see what the judge says, and judges these trajectories blind no more (RULES 7)."""
    lead = lead_of(request, key)
    row = trial_in(lead.project, trial_id)
    said = [result["trajectory"] for result in row.results]
    told = may_be_told(membership=lead, trajectory_ids=said, chose_to_see=row.requested_by_id == person(request).pk)
    return page(request, "judge_trial.html", framed(lead, "judges", **judge_view.trial(row, told=told)))
