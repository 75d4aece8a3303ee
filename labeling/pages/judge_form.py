"""The form of a judge: all that is typed in it, kept as it was typed, and the settings that it comes to."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.http import QueryDict

from labeling.errors import DomainError
from labeling.formats.problems import shown as shown_text
from labeling.judges.rubrics.rubric_text import MOST_CATEGORIES
from labeling.pages import judge_fields
from labeling.pages.edge import whole_number
from labeling.pages.judge_starts import Start
from labeling.pages.visible import Marked, pieces

# A rubric's form shows as many tiers; one that has more shows them too.
_TIERS = 4
LONGEST_NAME = 100


class Tier(NamedTuple):
    number: str
    text: str


class Category(NamedTuple):
    """A category of the rubric as it is typed. place: which of them, for the names of its fields."""

    place: int
    name: str = ""
    text: str = ""
    tiers: tuple[Tier, ...] = ()
    left_out: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.name or self.text.strip() or any(tier.text.strip() for tier in self.tiers))


class Form(NamedTuple):
    """name: of the judge. texts: what is in each field, by its path. chosen, ids: what to try it on."""

    name: str
    texts: Mapping[str, str]
    categories: tuple[Category, ...] = ()
    on_panel: bool = False
    chosen: frozenset[int] = frozenset()
    ids: str = ""


def shown(start: Start, settings: Mapping[str, Any], *, name: str, on_panel: bool) -> Form:
    """The form of settings that there are."""
    categories: tuple[Category, ...] = ()
    if start.has_categories:
        given = settings.get("categories") or {}
        categories = tuple(_category(place, *each) for place, each in enumerate(given.items()))
        categories += (_empty(len(categories)),)
    return Form(name, judge_fields.shown(start.fields, settings), categories, on_panel)


def _category(place: int, name: str, said: Mapping[str, Any]) -> Category:
    tiers = dict.fromkeys(map(str, range(1, _TIERS + 1)), "") | (said.get("tiers") or {})
    in_order = sorted(tiers.items(), key=lambda tier: (len(tier[0]), tier[0]))
    return Category(place, name, said.get("text") or "", tuple(Tier(*tier) for tier in in_order))


def _empty(place: int) -> Category:
    return _category(place, "", {})


def typed(start: Start, post: QueryDict, *, name: str = "") -> Form:
    """What somebody typed, whether it makes sense or not. name: of the judge that this is a version of."""
    categories: tuple[Category, ...] = ()
    if start.has_categories:
        count = min(whole_number(post.get("categories"), 0), MOST_CATEGORIES + 1)
        categories = tuple(_category_typed(place, post) for place in range(count))
        if not categories or not categories[-1].is_empty:
            categories += (_empty(len(categories)),)
    return Form(
        name or post.get("name", "").strip(),
        judge_fields.typed(start.fields, _flat(post)),
        categories,
        on_panel="on_panel" in post,
        chosen=frozenset(whole_number(each, 0) for each in post.getlist("trajectory")),
        ids=judge_fields.lf(post.get("ids", "")),
    )


def _flat(post: QueryDict) -> dict[str, str]:
    return {name: str(post[name]) for name in post}


def _category_typed(place: int, post: QueryDict) -> Category:
    prefix = f"category-{place}"
    start = f"{prefix}-tier-"
    numbers = sorted({each.removeprefix(start) for each in post if each.startswith(start)}, key=lambda n: (len(n), n))
    return Category(
        place,
        post.get(f"{prefix}-name", "").strip(),
        judge_fields.lf(post.get(f"{prefix}-text", "")),
        tuple(Tier(number, judge_fields.lf(post.get(f"{start}{number}", ""))) for number in numbers),
        left_out=f"{prefix}-leave-out" in post,
    )


def settings_of(start: Start, form: Form) -> dict[str, Any]:
    """The settings the form comes to. Raises DomainError on what cannot be read."""
    for field in start.fields:
        _refuse_unseen(field.label, form.texts.get(field.path, ""))
    settings = {**start.fixed, **judge_fields.settings_of(start.fields, form.texts)}
    service = settings.get("service") or {}
    if not service.get("base_url") and not service.get("operator"):
        raise DomainError("Address: say where the judge is reached.", field="service.base_url")
    if start.has_categories:
        settings["categories"] = dict(_categories(form))
    return settings


def _categories(form: Form) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for category in form.categories:
        if category.left_out or category.is_empty:
            continue
        if not category.name:
            raise DomainError("Give every category of the rubric the name that it has in the suite.")
        if category.name in seen:
            raise DomainError(f"The category {shown_text(category.name)} is there twice; keep one.")
        seen.add(category.name)
        tiers = {tier.number: tier.text for tier in category.tiers if tier.text.strip()}
        _refuse_unseen(f"The category {shown_text(category.name)}", category.name, category.text, *tiers.values())
        yield category.name, {"text": category.text, "tiers": tiers}


def _refuse_unseen(where: str, *texts: str) -> None:
    """What a form shows is what a judge is told: a character that nobody sees could not be shown in it."""
    found = (piece.shown for text in texts for piece in pieces(text) if isinstance(piece, Marked))
    if (first := next(found, None)) is not None:
        raise DomainError(f"{where} holds {first}, which nobody sees; remove it.")


def name_of(form: Form) -> str:
    """The judge's name, as people and requests will say it. Raises DomainError."""
    if not form.name or len(form.name) > LONGEST_NAME or not form.name.isprintable():
        raise DomainError(f"Give the judge a name of at most {LONGEST_NAME} characters on one line.", field="name")
    return form.name


def complaints(error: DomainError, start: Start) -> list[str]:
    """What is wrong, each problem with the name of its field on the form."""
    problems = error.details.get("problems")
    if not problems:
        return [error.message]
    return [_sentence(problem["path"], problem["reason"], start) for problem in problems]


def _sentence(path: str, reason: str, start: Start) -> str:
    if path:
        return f"{judge_fields.label_of(path, start.fields)} {reason}."
    # Of the settings together: some begin with what they are about, and some with what it must do.
    return f"The settings {reason}." if reason.startswith(("must ", "holds ")) else f"{reason[:1].upper()}{reason[1:]}."
