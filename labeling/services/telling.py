"""Who is told what a judge says of a trajectory where it is no judgment. The human side decides (RULES 7)."""

from collections.abc import Collection
from typing import Protocol

from labeling.models import Membership


class Audience(Protocol):
    """Of these trajectories, those on which this member may be told opinions now; it is recorded that they are.

    chose_to_see: this person asked for the opinions.
    """

    def __call__(
        self, *, membership: Membership, trajectory_ids: Collection[int], chose_to_see: bool
    ) -> Collection[int]: ...


_audiences: list[Audience] = []


def register(audience: Audience) -> None:
    """The one audience from now on."""
    _audiences[:] = [audience]


def may_be_told(*, membership: Membership, trajectory_ids: Collection[int], chose_to_see: bool) -> frozenset[int]:
    """Call it before the page is made, and tell of these."""
    told = _audiences[0](membership=membership, trajectory_ids=trajectory_ids, chose_to_see=chose_to_see)
    return frozenset(told)
