"""What the pages of making and trying judges show."""

from collections.abc import Collection, Mapping
from typing import Any

from labeling.measure.learning import what_is_missing
from labeling.models import Judge, Project, Training, Trial
from labeling.pages import trial_words
from labeling.pages.import_words import unseen_for
from labeling.pages.judge_fields import Field, Section
from labeling.pages.judge_form import LONGEST_NAME, Form
from labeling.pages.judge_starts import Start, start_of, starts
from labeling.selectors import trying
from labeling.selectors.calling import last_training
from labeling.selectors.catalogue import categories_of
from labeling.selectors.judges import off_the_panel
from labeling.selectors.lessons import lessons
from labeling.selectors.progress import is_missing, worker_seen
from labeling.services.trying import MOST
from labeling.templatetags.litmus import plural
from labeling.vocabulary import GOING_ON, JudgeKind, WorkStatus

_OFFERED = 5
_TRIALS = 5
_CATEGORIES = 200


def kinds(project: Project) -> dict[str, Any]:
    """What a new judge can be."""
    every = starts().values()
    return {
        "rubrics": [start for start in every if start.kind == JudgeKind.RUBRIC],
        "presets": [start for start in every if start.kind == JudgeKind.CLASSIFIER],
        "lists": off_the_panel(project),
        "training": _training(project),
        "trials": [
            {"trial": trial, "standing": trial_words.STANDINGS[WorkStatus(trial.status)]}
            for trial in trying.trials_of(project, limit=_TRIALS)
        ],
    }


def _training(project: Project) -> dict[str, Any]:
    """How far the judge is that learns from verdicts."""
    marks = [lesson.mark for lesson in lessons(project.pk)]
    missing = what_is_missing(marks)
    there = f"{plural(len(marks), 'blind verdict,blind verdicts')} of people so far"
    cases = plural(len({mark.case for mark in marks}), "case,cases")
    last = last_training(project) or Training()
    at_work = last.pk is not None and last.status in GOING_ON
    return {
        "lessons": f"{there}, on {cases}. {missing or 'That is enough to learn from; more make it better.'}",
        "is_enough": not missing,
        "status": last.status if last.pk else "",
        "outcome": "" if at_work else last.outcome,
        "judge_id": last.judge_id,
        "created_at": last.created_at,
        "at_work": at_work,
        **worker(is_owed=at_work),
    }


def form(project: Project, start: Start, filled: Form, *, based_on: Judge | None, wrong: bool) -> dict[str, Any]:
    """wrong: something typed cannot be taken, so nothing of it is folded away."""
    return {
        "start": start,
        "based_on": based_on,
        "form": filled,
        "sections": [_section(section, filled.texts, wrong=wrong) for section in start.sections],
        "has_key": bool(based_on and getattr(based_on, "service", None) and based_on.service.sealed_key),
        "longest_name": LONGEST_NAME,
        "most": MOST,
        "to_try": _offered(project, filled),
        **(_categories(project, filled) if start.has_categories else {}),
    }


def _categories(project: Project, filled: Form) -> dict[str, Any]:
    """How the rubric's categories meet those of the project's cases: a text counts where the names are the same."""
    there, named = categories_of(project, limit=_CATEGORIES), {each.name for each in filled.categories if each.name}
    return {
        "without_text": [{"name": name, "cases": cases} for name, cases in there.items() if name not in named],
        "without_case": [
            each for each in dict.fromkeys(c.name for c in filled.categories) if each and each not in there
        ],
        "has_cases": bool(there),
    }


def _section(section: Section, texts: Mapping[str, str], *, wrong: bool) -> dict[str, Any]:
    return {
        "title": section.title,
        "is_open": wrong or not section.folded,
        "is_folded": section.folded,
        "rows": [_row(field, texts.get(field.path, "")) for field in section.fields],
    }


def _row(field: Field, value: str) -> dict[str, Any]:
    return {**field._asdict(), "id": f"f-{field.path.replace('.', '-').replace('_', '-')}", "value": value}


def _offered(project: Project, filled: Form) -> list[dict[str, Any]]:
    """What to try it on, those that were chosen before among them."""
    offered = trying.to_try_on(project, limit=_OFFERED)
    there = {row.id for rows in offered for row in rows}
    chosen = trying.tryable(project, filled.chosen - there) if filled.chosen - there else ()
    groups = (("Chosen", chosen), ("Audited by people", offered.audited), ("Not audited", offered.others))
    return [
        {"title": title, "rows": [{**row._asdict(), "chosen": row.id in filled.chosen} for row in rows]}
        for title, rows in groups
        if rows
    ]


def trial(row: Trial, *, told: Collection[int]) -> dict[str, Any]:
    """told: the trajectories of which this person may be told what the judge says."""
    results = {result["trajectory"]: result for result in row.results}
    people = trying.people_on(row.project, told)
    start = start_of(row.settings)
    return {
        "trial": row,
        "standing": trial_words.STANDINGS[WorkStatus(row.status)],
        "at_work": row.status in GOING_ON,
        "start": start,
        "title": start.title if start else row.name,
        "done": len(results),
        "rows": [
            {
                **each._asdict(),
                "is_hidden": each.id in results and each.id not in told,
                "people": trial_words.label_words(people[each.id]) if each.id in people else "",
                "said": trial_words.said_words(results[each.id]) if each.id in results and each.id in told else None,
            }
            for each in trying.tryable(row.project, row.trajectories)
        ],
        **worker(is_owed=row.status in GOING_ON),
    }


def worker(*, is_owed: bool) -> dict[str, Any]:
    """Is there work, and nobody to do it?"""
    seen = worker_seen() if is_owed else None
    return {"stuck": is_owed and is_missing(seen), "unseen_for": unseen_for(seen)}
