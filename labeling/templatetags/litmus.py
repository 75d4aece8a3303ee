"""What templates say about text, time and size. Hostile text goes through `visible`, always."""

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from labeling.pages import visible as marks

register = template.Library()


@register.filter
def visible(value: object) -> SafeString:
    """Escaped, with invisible, direction-changing and unwritable characters named."""
    return mark_safe(marks.visible("" if value is None else str(value)))  # noqa: S308 - escaped in `visible`


@register.filter
def brief(value: object, room: int) -> SafeString:
    """As `visible`, in about so many bytes of the page; how much more there is follows in words."""
    text = "" if value is None else str(value)
    kept = text[: marks.fitting(text, room).characters]
    if len(kept) == len(text):
        return visible(text)
    more = format_html(' <span class="muted">… {} more</span>', size(len(text) - len(kept)))
    return visible(kept) + more


@register.filter
def plain(value: object) -> str:
    """The same for places that hold text only; the template escapes it as usual."""
    return marks.plain("" if value is None else str(value))


@register.filter
def words(value: object) -> str:
    """A word of the vocabulary as people say it."""
    return marks.plain(str(value)).replace("_", " ")


@register.filter
def size(characters: int) -> str:
    """How long a text is, in the unit a reader thinks in."""
    if characters < 1000:
        return f"{characters} characters"
    if characters < 1_000_000:
        return f"{characters / 1000:.1f} k characters"
    return f"{characters / 1_000_000:.1f} M characters"


@register.filter
def ago(moment: datetime | None) -> SafeString:
    """Relative, with the exact time on hover (a script puts it in the reader's zone)."""
    if moment is None:
        return SafeString("never")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        f"{moment:%Y-%m-%d %H:%M} UTC",
        _relative((timezone.now() - moment).total_seconds()),
    )


@register.filter
def clock(moment: datetime | None) -> SafeString:
    """A time of day that a script puts in the reader's zone."""
    if moment is None:
        return SafeString("")
    return format_html(
        '<time datetime="{}" data-clock title="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        f"{moment:%Y-%m-%d %H:%M} UTC",
        f"{moment:%H:%M} UTC",
    )


def _relative(seconds: float) -> str:
    if abs(seconds) < 45:
        return "just now" if seconds >= 0 else "in a moment"
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if abs(seconds) >= length or unit == "minute":
            count = max(1, round(abs(seconds) / length))
            said = f"{count} {unit}{'s' if count != 1 else ''}"
            return f"{said} ago" if seconds >= 0 else f"in {said}"
    raise AssertionError("a minute is the last unit")


@register.filter
def plural(count: int, forms: str) -> str:
    """`{{ 2|plural:"audit,audits" }}`: the count with the right word."""
    one, many = forms.split(",")
    return f"{count:,} {one if count == 1 else many}".replace(",", "\u202f")
