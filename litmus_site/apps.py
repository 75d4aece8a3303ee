"""The composition root as an app: its system checks."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "litmus_site"

    def ready(self) -> None:
        from litmus_site import checks  # noqa: F401, PLC0415 - registers the checks once apps are loaded
