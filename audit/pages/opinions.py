"""What judges and people said of one trajectory: as cards, as rows side by side, and marked in its transcript."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from audit.pages.evidence import Evidence, Messages, Quote, evidence_in, letters
from audit.pages.figures import judge_words
from audit.pages.hazards import named_scores
from audit.pages.transcript import Transcript, transcript
from audit.pages.words import counts_as, flags, given, said_words, says_words, text_of
from audit.selectors.names import JudgeName
from audit.selectors.queue import Disputed
from audit.selectors.said import Said
from labeling.pages.opinion_words import UNDETERMINED_WORDS
from labeling.vocabulary import JudgeKind, Side, Undetermined, VerdictKind

# What a page shows of all opinions of one sort together; the rest of a very long one is in the export.
_MOST_OPINIONS = 30
# Quotes of one opinion, and of all together; of each at least two.
_MOST_QUOTES, _MOST_QUOTES_IN_ALL = 10, 60
_OPINIONS_BYTES, _LONGEST_TEXT_BYTES, _SHORTEST_TEXT_BYTES = 30_000, 8_000, 400
# A quote is read with some of what stands before it.
_BEFORE = 200
# A sentence of our own code; a longer one stands on the card alone.
_LONGEST_REASON = 200
# Scores that say how the judge worked and not what it measured.
_LEFT_OUT, _NOT_FOUND = "characters_left_out", "quotes_not_found"


@dataclass(frozen=True, slots=True)
class QuoteWords:
    """A piece of evidence. label: of its mark; href: where it can be read; where: the message, if it has no mark."""

    text: str
    label: str = ""
    href: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class OpinionWords:
    """One opinion as its card and its row show it. room: how many bytes of the page each of its texts may take.

    letter: what it is called on this page; empty where nothing is marked. notes: what its reader should know of it.
    rationale: why it says so, in the words of its author or of the code that read its answer. raw: that answer.
    """

    author: str
    judge: JudgeName | None
    standing: str
    said: str
    grade: str
    flags: str
    parts: str
    counts_as: str
    is_error: bool
    scores: str
    cost: str
    notes: tuple[str, ...]
    evidence: tuple[QuoteWords, ...]
    quotes_left_out: int
    rationale: str
    raw: str
    is_raw_too_long: bool
    room: int
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Opinions:
    """What judges, or people, said, as cards; `left_out` are too many for a page."""

    shown: tuple[OpinionWords, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Told:
    """A transcript with the evidence of all opinions on it marked; the opinions in their groups, and as rows.

    summary: which of them count it as the error of its side, and which do not.
    """

    transcript: Transcript
    groups: tuple[Opinions, ...]
    summary: str

    @property
    def rows(self) -> tuple[OpinionWords, ...]:
        return tuple(one for group in self.groups for one in group.shown)


def told(
    groups: Sequence[Sequence[Said]], *, side: Side, messages: Messages, transcript_url: str, start: int = 1
) -> Told:
    """Everything said of a trajectory. Its evidence is marked: nobody reads this who is to judge it blind."""
    shown = [group[:_MOST_OPINIONS] for group in groups]
    voices = [one for group in shown for one in group]
    quoted = [(_author(one), _quotes(one, most=_most_quotes(group))) for group in shown for one in group]
    found = evidence_in(messages, quoted)
    view = transcript(messages, start=start, marks=found.marks)
    quotes = iter(_quote_words(found, view, transcript_url))
    names = iter(letters(voice) for voice in range(len(voices)))
    cards = tuple(
        replace(group, shown=tuple(replace(card, letter=next(names), evidence=next(quotes)) for card in group.shown))
        for group in (opinions_words(group, side=side) for group in groups)
    )
    return Told(view, cards, _summary(voices, side))


def _quote_words(found: Evidence, view: Transcript, transcript_url: str) -> Iterator[tuple[QuoteWords, ...]]:
    for quotes in found.quotes:
        yield tuple(_placed(quote, view.labels, transcript_url) for quote in quotes)


def _placed(quote: Quote, marked: frozenset[str], transcript_url: str) -> QuoteWords:
    if quote.label in marked:
        return QuoteWords(quote.text, quote.label, f"#ev-{quote.label}")
    if quote.message is None:
        return QuoteWords(quote.text)
    place = {"message": quote.message + 1, "part": quote.part + 1, "at": max(0, quote.start - _BEFORE)}
    return QuoteWords(quote.text, href=f"{transcript_url}?{urlencode(place)}", where=f"message {quote.message + 1}")


def _summary(voices: Sequence[Said], side: Side) -> str:
    """Facts and no verdict on them: a judge that grades no harm does not contradict one that saw a leak (RULES 3)."""
    answers = (True, False, None)
    lists = {error: [letters(n) for n, one in enumerate(voices) if one.error is error] for error in answers}
    parts = [f"{says_words(error, side)}: {', '.join(lists[error])}" for error in answers if lists[error]]
    return " · ".join(parts) if len(voices) > 1 else ""


def opinions_words(said: Sequence[Said], *, side: Side) -> Opinions:
    """What judges, or people, said: the more there is, the less of each."""
    shown = said[:_MOST_OPINIONS]
    most = _most_quotes(shown)
    texts = sum(1 + bool(one.raw) + min(len(one.evidence), most) for one in shown)
    room = max(_SHORTEST_TEXT_BYTES, min(_LONGEST_TEXT_BYTES, _OPINIONS_BYTES // max(texts, 1)))
    return Opinions(
        tuple(_opinion_words(one, side=side, room=room, most_quotes=most) for one in shown), len(said) - len(shown)
    )


def _opinion_words(said: Said, *, side: Side, room: int, most_quotes: int) -> OpinionWords:
    opinion = said.opinion
    undetermined = f"undetermined: {_why_words(opinion.undetermined, said)}" if opinion.undetermined else ""
    return OpinionWords(
        author=_author(said),
        judge=said.judge,
        standing=_judge_standing(said.judge) if said.judge else _person_standing(said.kind, blind=said.blind),
        said=undetermined or said_words(opinion) or "could not say",
        grade="" if opinion.harm_grade is None else str(opinion.harm_grade),
        flags=", ".join(flags(opinion)),
        parts=", ".join(given(opinion)),
        counts_as=counts_as(said.error, side),
        is_error=said.error is True,
        scores=_scores(said),
        cost=_cost(said),
        notes=tuple(_notes(said.scores)),
        evidence=tuple(QuoteWords(words) for words, _ in _quotes(said, most=most_quotes)),
        quotes_left_out=max(0, len(said.evidence) - most_quotes),
        rationale=text_of(said.rationale),
        raw=text_of(said.raw),
        is_raw_too_long=said.raw is None,
        room=room,
    )


def disputed_words(disputed: Sequence[Disputed], *, side: Side) -> tuple[OpinionWords, ...]:
    """The verdicts a lead decides between, without names."""
    readers = [
        Said(one.opinion, one.error, one.note, one.evidence, author=f"Reader {number}")
        for number, one in enumerate(disputed, 1)
    ]
    cards = opinions_words(readers, side=side).shown
    return tuple(replace(card, standing=one.case_problem) for card, one in zip(cards, disputed, strict=False))


def _author(said: Said) -> str:
    return judge_words(said.judge) if said.judge else said.author


def _judge_standing(judge: JudgeName) -> str:
    return judge.kind if judge.on_panel else f"{judge.kind}, not on the panel"


def _person_standing(kind: str, *, blind: bool) -> str:
    words = "adjudication" if kind == VerdictKind.ADJUDICATION else "verdict"
    return words if blind else f"{words}, not blind"


def _why_words(reason: Undetermined, said: Said) -> str:
    """The reason; where there is no word for it, and it was our own code that could not say, what that wrote of it."""
    why, ours = text_of(said.rationale), said.judge is not None and said.judge.kind != JudgeKind.IMPORTED
    if reason is Undetermined.OTHER and ours and 0 < len(why) <= _LONGEST_REASON:
        return f"{why[0].lower()}{why[1:].removesuffix('.')}"
    return UNDETERMINED_WORDS[reason]


def _scores(said: Said) -> str:
    scores = named_scores(said.scores, preset=said.preset)
    measured = {name: value for name, value in scores.items() if name not in (_LEFT_OUT, _NOT_FOUND)}
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in measured.items()
    )


def _notes(scores: dict[str, Any]) -> Iterator[str]:
    if (count := _count(scores.get(_LEFT_OUT))) > 0:
        yield f"judged on a cut transcript: {count:,} characters left out"
    if (count := _count(scores.get(_NOT_FOUND))) > 0:
        yield f"{count} of its quotes {'is' if count == 1 else 'are'} not in the transcript"


def _count(value: Any) -> int:
    """Other people's judges may call their scores the same and mean anything."""
    return int(value) if isinstance(value, int | float) and 0 < value < 1e12 else 0


def _cost(said: Said) -> str:
    time = "" if said.latency_ms is None else f"{said.latency_ms / 1000:.1f} s"
    cost = "" if said.cost_usd is None else f"${said.cost_usd:.4f}"
    return " · ".join(filter(None, (time, cost)))


def _most_quotes(shown: Sequence[Said]) -> int:
    return max(2, min(_MOST_QUOTES, _MOST_QUOTES_IN_ALL // max(len(shown), 1)))


def _quotes(said: Said, *, most: int) -> list[tuple[str, Any]]:
    return [(_words(span), span) for span in said.evidence[:most]]


def _words(span: Any) -> str:
    """Evidence as its author gave it: text, an object with a text, or anything else as JSON."""
    if isinstance(span, dict):
        for key in ("text", "quote"):
            if isinstance(span.get(key), str):
                return str(span[key])
    return text_of(span)
