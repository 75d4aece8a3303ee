"""How well the local classifier learns to tell the three decisions apart: XSTest's 2,250 responses, cross-validated.

Grouped by prompt: what is said of a response comes from weights that have not seen its prompt. Nothing was tuned on
these responses but what docs/explanation/judges.md says was tried. Ends with one line of JSON.
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xstest import Response, folder, responses

from labeling.judges.base import Item
from labeling.judges.learned.lesson import answer_of
from labeling.judges.learned.local import CONFIDENCE, LocalClassifier, LocalSettings, packed, unpacked
from labeling.judges.learned.training import PARAMETERS, SEED, Lessons, chances_of, learned, lessons_of, tried
from labeling.measure.learning import Chances, Marked, figures_of, report_of
from labeling.vocabulary import Decision

LEARNING_CURVE = (100, 200, 500, 1000)
# At each size so many draws of prompts; one alone would be luck.
DRAWS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the cross-validation by prompt alone")
    arguments = parser.parse_args()
    given = responses(folder())
    print(f"{len(given)} responses to {len({each.prompt for each in given})} prompts by five systems, seed {SEED}.\n")
    found = by_prompt(given)
    if not arguments.quick:
        found["twins_together_macro_f1"] = _macro_f1(given, lambda each: each.group)
        print(f"\nWith twins kept together: macro-F1 {found['twins_together_macro_f1']:.3f}")
        found["new_system_macro_f1"], found["new_system_string_match_macro_f1"] = _new_systems(given)
        print(f"On a system it has not seen: macro-F1 {found['new_system_macro_f1']:.3f},")
        print(f"string match on the same responses {found['new_system_string_match_macro_f1']:.3f}")
        found["curve"] = _curve(given)
    found |= _speed(given)
    print(json.dumps(found))


def lessons_by(given: Sequence[Response], case: Callable[[Response], str]) -> Lessons:
    return lessons_of((Marked(case(each), each.human, None), _answer(each)) for each in given)


def by_prompt(given: Sequence[Response]) -> dict[str, Any]:
    """The figures that count, next to the set's own string match."""
    start = time.perf_counter()
    lessons = lessons_by(given, lambda each: each.prompt)
    trial = tried(lessons)
    seconds = time.perf_counter() - start
    report = report_of(lessons.marks, trial.chances, trial.harm, confidence=CONFIDENCE)
    match = figures_of([(each.human, frozenset({each.string_match})) for each in given])
    _show("string match", match)
    _show("local classifier, likeliest decision", report["all"])
    _show(f"local classifier where it is sure ({CONFIDENCE})", report["sure"])
    print(f"\nBrier score {report['brier']:.3f}; cross-validation took {seconds:.1f} s.")
    print(f"It leaves {report['not_refused']} at not refused and {report['unsure']} open.")
    for decision, chance in report["chances"].items():
        print(f"  {decision:<18} expected {chance['expected']:.3f}, given {chance['given']:.3f}")
    return {
        "responses": len(given),
        "macro_f1": report["all"]["macro_f1"],
        "string_match_macro_f1": match["macro_f1"],
        "accuracy": report["all"]["accuracy"]["value"],
        "string_match_accuracy": match["accuracy"]["value"],
        "partial_f1": report["all"]["decisions"][Decision.SAFE_COMPLETION]["f1"],
        "string_match_partial_f1": match["decisions"][Decision.SAFE_COMPLETION]["f1"],
        "sure_share": report["sure"]["accuracy"]["total"] / len(given),
        "sure_accuracy": report["sure"]["accuracy"]["value"],
        "sure_macro_f1": report["sure"]["macro_f1"],
        "brier": report["brier"],
        "cross_validation_s": round(seconds, 1),
    }


def _answer(response: Response) -> str:
    return answer_of(Item(response.messages, begins=1))


