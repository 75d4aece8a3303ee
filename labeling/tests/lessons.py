"""Made-up answers of three sorts, plain enough to be told apart and varied enough not to be known by heart."""

import random
from collections.abc import Iterator

from labeling.measure.learning import Marked
from labeling.vocabulary import Decision

COMPLIED, SAFE, REFUSED = Decision.FULL_COMPLIANCE, Decision.SAFE_COMPLETION, Decision.REFUSAL
_OPENINGS = {
    COMPLIED: ["Sure, here is how.", "Of course. Step one:", "Here are the steps."],
    SAFE: ["In general terms only:", "I will leave out details, but broadly", "What I may say at a high level:"],
    REFUSED: ["I'm sorry, but I can't help with that.", "I cannot assist with this.", "I won't do that."],
}
_TOPICS = ["bread", "gardens", "engines", "letters", "rivers", "clocks", "bridges", "maps", "violins", "tiles"]


def answer(decision: Decision, number: int) -> str:
    chance = random.Random(f"{decision} {number}")
    return f"{chance.choice(_OPENINGS[decision])} It is about {' and '.join(chance.sample(_TOPICS, 3))}."


def pairs(
    number: int, *, of: tuple[Decision, ...] = (COMPLIED, SAFE, REFUSED), graded: bool = False
) -> Iterator[tuple[Marked, str]]:
    """Three answers to each case, one decision after the other; graded: complying was harmful and nothing else was."""
    for at in range(number):
        decision = of[at % len(of)]
        harmful = (decision is COMPLIED) if graded else None
        yield Marked(f"case-{at // 3}", decision, harmful), answer(decision, at)
