"""What HELM's judges and statistics say of an answer, scenario by scenario.

The scales of HELM Safety go from 0 to 1, and 1 is the good end: on harmful requests that is resisted, on XSTest's safe
prompts it is full compliance. What lies between is neither a yes nor a no; a mapping may draw the line elsewhere.
Two judges are two judges: where one failed there is one opinion and one that could not say, and never a mean of both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.formats.problems import shown
from labeling.formats.reading import Score
from labeling.formats.rows.values import as_object, as_storable, as_word, truth_of
from labeling.vocabulary import Decision, Meaning, Part, Side, Undetermined

# A reference: its text and its tags. In safety scenarios references are not right answers but notes on the prompt.
References = Sequence[tuple[str, Sequence[str]]]

_SUFFIX = "_score"
_CORRECT = "correct"
_FAMILIES = (
    "harm_bench_gcg_transfer",
    "harm_bench",
    "simple_safety_tests",
    "anthropic_red_team",
    "autobencher_safety",
    "air_bench",
    "xstest",
)
# Every prompt of these asks for harm. The red team of Anthropic asked for much that is none.
_HARMFUL = {"harm_bench_gcg_transfer", "harm_bench", "simple_safety_tests", "autobencher_safety", "air_bench"}
# Scales of harm, which do not say what the answer did.
_ABOUT_HARM = {"simple_safety_tests", "anthropic_red_team", "autobencher_safety", "air_bench"}
_DECISIONS: dict[tuple[str, Side | None], dict[bool, Any]] = {
    ("harm_bench", Side.HARMFUL): {True: Decision.REFUSAL, False: Decision.FULL_COMPLIANCE},
    ("harm_bench_gcg_transfer", Side.HARMFUL): {True: Decision.REFUSAL, False: Decision.FULL_COMPLIANCE},
    # The good end here is "refuses, or explains the risks".
    ("xstest", Side.HARMFUL): {True: [Decision.SAFE_COMPLETION, Decision.REFUSAL], False: Decision.FULL_COMPLIANCE},
    ("xstest", Side.BENIGN): {True: Decision.FULL_COMPLIANCE, False: Decision.REFUSAL},
}
# The types of XSTest's prompts; those of its harmful ones begin with contrast_.
_TYPES = {
    "homonyms",
    "figurative_language",
    "safe_targets",
    "safe_contexts",
    "definitions",
    "discr",
    "real_group_nons_discr",
    "nons_group_real_discr",
    "historical_events",
    "privacy",
    "privacy_public",
    "privacy_fictional",
}
# Which of the references is the category.
_CATEGORY = {"harm_bench_gcg_transfer": 0, "harm_bench": 0, "simple_safety_tests": 1, "air_bench": 1}
# What AIR-Bench's judge writes beside the 1.0 that an empty answer gets without being read.
_NOT_READ = "BLOCKED_REQUEST_OR_EMPTY_RESPONSE"
_RIGHT = {"exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match"}
_EXPLAINS = ("_reasoning", "_response_text")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One of the families of HELM Safety; another has no name."""

    name: str = ""

    @classmethod
    def of(cls, class_name: str, annotators: Any, run: str) -> "Scenario":
        """By the scenario's class, else by the annotator's, else by the name of the run."""
        specs = annotators if isinstance(annotators, list) else []
        said = [class_name, *(each["class_name"] for each in specs if isinstance(each, dict) and "class_name" in each)]
        modules = [str(each).rpartition(".")[0].rpartition(".")[2] for each in said]
        return cls(next(filter(None, map(_family, [*modules, run])), ""))

    @classmethod
    def of_annotations(cls, annotations: Any) -> "Scenario":
        return cls(next(filter(None, map(_family, as_object(annotations))), ""))

    @property
    def framing(self) -> str:
        return "gcg_transfer" if self.name == "harm_bench_gcg_transfer" else ""

    def case(self, references: References) -> dict[str, Any]:
        """Side, category and right answer, as far as this scenario says them."""
        right = next((text for text, tags in references if _CORRECT in tags), "")
        if not self.name:
            return {"right_answer": as_storable(right)}
        if self.name == "xstest":
            return _xstest(right, [text for text, tags in references if _CORRECT not in tags])
        at = _CATEGORY.get(self.name)
        case: dict[str, Any] = {"side": Side.HARMFUL} if self.name in _HARMFUL else {}
        return case if at is None or at >= len(references) else case | {"category": as_word(references[at][0], 100)}


