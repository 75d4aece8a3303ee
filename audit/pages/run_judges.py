"""The judges of a run on its report: who really judged, where they disagree, and what is stuck."""

from collections.abc import Sequence
from math import ceil
from typing import Any
from urllib.parse import urlencode

from audit.charts.strip import strip
from audit.pages.figures import judge_words
from audit.pages.words import dollars, sentence
from audit.selectors.calibration import judge_rows
from audit.selectors.names import JudgeName
from audit.selectors.report import Report
from audit.selectors.versions import priced_judges
from audit.selectors.voting import MOST_COMPARED, Compared, Piling, Votes
from audit.selectors.waiting import Waiting, waiting_on
from labeling.models import Membership, Run
from labeling.pages.opinion_words import UNDETERMINED_WORDS
from labeling.selectors.calling import Spent, parked_on, spent_on
from labeling.vocabulary import JudgeKind, Side, Undetermined

_MOST_PILES = 6
_UNMEASURED = "not measured yet: blind verdicts are missing"
_CHECKED = "a program's word: people are not asked"
# The kinds of judges that may be reached over a network.
_MAY_COST = (JudgeKind.RUBRIC, JudgeKind.CLASSIFIER)


def judges_of_run(membership: Membership, report: Report, over: dict[str, str]) -> dict[str, Any]:
    """What the report tells of its judges; nothing to whom it tells nothing of them."""
    judges = [votes.judge for votes in report.votes]
    known = (
        {row.judge.id: row for row in judge_rows(project=membership.project, judge_ids=_ids(judges))} if judges else {}
    )
    costs = any(judge.kind in _MAY_COST for judge in judges)
    spent = spent_on([run.id for run in report.runs]) if costs else {}
    priced = priced_judges(spent) if spent else frozenset()
    return {
        "judged": [
            {
                **_voted(votes),
                "agreement": strip(known[votes.judge.id].calibration.agreement),
                "spent": _spent(spent.get(votes.judge.id), has_prices=votes.judge.id in priced),
            }
            for votes in report.votes
        ],
        "disagreements": [_differing(one, over) for one in report.disagreements],
        "not_compared": len([one for one in report.votes if one.judged]) > MOST_COMPARED,
        "most_compared": MOST_COMPARED,
    }


def _spent(spent: Spent | None, *, has_prices: bool) -> dict[str, Any] | None:
    return spent and {"calls": spent.calls, "cost": dollars(spent.usd, has_prices=has_prices)}


def _ids(judges: Sequence[JudgeName]) -> list[int]:
    return [judge.id for judge in judges]


def _voted(votes: Votes) -> dict[str, Any]:
    return {
        "judge": votes.judge,
        "name": judge_words(votes.judge),
        "unmeasured": _CHECKED if votes.judge.kind == JudgeKind.CHECK else _UNMEASURED,
        "judged": votes.judged,
        "judgeable": votes.judgeable,
        "undetermined": sum(votes.undetermined.values()),
        "reasons": _reasons(votes.undetermined),
    }


def _reasons(counts: dict[str, int]) -> str:
    """Reasons with their counts, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{UNDETERMINED_WORDS[Undetermined(reason)]} {count}" for reason, count in ordered)


def _differing(one: Compared, over: dict[str, str]) -> dict[str, Any]:
    first, second = one.first.id, one.second.id

    def query(differ: str) -> str:
        return urlencode({"side": one.side, "differ": differ, **over})

    return {
        "judges": (one.first, one.second),
        "first": judge_words(one.first),
        "second": judge_words(one.second),
        "side": Side(one.side),
        "counts": one.counts,
        "either": query(f"{first}-{second}"),
        "only_first": query(f"{first}-not-{second}"),
        "only_second": query(f"{second}-not-{first}"),
        "exclusive": query(f"{first}-excludes-{second}"),
    }


def piles_words(warnings: Sequence[Piling]) -> list[str]:
    """Where what a judge cannot say piles up, as facts that make the figures less than they look."""
    said = [_pile_words(one) for one in warnings[:_MOST_PILES]]
    more = len(warnings) - _MOST_PILES
    return [*said, f"{more} more such piles are in the report of the API."] if more > 0 else said


def _pile_words(one: Piling) -> str:
    here, elsewhere = one.pile.here, one.pile.elsewhere
    where = f"{one.slicing} {one.pile.name}" if not one.pile.name.startswith(("tier ", "no ")) else one.pile.name
    return (
        f"{judge_words(one.judge)} could not say on {here.undetermined} of {here.judged} of {where.replace('_', ' ')} "
        f"(elsewhere {elsewhere.undetermined} of {elsewhere.judged}): {_reasons(one.reasons)}."
    )


def stuck_on(run: Run) -> dict[str, Any]:
    """What does not come on by itself, or will take its time; each with what to do."""
    parked = parked_on(run)
    return {
        "broken": {"count": sum(parked.values()), "reasons": parked} if parked else None,
        "waiting": [
            {
                "waiting": one,
                "name": judge_words(one.judge),
                "trouble": sentence(one.trouble),
                "time": _time(one),
            }
            for one in waiting_on(run)
        ],
    }


def _time(one: Waiting) -> str:
    if one.minutes is None or not one.owed:
        return ""
    whole = ceil(one.minutes)
    time = "less than a minute" if one.minutes < 1 else f"about {whole} minute{'s' if whole != 1 else ''}"
    return f"{time} at its limit of {one.a_minute} requests a minute"
