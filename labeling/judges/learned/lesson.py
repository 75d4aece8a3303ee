"""What the local classifier reads of a transcript: the target's last words, and not more of them than a bound.

Without its library, so that what only counts lessons need not load it.
"""

from labeling.judges.base import Item, last_words

# An answer that is longer is read at both of its ends: how it opens says most, and a late refusal stands at its end.
HEAD, TAIL = 2000, 1000


def answer_of(item: Item) -> str:
    """The words it goes by; "" where the target said none. The case's request is not among them.

    A classifier that sees requests learns which requests are declined, and no longer what the answer does.
    """
    spoken = last_words(item)
    if spoken is None:
        return ""
    text = _ends("\n".join(_ends(text) for _, text in spoken.parts))
    # Half of a surrogate pair cannot be hashed as UTF-8; what stands for it says as much.
    return text.encode("utf-8", "replace").decode() if text.strip() else ""


def _ends(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
