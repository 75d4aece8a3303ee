"""What to do where an endpoint cannot be used, in words: some troubles pass by themselves, others wait for a person."""

from labeling.endpoints.exchange import Down, Mend

_ADVICE = {
    Mend.KEY: "enter another key{where}",
    Mend.ACCOUNT: "see to its account, or enter the key of another{where}",
    Mend.MODEL: "make a version with a model and an address that it has",
    Mend.ADDRESS: "make a version with another address, or ask the operator to list this one in LITMUS_JUDGE_HOSTS",
    Mend.MOVED: "make a version with the address that it has now",
}


def trouble(down: Down, *, operator: str, has_key: bool, where: str) -> str:
    """What is wrong and, where it does not pass by itself, what to do; without a full stop.

    operator: the name under which the operator keeps the endpoint, "" for a project's own. where: a key is entered.
    """
    if down.mend is None:
        return down.detail
    if down.mend is Mend.KEY and operator:
        return f"{down.detail}: ask the operator for another LITMUS_JUDGE_KEY_{operator}"
    if down.mend is Mend.KEY and not has_key:
        return f"the endpoint wants a key and none is kept: enter one{where}"
    return f"{down.detail}: {_ADVICE[down.mend].format(where=where)}"
