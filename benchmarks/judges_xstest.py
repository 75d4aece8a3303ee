"""How close judges come to the human labels of XSTest's 2,250 responses, next to the set's own string match.

See docs/explanation/judges.md. Ends with one line of JSON. To measure another judge, add it to `SYSTEMS`: a name and
what it makes of the responses, in their order.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any

from xstest import Response, folder, responses

from labeling.judges.base import Item
from labeling.judges.phrases.substring import SUBSTRING_JUDGES, SubstringJudge
from labeling.measure.proportion import wilson
from labeling.vocabulary import Decision

COMPLIED, PARTIAL, REFUSED = Decision.FULL_COMPLIANCE, Decision.SAFE_COMPLETION, Decision.REFUSAL
# What a judge said of a response; None: it could not say.
Said = Decision | None


def said_by(judge: SubstringJudge) -> Callable[[Sequence[Response]], list[Said]]:
    """*Not refused* counts as full compliance, as it does for the set's string match."""

    def labels(given: Sequence[Response]) -> list[Said]:
        opinions = [said.opinion for said in judge.judge([Item(response.messages, begins=1) for response in given])]
        return [None if each.undetermined else REFUSED if each.decision is REFUSED else COMPLIED for each in opinions]

    return labels


def string_match(given: Sequence[Response]) -> list[Said]:
    return [response.string_match for response in given]


SYSTEMS: dict[str, Callable[[Sequence[Response]], list[Said]]] = {
    "string-match": string_match,
    **{judge.name: said_by(judge) for judge in SUBSTRING_JUDGES},
}

Pairs = Sequence[tuple[Decision, Said]]


def three_way(pairs: Pairs) -> tuple[int, int]:
    return sum(human is said for human, said in pairs), len(pairs)


def spoken(pairs: Pairs) -> list[tuple[Decision, Said]]:
    """Without what the judge could not say."""
    return [pair for pair in pairs if pair[1] is not None]


def two_way(pairs: Pairs, *, refused: frozenset[Decision]) -> tuple[int, int]:
    """Refused or not, by what counts as refused of the human labels. An abstention is wrong."""
    return sum(said is not None and (human in refused) is (said is REFUSED) for human, said in pairs), len(pairs)


MEASURES: dict[str, Callable[[Pairs], tuple[int, int]]] = {
    "three_way": three_way,
    "three_way_spoken": lambda pairs: three_way(spoken(pairs)),
    "refused_with_partial": lambda pairs: two_way(pairs, refused=frozenset({REFUSED, PARTIAL})),
    "refused_alone": lambda pairs: two_way(pairs, refused=frozenset({REFUSED})),
}


def measured(given: Sequence[Response]) -> dict[str, dict[str, Any]]:
    """By system, by part (each run, and all together), the hits and the number of each measure."""
    found: dict[str, dict[str, Any]] = {}
    for name, labels in SYSTEMS.items():
        pairs = [(response.system, response.human, said) for response, said in zip(given, labels(given), strict=True)]
        runs = sorted({system for system, _, _ in pairs})
        parts = {run: [(human, said) for system, human, said in pairs if system == run] for run in runs}
        parts["together"] = [(human, said) for _, human, said in pairs]
        found[name] = {
            part: {measure: count(each) for measure, count in MEASURES.items()} for part, each in parts.items()
        }
    return found


def show(title: str, found: dict[str, dict[str, Any]]) -> None:
    print(f"\n{title}")
    for measure in MEASURES:
        print(f"\n{measure:<22}" + "".join(f"{name:>26}" for name in found))
        for part in next(iter(found.values())):
            print(f"{part:<22}" + "".join(f"{_share(*found[name][part][measure]):>26}" for name in found))


def _share(hits: int, total: int) -> str:
    low, high = wilson(hits / total, total)
    return f"{hits / total:.3f} [{low:.3f}, {high:.3f}] {total:>4}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="changes nothing: it takes seconds")
    parser.parse_args()
    given = responses(folder())
    held_out = [response for response in given if response.held_out]
    seen = {response.group for response in given if not response.held_out}
    apart = [response for response in held_out if response.group not in seen]
    parts = {"all": given, "held_out": held_out, "held_out_without_twin": apart}
    found = {name: measured(part) for name, part in parts.items()}
    print("Share that agrees with the human label, 95 % Wilson interval, n.")
    show("All responses", found["all"])
    show("To prompts held out while the phrase lists were written", found["held_out"])
    show("To those of them whose twins were held out too", found["held_out_without_twin"])
    print(json.dumps({"responses": len(given), **{name: _rates(part) for name, part in found.items()}}))


def _rates(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    return {
        name: {measure: round(hits / total, 4) for measure, (hits, total) in parts["together"].items()}
        for name, parts in found.items()
    }


if __name__ == "__main__":
    main()
