"""All that comes before serving, in one process: script/server is quick the second time."""

import io
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Migrate, collect static files, load the demonstration project and print its sign-ins."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-demonstration", action="store_true", help="load and print nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        if not options["no_demonstration"]:
            call_command("seed_demonstration", stdout=io.StringIO())
            call_command("demonstration_sign_ins", stdout=self.stdout)
        elif not User.objects.exists():
            self.stdout.write(
                "Nobody can sign in yet. In another terminal (with the same LITMUS_DATA_DIR, if you set it):"
            )
            self.stdout.write("  script/manage createsuperuser\n  script/manage create_project mine --owner YOU")
