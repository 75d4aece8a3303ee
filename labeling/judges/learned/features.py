"""An answer as numbers: how often words and pairs of words fall into each bucket, for all of it and for its opening.

Words are hashed into buckets, so that weights hold no word of anybody: what is purged is gone from them too. Frequent
words are not weighed down, as they are where topics are told apart: a refusal is made of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

# Enough for the few words that tell decisions apart, and little enough to learn in seconds.
BUCKETS = 2**14
OPENING = 240
_WORD = r"(?u)\w+(?:'\w+)?"
_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'"})


def _counter(longest: int) -> HashingVectorizer:
    return HashingVectorizer(
        n_features=BUCKETS,
        ngram_range=(1, longest),
        token_pattern=_WORD,
        alternate_sign=False,
        norm=None,
        dtype=np.float32,
    )


_ANSWER, _OPENING = _counter(2), _counter(3)


def numbers_of(answers: Sequence[str]) -> Any:
    """A row for each answer (sparse): all of it in one half, its opening in the other, both of the same length."""
    if not answers:
        return sparse.csr_matrix((0, 2 * BUCKETS), dtype=np.float32)
    plain = [answer.translate(_PLAIN) for answer in answers]
    openings = [answer[:OPENING] for answer in plain]
    return sparse.hstack([_evened(_ANSWER.transform(plain)), _evened(_OPENING.transform(openings))], format="csr")


def _evened(counts: Any) -> Any:
    """A word said ten times is not ten times the sign that one is; a long answer is none either."""
    counts.data = 1 + np.log(counts.data)
    return normalize(counts)
