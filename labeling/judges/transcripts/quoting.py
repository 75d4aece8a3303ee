"""Where in a transcript the words stand that a judge quotes.

Models copy words and not white space, so that is not compared, nor what does not show; letters are, upper case too.
The target's own messages come first: the same words of a user prove nothing against it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labeling.judges.base import Item, Span, part_text, target_messages
from labeling.judges.transcripts.showing import Folded, folded

# A quote may run over any number of characters that do not show; of so long a stretch the beginning is kept.
LONGEST_SPAN = 20_000


class Located(NamedTuple):
    """The quotes that occur, in their order, and how many do not."""

    spans: tuple[Span, ...]
    missing: int


class _Text:
    """One part's text; its folded form is made once, and only where a quote does not stand there word for word."""

    def __init__(self, message: int, part: int, text: str) -> None:
        self.message, self.part, self.text = message, part, text
        self._folded: Folded | None = None

    def span(self, start: int, end: int) -> Span:
        end = min(end, start + LONGEST_SPAN)
        return Span(self.message, self.part, start, end, self.text[start:end])

    def exactly(self, quote: str) -> Span | None:
        start = self.text.find(quote)
        return None if start < 0 else self.span(start, start + len(quote))

    def loosely(self, quote: str) -> Span | None:
        if self._folded is None:
            self._folded = folded(self.text)
        start = self._folded.text.find(quote)
        if start < 0:
            return None
        last = start + len(quote) - 1
        return self.span(self._folded.place(start), self._folded.place(last) + 1)


def located(item: Item, quotes: Iterable[str]) -> Located:
    """Each quote's first place, in the target's messages where it occurs in them. Offsets count in `part_text`."""
    own = set(target_messages(item))
    texts = [
        _Text(index, at, part_text(part))
        for index, message in enumerate(item.messages)
        for at, part in enumerate(message.get("parts") or ())
    ]
    groups = [[text for text in texts if text.message in own], [text for text in texts if text.message not in own]]
    found = [_first(groups, quote) for quote in quotes]
    spans = tuple(dict.fromkeys(span for span in found if span is not None))
    return Located(spans, missing=found.count(None))


def _first(groups: Sequence[Sequence[_Text]], quote: str) -> Span | None:
    words, loose = quote.strip(), folded(quote).text.strip()
    if not loose:
        return None
    for texts in groups:
        places = (text.exactly(words) for text in texts)
        looser = (text.loosely(loose) for text in texts)
        if span := next((span for tried in (places, looser) for span in tried if span), None):
            return span
    return None
