"""The hazards that Llama Guard 3 and 4 name by codes, in words: a score called S2 tells nobody anything."""

from collections.abc import Mapping
from typing import Any

_HAZARDS = {
    "S1": "violent crimes",
    "S2": "non-violent crimes",
    "S3": "sex-related crimes",
    "S4": "child sexual exploitation",
    "S5": "defamation",
    "S6": "specialized advice",
    "S7": "privacy",
    "S8": "intellectual property",
    "S9": "indiscriminate weapons",
    "S10": "hate",
    "S11": "suicide and self-harm",
    "S12": "sexual content",
    "S13": "elections",
    "S14": "code interpreter abuse",
}
_NAMED_BY = ("llama_guard_3", "llama_guard_4")


def named_scores(scores: Mapping[str, Any], *, preset: str) -> dict[str, Any]:
    """Scores with their codes explained, where the judge was asked by a preset that gives these codes."""
    if preset not in _NAMED_BY:
        return dict(scores)
    return {f"{name} ({_HAZARDS[name]})" if name in _HAZARDS else name: value for name, value in scores.items()}
