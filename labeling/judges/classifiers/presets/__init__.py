"""Ready ways of asking a served classifier: what it is sent, how its answer is read, and what that can mean."""

from labeling.judges.classifiers.presets.base import Preset
from labeling.judges.classifiers.presets.harmbench import HARMBENCH_CONTEXTUAL, HARMBENCH_STANDARD
from labeling.judges.classifiers.presets.llama_guard import LLAMA_GUARD_3, LLAMA_GUARD_4
from labeling.judges.classifiers.presets.plain_http import PLAIN_HTTP
from labeling.judges.classifiers.presets.wildguard import WILDGUARD
from labeling.judges.classifiers.presets.yes_no import YES_NO

PRESETS: dict[str, Preset] = {
    preset.key: preset
    for preset in (
        LLAMA_GUARD_3,
        LLAMA_GUARD_4,
        WILDGUARD,
        HARMBENCH_STANDARD,
        HARMBENCH_CONTEXTUAL,
        YES_NO,
        PLAIN_HTTP,
    )
}

__all__ = ["PRESETS", "Preset"]
