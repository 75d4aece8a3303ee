"""Is a page that shows hostile text harmless? Read as a browser would read it."""

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

# Neither sent as they are nor hidden among what is: controls, direction changes, and what has no width.
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0001]")
# All that our templates write.
_TAGS = re.compile(
    "a|article|aside|b|body|blockquote|br|button|caption|circle|code|dd|defs|details|dialog|div|dl|dt|fieldset|footer|form|"
    "datalist|g|h1|h2|head|header|html|input|kbd|label|legend|li|line|link|main|mark|meta|nav|ol|option|p|path|pattern|rect|script|"
    "section|select|small|span|summary|svg|table|tbody|td|text|textarea|th|thead|time|title|tr|ul"
)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.complaints: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if not _TAGS.fullmatch(tag):
            self.complaints.append(f"<{tag}>")
        if any(name.startswith("on") or name == "style" for name in given):
            self.complaints.append(f"<{tag}> with {sorted(given)}")
        for name in ("href", "src", "action", "formaction"):
            address = urlsplit(given.get(name, ""))
            if address.scheme or address.netloc:
                self.complaints.append(f"<{tag} {name}> leads to {given[name]}")
        if tag == "script" and not given.get("src", "").startswith("/static/"):
            self.complaints.append("a script of its own")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def complaints(page: bytes) -> list[str]:
    """What is wrong with it; nothing is good. The bytes must be UTF-8."""
    text = page.decode("utf-8")
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.complaints + [f"a raw U+{ord(found):04X}" for found in set(_RAW.findall(text))]


def text_of(page: bytes) -> str:
    """What a reader sees of it."""
    reader = _Reader()
    reader.feed(page.decode("utf-8"))
    reader.close()
    return "".join(reader.text)