def _show(name: str, figures: Mapping[str, Any]) -> None:
    accuracy = figures["accuracy"]
    print(f"\n{name}: accuracy {accuracy['value']:.3f} [{accuracy['low']:.3f}, {accuracy['high']:.3f}] of")
    print(f"{accuracy['total']} responses, macro-F1 {figures['macro_f1']:.3f}")
    print(f"  {'':<18}{'given':>7}{'said':>7}{'precision':>11}{'recall':>8}{'F1':>7}")
    for decision, each in figures["decisions"].items():
        precision = "-" if each["precision"] is None else f"{each['precision']:.3f}"
        counts = f"{each['given']:>7}{each['said']:>7}"
        print(f"  {decision:<18}{counts}{precision:>11}{each['recall']:>8.3f}{each['f1']:>7.3f}")


# --- harder questions --------------------------------------------------------------------------------------------


def _macro_f1(given: Sequence[Response], case: Callable[[Response], str]) -> float:
    lessons = lessons_by(given, case)
    return _macro(lessons.marks, tried(lessons).chances)


def _macro(marks: Sequence[Marked], chances: Sequence[Chances]) -> float:
    likeliest = [frozenset({max(each, key=lambda decision: each[decision])}) for each in chances]
    value = figures_of(list(zip([mark.decision for mark in marks], likeliest, strict=True)))["macro_f1"]
    return round(float(value), 4)


def _new_systems(given: Sequence[Response]) -> tuple[float, float]:
    """Each system in turn is asked about half of the prompts by weights that saw the other half of other systems.

    All five together, and the string match on the same responses.
    """
    marks: list[Marked] = []
    chances: list[Chances] = []
    for system in sorted({each.system for each in given}):
        seen = [each for each in given if each.system != system and not each.held_out]
        asked = [each for each in given if each.system == system and each.held_out]
        found = _asked(seen, asked)
        marks += found[0]
        chances += found[1]
    match = figures_of([(each.human, frozenset({each.string_match})) for each in given if each.held_out])
    return _macro(marks, chances), round(match["macro_f1"], 4)


def _curve(given: Sequence[Response]) -> dict[int, float]:
    """Macro-F1 on the prompts held out, by the number of lessons drawn from the other half."""
    seen = [each for each in given if not each.held_out]
    asked = [each for each in given if each.held_out]
    print(f"\n{'lessons':>8}{'macro-F1':>10}  on {len(asked)} responses to prompts held out, mean of {DRAWS} draws")
    found = {}
    for size in (*(size for size in LEARNING_CURVE if size < len(seen)), len(seen)):
        draws = [random.Random(SEED + draw).sample(seen, size) for draw in range(DRAWS if size < len(seen) else 1)]
        found[size] = round(sum(_macro(*_asked(draw, asked)) for draw in draws) / len(draws), 4)
        print(f"{size:>8}{found[size]:>10.3f}", flush=True)
    return found


def _asked(seen: Sequence[Response], asked: Sequence[Response]) -> tuple[list[Marked], list[Chances]]:
    weights = learned(lessons_by(seen, lambda each: each.prompt)).decision
    test = lessons_by(asked, lambda each: each.prompt)
    return list(test.marks), [_by_decision(each) for each in chances_of(weights, test.numbers)]


def _by_decision(chances: Mapping[Any, float]) -> Chances:
    return {Decision(name): chance for name, chance in chances.items()}


# --- what it costs -----------------------------------------------------------------------------------------------


def _speed(given: Sequence[Response]) -> dict[str, float]:
    lessons = lessons_by(given, lambda each: each.prompt)
    start = time.perf_counter()
    weights = learned(lessons)
    learning = time.perf_counter() - start
    stored = packed(weights)
    settings = LocalSettings(training_hash="", parameters=PARAMETERS, lessons=len(given), cases=450)
    judge = LocalClassifier("local-classifier", settings, unpacked(stored))
    items = [Item(each.messages, begins=1) for each in given]
    start = time.perf_counter()
    for first in range(0, len(items), 100):
        judge.judge(items[first : first + 100])
    judging = (time.perf_counter() - start) / len(items) * 1000
    print(f"\nLearning from all took {learning:.1f} s; weights of {len(stored) / 1024:,.0f} KiB;")
    print(f"judging takes {judging:.2f} s a thousand, 100 at a time.")
    return {"learning_s": round(learning, 1), "weights_kib": len(stored) // 1024, "judging_1000_s": round(judging, 2)}


if __name__ == "__main__":
    main()
