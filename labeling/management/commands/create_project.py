"""manage.py create_project KEY [--name NAME] [--owner USERNAME]"""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.errors import DomainError
from labeling.services import people


class Command(BaseCommand):
    help = "Make a project. Its owner, if named, becomes its admin."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="what addresses and commands call it: letters, digits, - and _")
        parser.add_argument("--name", default="", help="what pages call it (default: the key)")
        parser.add_argument("--owner", help="the user name of somebody with an account")

    def handle(self, *_args: Any, **options: Any) -> None:
        owner = None
        if options["owner"]:
            owner = User.objects.filter(username=options["owner"]).first()
            if owner is None:
                raise CommandError(f"There is no user {options['owner']}; make one with manage.py createsuperuser.")
        try:
            project = people.create_project(key=options["key"], name=options["name"], owner=owner)
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"Made project {project.key}.")
        if owner is None:
            self.stdout.write(f"Nobody can open it yet: script/manage create_project {project.key} --owner USERNAME")
