"""manage.py create_runner_key --project KEY --name NAME"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.errors import DomainError
from labeling.models import Project
from labeling.services import people


class Command(BaseCommand):
    help = "Make a key that a runner posts with. It is printed once, alone on standard output, and kept as a hash."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="the project's key")
        parser.add_argument("--name", required=True, help="the runner that will use it")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(key=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}; make it with manage.py create_project.")
        try:
            made = people.create_runner_key(project=project, name=options["name"], by=None)
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(made.secret)
        self.stderr.write("Keep it: it is not shown again. Send it as `Authorization: Bearer KEY`.")
