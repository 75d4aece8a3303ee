"""Two judges held against each other, most often two versions of one: what changed, and who is right."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from audit.charts.strip import strip
from audit.measure.calibration import Fraction
from audit.measure.comparing import Contest
from audit.pages import words
from audit.pages.consent import choose, chose_to_see
from audit.pages.figures import figure_row, judge_words, shared_scale
from audit.pages.words import says_words
from audit.selectors.against import Against, ChangedRow, against, both_judged_any_of, changed, pairs_of
from audit.selectors.asking import held_by, labels_for, may_filter_by_labels
from audit.selectors.names import JudgeName, RunRef
from audit.services import viewing
from labeling.errors import NotAllowed
from labeling.measure.opinion import Opinion
from labeling.models import Membership, Run
from labeling.pages.edge import framed, page, person, person_page, whole_number
from labeling.selectors.access import membership_of
from labeling.selectors.judges import judge_in
from labeling.selectors.naming import run_in
from labeling.vocabulary import PEOPLE_SOURCES, Decision, Role, Side

_OPEN, _SILENT = "leaves two open", "could not say"
_COLUMNS = (*(decision.replace("_", " ") for decision in Decision), _OPEN, _SILENT)


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def judge_against(request: HttpRequest, key: str, judge_id: int, other_id: int) -> HttpResponse:
    """Over a run, or over everything both judged; of one name the older stands first."""
    membership = membership_of(request.user, key)
    pair = [judge_in(membership.project, pk) for pk in (judge_id, other_id)]
    if request.method == "POST":
        choose(request, membership.project, show=request.POST.get("show") == "yes")
        return HttpResponseRedirect(request.get_full_path())
    if pair[0].name == pair[1].name:
        pair.sort(key=lambda judge: (judge.created_at, judge.pk))
    first, second = map(JudgeName.of, pair)
    run = run_in(membership.project, whole_number(request.GET["run"], 0)) if request.GET.get("run") else None
    held = held_by(membership.user_id)
    if both_judged_any_of(trajectory_ids=held, first=first, second=second):
        raise NotAllowed("You are judging an item that both of these judged: give your verdict or put it back first.")
    found = against(project=membership.project, run=run, first=first, second=second)
    context = framed(
        membership,
        "judges",
        first=first,
        second=second,
        first_name=judge_words(first),
        second_name=judge_words(second),
        title=first.title or first.name,
        same_name=first.name == second.name,
        run=RunRef.of(run) if run else None,
        judged=found.judged,
        owed=[
            {"name": judge_words(judge), "count": count}
            for judge, count in zip((first, second), found.owed, strict=True)
            if count
        ],
        **_counts(found, same_name=first.name == second.name),
        contests=[
            _contest("which decision it is", found.by_decision),
            _contest("whether it is the error of its side", found.by_error),
        ],
        rates=_rates(run, first, second) if run and found.decisions else None,
        **_changed(request, membership, run, first, second),
    )
    return page(request, "judge_against.html", context)


def _counts(found: Against, *, same_name: bool) -> dict[str, Any]:
    table = {(old, new): 0 for old in _COLUMNS for new in _COLUMNS}
    for (old, new), count in found.decisions.items():
        table[_column(old), _column(new)] += count
    single = [(pair, count) for pair, count in found.decisions.items() if len(pair[0]) == len(pair[1]) == 1]
    return {
        "columns": _COLUMNS,
        "lines": [
            {
                "name": old,
                "cells": [{"name": new, "count": table[old, new], "same": old == new} for new in _COLUMNS],
                "total": sum(table[old, new] for new in _COLUMNS),
            }
            for old in _COLUMNS
        ],
        "same_decision": strip(
            Fraction(sum(count for (old, new), count in single if old == new), sum(count for _, count in single))
        ),
        "sides": [_side(side, found.errors[side], same_name=same_name) for side in Side if side in found.errors],
        "decided": bool(found.decisions),
        "exclusive": sum(count for (old, new), count in found.decisions.items() if old.isdisjoint(new)),
    }


def _column(decisions: frozenset[Decision]) -> str:
    if len(decisions) == 1:
        return next(iter(decisions)).replace("_", " ")
    return _SILENT if len(decisions) == len(Decision) else _OPEN


def _side(side: Side, counts: dict[tuple[bool | None, bool | None], int], *, same_name: bool) -> dict[str, Any]:
    before, now = ("before", "now") if same_name else ("by the first", "by the second")
    both = sum(count for (old, new), count in counts.items() if old is not None and new is not None)
    same = counts.get((True, True), 0) + counts.get((False, False), 0)
    return {
        "side": side,
        "error": words.ERROR_WORDS[side],
        "same": strip(Fraction(same, both)),
        "changes": [
            {"count": count, "words": f"{says_words(old, side)} {before}, {says_words(new, side)} {now}"}
            for (old, new), count in sorted(counts.items(), key=lambda one: -one[1])
            if old is not new
        ],
    }


def _contest(about: str, found: Contest) -> dict[str, Any]:
    return {
        "about": about,
        "counts": found,
        "first": strip(Fraction(found.first_right, found.total)),
        "second": strip(Fraction(found.second_right, found.total)),
        "p": "" if found.p is None else "under 0.001" if found.p < 0.001 else f"{found.p:.3f}",
    }


def _rates(run: Run, first: JudgeName, second: JudgeName) -> dict[str, Any]:
    pairs = pairs_of(run=run, first=first, second=second)
    scale, axis = shared_scale(pairs)
    rows = [
        figure_row(judge_words(judge), pair, scale=scale, raw=True, judge=judge)
        for judge, pair in zip((first, second), pairs, strict=True)
    ]
    return {"rows": rows, "axis": axis}


def _changed(
    request: HttpRequest, membership: Membership, run: Run | None, first: JudgeName, second: JudgeName
) -> dict[str, Any]:
    """The cases, where this person may see what was said of them: a list of what changed tells that it did."""
    chose = chose_to_see(request, membership.project)
    shows = {"shows": chose and membership.may(Role.REVIEWER)}
    if not may_filter_by_labels(membership, chose_to_see=chose):
        return {**shows, "refused": True}
    errors_only = request.GET.get("changed") == "error"
    listed = changed(
        project=membership.project,
        run=run,
        first=first,
        second=second,
        errors_only=errors_only,
        page=whole_number(request.GET.get("page")),
        without=held_by(membership.user_id),
    )
    kept = {**({"run": run.pk} if run else {}), **({"changed": "error"} if errors_only else {})}
    ids = [one.row.id for one in listed.rows]
    shown = labels_for(membership=membership, trajectory_ids=ids, chose_to_see=chose).shown
    seen = viewing.record_views(trajectory_ids=shown, user=person(request), showed_opinions=True)
    return {
        **shows,
        "listed": listed,
        "rows": [_row(one) for one in listed.rows if one.row.id in seen],
        "errors_only": errors_only,
        "query": f"{urlencode(kept)}&" if kept else "",
    }


def _row(one: ChangedRow) -> dict[str, Any]:
    return {
        "row": one.row,
        "run": one.run,
        "first": _cell(one.first, one.first_says, Side(one.row.side)),
        "second": _cell(one.second, one.second_says, Side(one.row.side)),
        "people": words.label_words(one.row) if one.row.label.source in PEOPLE_SOURCES else None,
    }


def _cell(opinion: Opinion, says: bool | None, side: Side) -> dict[str, Any]:
    decision = "" if side is Side.CAPABILITY else words.decision_words(opinion) or _SILENT
    return {"decision": decision, "counts": says_words(says, side), "is_error": says is True}
