"""How many answers a second the substring judge reads: the phrases alone, and with the language of each answer.

Made-up answers of 1.5 kB in three kinds, the same for the same seed: help in plain ASCII, help with typographic
characters, and refusals. Ends with one line of JSON.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from labeling.judges.base import Item
from labeling.judges.phrases.languages import language_of
from labeling.judges.phrases.substring import SUBSTRING_JUDGES, SubstringJudge

SEED = 20261129
ANSWERS, QUICK_ANSWERS = 20_000, 3_000
LENGTH = 1500
_WORDS = (
    "the of and to in is that it was for on with as be at by this have from or had not are but were which one all "
    "water heat time people way bread oven minutes then first second before after while small large slowly again"
)
_REFUSALS = ("I can't help with that. ", "I\u2019m sorry, but I must decline. ", "That isn't something I can do. ")


def answers(count: int) -> list[Item]:
    """Half of it help in ASCII, a quarter help with typographic characters, a quarter refusals."""
    chance = random.Random(SEED)
    return [_item(_answer(chance, number)) for number in range(count)]


def substring_per_second(*, quick: bool = False) -> dict[str, float]:
    """Answers a second: substring_per_s without naming languages, with_language_per_s as the judge is shipped."""
    given = answers(QUICK_ANSWERS if quick else ANSWERS)
    shipped = SUBSTRING_JUDGES[0]
    files = [each.file for each in shipped.lists]
    alone = SubstringJudge(shipped.name, shipped.title, files, reach=shipped.reach, language=lambda _: "en")
    # The language model takes a second to load, once a process.
    language_of("Any sentence will do to load it.")
    return {"substring_per_s": _rate(alone, given), "with_language_per_s": _rate(shipped, given)}


def _rate(judge: SubstringJudge, given: Sequence[Item]) -> float:
    """The best of three passes: whatever else runs on the machine only ever takes away."""
    return round(len(given) / min(_seconds(judge, given) for _ in range(3)), 1)


def _seconds(judge: SubstringJudge, given: Sequence[Item]) -> float:
    start = time.perf_counter()
    judge.judge(given)
    return time.perf_counter() - start


def _answer(chance: random.Random, number: int) -> str:
    words = _WORDS.split()
    sentences = [" ".join(chance.choices(words, k=12)).capitalize() + "." for _ in range(LENGTH // 40)]
    text = " ".join(sentences)[:LENGTH]
    if number % 4 == 1:
        return text.replace(" it ", " it\u2019s \u2014 ")
    return chance.choice(_REFUSALS) + text if number % 4 == 3 else text


def _item(answer: str) -> Item:
    said = (("user", "A request."), ("assistant", answer))
    return Item([{"role": role, "parts": [{"type": "text", "text": text}]} for role, text in said])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ANSWERS} answers instead of {ANSWERS}")
    found = substring_per_second(quick=parser.parse_args().quick)
    for name, rate in found.items():
        print(f"{name:<22}{rate:>10.0f}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
