"""Any classifier that takes JSON by POST and answers with JSON that has a label in it."""

from pathlib import Path

from labeling.endpoints.exchange import Route
from labeling.judges.classifiers.presets.base import ANSWER, Preset

PLAIN_HTTP = Preset(
    key="plain_http",
    title="A classifier over plain HTTP",
    says="What the settings say that each of its labels means.",
    cannot=(
        "No more than its labels, and there is no harm grade. It is about the last answer; where the target spoke"
        " before, or called tools, a refusal leaves the decision open."
    ),
    route=Route.PLAIN,
    routes=frozenset({Route.PLAIN}),
    file=Path(__file__),
    needs=(ANSWER | {"messages"},),
)
