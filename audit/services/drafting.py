"""A verdict that is not finished yet, kept while a person reads: the latest wins, and an older one never does."""

import json
from dataclasses import asdict

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from audit.models import Assignment, Draft
from audit.selectors.queue import draft_on
from audit.services import holding
from audit.services.reviewing import VerdictInput
from labeling.errors import Conflict
from labeling.vocabulary import AssignmentState

_ENDED = (AssignmentState.SUBMITTED, AssignmentState.DECLINED)


@transaction.atomic(durable=True)
def save_draft(*, token: str, reviewer: User, revision: int, draft: VerdictInput) -> Draft:
    """Keep what was chosen and typed so far, whether or not the lease has ended. It may be incomplete.

    The same revision again is a repeat if it says the same; else, and where it is older, what is there stands.
    """
    draft.refuse_what_cannot_be_kept()
    current = holding.current(holding.named(token, reviewer))
    # Held, so that a verdict that is coming in at this moment is either before this or takes it along.
    state = Assignment.objects.select_for_update(no_key=True).values_list("state", flat=True).get(pk=current.pk)
    if state in _ENDED:
        raise holding.lost(Assignment.objects.get(pk=current.pk), current.request, timezone.now())
    written = {"revision": revision, "parts": _parts(draft), "saved_at": timezone.now()}
    mine = Draft.objects.filter(trajectory=current.request.trajectory_id, reviewer=reviewer)
    if not mine.filter(revision__lt=revision).update(**written):
        Draft.objects.bulk_create(
            [Draft(trajectory_id=current.request.trajectory_id, reviewer=reviewer, **written)], ignore_conflicts=True
        )
    stored = mine.get()
    # As texts, because evidence may hold NaN, which equals nothing.
    if stored.revision != revision or json.dumps(stored.parts) != json.dumps(written["parts"]):
        raise Conflict(
            "A later draft of yours is stored, perhaps from another window: reload to go on from it.",
            revision=stored.revision,
            draft=stored.parts,
        )
    return stored


def stored_draft(*, token: str, reviewer: User) -> Draft | None:
    """The draft of the item that a token of this person names."""
    return draft_on(holding.named(token, reviewer))


def _parts(draft: VerdictInput) -> dict[str, object]:
    """What was given so far, as the API names it."""
    return {
        name: value for name, value in asdict(draft).items() if name != "source" and value not in (None, "", (), [])
    }