def of(
    annotations: Any, stats: Mapping[str, Any], scenario: Scenario, references: References, *, answer: str
) -> Iterator[Score]:
    """The scores of one answer. An empty answer was judged by nobody, whatever the file says."""
    side = scenario.case(references).get("side")
    judged = list(_judged(annotations, scenario, side, empty=not answer.strip()))
    yield from judged
    for name, value in stats.items():
        # The same judges' scores once more, and their mean, which does not say of how many.
        if not (judged and name.startswith(("safety", "air_"))):
            right = name in _RIGHT and any(_CORRECT in tags for _, tags in references)
            meaning = Meaning.CORRECT if right else None
            yield Score(as_word(name, 100), f"HELM {shown(name)}", "", value, truth_of(value), meaning=meaning)


def _judged(annotations: Any, scenario: Scenario, side: Side | None, *, empty: bool) -> Iterator[Score]:
    for annotator, given in as_object(annotations).items():
        annotation = given[0] if isinstance(given, list) and len(given) == 1 else given
        if not isinstance(annotation, dict):
            continue
        for judge, key, rationale in _judges(annotation):
            name = f"{shown(annotator)} {shown(judge)}".strip()
            value = annotation.get(key)
            why = ""
            if empty or rationale == _NOT_READ:
                why = Undetermined.EMPTY
            elif value is None:
                why = Undetermined.UNPARSABLE
            yield _score(name, value, scenario, side, rationale=rationale, undetermined=why)


def _judges(annotation: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Each judge with the key of its score, which is missing where it could not be read, and what it wrote."""
    if "score" in annotation:
        yield "", "score", annotation.get("reasoning", "")
    names = {
        key.removesuffix(suffix): None for key in annotation for suffix in (_SUFFIX, *_EXPLAINS) if key.endswith(suffix)
    }
    for name in names:
        wrote = next((annotation[name + each] for each in _EXPLAINS if annotation.get(name + each)), "")
        yield name, name + _SUFFIX, wrote


def _score(name: str, value: Any, scenario: Scenario, side: Side | None, *, rationale: Any, undetermined: str) -> Score:
    truth = truth_of(value)
    decisions = _DECISIONS.get((scenario.name, side))
    opinion = None
    if decisions is not None:
        opinion = {} if truth is None else {"decision": decisions[truth]}
    return Score(
        name=name[:100],
        judge=name[:100],
        version="",
        value=value,
        truth=truth,
        meaning=Meaning.RESISTED if scenario.name in _ABOUT_HARM else None,
        opinion=opinion,
        measures=(Part.DECISION,) if opinion is not None else (),
        undetermined=undetermined,
        rationale=rationale,
    )


def _xstest(label: str, notes: Sequence[str]) -> dict[str, Any]:
    """The notes are the focus word, the type of prompt, and sometimes a remark."""
    side = {"safe": Side.BENIGN, "unsafe": Side.HARMFUL}.get(label)
    case: dict[str, Any] = {} if side is None else {"side": side}
    at = next((index for index, note in enumerate(notes) if note.removeprefix("contrast_") in _TYPES), None)
    if at is None:
        return case
    focus = {"pair": as_word(notes[at - 1], 200)} if at else {}
    return case | {"category": notes[at].removeprefix("contrast_"), **focus}


def _family(name: str) -> str:
    return next((each for each in _FAMILIES if name.startswith(each)), "")
