"""The formats there are, and which one a file has."""

from collections.abc import Sequence

from labeling.errors import DomainError
from labeling.formats.files.source import Sniff, Source
from labeling.formats.readers import (
    agentdojo,
    anthropic,
    docent,
    garak,
    helm,
    inspect_log,
    jailbreakbench,
    litmus,
    lm_eval,
    openai,
    otel,
    promptfoo,
    scout,
    table,
    tau_bench,
    xstest,
)
from labeling.formats.reading import Format

# In this order a file is asked whether it is one: what is told by more comes first.
_FORMATS: Sequence[Format] = (
    litmus.FORMAT,
    xstest.FORMAT,
    agentdojo.FORMAT,
    helm.FORMAT,
    jailbreakbench.FORMAT,
    lm_eval.FORMAT,
    tau_bench.FORMAT,
    otel.FORMAT,
    inspect_log.FORMAT,
    garak.FORMAT,
    promptfoo.FORMAT,
    scout.FORMAT,
    docent.FORMAT,
    # What many kinds of file could be is asked last.
    anthropic.FORMAT,
    openai.FORMAT,
    table.FORMAT,
)

# How files begin that gzip, zstd, xz, bzip2 or 7z made.
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh", b"7z\xbc\xaf")

FORMATS: dict[str, Format] = {each.name: each for each in _FORMATS}


def named(name: str) -> Format:
    """The format of this name. Raises DomainError with those there are."""
    if name not in FORMATS:
        raise DomainError(f"There is no format of that name; there are {', '.join(FORMATS)}.", formats=list(FORMATS))
    return FORMATS[name]


def detected(source: Source) -> Format:
    """The format that the content shows. Raises DomainError where it shows none."""
    sniff = Sniff(source)
    found = next((each for each in FORMATS.values() if each.recognises(sniff)), None)
    if found is None and sniff.head.startswith(_PACKED):
        raise DomainError("This file is packed. Unpack it first; of packed files only zip is read here.")
    if found is None:
        raise DomainError(
            f"The content shows no format that is known here; name one of {', '.join(FORMATS)} if it is one of them, "
            "or map its columns.",
            formats=list(FORMATS),
        )
    return found
