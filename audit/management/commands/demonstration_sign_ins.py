"""Print the demonstration's sign-ins."""

from typing import Any

from django.core.management.base import BaseCommand

from audit.management import demonstration


class Command(BaseCommand):
    help = "Print user name and password of the demonstration's reviewer and lead."

    def handle(self, *_args: Any, **_options: Any) -> None:
        for name, password in demonstration.sign_ins().items():
            self.stdout.write(f"{name:<10} {password}")
