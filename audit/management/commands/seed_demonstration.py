"""Load the demonstration project."""

from typing import Any

from django.core.management.base import BaseCommand

from audit.management import demonstration


class Command(BaseCommand):
    help = "Load the demonstration project and its two sign-ins. Does nothing where it is loaded already."

    def handle(self, *_args: Any, **_options: Any) -> None:
        loaded = demonstration.seed()
        self.stdout.write("The demonstration is loaded." if loaded else "The demonstration was loaded before.")
