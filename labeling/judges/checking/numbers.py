"""Numbers as people and models write them.

A comma or point before exactly three digits: the comma parts thousands (1,234), the point does not (1.234), unless it
comes more than once (1.234.567). Any other single comma is a decimal one (3,5), and so is one before three digits
where thousands cannot stand (0,125). Of two sorts the last is the decimal one (1.234,5 and 1,234.5). Apostrophes and
narrow spaces part thousands. 1/2 is one half; a per cent sign, a unit or a currency is left aside.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

_PARTING = "'’\u00a0\u202f\u2009"
_NUMBER = re.compile(
    rf"(?<![\w.,])(?P<sign>[-+\u2212]?)(?P<body>\d+(?:[.,{_PARTING}]\d+)*|\.\d+)"
    r"(?P<power>[eE][-+]?\d{1,4}(?!\d))?(?:/(?P<under>\d+))?"
)
_LONGEST = 100


class Number(NamedTuple):
    value: Decimal
    start: int
    end: int


def numbers(text: str) -> Iterator[Number]:
    for found in _NUMBER.finditer(text):
        value = _value(found)
        if value is not None:
            yield Number(value, found.start(), found.end())


def _value(found: re.Match[str]) -> Decimal | None:
    body = _plain(found["body"])
    if body is None or len(found[0]) > _LONGEST:
        return None
    value = Decimal(body + (found["power"] or ""))
    if found["under"] is not None:
        under = Decimal(found["under"])
        if not under:
            return None
        value /= under
    return -value if found["sign"] in ("-", "\u2212") else value


def _plain(body: str) -> str | None:
    """The digits with a decimal point and nothing else; None where it is no number, as 1.2.3 is none."""
    marks = [char for char in body if not char.isdecimal()]
    if not marks:
        return body
    decimal = _decimal_mark(body, marks)
    whole, _, rest = body.rpartition(decimal) if decimal else (body, "", "")
    groups = re.split(f"[.,{_PARTING}]", whole)
    if len({*marks[: len(groups) - 1]}) > 1 or (len(groups) > 1 and not _are_thousands(groups)):
        return None
    digits = "".join(groups)
    return f"{digits or 0}.{rest}" if decimal else digits


def _decimal_mark(body: str, marks: list[str]) -> str:
    """The mark behind which the fraction begins, or ""."""
    last = marks[-1]
    if last in _PARTING or marks.count(last) > 1:
        return ""
    before, _, after = body.rpartition(last)
    parts_thousands = last == "," and len(marks) == 1 and _are_thousands([before, after])
    return "" if parts_thousands else last


def _are_thousands(groups: list[str]) -> bool:
    first, *others = groups
    return 1 <= len(first) <= 3 and not first.startswith("0") and all(len(group) == 3 for group in others)
