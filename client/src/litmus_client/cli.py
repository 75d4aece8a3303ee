"""The command line. Exit codes: 0 done, 1 something was not taken, 2 usage or service error (gate has its own)."""

from typing import Any

import click

from litmus_client.commands import look, push, run
from litmus_client.commands.common import INTERRUPTED, TROUBLE
from litmus_client.errors import LitmusError
from litmus_client.showing import note, survive_odd_characters, visible


class Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        """Errors that have a sentence show it, and no traceback."""
        survive_odd_characters()
        try:
            return super().invoke(ctx)
        except LitmusError as error:
            note(f"litmus: {visible(error)}")
            ctx.exit(TROUBLE)
        except KeyboardInterrupt:
            note("litmus: stopped. The same command goes on from here.")
            ctx.exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="litmus-client")
def main() -> None:
    """Litmus from the command line: push what runners wrote, watch, report, gate, and run a suite yourself."""


for command in (push.push, look.watch, look.report, look.gate, run.run):
    main.add_command(command)
