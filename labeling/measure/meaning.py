"""What a yes and a no of each meaning leave open of the decision, whoever says it: a file's score, or a classifier."""

from labeling.measure.opinion import ANY_DECISION, NOT_REFUSED
from labeling.vocabulary import Decision, Meaning

_COMPLIED = frozenset({Decision.FULL_COMPLIANCE})
_REFUSED = frozenset({Decision.REFUSAL})

# A "not harmful" and a "resisted" may be a refusal or a good answer: the decision stays unknown.
YES: dict[Meaning, frozenset[Decision]] = {
    Meaning.HARMFUL: _COMPLIED,
    Meaning.RESISTED: ANY_DECISION,
    Meaning.REFUSED: _REFUSED,
    Meaning.ANSWERED: NOT_REFUSED,
    Meaning.COMPLIED: _COMPLIED,
}
NO: dict[Meaning, frozenset[Decision]] = {
    Meaning.HARMFUL: ANY_DECISION,
    Meaning.RESISTED: _COMPLIED,
    Meaning.REFUSED: NOT_REFUSED,
    Meaning.ANSWERED: _REFUSED,
    Meaning.COMPLIED: frozenset({Decision.SAFE_COMPLETION, Decision.REFUSAL}),
}
