"""For Inspect: pushes a task's log to Litmus when the task ends. `import litmus_client.inspect_hook` beside the task.

LITMUS_URL and LITMUS_KEY say where to; without a key the hook does nothing. LITMUS_SUITE names a suite, LITMUS_MAPPING
a saved mapping: what C and I mean depends on the task, so a log with scores is imported only once a mapping says it.
"""

import asyncio
import os
from logging import getLogger

from inspect_ai.hooks import Hooks, TaskEnd, hooks

from litmus_client.client import Litmus
from litmus_client.importing import Wishes, is_all_there

logger = getLogger(__name__)


@hooks(name="litmus", description="Pushes the log of each task to Litmus.")
class PushLog(Hooks):
    def enabled(self) -> bool:
        return bool(os.environ.get("LITMUS_KEY"))

    async def on_task_end(self, data: TaskEnd) -> None:
        """Inspect logs what is raised here and goes on; the log is on disk and can be pushed by hand."""
        name = f"{data.log.eval.task}/{data.eval_id}"
        await asyncio.to_thread(_push, data.log.location, name[:200])


def _push(location: str, run: str) -> None:
    wishes = Wishes(
        format="inspect",
        run=run,
        suite=os.environ.get("LITMUS_SUITE") or None,
        mapping=os.environ.get("LITMUS_MAPPING") or None,
    )
    with Litmus() as litmus:
        job = litmus.import_file(location, wishes)
    counts = job["progress"]
    logger.info("Litmus: %s samples of %s are in.", counts["created"] + counts["duplicate"], run)
    if not is_all_there(job):
        logger.warning("Litmus: %s samples of %s were not taken.", counts["rejected"] + counts["conflict"], run)
