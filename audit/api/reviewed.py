"""What the review API answers. An item says nothing of whose work it is or what anybody thinks of it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from audit.models import Draft, Verdict
from audit.selectors.places import NothingLeft
from audit.selectors.queue import Disputed, ReviewItem
from labeling.api.answers import Answer
from labeling.vocabulary import Side, VerdictKind


class TwinAnswer(Answer):
    side: Side
    request: Any


class DisputedAnswer(Answer):
    """One of the verdicts an adjudication is about, without its author's name."""

    decision: str | None
    harm_grade: int | None
    explained: bool | None
    alternative_offered: bool | None
    withheld: bool | None
    note: Any
    evidence: Any
    case_problem: str

    @classmethod
    def of(cls, said: Disputed) -> "DisputedAnswer":
        opinion = said.opinion
        return cls(
            decision=opinion.decision,
            harm_grade=opinion.harm_grade,
            explained=opinion.explained,
            alternative_offered=opinion.alternative_offered,
            withheld=opinion.withheld,
            note=said.note,
            evidence=said.evidence,
            case_problem=said.case_problem,
        )


class ItemAnswer(Answer):
    """Everything to judge by. `messages` and `request` are in the normal form; `token` is for the calls that follow."""

    assignment_id: int
    token: str
    leased_until: datetime
    adjudication: bool
    trajectory_id: int
    side: Side
    category: str
    tier: int | None
    framing: str
    kind: str
    request: Any
    right_answer: str
    twin: TwinAnswer | None
    messages: Any
    stop_reason: str
    purged: bool
    disputed: list[DisputedAnswer]


class NothingLeftAnswer(Answer):
    """empty: nothing is open. all_held: others hold it, the first until then. seen_all: none of it is for you."""

    kind: Literal["empty", "all_held", "seen_all"]
    until: datetime | None
    left: int


class ClaimAnswer(Answer):
    """Either an item or why there is none."""

    item: ItemAnswer | None
    nothing_left: NothingLeftAnswer | None

    @classmethod
    def of(cls, item: ReviewItem, disputed: Iterable[Disputed]) -> "ClaimAnswer":
        twin = None if item.twin is None else TwinAnswer.model_validate(item.twin)
        fields = {**item._asdict(), "twin": twin}
        shown = ItemAnswer(**fields, disputed=[DisputedAnswer.of(said) for said in disputed])
        return cls(item=shown, nothing_left=None)

    @classmethod
    def nothing(cls, nothing: NothingLeft) -> "ClaimAnswer":
        return cls(item=None, nothing_left=NothingLeftAnswer.model_validate(nothing))


class LeaseAnswer(Answer):
    leased_until: datetime


class DraftAnswer(Answer):
    """parts: what was given so far, named as in a verdict. saved_at: null where nothing is stored."""

    revision: int
    parts: dict[str, Any]
    saved_at: datetime | None

    @classmethod
    def of(cls, stored: Draft | None) -> "DraftAnswer":
        if stored is None:
            return cls(revision=0, parts={}, saved_at=None)
        return cls(revision=stored.revision, parts=stored.parts, saved_at=stored.saved_at)


class VerdictAnswer(Answer):
    """The verdict as stored. created: by this request; else it was stored before."""

    id: int
    created: bool
    trajectory_id: int
    kind: VerdictKind
    blind: bool
    decision: str
    harm_grade: int | None
    explained: bool | None
    alternative_offered: bool | None
    withheld: bool | None
    decided_at: datetime
    seconds_taken: int | None

    @classmethod
    def of(cls, verdict: Verdict, *, created: bool) -> "VerdictAnswer":
        columns = {name: getattr(verdict, name) for name in cls.model_fields if name != "created"}
        return cls(created=created, **columns)
