"""What runs must share to be computed together (RULES 8)."""

from typing import NamedTuple

from labeling.models import Judge, Run


class Traits(NamedTuple):
    """panel: judge ids; `None` while it is not fixed."""

    suite: int
    configuration: int
    attack: tuple[str, int, int]
    panel: frozenset[int] | None


class Difference(NamedTuple):
    field: str
    sentence: str


def traits_of(run: Run) -> Traits:
    return Traits(
        suite=run.suite_id,
        configuration=run.configuration_id,
        attack=(run.attack_kind, run.attack_attempts, run.attack_turns),
        panel=seats_of(panel_of(run)),
    )


def panel_of(run: Run) -> list[Judge] | None:
    """The judges seated, by id; `None` while the panel is not fixed."""
    return list(Judge.objects.filter(seats__run=run).order_by("pk")) if run.panel_is_frozen else None


def seats_of(panel: list[Judge] | None) -> frozenset[int] | None:
    return None if panel is None else frozenset(judge.pk for judge in panel)


def difference(one: Traits, other: Traits) -> Difference | None:
    """The first reason why two runs cannot be computed together."""
    if one.suite == other.suite:
        return Difference("suite", "a measurement holds one run of each suite")
    if one.configuration != other.configuration:
        return Difference("configuration", "their configurations differ")
    if one.attack != other.attack:
        return Difference("attack", "their attack budgets differ")
    if (one.panel is None) != (other.panel is None):
        return Difference("panel", "the panel of one is fixed and the other's is not before it is closed")
    return None if one.panel == other.panel else Difference("panel", "their panels differ")
