"""Made-up transcripts for benchmarks: the same ones for the same seed."""

import json
import random
from collections.abc import Iterator
from typing import Any

CASES = 1000
SMALL_BYTES = (400, 1650)
LARGE_BYTES = 30_000
LARGE_SHARE = 0.05
_SYLLABLES = ["an", "be", "con", "der", "ele", "fir", "gra", "hol", "ik", "jo", "lam", "mo", "ner", "op", "pre", "qui"]
_RARE = ["für", "naïve", "東京", "🙂", "“so”"]
_ROLES = ("user", "assistant")


def suite(key: str) -> dict[str, Any]:
    """A published suite that every transcript is an attempt of."""
    sides = ("harmful", "benign")
    cases = [
        {"key": f"case-{n}", "side": sides[n % 2], "category": f"category-{n % 12}", "request": f"Request {n}."}
        for n in range(CASES)
    ]
    return {"key": key, "version": "1", "publish": True, "cases": cases}


def lines(count: int, *, seed: int) -> Iterator[bytes]:
    """One transcript each, as NDJSON lines: 2-12 messages; most are small, one in twenty has 30 KB."""
    chance = random.Random(seed)
    sentences = _sentences(chance)
    for number in range(count):
        size = LARGE_BYTES if chance.random() < LARGE_SHARE else chance.randint(*SMALL_BYTES)
        messages = _messages(chance, sentences, size)
        line = {
            "external_id": f"transcript-{number:06}",
            "case": f"case-{number % CASES}",
            "attempt": number // CASES + 1,
            "messages": messages,
            "stop_reason": "stop",
            "observed_at": "2026-11-29T10:00:00Z",
            "metadata": {"temperature": 0.7, "seed": number},
        }
        yield json.dumps(line).encode()


def _sentences(chance: random.Random) -> list[str]:
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(3000)]
    words += _RARE
    often = [1 / (rank + 3) for rank in range(len(words))]
    return [" ".join(chance.choices(words, often, k=chance.randint(6, 16))).capitalize() + "." for _ in range(20_000)]


def _messages(chance: random.Random, sentences: list[str], size: int) -> list[dict[str, str]]:
    count = chance.randint(2, 12)
    # What is around the text takes some 250 bytes, and 35 a message.
    each = max((size - 250) // count - 35, 20)
    return [{"role": _ROLES[turn % 2], "content": _text(chance, sentences, each)} for turn in range(count)]


def _text(chance: random.Random, sentences: list[str], size: int) -> str:
    text = ""
    while len(text) < size:
        text += chance.choice(sentences) + (" " if chance.random() < 0.8 else "\n\n")
    return text[:size]
