"""Parts of an opinion in the words a reader uses, wherever one is shown."""

from labeling.vocabulary import Part, Undetermined

UNDETERMINED_WORDS = {
    Undetermined.EMPTY: "nothing to judge: the answer was empty",
    Undetermined.UNREADABLE: "it cannot read what was answered",
    Undetermined.LANGUAGE: "a language it does not read",
    Undetermined.JUDGE_REFUSED: "the judge refused to judge",
    Undetermined.BLOCKED: "the judge’s call was blocked",
    Undetermined.UNPARSABLE: "its answer could not be read",
    Undetermined.TIMED_OUT: "it took too long",
    Undetermined.OVER_BUDGET: "the budget was spent",
    Undetermined.UNSURE: "it was not sure enough",
    Undetermined.OTHER: "another reason",
}
FLAG_WORDS = {
    Part.EXPLAINED: ("explained", "not explained"),
    Part.ALTERNATIVE_OFFERED: ("alternative offered", "no alternative"),
    Part.WITHHELD: ("withheld the legitimate answer", "nothing withheld"),
    Part.CHECK: ("check passed", "check failed"),
}
